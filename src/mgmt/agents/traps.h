/* SPDX-License-Identifier: Apache-2.0 */
/* Traps on their way to the subnet manager, inside the agents (vol 1, chapters 13 and 14). */
#ifndef SOFTIB_MGMT_AGENTS_TRAPS_H
#define SOFTIB_MGMT_AGENTS_TRAPS_H

#include "mgmt/agents/sma.h"

/* Trap 256. */
void trap_bad_mkey(struct agent_memory *memory, const struct sma_request *request,
		   struct port *port);

/* The manager has heard the trap with this transaction id. */
void trap_repress(struct agent_memory *memory, const struct node *node, uint64_t transaction_id);

/* All traps of the node; NULL: of every node. */
void traps_forget(struct agent_memory *memory, const struct node *node);

#endif
