/* SPDX-License-Identifier: Apache-2.0 */
/* The queue pair numbers of an adapter: which process owns which block of QPN_BLOCK numbers. */
#include "daemon/core/qpn_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ipc/protocol.h"

static_assert((1 << 24) / QPN_BLOCK - 1 == QPN_SPACE_BLOCKS, "a block is QPN_BLOCK numbers");

void qpn_space_init(struct qpn_space *space)
{
	*space = (struct qpn_space){.next_block = 1};
}

void qpn_space_release(struct qpn_space *space)
{
	free(space->owners);
	space->owners = NULL;
	space->owner_count = 0;
}

static struct client *block_owner(const struct qpn_space *space, uint32_t block)
{
	return block < space->owner_count ? space->owners[block] : NULL;
}

static int grow(struct qpn_space *space, uint32_t block_count)
{
	if (block_count <= space->owner_count)
		return 0;

	uint32_t room = space->owner_count ? space->owner_count : 16;

	while (room < block_count)
		room *= 2;

	struct client **owners = realloc(space->owners, room * sizeof(owners[0]));

	if (!owners)
		return -ENOMEM;
	memset(owners + space->owner_count, 0, (room - space->owner_count) * sizeof(owners[0]));
	space->owners = owners;
	space->owner_count = room;
	return 0;
}

/* The first of block_count free blocks in a row at or after `from`; 0 when there are none. */
static uint32_t find_run(const struct qpn_space *space, uint32_t from, uint32_t block_count)
{
	uint32_t run = 0;

	for (uint32_t block = from; block < QPN_SPACE_BLOCKS; block++) {
		run = block_owner(space, block) ? 0 : run + 1;
		if (run == block_count)
			return block + 1 - block_count;
	}
	return 0;
}

int qpn_space_take(struct qpn_space *space, struct client *owner, uint32_t block_count,
		   uint32_t *ret_first_block)
{
	uint32_t first = find_run(space, space->next_block, block_count);

	if (!first)
		first = find_run(space, 1, block_count);
	if (!first)
		return -ENOSPC;

	int error = grow(space, first + block_count);

	if (error)
		return error;
	for (uint32_t block = first; block < first + block_count; block++)
		space->owners[block] = owner;
	space->next_block = first + block_count;
	space->taken_count += block_count;
	*ret_first_block = first;
	return 0;
}

void qpn_space_give_back(struct qpn_space *space, const struct client *owner)
{
	for (uint32_t block = 0; block < space->owner_count; block++) {
		if (space->owners[block] != owner)
			continue;
		space->owners[block] = NULL;
		space->taken_count--;
	}
}

void qpn_space_pass_on(struct qpn_space *space, uint32_t block, struct client *owner)
{
	assert(block < space->owner_count);
	space->taken_count -= space->owners[block] && !owner;
	space->taken_count += !space->owners[block] && owner;
	space->owners[block] = owner;
}

uint32_t qpn_space_free_count(const struct qpn_space *space)
{
	return QPN_BLOCKS_MAX - space->taken_count;
}

struct client *qpn_space_owner(const struct qpn_space *space, uint32_t qpn)
{
	return block_owner(space, qpn / QPN_BLOCK);
}
