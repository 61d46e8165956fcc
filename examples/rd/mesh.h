/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many nodes of the RD examples connect all to all by communication management.
 *
 * Every node listens for its rank and connects to the nodes of lower rank: to rank 0 at the given
 * host, to the others at the GIDs that rank 0 sends over the connected EE contexts.
 */
#ifndef SOFTIB_EXAMPLES_RD_MESH_H
#define SOFTIB_EXAMPLES_RD_MESH_H

#include "node.h"

struct mesh {
	struct node *node;
	struct node_address *addresses; /* of the other nodes, by rank */
	struct softib_cm_channel *channel;
	struct softib_cm_id *listener;
	struct softib_cm_id *ids[NODES_MAX];
	bool is_established[NODES_MAX];
	bool has_ended[NODES_MAX];
};

/*
 * The receives must be posted. Also returns how many sends rank 0 still has in flight. All
 * functions print what went wrong and return nonzero.
 */
int mesh_meet(struct mesh *mesh, struct node *node, struct node_address addresses[NODES_MAX],
	      unsigned *ret_sends_outstanding);
/* Rank 0 knows that all nodes are done and disconnects first, then the others do. */
int mesh_part(struct mesh *mesh);

#endif
