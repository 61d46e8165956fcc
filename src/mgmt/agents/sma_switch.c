/* SPDX-License-Identifier: Apache-2.0 */
/* SwitchInfo and the forwarding tables: a Set writes the tables that forwarding reads (management
 * 2.5). */
#include "mgmt/agents/sma.h"

#include <string.h>
#include "wire/pkey.h"
#include "wire/smp_tables.h"

enum mad_status sma_switch_info_get(const struct sma_request *request, uint8_t *ret_data)
{
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	switch_info_encode(&request->node->switch_info, ret_data);
	return MAD_STATUS_OK;
}

/* 0: not used. 0xbfff: no multicast is forwarded. Otherwise an MLID within the table. */
static bool multicast_top_is_right(uint16_t top, uint16_t multicast_fdb_cap)
{
	return top == 0 ||
	       (top >= LID_MULTICAST_FIRST - 1 && top < LID_MULTICAST_FIRST + multicast_fdb_cap);
}

enum mad_status sma_switch_info_set(const struct sma_request *request, uint8_t *ret_data)
{
	struct switch_info *info = &request->node->switch_info;
	struct switch_info before = *info;
	struct switch_info written;

	switch_info_decode(request->data, &written);
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	if (written.linear_fdb_top && written.linear_fdb_top >= info->linear_fdb_cap)
		return MAD_STATUS_BAD_FIELD;
	if (!multicast_top_is_right(written.multicast_fdb_top, info->multicast_fdb_cap))
		return MAD_STATUS_BAD_FIELD;
	info->linear_fdb_top = written.linear_fdb_top;
	info->default_port = written.default_port;
	info->default_multicast_primary_port = written.default_multicast_primary_port;
	info->default_multicast_not_primary_port = written.default_multicast_not_primary_port;
	info->life_time_value = written.life_time_value;
	info->multicast_fdb_top = written.multicast_fdb_top;
	/* Writing 1 clears the bit, writing 0 leaves it (management 2.5). */
	if (written.port_state_change)
		info->port_state_change = 0;

	before.port_state_change = info->port_state_change;
	if (memcmp(&before, info, sizeof(before)) != 0)
		sma_paths_changed(request);
	return sma_switch_info_get(request, ret_data);
}

/* The first LID of the block that the attribute modifier names. -1: the block is beyond the table.
 */
static int linear_block_start(const struct sma_request *request)
{
	uint32_t block = request->header.attribute_modifier;

	if (block >= LINEAR_FORWARDING_BLOCKS_MAX ||
	    block * LFT_BLOCK_ENTRIES >= request->node->switch_info.linear_fdb_cap)
		return -1;
	return (int)block * LFT_BLOCK_ENTRIES;
}

enum mad_status sma_linear_forwarding_get(const struct sma_request *request, uint8_t *ret_data)
{
	int start = linear_block_start(request);

	if (start < 0)
		return MAD_STATUS_BAD_FIELD;
	linear_forwarding_block_encode(request->node->lft + start, ret_data);
	return MAD_STATUS_OK;
}

enum mad_status sma_linear_forwarding_set(const struct sma_request *request, uint8_t *ret_data)
{
	int start = linear_block_start(request);
	uint8_t ports[LINEAR_FORWARDING_PER_BLOCK];

	if (start < 0)
		return MAD_STATUS_BAD_FIELD;
	linear_forwarding_block_decode(request->data, ports);
	if (memcmp(request->node->lft + start, ports, sizeof(ports)) != 0) {
		memcpy(request->node->lft + start, ports, sizeof(ports));
		sma_paths_changed(request);
	}
	return sma_linear_forwarding_get(request, ret_data);
}

struct multicast_block {
	unsigned start; /* index of the first MLID, counted from 0xc000 */
	unsigned position;
	bool exists; /* false: reads as zero, writes are ignored */
};

static struct multicast_block multicast_block(const struct sma_request *request)
{
	uint32_t modifier = request->header.attribute_modifier;
	struct multicast_block block = {
		.start = (modifier & 0x1ff) * MULTICAST_FORWARDING_PER_BLOCK,
		.position = modifier >> 28,
	};

	block.exists = block.start + MULTICAST_FORWARDING_PER_BLOCK <=
			       request->node->switch_info.multicast_fdb_cap &&
		       block.position <= request->node->port_count / MULTICAST_PORTS_PER_POSITION;
	return block;
}

enum mad_status sma_multicast_forwarding_get(const struct sma_request *request, uint8_t *ret_data)
{
	struct multicast_block block = multicast_block(request);
	uint16_t masks[MULTICAST_FORWARDING_PER_BLOCK] = {0};

	for (unsigned i = 0; block.exists && i < MULTICAST_FORWARDING_PER_BLOCK; i++)
		masks[i] = request->node->mft[block.start + i][block.position];
	multicast_forwarding_block_encode(masks, ret_data);
	return MAD_STATUS_OK;
}

enum mad_status sma_multicast_forwarding_set(const struct sma_request *request, uint8_t *ret_data)
{
	struct multicast_block block = multicast_block(request);
	uint16_t masks[MULTICAST_FORWARDING_PER_BLOCK];
	bool is_changed = false;

	multicast_forwarding_block_decode(request->data, masks);
	for (unsigned i = 0; block.exists && i < MULTICAST_FORWARDING_PER_BLOCK; i++) {
		uint16_t *mask = &request->node->mft[block.start + i][block.position];

		is_changed |= *mask != masks[i];
		*mask = masks[i];
	}
	if (is_changed)
		sma_paths_changed(request);
	return sma_multicast_forwarding_get(request, ret_data);
}
