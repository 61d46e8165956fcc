/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of the built-in subnet managers, and the files that they name. */
#ifndef SOFTIB_DAEMON_MANAGERS_SM_POLICY_H
#define SOFTIB_DAEMON_MANAGERS_SM_POLICY_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "launch/mkey_settings.h"

struct partitions;
struct qos;

struct sm_settings {
	const char *engine;	     /* NULL: the default */
	const char *partitions_path; /* NULL: the default partition only */
	const char *part_enforce;    /* NULL: "both" */
	const char *qos_path;	/* NULL: SL to VL and arbitration tables stay at their defaults */
	const char *state_path; /* the file that keeps LIDs across restarts; NULL: in the fabric's
				   folder */
	uint8_t lmc;
	struct mkey_settings mkeys;
	time_ns prune_interval; /* of multicast members that have gone; 0: never */
};

/* The contents of those files. */
struct sm_policy {
	struct partitions *partitions; /* NULL: no partitions file */
	uint8_t part_enforce;
	struct qos *qos;
	struct mkey_settings mkeys; /* with the secret read from its file */
};

/* On error the log gets a line that names file, line and reason. */
MUST_USE int sm_policy_read(struct sm_policy *policy, const struct sm_settings *settings);
/* A caller that took over the partitions has set the pointer to NULL. */
void sm_policy_release(struct sm_policy *policy);

#endif
