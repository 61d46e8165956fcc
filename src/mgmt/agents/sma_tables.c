/* SPDX-License-Identifier: Apache-2.0 */
/* GUIDInfo, P_KeyTable, SLtoVLMappingTable and VLArbitrationTable of a node's ports (management
 * 2.5). */
#include "mgmt/agents/sma.h"

#include <string.h>
#include "net/link/arbitration.h"
#include "wire/smp_tables.h"

/* An adapter has one table per port and uses that of the port of arrival. It ignores port numbers
 * in the attribute modifier. */
static struct port *addressed_port(const struct sma_request *request, uint32_t port_number)
{
	if (!node_is_switch(request->node))
		return request->arrival;
	return port_number <= request->node->port_count ? &request->node->ports[port_number] : NULL;
}

enum mad_status sma_guid_info_get(const struct sma_request *request, uint8_t *ret_data)
{
	const struct port *port = sma_guard(request);
	uint32_t start = request->header.attribute_modifier * GUIDS_PER_BLOCK;
	uint64_t guids[GUIDS_PER_BLOCK] = {0};

	if (request->header.attribute_modifier > UINT8_MAX || start >= port->info.guid_cap)
		return MAD_STATUS_BAD_FIELD;
	for (uint32_t i = 0; i < GUIDS_PER_BLOCK && start + i < port->info.guid_cap; i++)
		guids[i] = port->guids[start + i];
	guid_block_encode(guids, ret_data);
	return MAD_STATUS_OK;
}

enum mad_status sma_guid_info_set(const struct sma_request *request, uint8_t *ret_data)
{
	struct port *port = sma_guard(request);
	uint32_t start = request->header.attribute_modifier * GUIDS_PER_BLOCK;
	uint64_t guids[GUIDS_PER_BLOCK];
	bool is_changed = false;

	if (request->header.attribute_modifier > UINT8_MAX || start >= port->info.guid_cap)
		return MAD_STATUS_BAD_FIELD;
	guid_block_decode(request->data, guids);
	for (uint32_t i = 0; i < GUIDS_PER_BLOCK && start + i < port->info.guid_cap; i++) {
		/* Entry 0 is the port GUID, which is read only. */
		if (start + i == 0 || port->guids[start + i] == guids[i])
			continue;
		port->guids[start + i] = guids[i];
		is_changed = true;
	}
	if (is_changed)
		sma_port_changed(request, port);
	return sma_guid_info_get(request, ret_data);
}

/* -1: the block is beyond the end of the table. */
static int pkey_block_start(const struct sma_request *request, const struct port *port)
{
	uint32_t start =
		(uint32_t)pkey_table_block(request->header.attribute_modifier) * PKEYS_PER_BLOCK;

	return port && start < port->pkey_count ? (int)start : -1;
}

enum mad_status sma_pkey_table_get(const struct sma_request *request, uint8_t *ret_data)
{
	const struct port *port =
		addressed_port(request, pkey_table_port(request->header.attribute_modifier));
	int start = pkey_block_start(request, port);
	uint16_t pkeys[PKEYS_PER_BLOCK] = {0};

	if (start < 0)
		return MAD_STATUS_BAD_FIELD;
	for (int i = 0; i < PKEYS_PER_BLOCK && start + i < port->pkey_count; i++)
		pkeys[i] = port->pkeys[start + i];
	pkey_block_encode(pkeys, ret_data);
	return MAD_STATUS_OK;
}

enum mad_status sma_pkey_table_set(const struct sma_request *request, uint8_t *ret_data)
{
	struct port *port =
		addressed_port(request, pkey_table_port(request->header.attribute_modifier));
	int start = pkey_block_start(request, port);
	uint16_t pkeys[PKEYS_PER_BLOCK];
	bool is_changed = false;

	if (start < 0)
		return MAD_STATUS_BAD_FIELD;
	pkey_block_decode(request->data, pkeys);
	for (int i = 0; i < PKEYS_PER_BLOCK && start + i < port->pkey_count; i++) {
		is_changed |= port->pkeys[start + i] != pkeys[i];
		port->pkeys[start + i] = pkeys[i];
	}
	if (is_changed) {
		sma_port_changed(request, port);
		sma_paths_changed(request);
	}
	return sma_pkey_table_get(request, ret_data);
}

/* Base port 0 has no VLs. */
static unsigned first_output(const struct node *node)
{
	return node->switch_info.enhanced_port_0 ? 0 : 1;
}

/* The row of the output port's table for the input port that the attribute modifier names. NULL:
 * there is none. */
static uint8_t *sl_to_vl_row(const struct sma_request *request)
{
	uint32_t modifier = request->header.attribute_modifier;
	uint32_t input = modifier >> 8;
	uint32_t output = modifier & 0xff;

	if (!node_is_switch(request->node))
		return request->arrival->sl_to_vl[0];
	if (input > request->node->port_count || output > request->node->port_count ||
	    output < first_output(request->node))
		return NULL;
	return request->node->ports[output].sl_to_vl[input];
}

enum mad_status sma_sl_to_vl_get(const struct sma_request *request, uint8_t *ret_data)
{
	const uint8_t *row = sl_to_vl_row(request);

