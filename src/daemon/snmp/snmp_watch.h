/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches the ports of a fabric for links that come up or go down, for ifLastChange, linkUp and
 * linkDown. It compares every port's state whenever the fabric says that paths changed, and only
 * while SNMP is in use.
 */
#ifndef SOFTIB_DAEMON_SNMP_SNMP_WATCH_H
#define SOFTIB_DAEMON_SNMP_SNMP_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"
#include "ipc/snmp_link.h"

struct fabric;
struct node;
struct port;

struct port_seen;

struct snmp_watch {
	struct port_seen **by_node; /* [node index][port number]; NULL: nothing seen yet */
	uint32_t node_count;
	uint32_t path_changes; /* of the fabric, when it was compared last */
	time_ns began_at;
	time_ns next_at; /* not before */
};

/* Called once for each port whose link came up or went down. */
typedef void snmp_watch_changed(void *context, struct port *port, enum snmp_event_kind kind);

void snmp_watch_init(struct snmp_watch *watch, time_ns now);
void snmp_watch_release(struct snmp_watch *watch);

/* The first call only learns the states. */
void snmp_watch_run(struct snmp_watch *watch, const struct fabric *fabric, time_ns now,
		    snmp_watch_changed *changed, void *context);
/* TIME_NEVER unless there is something to compare. */
time_ns snmp_watch_deadline(const struct snmp_watch *watch, const struct fabric *fabric);

/* After the begin of the fabric; 0: the port has not changed since it is watched. */
uint64_t snmp_watch_last_change(const struct snmp_watch *watch, const struct port *port);

#endif
