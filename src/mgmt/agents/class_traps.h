/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of general service classes: each is sent once, from QP1 of a port to the address in the
 * class's ClassPortInfo (management 1.6, 5.3). */
#ifndef SOFTIB_MGMT_AGENTS_CLASS_TRAPS_H
#define SOFTIB_MGMT_AGENTS_CLASS_TRAPS_H

#include "mgmt/agents/agents.h"
#include "wire/notice.h"

struct trap_class {
	uint8_t management_class;
	uint8_t class_version;
	struct mad_address address;
};

/* The caller keeps the minimum distance between traps. A port that can't send queues nothing. */
void class_trap_queue(struct agent_memory *memory, struct port *port, time_ns now,
		      const struct trap_class *class, const struct notice *notice);

/* Removes the oldest trap from the queue. false: the queue is empty. */
MUST_USE bool class_trap_take(struct agent_memory *memory, struct agent_trap *ret_trap);

/* Drops all traps of the node. NULL: of every node. */
void class_traps_forget(struct agent_memory *memory, const struct node *node);

#endif
