/* SPDX-License-Identifier: Apache-2.0 */
/* ClassPortInfo of the general service classes of a port (management 1.6). */
#include "mgmt/agents/class_port_infos.h"

#include <stdlib.h>
#include "base/hash_table.h"
#include "wire/pkey.h"
#include "wire/smp.h"

/* The Trap fields that a manager set for one class of one port. */
struct trap_address {
	uint32_t node_index;
	struct class_port_info info; /* with the Trap fields only */
	uint16_t lid;		     /* TrapLID, or that of the path to TrapGID */
	uint8_t sl;
};

static uint64_t key_of(const struct port *port, uint8_t management_class)
{
	return (uint64_t)port->node->index << 16 | (uint64_t)port->number << 8 | management_class;
}

static struct trap_address *find(const struct agent_memory *memory, const struct port *port,
				 uint8_t management_class)
{
	return memory ? hash_table_get(&memory->trap_addresses, key_of(port, management_class))
		      : NULL;
}

enum mad_status class_port_info_show(const struct gs_request *request, uint16_t capability_mask,
				     uint8_t *ret_data)
{
	const struct trap_address *address = find(request->environment->memory, request->arrival,
						  request->header.management_class);
	struct class_port_info info = address ? address->info : (struct class_port_info){0};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	info.base_version = MAD_BASE_VERSION;
	info.class_version = request->header.class_version;
	info.capability_mask = capability_mask;
	info.resp_time_value = CLASS_PORT_INFO_RESP_TIME_USUAL;
	class_port_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

static struct trap_address *find_or_make(const struct gs_request *request)
{
	struct agent_memory *memory = request->environment->memory;
	struct trap_address *address =
		find(memory, request->arrival, request->header.management_class);

	if (address || !memory)
		return address;
	address = calloc(1, sizeof(*address));
	if (!address)
		return NULL;
	address->node_index = request->node->index;
	if (hash_table_put(&memory->trap_addresses,
			   key_of(request->arrival, request->header.management_class), address)) {
		free(address);
		return NULL;
	}
	return address;
}

/* Where traps go in this subnet. A manager in another one does not know the LID of the router's
 * port here, so it writes TrapLID 0: its traps take the way back of its request. An agent has no
 * other paths, so false: such a request that did not come from TrapGID. */
static bool find_way(const struct mad_address *from, const struct class_port_info *wanted,
		     uint16_t *ret_lid, uint8_t *ret_sl)
{
	const struct gid gid = gid_from(wanted->trap_gid_prefix, wanted->trap_gid_guid);

	*ret_lid = wanted->trap_lid;
	*ret_sl = wanted->trap_sl;
	if (wanted->trap_lid || !wanted->trap_gid_guid)
		return true;
	*ret_lid = from->lid;
	*ret_sl = from->sl;
	return from->has_grh && gid_equal(&from->gid, &gid);
}

enum mad_status class_port_info_change(const struct gs_request *request, uint16_t capability_mask,
				       uint8_t *ret_data)
{
	struct class_port_info wanted;
	struct trap_address *address;
	uint16_t lid;
	uint8_t sl;

	class_port_info_decode(request->data, &wanted);
	if (request->header.attribute_modifier ||
	    !find_way(&request->message->address, &wanted, &lid, &sl))
		return MAD_STATUS_BAD_FIELD;
	address = find_or_make(request);
	if (!address)
		return MAD_STATUS_BUSY;
	address->lid = lid;
	address->sl = sl;
	address->info = (struct class_port_info){
		.trap_gid_prefix = wanted.trap_gid_prefix,
		.trap_gid_guid = wanted.trap_gid_guid,
		.trap_traffic_class = wanted.trap_traffic_class,
		.trap_sl = wanted.trap_sl,
		.trap_flow_label = wanted.trap_flow_label,
		.trap_lid = wanted.trap_lid,
		.trap_pkey = wanted.trap_pkey,
		.trap_hop_limit = wanted.trap_hop_limit,
		.trap_qpn = wanted.trap_qpn,
		.trap_qkey = wanted.trap_qkey,
	};
	return class_port_info_show(request, capability_mask, ret_data);
}

bool class_trap_address(const struct agent_memory *memory, const struct port *port,
			uint8_t management_class, struct mad_address *ret_address)
{
	const struct trap_address *address = find(memory, port, management_class);
	const struct class_port_info *info = address ? &address->info : NULL;

	if (!info || !lid_is_unicast(address->lid))
		return false;
	*ret_address = (struct mad_address){
		.lid = address->lid,
		.sl = address->sl,
		.qpn = info->trap_qpn,
		.qkey = info->trap_qkey,
		.pkey = info->trap_pkey & 0x7fff ? info->trap_pkey : PKEY_DEFAULT_FULL,
		/* As in redirections, a GID beside the LID asks for a GRH. */
		.has_grh = info->trap_gid_guid,
		.gid = gid_from(info->trap_gid_prefix, info->trap_gid_guid),
		.hop_limit = info->trap_hop_limit,
		.traffic_class = info->trap_traffic_class,
		.flow_label = info->trap_flow_label,
	};
	return true;
}

void class_port_infos_forget(struct agent_memory *memory, const struct node *node)
{
	struct hash_table *table = &memory->trap_addresses;

	/* Removing an entry moves others, so a slot is looked at again until it stays. */
	for (uint32_t slot = 0; slot < table->capacity;) {
		struct trap_address *address = table->entries[slot].value;

		if (!address || (node && address->node_index != node->index)) {
			slot++;
			continue;
		}
		hash_table_remove(table, table->entries[slot].key);
		free(address);
	}
	if (!node)
		hash_table_release(table);
}
