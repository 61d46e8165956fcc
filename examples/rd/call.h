/* SPDX-License-Identifier: Apache-2.0 */
/* How the nodes of the RD examples connect their EE contexts by communication management. */
#ifndef SOFTIB_EXAMPLES_RD_CALL_H
#define SOFTIB_EXAMPLES_RD_CALL_H

#include "node.h"

struct call {
	struct softib_cm_channel *channel;
	struct softib_cm_id *listener; /* NULL on the requesting side */
	struct softib_cm_id *id;
};

/*
 * The server waits for a request; the other node requests a connection to a host name or a port's
 * GID. Connects the EE context of that rank and returns the other side's address. All functions
 * print what went wrong and return nonzero.
 */
int call_meet(struct call *call, struct node *node, unsigned peer,
	      struct node_address *ret_address);
/* The service ID that the node of this rank listens for. */
uint64_t call_service(const struct node *node, unsigned rank);
/* The offer that a node sends with its request or reply. */
struct softib_eec_offer call_offer(const struct node *node);
/* Resolves the name as librdmacm does; a GID needs no resolution. */
int call_find_gid(const char *name, union ibv_gid *ret_gid);
/* The server disconnects and the other node waits for that, so that neither has a message in
 * flight. */
int call_part(struct call *call);

#endif
