/* SPDX-License-Identifier: Apache-2.0 */
/* Notices of the subnet management agent: one function per trap, and the violation counters
 * (management 5.2, 5.3). */
#include "mgmt/agents/node_log.h"
#include "mgmt/agents/traps.h"

#include <string.h>
#include "wire/pkey.h"
#include "wire/smp.h"

enum { VIOLATIONS_MAX = 0xffff };

/* The port that sends the trap: port 0 of a switch. */
static struct port *speaker(struct port *port)
{
	return node_management_port(port->node, port->number);
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
	trap_queue(memory, port, now, &notice, 0);
}

static void port_error(struct agent_memory *memory, struct port *port, time_ns now,
		       enum trap_number trap_number)
{
	const struct port_error_details details = {.lid = speaker(port)->info.lid,
						   .port_number = port->number};
	struct notice notice = {
		.header = {.type = NOTICE_URGENT, .trap_number = (uint16_t)trap_number}};

	port_error_details_encode(&details, notice.details);
	trap_queue(memory, speaker(port), now, &notice, port->number);
}

void agent_link_integrity(struct agent_memory *memory, struct port *port, time_ns now)
{
	port_error(memory, port, now, TRAP_LINK_INTEGRITY);
}

void agent_buffer_overrun(struct agent_memory *memory, struct port *port, time_ns now)
{
	port_error(memory, port, now, TRAP_BUFFER_OVERRUN);
}

void agent_flow_control_watchdog(struct agent_memory *memory, struct port *port, time_ns now)
{
	port_error(memory, port, now, TRAP_FLOW_CONTROL_WATCHDOG);
}

static void local_change(struct agent_memory *memory, struct port *port, time_ns now,
			 uint16_t change_flags)
{
	const struct local_change_details details = {
		.lid = port->info.lid,
		.other_local_changes = change_flags != 0,
		.capability_mask = port->info.capability_mask,
		.change_flags = change_flags,
		.capability_mask2 = port->info.capability_mask2,
	};
	struct notice notice = {
		.header = {.type = NOTICE_INFORMATIONAL, .trap_number = TRAP_LOCAL_CHANGE}};

	local_change_details_encode(&details, notice.details);
	/* Notices with different change flags do not replace each other, so that one change does
	 * not hide another. */
	trap_queue(memory, port, now, &notice, change_flags);
}

void agent_capability_changed(struct agent_memory *memory, struct port *port, time_ns now)
{
	local_change(memory, port, now, 0);
}

void agent_local_change(struct agent_memory *memory, struct port *port, time_ns now,
			uint16_t change_flags)
{
	local_change(memory, speaker(port), now, change_flags);
}

/* Every end port of the node reports to its own manager: the ports may be in different subnets. */
static void for_each_end_port(struct node *node, struct agent_memory *memory, time_ns now,
			      void (*tell)(struct agent_memory *memory, struct port *port,
					   time_ns now))
{
	if (node_is_switch(node)) {
		tell(memory, &node->ports[0], now);
		return;
	}
	for (unsigned port_number = 1; port_number <= node->port_count; port_number++)
		tell(memory, &node->ports[port_number], now);
}

static void tell_description(struct agent_memory *memory, struct port *port, time_ns now)
{
	local_change(memory, port, now, CHANGE_NODE_DESCRIPTION);
}

void agent_description_changed(struct agent_memory *memory, struct node *node, time_ns now)
{
	for_each_end_port(node, memory, now, tell_description);
}

static void tell_system_image(struct agent_memory *memory, struct port *port, time_ns now)
{
	const struct system_image_details details = {
		.lid = port->info.lid, .system_image_guid = port->node->info.system_image_guid};
	struct notice notice = {.header = {.type = NOTICE_INFORMATIONAL,
					   .trap_number = TRAP_SYSTEM_IMAGE_GUID_CHANGE}};

	system_image_details_encode(&details, notice.details);
	trap_queue(memory, port, now, &notice, 0);
}

