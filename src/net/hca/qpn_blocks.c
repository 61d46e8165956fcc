/* SPDX-License-Identifier: Apache-2.0 */
/* Free queue pair numbers: a bitmap per block, blocks with room first. */
#include "net/hca/qpn_blocks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { QPN_FIRST_ORDINARY = 2, QPN_LAST_ORDINARY = 0xfffffe, WORD_BITS = 64 };

struct qpn_block {
	struct list link;
	uint32_t first;
	uint32_t count;
	uint32_t taken_count;
	uint32_t cursor; /* where the search for a free number continues */
	uint64_t taken[];
};

static struct qpn_block *block_of(struct list *link)
{
	return container_of(link, struct qpn_block, link);
}

int qpn_blocks_add(struct list *blocks, uint32_t first, uint32_t count)
{
	if (first < QPN_FIRST_ORDINARY || count == 0 || first > QPN_LAST_ORDINARY ||
	    count > QPN_LAST_ORDINARY - first + 1)
		return -EINVAL;
	for (struct list *link = blocks->next; link != blocks; link = link->next) {
		struct qpn_block *other = block_of(link);

		if (first < other->first + other->count && other->first < first + count)
			return -EINVAL;
	}

	size_t word_count = (count + WORD_BITS - 1) / WORD_BITS;
	struct qpn_block *block = calloc(1, sizeof(*block) + word_count * sizeof(uint64_t));

	if (!block)
		return -ENOMEM;
	block->first = first;
	block->count = count;
	list_prepend(blocks, &block->link);
	return 0;
}

void qpn_blocks_release(struct list *blocks)
{
	for (struct list *link = list_pop(blocks); link; link = list_pop(blocks))
		free(block_of(link));
}

static bool is_taken(const struct qpn_block *block, uint32_t index)
{
	return block->taken[index / WORD_BITS] >> (index % WORD_BITS) & 1;
}

int qpn_blocks_take(struct list *blocks, uint32_t *ret_qpn)
{
	struct list *link = list_first(blocks);
	struct qpn_block *block = link ? block_of(link) : NULL;

	if (!block || block->taken_count == block->count)
		return -EAGAIN;

	uint32_t index = block->cursor;

	while (is_taken(block, index)) {
		/* Skips full words. */
		uint32_t step = block->taken[index / WORD_BITS] == UINT64_MAX
					? WORD_BITS - index % WORD_BITS
					: 1;

		index = index + step >= block->count ? 0 : index + step;
	}
	block->taken[index / WORD_BITS] |= UINT64_C(1) << (index % WORD_BITS);
	block->cursor = index + 1 == block->count ? 0 : index + 1;
	if (++block->taken_count == block->count) {
		list_remove(&block->link);
		list_append(blocks, &block->link);
	}
	*ret_qpn = block->first + index;
	return 0;
}

void qpn_blocks_give_back(struct list *blocks, uint32_t qpn)
{
	for (struct list *link = blocks->next; link != blocks; link = link->next) {
		struct qpn_block *block = block_of(link);

		if (qpn < block->first || qpn - block->first >= block->count)
			continue;

		uint32_t index = qpn - block->first;

		assert(is_taken(block, index));
		block->taken[index / WORD_BITS] &= ~(UINT64_C(1) << (index % WORD_BITS));
		if (block->taken_count-- == block->count) {
			list_remove(&block->link);
			list_prepend(blocks, &block->link);
		}
		return;
	}
	assert(false && "a number that no block holds");
}
