/* SPDX-License-Identifier: Apache-2.0 */
/* What whoever starts a fabric wants of its built-in subnet manager. */
#ifndef SOFTIB_DAEMON_MANAGERS_SM_POLICY_H
#define SOFTIB_DAEMON_MANAGERS_SM_POLICY_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "host/mkey_settings.h"

struct partitions;
struct qos;

struct sm_settings {
	const char *engine;	     /* NULL: the default */
	const char *partitions_path; /* NULL: the default partition only */
	const char *part_enforce;    /* NULL: "both" */
	const char *qos_path;	     /* NULL: tables stay as the hardware has them */
	const char *state_path;	     /* LIDs outlive softibd there; NULL: in the fabric's folder */
	uint8_t lmc;
	struct mkey_settings mkeys;
	time_ns prune_interval; /* of multicast members; 0: none */
};

/* The files of the settings, read. */
struct sm_policy {
	struct partitions *partitions; /* NULL: none asked for */
	uint8_t part_enforce;
	struct qos *qos;
	struct mkey_settings mkeys; /* complete */
};

/* -EINVAL and others, after a log line that names file, line and reason. */
MUST_USE int sm_policy_read(struct sm_policy *policy, const struct sm_settings *settings);
/* Whoever took the partitions over has set the pointer to NULL. */
void sm_policy_release(struct sm_policy *policy);

#endif