void agent_system_image_changed(struct agent_memory *memory, struct node *node, time_ns now)
{
	for_each_end_port(node, memory, now, tell_system_image);
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
	trap_queue(memory, port, request->now, &notice, 0);
}

static void count_violation(const struct agent_violation *violation, uint16_t *counter)
{
	uint32_t count = violation->count ? violation->count : 1;
	uint32_t room = VIOLATIONS_MAX - (uint32_t)*counter;

	*counter = (uint16_t)(*counter + (count < room ? count : room));
}

/* The fields that the details of traps 257, 258 and 259 share (management 5.2). */
#define VIOLATION_DETAILS(violation)                                                               \
	.lid1 = (violation)->slid, .lid2 = (violation)->dlid, .sl = (violation)->sl,               \
	.qp1 = (violation)->source_qpn, .qp2 = (violation)->destination_qpn,                       \
	.gid1_prefix = gid_prefix(&(violation)->sgid), .gid1_guid = gid_guid(&(violation)->sgid),  \
	.gid2_prefix = gid_prefix(&(violation)->dgid), .gid2_guid = gid_guid(&(violation)->dgid)

static void bad_key(struct agent_memory *memory, struct port *port, time_ns now,
		    const struct agent_violation *violation, enum trap_number trap_number)
{
	const struct bad_key_details details = {
		.key = violation->key,
		VIOLATION_DETAILS(violation),
	};
	struct notice notice = {
		.header = {.type = NOTICE_SECURITY, .trap_number = (uint16_t)trap_number}};

	bad_key_details_encode(&details, notice.details);
	trap_queue(memory, port, now, &notice, 0);
}

static void bad_pkey_at_switch(struct agent_memory *memory, struct port *port, time_ns now,
			       const struct agent_violation *violation)
{
	uint16_t data_valid = SWITCH_PKEY_LID1 | SWITCH_PKEY_LID2 | SWITCH_PKEY_PKEY |
			      SWITCH_PKEY_SL | SWITCH_PKEY_QP2;
	const struct switch_pkey_details details = {
		.data_valid =
			(uint16_t)(data_valid | (violation->has_source_qpn ? SWITCH_PKEY_QP1 : 0) |
				   (violation->has_grh ? SWITCH_PKEY_GID1 | SWITCH_PKEY_GID2 : 0)),
		.pkey = (uint16_t)violation->key,
		VIOLATION_DETAILS(violation),
		.switch_lid = port->node->ports[0].info.lid,
		.port_number = port->number,
	};
	struct notice notice = {
		.header = {.type = NOTICE_SECURITY, .trap_number = TRAP_BAD_PKEY_AT_SWITCH}};

	switch_pkey_details_encode(&details, notice.details);
	trap_queue(memory, &port->node->ports[0], now, &notice, port->number);
}

void agent_pkey_violation(struct agent_memory *memory, struct port *port, time_ns now,
			  const struct agent_violation *violation)
{
	struct port_info *info = &speaker(port)->info;

	count_violation(violation, &info->pkey_violations);
	node_log_key_violation(memory, port, now, NODE_KEY_P, violation->slid);
	if (lid_is_multicast(violation->dlid) && info->multicast_pkey_trap_suppression)
		return;
	if (port->kind == PORT_OF_SWITCH)
		bad_pkey_at_switch(memory, port, now, violation);
	else
		bad_key(memory, port, now, violation, TRAP_BAD_PKEY);
}

void agent_qkey_violation(struct agent_memory *memory, struct port *port, time_ns now,
			  const struct agent_violation *violation)
{
	count_violation(violation, &speaker(port)->info.qkey_violations);
	node_log_key_violation(memory, port, now, NODE_KEY_Q, violation->slid);
	bad_key(memory, speaker(port), now, violation, TRAP_BAD_QKEY);
}
