/* SPDX-License-Identifier: Apache-2.0 */
/* Traps on their way to the subnet manager: repeated until repressed, never closer than
 * SubnetTimeOut (vol 1, chapter 14). */
#include "mgmt/agents/traps.h"

#include <stdlib.h>
#include <string.h>
#include "wire/notice.h"
#include "wire/pkey.h"
#include "wire/smp.h"

enum trap_state {
	TRAP_WAITING, /* to be sent when its time has come */
	TRAP_SENT,    /* until repressed, or repeated */
	TRAP_QUIET,   /* repressed; kept for the distance to the next one */
};

struct pending_trap {
	struct list link;
	struct port *port; /* the end port that speaks for the node */
	enum trap_state state;
	time_ns due_at; /* the next sending; when quiet: until then no other */
	uint64_t transaction_id;
	struct notice notice;
};

static struct pending_trap *trap_of(struct list *link)
{
	return container_of(link, struct pending_trap, link);
}

void traps_forget(struct agent_memory *memory, const struct node *node)
{
	list_for_each_safe (link, &memory->traps) {
		struct pending_trap *trap = trap_of(link);

		if (node && trap->port->node != node)
			continue;
		list_remove(link);
		free(trap);
	}
}

static struct pending_trap *find_trap(const struct agent_memory *memory, const struct node *node)
{
	list_for_each (link, &memory->traps) {
		if (trap_of(link)->port->node == node)
			return trap_of(link);
	}
	return NULL;
}

static bool can_send(const struct port *port)
{
	return port_is_active(port) && lid_is_unicast(port->info.master_sm_lid) &&
	       lid_is_unicast(port->info.lid) && (port->info.capability_mask & CAPABILITY_TRAP);
}

/* A new event replaces one that still waits: the manager sweeps the whole subnet for either. */
static void queue(struct agent_memory *memory, struct port *port, time_ns now,
		  const struct notice *notice)
{
	struct pending_trap *trap = find_trap(memory, port->node);

	if (!can_send(port))
		return;
	if (!trap) {
		trap = calloc(1, sizeof(*trap));
		if (!trap) /* The next sweep finds it anyway. */
			return;
		trap->due_at = now;
		list_append(&memory->traps, &trap->link);
	}
	trap->port = port;
	trap->state = TRAP_WAITING;
	trap->transaction_id = (uint64_t)port->node->index << 32 | ++memory->trap_sequence;
	trap->notice = *notice;
	trap->notice.header.is_generic = 1;
	trap->notice.header.producer_type = port->node->info.node_type;
	trap->notice.header.issuer_lid = port->info.lid;
}

void agent_link_changed(struct agent_memory *memory, struct node *node, time_ns now)
{
	if (!node_is_switch(node))
		return;

	struct port *port = &node->ports[0];
	const struct link_state_details details = {.lid = port->info.lid};
	struct notice notice = {
		.header = {.type = NOTICE_URGENT, .trap_number = TRAP_LINK_STATE_CHANGE}};

	node->switch_info.port_state_change = 1;
	link_state_details_encode(&details, notice.details);
	queue(memory, port, now, &notice);
}

void agent_capability_changed(struct agent_memory *memory, struct port *port, time_ns now)
{
	const struct local_change_details details = {
		.lid = port->info.lid,
		.capability_mask = port->info.capability_mask,
		.capability_mask2 = port->info.capability_mask2,
	};
	struct notice notice = {
		.header = {.type = NOTICE_INFORMATIONAL, .trap_number = TRAP_LOCAL_CHANGE}};

	local_change_details_encode(&details, notice.details);
	queue(memory, port, now, &notice);
}

void trap_bad_mkey(struct agent_memory *memory, const struct sma_request *request,
		   struct port *port)
{
	enum { PATH_OFFSET = 24, PATH_BYTES = 30 };
	const struct mad_header *header = &request->header;
	bool is_directed = header->management_class == MAD_CLASS_SUBNET_DIRECTED;
	const uint8_t *bytes = request->message->bytes;
	const struct bad_mkey_details details = {
		.lid = request->message->address.lid,
		.dr_slid = is_directed ? smp_dr_slid(bytes) : 0,
		.method = header->method,
		.attribute_id = header->attribute_id,
		.attribute_modifier = header->attribute_modifier,
		.mkey = request->mkey,
		.is_directed = is_directed,
		.path_truncated = is_directed && header->hop_count > PATH_BYTES,
		.hop_count = is_directed ? header->hop_count & 63 : 0,
	};
	struct notice notice = {.header = {.type = NOTICE_SECURITY, .trap_number = TRAP_BAD_MKEY}};

	bad_mkey_details_encode(&details, notice.details);
	if (is_directed)
		memcpy(notice.details + PATH_OFFSET, bytes + SMP_RETURN_PATH_OFFSET + 1,
		       PATH_BYTES);
	queue(memory, port, request->now, &notice);
}

void trap_repress(struct agent_memory *memory, const struct node *node, uint64_t transaction_id)
{
	struct pending_trap *trap = find_trap(memory, node);

	if (trap && trap->state == TRAP_SENT && trap->transaction_id == transaction_id)
		trap->state = TRAP_QUIET;
}

static void make_message(const struct pending_trap *trap, struct mad_message *ret_message)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_SUBNET_LID,
		.class_version = SMP_CLASS_VERSION,
		.method = MAD_TRAP,
		.transaction_id = trap->transaction_id,
		.attribute_id = ATTRIBUTE_NOTICE,
	};

	ret_message->address = (struct mad_address){
		.lid = trap->port->info.master_sm_lid,
		.sl = trap->port->info.master_sm_sl,
		.qpn = QPN_SMI,
		.pkey = PKEY_DEFAULT_FULL,
	};
	smp_start(&header, ret_message->bytes);
	notice_encode(&trap->notice, smp_data(ret_message->bytes));
}

unsigned agent_take_traps(struct agent_memory *memory, time_ns now, unsigned traps_max,
			  struct agent_trap ret_traps[])
{
	unsigned trap_count = 0;

	list_for_each_safe (link, &memory->traps) {
		struct pending_trap *trap = trap_of(link);

		if (trap_count == traps_max)
			break;
		if (trap->due_at > now)
			continue;
		if (trap->state == TRAP_QUIET || !can_send(trap->port)) {
			list_remove(link);
			free(trap);
			continue;
		}
		ret_traps[trap_count].port = trap->port;
		make_message(trap, &ret_traps[trap_count].message);
		trap_count++;
		trap->state = TRAP_SENT;
		trap->due_at = now + time_from_code(trap->port->info.subnet_timeout);
	}
	return trap_count;
}

time_ns agent_traps_deadline(const struct agent_memory *memory)
{
	time_ns deadline = TIME_NEVER;

	list_for_each (link, &memory->traps)
		deadline = time_earlier(deadline, trap_of(link)->due_at);
	return deadline;
}
