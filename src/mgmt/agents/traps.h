/* SPDX-License-Identifier: Apache-2.0 */
/* Traps on their way to the subnet manager, inside the agents (vol 1, chapters 13 and 14). */
#ifndef SOFTIB_MGMT_AGENTS_TRAPS_H
#define SOFTIB_MGMT_AGENTS_TRAPS_H

#include "mgmt/agents/sma.h"
#include "wire/notice.h"

/* Notices that an end port has to send at once, at most. */
enum { TRAPS_PER_PORT_MAX = 8 };

/* Something happened that the manager should hear. The notice needs its type, trap number and
 * details; subject tells apart notices of one number that do not replace each other (a port
 * number). Nothing is queued while the port can't send: the manager's next sweep finds out. */
void trap_queue(struct agent_memory *memory, struct port *port, time_ns now,
		const struct notice *notice, uint32_t subject);

/* Trap 256. */
void trap_bad_mkey(struct agent_memory *memory, const struct sma_request *request,
		   struct port *port);

/* The manager has heard the trap with this transaction id. */
void trap_repress(struct agent_memory *memory, const struct node *node, uint64_t transaction_id);

/* The oldest notice that the port still has to tell, with how many there are; an empty one: none.
 */
void trap_peek(const struct agent_memory *memory, const struct port *port,
	       struct notice *ret_notice);
/* The manager has read the notice with this toggle and count, if it is still the oldest. */
void trap_remove(struct agent_memory *memory, const struct port *port,
		 const struct notice_header *read);

/* All traps of the node; NULL: of every node. */
void traps_forget(struct agent_memory *memory, const struct node *node);

#endif
