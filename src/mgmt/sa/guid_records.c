/* SPDX-License-Identifier: Apache-2.0 */
/* GUIDInfoRecords: reading, assigning and removing the GUIDs of ports (management 4.8). */
#include "mgmt/sa/remote_tables.h"
#include "mgmt/sa/sa_query.h"
#include "wire/sa_records.h"

static void visit_guid_blocks(struct sa_query *query, const struct subnet_port *port)
{
	unsigned block_count = (port->info.guid_cap + GUIDS_PER_BLOCK - 1u) / GUIDS_PER_BLOCK;

	for (unsigned block = 0; block < block_count; block++) {
		const struct guid_info_record_id id = {.lid = port->lid, .block = (uint8_t)block};
		uint8_t *place = sa_query_place(query);
		uint64_t guids[GUIDS_PER_BLOCK];

		if (!place)
			return;
		alias_guids_block(&query->sa->alias_guids, port->guid, block, guids);
		guid_info_record_id_encode(&id, place);
		guid_block_encode(guids, place + BLOCK_RECORD_BLOCK_OFFSET);
		sa_query_keep_if_wanted(query, place);
	}
}

uint16_t sa_find_guid_blocks(struct sa *sa, const struct sa_request *request)
{
	return sa_query_ports(sa, request, &guid_info_record_components, visit_guid_blocks);
}

static bool is_taken(const struct sa *sa, uint64_t guid)
{
	return sa_port_by_guid(sa, guid) || subnet_find(sa->subnet, guid);
}

static bool is_in_block(const uint64_t guids[static GUIDS_PER_BLOCK], uint64_t guid)
{
	for (unsigned i = 0; i < GUIDS_PER_BLOCK; i++)
		if (guids[i] == guid)
			return true;
	return false;
}

/* Assigns each GUID in the mask; the SA chooses one for 0. The port GUID stays, and no GUID is
 * assigned twice. */
static bool give(struct sa *sa, const struct sa_request *request, unsigned block,
		 uint64_t guids[static GUIDS_PER_BLOCK])
{
	uint64_t wanted[GUIDS_PER_BLOCK];

	guid_block_decode(request->data + BLOCK_RECORD_BLOCK_OFFSET, wanted);
	for (unsigned i = 0; i < GUIDS_PER_BLOCK; i++) {
		if (!sa_request_has(request, GIR_GUID_FIRST + i))
			continue;
		if (block == 0 && i == 0)
			return false;
		if (wanted[i] == guids[i] && wanted[i])
			continue;
		if (!wanted[i]) {
			do
				wanted[i] = alias_guids_choose(&sa->alias_guids);
			while (is_taken(sa, wanted[i]));
		} else if (is_taken(sa, wanted[i]) || is_in_block(guids, wanted[i])) {
			return false;
		}
		guids[i] = wanted[i];
	}
	return true;
}

static bool take_back(const struct sa_request *request, unsigned block,
		      uint64_t guids[static GUIDS_PER_BLOCK])
{
	for (unsigned i = 0; i < GUIDS_PER_BLOCK; i++) {
		if (!sa_request_has(request, GIR_GUID_FIRST + i))
			continue;
		if (block == 0 && i == 0)
			return false;
		guids[i] = 0;
	}
	return true;
}

/* Only the port itself, or a trusted request, may change its GUIDs. */
static bool may_change(const struct sa_request *request, const struct subnet_port *port)
{
	return request->is_trusted || request->requester == port;
}

uint16_t sa_change_guids(struct sa *sa, const struct sa_request *request)
{
	struct guid_info_record_id wanted;
	uint64_t guids[GUIDS_PER_BLOCK], before[GUIDS_PER_BLOCK];
	const struct subnet_port *port;
	bool is_good;

	guid_info_record_id_decode(request->data, &wanted);
	if (!sa_request_has_all(request, SA_COMPONENT(GIR_LID) | SA_COMPONENT(GIR_BLOCK)))
		return SA_STATUS_INSUFFICIENT_COMPONENTS;
	port = subnet_port_by_lid(sa->subnet, wanted.lid);
	if (!port || wanted.block * GUIDS_PER_BLOCK >= port->info.guid_cap)
		return SA_STATUS_NO_RECORDS;
	if (!may_change(request, port))
		return SA_STATUS_REQ_INVALID;
	alias_guids_block(&sa->alias_guids, port->guid, wanted.block, guids);
	memcpy(before, guids, sizeof(before));
	is_good = request->header.method == MAD_SET ? give(sa, request, wanted.block, guids)
						    : take_back(request, wanted.block, guids);
	if (!is_good)
		return SA_STATUS_REQ_INVALID;
	if (alias_guids_set_block(&sa->alias_guids, port->guid, wanted.block, guids) != 0)
		return SA_STATUS_NO_RESOURCES;
	return remote_tables_write_guids(sa, request, port, wanted.block, guids, before);
}
