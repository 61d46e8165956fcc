/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routers among the members of multicast groups: a group whose scope goes beyond its subnet, and
 * that somebody has joined anywhere, is there in every subnet that routers reach, and the routers
 * on the tree between them are members (vol 1, chapters 15 and 19).
 *
 * What each subnet has is learned and changed by MADs, so any manager will do. Where others use the
 * group a router is a non-member, and the group ends with its users; where nobody does, routers are
 * its full members and keep it for those on the other side. Whether anybody else has joined there
 * meanwhile can't be seen by who does not know the subnet's key: when all users known are gone,
 * routers leave, and whatever group is left has users.
 */
#ifndef SOFTIB_DAEMON_MANAGERS_ROUTER_GROUPS_H
#define SOFTIB_DAEMON_MANAGERS_ROUTER_GROUPS_H

#include <stdbool.h>
#include "daemon/managers/router_ports.h"

struct fabric;

struct router_groups {
	struct fabric *fabric;
	struct router_ports ports;
	bool has_news;	/* of some port, since the last decision */
	uint64_t round; /* of decisions */
};

MUST_USE int router_groups_start(struct router_groups *groups, struct mad_dispatch *dispatch);
void router_groups_stop(struct router_groups *groups);

/* Sends what routers have to say, decides where they are members. Returns whether it did
 * anything. */
bool router_groups_run(struct router_groups *groups, time_ns now);
time_ns router_groups_deadline(const struct router_groups *groups);

#endif
