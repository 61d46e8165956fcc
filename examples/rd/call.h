/* SPDX-License-Identifier: Apache-2.0 */
/* How the nodes of the RD examples connect their contexts through communication management. */
#ifndef SOFTIB_EXAMPLES_RD_CALL_H
#define SOFTIB_EXAMPLES_RD_CALL_H

#include "node.h"

struct call {
	struct softib_cm_channel *channel;
	struct softib_cm_id *listener; /* NULL: of a caller */
	struct softib_cm_id *id;
};

/*
 * The server waits for a call, the other one calls it: a host's name, or the GID of a port.
 * Connects the context for that rank and says what it learned of the other side. All say what went
 * wrong and return nonzero.
 */
int call_meet(struct call *call, struct node *node, unsigned peer,
	      struct node_address *ret_address);
/* What the node of this rank listens for. */
uint64_t call_service(const struct node *node, unsigned rank);
/* What a node offers with a call, and with its answer. */
struct softib_eec_offer call_offer(const struct node *node);
/* By address resolution, as librdmacm does it; a name that is a GID needs none. */
int call_find_gid(const char *name, union ibv_gid *ret_gid);
/* The server hangs up, the other one waits for that: nobody has anything under way then. */
int call_part(struct call *call);

#endif
