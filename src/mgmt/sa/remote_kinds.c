/* SPDX-License-Identifier: Apache-2.0 */
/* The SMPs for each kind of record that the SA reads from other nodes (management 2.4, 4.3). */
#include "mgmt/sa/remote_request.h"
#include "mgmt/sa/remote_tables.h"

#include <stdlib.h>

struct remote_block *remote_request_add(struct remote_request *remote,
					const struct subnet_port *end_port, uint32_t modifier)
{
	if (remote->block_count == remote->block_capacity) {
		uint32_t capacity = remote->block_capacity ? 2 * remote->block_capacity : 64;
		struct remote_block *larger =
			capacity > REMOTE_TABLES_BLOCKS_MAX
				? NULL
				: realloc(remote->blocks, capacity * sizeof(*larger));

		if (!larger) {
			remote->is_too_large = true;
			return NULL;
		}
		remote->blocks = larger;
		remote->block_capacity = capacity;
	}

	struct remote_block *block = &remote->blocks[remote->block_count++];

	*block = (struct remote_block){
		.lid = end_port->lid, .mkey = end_port->mkey, .modifier = modifier};
	return block;
}

/* Whether the request leaves this component open or has this value. */
static bool is_wanted(const struct remote_request *remote, unsigned component, unsigned given,
		      unsigned number)
{
	return !sa_request_has(&remote->request, component) || given == number;
}

static void add_sl_to_vl(struct remote_request *remote, const struct subnet_port *port,
			 uint8_t input, uint8_t output, uint32_t modifier)
{
	const struct sl_to_vl_record_id id = {
		.lid = port->lid, .input_port = input, .output_port = output};
	struct sl_to_vl_record_id wanted;
	struct remote_block *block;

	sl_to_vl_record_id_decode(remote->data, &wanted);
	if (!is_wanted(remote, SLVL_INPUT_PORT, wanted.input_port, input) ||
	    !is_wanted(remote, SLVL_OUTPUT_PORT, wanted.output_port, output))
		return;
	block = remote_request_add(remote, port, modifier);
	if (block)
		sl_to_vl_record_id_encode(&id, block->id);
}

/* A switch has a map for every pair of ports, an adapter's port has one. */
static void add_sl_to_vl_blocks(struct sa *sa, struct remote_request *remote,
				const struct subnet_port *port)
{
	unsigned port_count = port->node->port_count;

	(void)sa;
	if (!subnet_node_is_switch(port->node)) {
		add_sl_to_vl(remote, port, 0, port->number, 0);
		return;
	}
	for (unsigned input = 0; input <= port_count; input++)
		for (unsigned output = 1; output <= port_count && !remote->is_too_large; output++)
			add_sl_to_vl(remote, port, (uint8_t)input, (uint8_t)output,
				     sl_to_vl_modifier((uint8_t)input, (uint8_t)output));
}

/* Each table has as many entries as PortInfo says, 32 per block. */
static bool has_section(const struct port_info *info, unsigned section)
{
	switch (section) {
	case VL_ARBITRATION_LOW_FIRST:
		return info->vl_arbitration_low_cap > 0;
	case VL_ARBITRATION_LOW_SECOND:
		return info->vl_arbitration_low_cap > VL_ARBITRATION_PER_BLOCK;
	case VL_ARBITRATION_HIGH_FIRST:
		return info->vl_arbitration_high_cap > 0;
	default:
		return info->vl_arbitration_high_cap > VL_ARBITRATION_PER_BLOCK;
	}
}

static void add_arbitration_of(struct remote_request *remote, const struct subnet_port *end_port,
			       const struct subnet_port *port)
{
	bool is_switch = subnet_node_is_switch(port->node);
	struct vl_arbitration_record_id wanted;

	vl_arbitration_record_id_decode(remote->data, &wanted);
	for (unsigned section = VL_ARBITRATION_LOW_FIRST; section <= VL_ARBITRATION_HIGH_SECOND;
	     section++) {
		const struct vl_arbitration_record_id id = {.lid = end_port->lid,
							    .output_port = port->number,
							    .block = (uint8_t)section};
		struct remote_block *block;

		if (!has_section(&port->info, section) ||
		    !is_wanted(remote, 1, wanted.output_port, port->number) ||
		    !is_wanted(remote, 2, wanted.block, section))
			continue;
		block = remote_request_add(
			remote, end_port,
			vl_arbitration_modifier((enum vl_arbitration_section)section,
						is_switch ? port->number : 0));
		if (block)
			vl_arbitration_record_id_encode(&id, block->id);
	}
}

