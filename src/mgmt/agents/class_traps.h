/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of general service classes: from QP1 of a port to where the class's ClassPortInfo says,
 * once each (vol 1, chapter 13). */
#ifndef SOFTIB_MGMT_AGENTS_CLASS_TRAPS_H
#define SOFTIB_MGMT_AGENTS_CLASS_TRAPS_H

#include "mgmt/agents/node_agents.h"
#include "wire/notice.h"

struct trap_class {
	uint8_t management_class;
	uint8_t class_version;
	struct mad_address address;
};

/* The distance to others is the caller's to keep; a port that can't send has nothing to tell. */
void class_trap_queue(struct agent_memory *memory, struct port *port, time_ns now,
		      const struct trap_class *class, const struct notice *notice);

/* Takes out the oldest; false: there is none. */
MUST_USE bool class_trap_take(struct agent_memory *memory, struct agent_trap *ret_trap);

/* All of the node; NULL: of every node. */
void class_traps_forget(struct agent_memory *memory, const struct node *node);

#endif
