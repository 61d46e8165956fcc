/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that a proxy sends to: from a name to the GID of a port, and by the SA to a path. */
#ifndef SOFTIB_CLI_SNMP_TARGETS_H
#define SOFTIB_CLI_SNMP_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "cli/snmp_proxy.h"
#include "mgmt/mad/mad_message.h"
#include "mgmt/sa/sa_client.h"

enum { SNMP_TARGETS_MAX = 1024 };

enum snmp_target_state { TARGET_FREE, TARGET_ASKED, TARGET_KNOWN, TARGET_UNKNOWN };

struct snmp_target {
	char name[SNMP_NODE_NAME_BYTES];
	enum snmp_target_state state;
	time_ns due_at; /* a result is used until then */
	struct mad_address address;
};

struct snmp_targets {
	const char *fabric;
	int control; /* socket to softibd; -1: to be opened again */
	struct sa_client *sa;
	struct gid own_gid;
	struct snmp_target targets[SNMP_TARGETS_MAX];
	unsigned next; /* to be replaced when all are used */
};

/* The node of this name. TARGET_ASKED: its path comes as a result of the SA client, whose subject
 * is the target. */
struct snmp_target *snmp_targets_find(struct snmp_targets *targets, const char *name, time_ns now);
void snmp_target_resolve(struct snmp_target *target, const struct sa_client_result *result,
			 const struct gid *own_gid, time_ns now);

#endif
