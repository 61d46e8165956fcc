/* SPDX-License-Identifier: Apache-2.0 */
/* How the nodes of the RD examples learn each other's addresses: over TCP, rank 0 being the server.
 */
#ifndef SOFTIB_EXAMPLES_RD_RENDEZVOUS_H
#define SOFTIB_EXAMPLES_RD_RENDEZVOUS_H

#include "node.h"

struct rendezvous {
	int sockets[NODES_MAX]; /* rank 0: of each other one; else: [0] */
	unsigned node_count;
	unsigned rank;
};

/* Gives this node's address and gets all; says what went wrong and returns nonzero. */
int rendezvous_meet(struct rendezvous *rendezvous, const struct node *node, unsigned node_count,
		    unsigned rank, struct node_address addresses[NODES_MAX]);
/* Returns when all are here. */
int rendezvous_barrier(struct rendezvous *rendezvous);
void rendezvous_close(struct rendezvous *rendezvous);

#endif