	if (!row)
		return MAD_STATUS_BAD_FIELD;
	sl_to_vl_encode(row, ret_data);
	return MAD_STATUS_OK;
}

/* Writes the tables of all output ports, all input ports, or both, as the attribute modifier says
 * (management 2.4). */
static enum mad_status set_many_maps(const struct sma_request *request, uint8_t *ret_data)
{
	uint32_t modifier = request->header.attribute_modifier;
	struct node *node = request->node;
	bool all_outputs = modifier & SL_TO_VL_ALL_OUTPUTS;
	bool all_inputs = modifier & SL_TO_VL_ALL_INPUTS;
	unsigned input = modifier >> 8 & 0xff, output = modifier & 0xff;
	unsigned input_end = all_inputs ? node->port_count : input;
	unsigned output_end = all_outputs ? node->port_count : output;
	bool is_changed = false;
	uint8_t vls[SL_COUNT];

	if (!node->switch_info.optimized_sl_to_vl || modifier >= (SL_TO_VL_ALL_INPUTS << 1) ||
	    input_end > node->port_count || output_end > node->port_count ||
	    (!all_outputs && output < first_output(node)))
		return MAD_STATUS_BAD_FIELD;
	sl_to_vl_decode(request->data, vls);
	for (output = all_outputs ? first_output(node) : output; output <= output_end; output++)
		for (input = all_inputs ? 0 : input_end; input <= input_end; input++) {
			uint8_t *row = node->ports[output].sl_to_vl[input];

			is_changed |= memcmp(row, vls, sizeof(vls)) != 0;
			memcpy(row, vls, sizeof(vls));
		}
	if (is_changed)
		sma_paths_changed(request);
	sl_to_vl_encode(vls, ret_data);
	return MAD_STATUS_OK;
}

enum mad_status sma_sl_to_vl_set(const struct sma_request *request, uint8_t *ret_data)
{
	bool is_one = !node_is_switch(request->node) ||
		      request->header.attribute_modifier < SL_TO_VL_ALL_OUTPUTS;
	uint8_t *row = sl_to_vl_row(request);
	uint8_t vls[SL_COUNT];

	if (!is_one)
		return set_many_maps(request, ret_data);
	if (!row)
		return MAD_STATUS_BAD_FIELD;
	sl_to_vl_decode(request->data, vls);
	if (memcmp(row, vls, sizeof(vls)) != 0) {
		memcpy(row, vls, sizeof(vls));
		sma_paths_changed(request);
	}
	return sma_sl_to_vl_get(request, ret_data);
}

/* A section of an arbitration table. */
struct arbitration_part {
	struct port *port;
	enum arbitration_table table;
	int start;
	int entry_count; /* 0: there is no such section */
};

static struct arbitration_part arbitration_part(const struct sma_request *request)
{
	uint32_t modifier = request->header.attribute_modifier;
	uint32_t section = modifier >> 16;
	struct port *port = addressed_port(request, modifier & 0xffff);

	if (!port || section < VL_ARBITRATION_LOW_FIRST || section > VL_ARBITRATION_HIGH_SECOND)
		return (struct arbitration_part){0};

	bool is_high = section >= VL_ARBITRATION_HIGH_FIRST;
	int start = section % 2 ? 0 : VL_ARBITRATION_PER_BLOCK;
	int cap = is_high ? port->info.vl_arbitration_high_cap : port->info.vl_arbitration_low_cap;

	if (cap <= start)
		return (struct arbitration_part){0};
	return (struct arbitration_part){
		.port = port,
		.table = is_high ? TABLE_HIGH : TABLE_LOW,
		.start = start,
		.entry_count = cap - start < VL_ARBITRATION_PER_BLOCK ? cap - start
								      : VL_ARBITRATION_PER_BLOCK,
	};
}

enum mad_status sma_vl_arbitration_get(const struct sma_request *request, uint8_t *ret_data)
{
	struct arbitration_part part = arbitration_part(request);
	struct vl_arbitration_entry entries[VL_ARBITRATION_PER_BLOCK] = {0};

	if (!part.entry_count)
		return MAD_STATUS_BAD_FIELD;
	for (int i = 0; i < part.entry_count; i++) {
		const uint8_t *entry = part.port->vl_arbitration[part.table][part.start + i];

		entries[i] = (struct vl_arbitration_entry){.vl = entry[0], .weight = entry[1]};
	}
	vl_arbitration_block_encode(entries, ret_data);
	return MAD_STATUS_OK;
}

enum mad_status sma_vl_arbitration_set(const struct sma_request *request, uint8_t *ret_data)
{
	struct arbitration_part part = arbitration_part(request);
	struct vl_arbitration_entry entries[VL_ARBITRATION_PER_BLOCK];

	if (!part.entry_count)
		return MAD_STATUS_BAD_FIELD;
	vl_arbitration_block_decode(request->data, entries);
	for (int i = 0; i < part.entry_count; i++)
		port_arbitration_set(part.port, part.table, (unsigned)(part.start + i),
				     entries[i].vl, entries[i].weight);
	return sma_vl_arbitration_get(request, ret_data);
}
