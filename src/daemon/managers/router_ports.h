/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QP1 of the routers' ports: each is a client of the SA of its subnet, whoever that is, for the
 * multicast groups there (mgmt/sa/group_client.h).
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
	struct endpoint endpoint; /* of no adapter: for MADs only */
	struct mad_client client;
	struct group_client groups;
	bool has_unsent;
	struct mad_message unsent;
	bool is_on_spanning_tree; /* of the routers that multicast goes by */
};

struct router_ports {
	struct mad_dispatch *dispatch;
	struct router_port *ports;
	uint32_t count;
};

/* One for each port of each router of the fabric. */
MUST_USE int router_ports_open(struct router_ports *ports, struct mad_dispatch *dispatch);
void router_ports_close(struct router_ports *ports);

/* The state, LID or manager of some router's port may be another now. */
void router_ports_look(struct router_ports *ports);

/* Sends what they have to say. Returns whether there was anything. */
bool router_ports_run(struct router_ports *ports, time_ns now);
time_ns router_ports_deadline(const struct router_ports *ports);

#endif
