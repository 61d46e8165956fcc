/* SPDX-License-Identifier: Apache-2.0 */
/* Traps to managers: queued, repeated until repressed (management 5.3). Used inside the agents
 * only.
 */
#ifndef SOFTIB_MGMT_AGENTS_TRAPS_H
#define SOFTIB_MGMT_AGENTS_TRAPS_H

#include "mgmt/agents/sma.h"
#include "wire/notice.h"

/* Pending notices of an end port and class, at most. */
enum { TRAPS_PER_PORT_MAX = 8 };

/* The class of a trap and its version. */
struct trap_kind {
	uint8_t management_class;
	uint8_t class_version;
};

/* Queues a notice for the subnet manager. It needs its type, trap number and details. subject (for
 * example a port number) tells apart notices of one number that do not replace each other. Nothing
 * is queued while the port can't send: the manager's next sweep finds the change. */
void trap_queue(struct agent_memory *memory, struct port *port, time_ns now,
		const struct notice *notice, uint32_t subject);

/* Queues a notice for the manager of another class. It replaces a pending notice with the same
 * number and details. */
void trap_queue_of_class(struct agent_memory *memory, struct port *port, time_ns now,
			 const struct trap_kind *kind, const struct notice *notice);

/* Trap 256: bad M_Key. */
void trap_bad_mkey(struct agent_memory *memory, const struct sma_request *request,
		   struct port *port);

/* The manager of this class got the trap with this transaction id. */
void trap_repress(struct agent_memory *memory, const struct node *node, uint8_t management_class,
		  uint64_t transaction_id);

/* The oldest pending notice of the port for the subnet manager, or of another class, and the number
 * of pending ones. An empty notice: none. */
void trap_peek(const struct agent_memory *memory, const struct port *port,
	       struct notice *ret_notice);
void trap_peek_of_class(const struct agent_memory *memory, const struct port *port,
			uint8_t management_class, struct notice *ret_notice);
/* The manager has read the notice with this toggle and count. Removes it if it is still the oldest
 * (management 5.3). */
void trap_remove(struct agent_memory *memory, const struct port *port, uint8_t management_class,
		 const struct notice_header *read);

/* Drops all traps of the node. NULL: of every node. */
void traps_forget(struct agent_memory *memory, const struct node *node);

#endif
