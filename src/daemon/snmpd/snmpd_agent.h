/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net-snmp's agent, fed with messages from the tunnel instead of a socket, one node after the
 * other. net-snmp keeps one engine ID and one set of statistics per process, so these are exchanged
 * when a message is for another node than the one before (docs/decisions.md).
 */
#ifndef SOFTIB_DAEMON_SNMPD_SNMPD_AGENT_H
#define SOFTIB_DAEMON_SNMPD_SNMPD_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "ipc/snmp_link.h"

/* config_path: NULL: public reads, private writes. start_count: snmpEngineBoots. uptime_ns: of the
 * fabric. false after logging the reason. */
MUST_USE bool snmpd_agent_start(const char *config_path, unsigned start_count, uint64_t uptime_ns);

/* Answers one message by exactly one SNMP_LINK_ANSWER. */
void snmpd_agent_serve(const struct snmp_link_header *header, const uint8_t *bytes,
		       size_t byte_count);

/* Sends a linkUp, linkDown or softibNotice from this node. */
void snmpd_agent_notify(uint64_t node_guid, const struct snmp_event *event);

#endif
