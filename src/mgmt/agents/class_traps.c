/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of general service classes (management 5.3). */
#include "mgmt/agents/class_traps.h"

#include <string.h>
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/traps.h"
#include "mgmt/mad/redirect.h"

void class_trap_queue(struct agent_memory *memory, struct port *port, time_ns now,
		      const struct trap_class *class, const struct notice *notice)
{
	const struct trap_kind kind = {
		.management_class = class->management_class,
		.class_version = class->class_version,
	};

	trap_queue_of_class(memory, port, now, &kind, notice);
}

bool class_trap_make(const struct agent_memory *memory, const struct port *port,
		     const struct mad_header *header, const struct notice *notice,
		     struct mad_message *ret_message)
{
	*ret_message = (struct mad_message){0};
	if (!class_trap_address(memory, port, header->management_class, &ret_message->address))
		return false;
	mad_header_encode(header, ret_message->bytes);
	notice_encode(notice, ret_message->bytes + mad_data_offset(header->management_class));
	return true;
}
