/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that softib-snmpd answers for: their state, asked of softibd and kept for a moment, and
 * what net-snmp keeps per process but SNMP has per node. */
#ifndef SOFTIB_DAEMON_SNMPD_SNMPD_NODES_H
#define SOFTIB_DAEMON_SNMPD_SNMPD_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "ipc/snmp_link.h"

enum { SNMPD_STATISTICS_MAX = 64 };

struct snmpd_node {
	uint64_t guid;
	uint64_t asked_at_ns;
	uint8_t *bytes; /* struct snmp_node_state, then ports, then P_Keys; NULL: not there */
	const struct snmp_node_state *state;
	const struct snmp_port_state *ports;
	const struct snmp_pkey_state *pkeys;
	char name[SNMP_TEXT_BYTES]; /* one that the node was found to have; empty: none yet */
	/* Of snmp_get_statistic(), while the node is not the current one. */
	unsigned statistics[SNMPD_STATISTICS_MAX];
	bool is_known; /* its engine ID has its users */
};

/* NULL: no memory. The node stays until the process ends. */
struct snmpd_node *snmpd_nodes_find(uint64_t guid);

/* The node that the present message is for. */
extern struct snmpd_node *snmpd_current_node;

/* Asks for the state unless it is fresh. false: softibd does not know the node. */
MUST_USE bool snmpd_node_refresh(struct snmpd_node *node);
/* The next use asks again. */
void snmpd_node_forget_state(struct snmpd_node *node);
MUST_USE bool snmpd_node_set_text(struct snmpd_node *node, enum snmp_text text, const char *value,
				  size_t byte_count);

/* Whether softib's commands find the node by this name. */
MUST_USE bool snmpd_node_has_name(struct snmpd_node *node, const char *name, size_t byte_count);

/* ifIndex: the port number; port 0 of a switch comes last. */
unsigned snmpd_node_if_index(const struct snmpd_node *node, unsigned port_number);
/* The row of ports by ifIndex order. */
const struct snmp_port_state *snmpd_node_interface(const struct snmpd_node *node, unsigned row);

#endif
