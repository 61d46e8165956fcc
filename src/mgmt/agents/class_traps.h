/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of general service classes, from QP1 of a port to the address in the class's ClassPortInfo
 * (management 1.6, 5.3). traps.c sends and repeats them, as it does those to the subnet manager. */
#ifndef SOFTIB_MGMT_AGENTS_CLASS_TRAPS_H
#define SOFTIB_MGMT_AGENTS_CLASS_TRAPS_H

#include "mgmt/agents/agents.h"
#include "wire/notice.h"

struct trap_class {
	uint8_t management_class;
	uint8_t class_version;
	struct mad_address address;
};

/* Queues a notice, which is repeated until a TrapRepress comes. It replaces a pending one that says
 * the same. A port that can't send queues nothing. */
void class_trap_queue(struct agent_memory *memory, struct port *port, time_ns now,
		      const struct trap_class *class, const struct notice *notice);

/* The MAD of such a trap, to the trap address that the class has now. false: it has none. */
MUST_USE bool class_trap_make(const struct agent_memory *memory, const struct port *port,
			      const struct mad_header *header, const struct notice *notice,
			      struct mad_message *ret_message);

#endif
