/* SPDX-License-Identifier: Apache-2.0 */
/* How the nodes of the RD examples exchange addresses: over TCP, with rank 0 as the server. */
#ifndef SOFTIB_EXAMPLES_RD_RENDEZVOUS_H
#define SOFTIB_EXAMPLES_RD_RENDEZVOUS_H

#include "node.h"

struct rendezvous {
	int sockets[NODES_MAX]; /* rank 0: one per other node; other ranks: only [0] */
	unsigned node_count;
	unsigned rank;
};

/* Sends this node's address and receives all; prints what went wrong and returns nonzero. */
int rendezvous_meet(struct rendezvous *rendezvous, const struct node *node, unsigned node_count,
		    unsigned rank, struct node_address addresses[NODES_MAX]);
/* Returns when all nodes have called it. */
int rendezvous_barrier(struct rendezvous *rendezvous);
void rendezvous_close(struct rendezvous *rendezvous);

#endif
