/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routers among the members of multicast groups: a group whose scope goes beyond its subnet, and
 * that somebody has joined anywhere, is made known to the manager of every subnet that routers
 * reach, and the routers on the tree between them are members there.
 *
 * It works on the groups of the built-in managers; a subnet of another manager has to have the
 * routers joined by it.
 */
#ifndef SOFTIB_DAEMON_ROUTER_GROUPS_H
#define SOFTIB_DAEMON_ROUTER_GROUPS_H

#include <stdbool.h>

struct daemon;

/* Call it often: it does nothing unless a group or a router's port has changed. Returns whether it
 * did. */
bool router_groups_run(struct daemon *daemon);

#endif
