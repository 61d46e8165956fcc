/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications of the nodes: linkUp and linkDown (RFC 2863), and softibNotice for InfiniBand's own
 * traps (SOFTIB-IB-MIB). */
#ifndef SOFTIB_DAEMON_SNMPD_SNMPD_NOTIFICATIONS_H
#define SOFTIB_DAEMON_SNMPD_SNMPD_NOTIFICATIONS_H

#include <stdbool.h>
#include "base/attributes.h"
#include "daemon/snmpd/snmpd_nodes.h"

/* After the configuration was read. */
MUST_USE bool snmpd_notifications_start(void);
/* The node's state is fresh. */
void snmpd_notifications_send(const struct snmpd_node *node, const struct snmp_event *event);

#endif
