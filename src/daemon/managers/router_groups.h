/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routers as members of multicast groups (vol 1, chapters 15 and 19). A group whose scope goes
 * beyond its subnet, and that has a member anywhere, exists in every subnet that routers reach; the
 * routers on the spanning tree between these subnets are members.
 *
 * softibd learns and changes memberships by MADs, so any subnet manager will do. Where the group
 * has other users, a router joins as a non-member, and the group ends with its users. Where it has
 * none, routers are full members and keep the group for users in other subnets. Without the
 * subnet's key a router can't see whether another port has joined there meanwhile. So when all
 * known users have left, the routers leave too, and a group that remains has users.
 */
#ifndef SOFTIB_DAEMON_MANAGERS_ROUTER_GROUPS_H
#define SOFTIB_DAEMON_MANAGERS_ROUTER_GROUPS_H

#include <stdbool.h>
#include "daemon/managers/router_ports.h"

struct fabric;

struct router_groups {
	struct fabric *fabric;
	struct router_ports ports;
	bool has_news;	/* a port changed since the last decision */
	uint64_t round; /* number of decisions */
};

MUST_USE int router_groups_start(struct router_groups *groups, struct mad_dispatch *dispatch);
void router_groups_stop(struct router_groups *groups);

/* Sends the routers' MADs, and decides where routers are members. Returns whether there was
 * anything to do. */
bool router_groups_run(struct router_groups *groups, time_ns now);
time_ns router_groups_deadline(const struct router_groups *groups);

#endif
