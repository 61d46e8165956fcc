/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of "softib baseboard": its options, and its actions. */
#ifndef SOFTIB_CLI_BASEBOARD_OPTIONS_H
#define SOFTIB_CLI_BASEBOARD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/baseboard/bkeys.h"

struct subcommand;

struct baseboard_options {
	const char *fabric;
	const char *host;    /* whose port sends the MADs; NULL: SOFTIB_HOST, or the first one */
	const char *manager; /* of "watch": the node where the manager runs */
	struct bkeys keys;
	uint16_t lease_period;
	bool protects;
	bool takes_over;
	unsigned wake_seconds; /* of "power off"; 0: stays off */
	unsigned slot;	       /* of "power": the I/O controller in it; 0: the node */
	unsigned count;	       /* of "watch": ends after so many reports; 0: does not end */
	bool wants_json;
};

/* An action gets the arguments after its name and returns the exit code. */
typedef int baseboard_action(const struct subcommand *self, const struct baseboard_options *options,
			     int argument_count, char **arguments);

baseboard_action baseboard_show;
baseboard_action baseboard_vpd_action, baseboard_power_action, baseboard_sensor_action;
baseboard_action baseboard_threshold_action, baseboard_identify_action, baseboard_attention_action;
baseboard_action baseboard_reset_ibml_action, baseboard_hang_bus_action;
baseboard_action baseboard_play;
baseboard_action baseboard_manage, baseboard_watch;

#endif
