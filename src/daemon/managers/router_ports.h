/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QP1 of the routers' ports: each port is a client of the SA of its subnet, built-in or not, for
 * the multicast groups there (mgmt/sa/group_client.h).
 */
#ifndef SOFTIB_DAEMON_MANAGERS_ROUTER_PORTS_H
#define SOFTIB_DAEMON_MANAGERS_ROUTER_PORTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/core/host_table.h"
#include "daemon/mad/mad_dispatch.h"
#include "mgmt/sa/group_client.h"

struct router_port {
	struct port *port;
	struct endpoint endpoint; /* without an adapter: it receives MADs only */
	struct mad_client client;
	struct group_client groups;
	bool has_unsent;
	struct mad_message unsent;
	bool is_on_spanning_tree; /* the port is on the spanning tree of routers that multicast
				     packets take */
};

struct router_ports {
	struct mad_dispatch *dispatch;
	struct router_port *ports;
	uint32_t count;
};

/* Opens QP1 of each port of each router of the fabric. */
MUST_USE int router_ports_open(struct router_ports *ports, struct mad_dispatch *dispatch);
void router_ports_close(struct router_ports *ports);

/* Takes over the present state, LID and manager of each router's port. */
void router_ports_refresh(struct router_ports *ports);

/* Sends the MADs that are due. Returns whether there were any. */
bool router_ports_run(struct router_ports *ports, time_ns now);
time_ns router_ports_deadline(const struct router_ports *ports);

#endif
