/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many nodes of the RD examples connect all to all through communication management.
 *
 * Every node listens for its rank and calls those of lower rank: rank 0 at the host it is told, the
 * others where rank 0 says that they are, by a message over the context that is there by then.
 */
#ifndef SOFTIB_EXAMPLES_RD_MESH_H
#define SOFTIB_EXAMPLES_RD_MESH_H

#include "node.h"

struct mesh {
	struct node *node;
	struct node_address *addresses; /* by rank: what is learned of the others */
	struct softib_cm_channel *channel;
	struct softib_cm_id *listener;
	struct softib_cm_id *ids[NODES_MAX];
	bool is_established[NODES_MAX];
	bool has_ended[NODES_MAX];
};

/*
 * The receives are posted. Sends that rank 0 still has under way are counted. All say what went
 * wrong and return nonzero.
 */
int mesh_meet(struct mesh *mesh, struct node *node, struct node_address addresses[NODES_MAX],
	      unsigned *ret_sends_outstanding);
/* Rank 0, which knows that all are done, hangs up first; then everybody does. */
int mesh_part(struct mesh *mesh);

#endif
