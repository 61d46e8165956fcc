/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of general service classes (management 5.3). */
#include "mgmt/agents/class_traps.h"

#include <stdlib.h>
#include "mgmt/mad/redirect.h"
#include "net/node/node.h"
#include "wire/pkey.h"
#include "wire/smp.h"

struct class_trap {
	struct list link;
	struct agent_trap trap;
};

static struct class_trap *trap_of(struct list *link)
{
	return container_of(link, struct class_trap, link);
}

static void end(struct class_trap *trap)
{
	list_remove(&trap->link);
	free(trap);
}

void class_trap_queue(struct agent_memory *memory, struct port *port, time_ns now,
		      const struct trap_class *class, const struct notice *notice)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = class->management_class,
		.class_version = class->class_version,
		.method = MAD_TRAP,
		.transaction_id = (uint64_t)port->node->index << 32 | ++memory->trap_sequence,
		.attribute_id = ATTRIBUTE_NOTICE,
	};
	struct class_trap *trap;
	struct notice told = *notice;

	if (!port_is_active(port) || !lid_is_unicast(port->info.lid))
		return;
	trap = calloc(1, sizeof(*trap));
	if (!trap)
		return;
	/* A vendor's notice has the vendor's OUI there. */
	if (!told.header.producer_type) {
		told.header.is_generic = 1;
		told.header.producer_type = port->node->info.node_type;
	}
	told.header.issuer_lid = port->info.lid;
	trap->trap.port = port;
	trap->trap.message.address = class->address;
	mad_header_encode(&header, trap->trap.message.bytes);
	notice_encode(&told, trap->trap.message.bytes + mad_data_offset(class->management_class));
	list_append(&memory->class_traps, &trap->link);
	memory->traps_due_at = time_earlier(memory->traps_due_at, now);
}

bool class_trap_take(struct agent_memory *memory, struct agent_trap *ret_trap)
{
	struct class_trap *trap;

	if (list_is_empty(&memory->class_traps))
		return false;
	trap = trap_of(list_first(&memory->class_traps));
	*ret_trap = trap->trap;
	end(trap);
	return true;
}

void class_traps_forget(struct agent_memory *memory, const struct node *node)
{
	list_for_each_safe (link, &memory->class_traps) {
		if (!node || trap_of(link)->trap.port->node == node)
			end(trap_of(link));
	}
}