static void add_arbitration_blocks(struct sa *sa, struct remote_request *remote,
				   const struct subnet_port *port)
{
	const struct subnet_node *node = port->node;

	(void)sa;
	if (!subnet_node_is_switch(node)) {
		add_arbitration_of(remote, port, port);
		return;
	}
	for (unsigned i = 1; i <= node->port_count; i++)
		if (node->ports[i].is_known)
			add_arbitration_of(remote, port, &node->ports[i]);
}

static unsigned mlid_count(const struct multicast_groups *groups)
{
	unsigned count = 0;

	list_for_each (link, &groups->groups) {
		unsigned index = multicast_group_of(link)->mlid - LID_MULTICAST_FIRST;

		count = index >= count ? index + 1 : count;
	}
	return count;
}

/* Only the blocks of MLIDs in use. Trees change with every member, so the SA reads the switches. */
static void add_multicast_blocks(struct sa *sa, struct remote_request *remote,
				 const struct subnet_port *port)
{
	unsigned block_count = (mlid_count(sa->groups) + MULTICAST_FORWARDING_PER_BLOCK - 1) /
			       MULTICAST_FORWARDING_PER_BLOCK;
	struct multicast_forwarding_record_id wanted;

	if (!subnet_node_is_switch(port->node))
		return;
	multicast_forwarding_record_id_decode(remote->data, &wanted);
	for (unsigned block = 0; block < block_count; block++) {
		for (unsigned position = 0; position < subnet_multicast_positions(port->node);
		     position++) {
			const struct multicast_forwarding_record_id id = {.lid = port->lid,
									  .position =
										  (uint8_t)position,
									  .block = (uint16_t)block};
			struct remote_block *added = NULL;

			if (is_wanted(remote, MFR_POSITION, wanted.position, position) &&
			    is_wanted(remote, MFR_BLOCK, wanted.block, block))
				added = remote_request_add(
					remote, port,
					multicast_forwarding_modifier((uint16_t)block,
								      (uint8_t)position));
			if (added)
				multicast_forwarding_record_id_encode(&id, added->id);
		}
	}
}

/* Reads SMInfo of other managers; that of its own manager is known. */
static void add_sm_info(struct sa *sa, struct remote_request *remote,
			const struct subnet_port *port)
{
	const struct sa_owner *owner = &sa->options.owner;
	const struct record_lid id = {.lid = port->lid};
	bool is_own = port->guid == sa->options.port_guid && owner->sm_info;
	struct remote_block *block;
	struct sm_info info;

	if (!is_own && !(port->info.capability_mask & CAPABILITY_IS_SM))
		return;
	block = remote_request_add(remote, port, 0);
	if (!block)
		return;
	record_lid_encode(&id, block->id);
	if (!is_own)
		return;
	owner->sm_info(owner->context, &info);
	sm_info_encode(&info, block->bytes);
	block->has_answer = true;
}

static const struct remote_kind kinds[] = {
	{SA_SL_TO_VL_RECORD, ATTRIBUTE_SL_TO_VL, SL_TO_VL_RECORD_BYTES,
	 SL_TO_VL_RECORD_BLOCK_OFFSET, SL_TO_VL_BYTES, &sl_to_vl_record_components,
	 add_sl_to_vl_blocks},
	{SA_VL_ARBITRATION_RECORD, ATTRIBUTE_VL_ARBITRATION, BLOCK_RECORD_BYTES,
	 BLOCK_RECORD_BLOCK_OFFSET, SMP_DATA_BYTES, &vl_arbitration_record_components,
	 add_arbitration_blocks},
	{SA_MULTICAST_FORWARDING_RECORD, ATTRIBUTE_MULTICAST_FORWARDING, BLOCK_RECORD_BYTES,
	 BLOCK_RECORD_BLOCK_OFFSET, SMP_DATA_BYTES, &multicast_forwarding_record_components,
	 add_multicast_blocks},
	{SA_SM_INFO_RECORD, ATTRIBUTE_SM_INFO, SM_INFO_RECORD_BYTES, SM_INFO_RECORD_INFO_OFFSET,
	 SM_INFO_BYTES, &sm_info_record_components, add_sm_info},
	/* Only for writing. */
	{SA_GUID_INFO_RECORD, ATTRIBUTE_GUID_INFO, BLOCK_RECORD_BYTES, BLOCK_RECORD_BLOCK_OFFSET,
	 SMP_DATA_BYTES, &guid_info_record_components, NULL},
};

const struct remote_kind *remote_kind_find(uint16_t attribute_id)
{
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (kinds[i].attribute_id == attribute_id)
			return &kinds[i];
	return NULL;
}
