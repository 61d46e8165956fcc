/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts of the memory that programs and softibd share. */
#include "ipc/protocol.h"

#include "ipc/rma_area.h"

enum { LAYOUT_ALIGNMENT = 4096 };

static size_t align_up(size_t byte_count)
{
	return (byte_count + LAYOUT_ALIGNMENT - 1) & ~(size_t)(LAYOUT_ALIGNMENT - 1);
}

struct process_layout process_layout(void)
{
	size_t ring_bytes = align_up(ring_shared_bytes(PROCESS_RING_BYTES));

	return (struct process_layout){
		.up_offset = 0,
		.down_offset = ring_bytes,
		.flows_offset = 2 * ring_bytes,
		.total_bytes = 2 * ring_bytes + align_up(FLOW_SLOTS * sizeof(struct flow_counters)),
	};
}

struct direct_layout direct_layout(void)
{
	size_t ring_bytes = align_up(ring_shared_bytes(DIRECT_RING_BYTES));
	size_t way_bytes = ring_bytes + align_up(sizeof(struct word_ring_shared));
	size_t area_bytes = align_up(sizeof(struct rma_area));

	return (struct direct_layout){
		.offset = {0, way_bytes},
		.words_offset = {ring_bytes, way_bytes + ring_bytes},
		.area_offset = {2 * way_bytes, 2 * way_bytes + area_bytes},
		.total_bytes = 2 * way_bytes + 2 * area_bytes,
	};
}
