/* SPDX-License-Identifier: Apache-2.0 */
/* A subnet manager and its subnet administration on a port of a host, in this process. */
#ifndef SOFTIB_CLI_MANAGER_H
#define SOFTIB_CLI_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "launch/mkey_settings.h"

struct partitions;
struct qos;

struct manager_options {
	const char *fabric;
	const char *host;   /* NULL: SOFTIB_HOST, or the first one */
	uint64_t port_guid; /* 0: the host's first port */
	uint8_t priority;
	uint8_t lmc;
	const char *engine;	 /* NULL: the default */
	const char *tables_text; /* for the engine "file"; NULL: none */
	size_t tables_bytes;
	const char *state_path;	       /* file that keeps LIDs; NULL: none */
	struct partitions *partitions; /* manager_run takes them over; NULL: the default ones */
	uint8_t part_enforce;	       /* enum part_enforce */
	const struct qos *qos;	       /* NULL: none */
	struct mkey_settings mkeys;    /* after mkey_settings_complete() */
	uint64_t sm_key;
	time_ns sweep_interval;
	time_ns poll_interval;
	time_ns prune_interval; /* of multicast members; 0: never */
	time_ns timeout;	/* of one SMP attempt */
	bool is_once;		/* exits when the subnet is up, without a handover */
};

/* Runs until SIGTERM or SIGINT, when it hands over to a standby if there is one, or until softibd
 * stops. Prints a line per event. Returns the exit code. */
int manager_run(const struct manager_options *options);

#endif
