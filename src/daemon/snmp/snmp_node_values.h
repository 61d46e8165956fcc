/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a node as SNMP shows it. */
#ifndef SOFTIB_DAEMON_SNMP_SNMP_NODE_VALUES_H
#define SOFTIB_DAEMON_SNMP_SNMP_NODE_VALUES_H

#include <stddef.h>
#include <stdint.h>
#include "base/hash_table.h"
#include "base/time.h"
#include "ipc/snmp_link.h"

struct daemon_core;
struct node;
struct snmp_watch;

/* sysContact, sysName and sysLocation of the nodes that a manager wrote them of. */
struct snmp_texts {
	struct hash_table by_guid; /* struct snmp_node_texts */
};

struct snmp_node_texts {
	char texts[SNMP_TEXTS][SNMP_TEXT_BYTES];
};

void snmp_texts_init(struct snmp_texts *texts);
void snmp_texts_release(struct snmp_texts *texts);

/* Writes the answer to a question and returns its length. began_at: the fabric's. */
size_t snmp_node_values_answer(struct daemon_core *core, struct snmp_texts *texts,
			       const struct snmp_watch *watch, time_ns began_at,
			       const struct snmp_state_question *question, uint8_t *ret_answer);

#endif
