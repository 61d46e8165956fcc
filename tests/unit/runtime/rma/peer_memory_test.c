/* SPDX-License-Identifier: Apache-2.0 */
/* What the exported rkeys of a peer allow, and copies to and from its memory. */
#include "runtime/rma/peer_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "ipc/memory_file.h"
#include "ipc/rma_area.h"
#include "net/transport/rma/rma_bypass.h"
#include "net/transport/work_request.h"

enum { PAGE = 4096, PAGES = 4, PLACE = 8 * PAGE, QPN = 77 };

static struct peer_memory peer_memory;
static uint8_t *rkey_export;
static uint8_t target[PAGES * PAGE] __attribute__((aligned(PAGE)));
static struct protection_domain pd;
static struct rma_grant grant;
static struct region region;
static int file;

static struct published_key *keys(void)
{
	return (struct published_key *)(void *)(rkey_export + rkey_export_layout().keys_offset);
}

static int set_up(void **state)
{
	struct rkey_export_header *header;

	(void)state;
	if (memory_file_create("test", rkey_export_layout().total_bytes, &file,
			       (void **)&rkey_export) != 0)
		return -1;
	header = (struct rkey_export_header *)(void *)rkey_export;
	*header = (struct rkey_export_header){
		.nonce = 5, .nonce_address = (uintptr_t)&header->nonce, .pid = (uint32_t)getpid()};
	region = (struct region){
		.pd = &pd,
		.bytes = target,
		.iova = 0x100000,
		.byte_count = sizeof(target),
		.access = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
			  ACCESS_REMOTE_ATOMIC,
		.key = 0x1200,
	};
	grant = (struct rma_grant){.pd = (uintptr_t)&pd,
				   .qpn = QPN,
				   .access = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
					     ACCESS_REMOTE_ATOMIC};
	if (!published_keys_put(keys(), 0, &region, PLACE + 1) ||
	    !peer_memory_open(&peer_memory, file))
		return -1;
	peer_memory_try(&peer_memory);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	peer_memory_close(&peer_memory);
	munmap(rkey_export, rkey_export_layout().total_bytes);
	close(file);
	return 0;
}

static bool allows(uint32_t key, uint32_t access, uint64_t address, uint32_t byte_count,
		   struct peer_target *ret_target)
{
	const struct peer_request request = {key, access, address, byte_count};
	struct published_view view = {.entry = NULL};

	return peer_memory_allows(&peer_memory, &grant, &view, &request, ret_target);
}

static void test_the_rule_is_the_responder_s(void **state)
{
	struct peer_target found;

	(void)state;
	assert_true(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100000, 8, &found));
	assert_int_equal(found.address, (uintptr_t)target);
	assert_ptr_equal(found.shared, peer_memory.shared + PLACE);
	assert_true(allows(0x1200, ACCESS_REMOTE_READ, 0x100000 + 5000, 9, &found));
	assert_ptr_equal(found.shared, peer_memory.shared + PLACE + 5000);
	assert_false(allows(0x1201, ACCESS_REMOTE_WRITE, 0x100000, 8, &found));
	assert_false(allows(0x1200, ACCESS_REMOTE_WRITE, 0xfffff, 8, &found));
	assert_false(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100000 + sizeof(target) - 7, 8, &found));
	grant.pd++;
	assert_false(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100000, 8, &found));
	grant.pd--;
	grant.access = ACCESS_REMOTE_READ;
	assert_false(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100000, 8, &found));
}

static void test_words_that_lie_oddly_are_left_to_the_responder(void **state)
{
	struct peer_target found;

	(void)state;
	assert_true(allows(0x1200, ACCESS_REMOTE_ATOMIC, 0x100008, 8, &found));
	assert_false(allows(0x1200, ACCESS_REMOTE_ATOMIC, 0x100004, 8, &found));
	/* Also bytes that are not shared. */
	assert_true(published_keys_put(keys(), 0, &region, 0));
	assert_false(allows(0x1200, ACCESS_REMOTE_ATOMIC, 0x100008, 8, &found));
	assert_true(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100008, 8, &found));
	assert_null(found.shared);
}

static void test_memory_that_is_no_longer_shared_is_accessed_otherwise(void **state)
{
	struct rkey_export_header *header = (struct rkey_export_header *)(void *)rkey_export;
	struct peer_target found;

	(void)state;
	header->shared_is_off = 1;
	assert_true(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100000, 8, &found));
	assert_null(found.shared);
	/* Pages that are being moved are left to the responder: a byte written to the old page may
	 * be lost. */
	header->is_moving = 1;
	assert_false(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100000, 8, &found));
	assert_false(allows(0x1200, ACCESS_REMOTE_READ, 0x100000, 8, &found));
	header->shared_is_off = 0;
	assert_true(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100000, 8, &found));
	assert_non_null(found.shared);
	header->is_moving = 0;
	header->shared_is_off = 1;
	assert_true(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100000, 8, &found));
	/* Or to no page at all. */
	cma_close(&peer_memory.memory);
	assert_false(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100000, 8, &found));
}

static void move_all(const struct bypass *bypass, const struct peer_target *found)
{
	size_t offset = 0, byte_count;

	while (offset < bypass->byte_count) {
		assert_true(peer_memory_move(&peer_memory, bypass, found, offset, &byte_count));
		offset += byte_count;
	}
}

static void test_bytes_of_several_places_go_there_and_back(void **state)
{
	uint8_t bytes[3 * PAGE], back[3 * PAGE];
	struct span spans[] = {{bytes, 100}, {bytes + 100, 0}, {bytes + 100, 9000}};
	struct span back_spans[] = {{back, 5000}, {back + 5000, 4100}};
	struct bypass write = {.opcode = SEND_RDMA_WRITE, .byte_count = 9100};
	struct bypass read = {.opcode = SEND_RDMA_READ, .byte_count = 9100};

	(void)state;
	write.payload = (struct payload){.spans = spans, .span_count = 3, .byte_count = 9100};
	read.payload = (struct payload){.spans = back_spans, .span_count = 2, .byte_count = 9100};
	for (unsigned is_shared = 0; is_shared < 2; is_shared++) {
		struct peer_target found;

		assert_true(published_keys_put(keys(), 0, &region, is_shared ? PLACE + 1 : 0));
		for (unsigned i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(i * 3 + is_shared);
		assert_true(allows(0x1200, ACCESS_REMOTE_WRITE, 0x100000 + 10, 9100, &found));
		move_all(&write, &found);
		memset(back, 0, sizeof(back));
		move_all(&read, &found);
		assert_memory_equal(back, bytes, 9100);
		assert_memory_equal(is_shared ? peer_memory.shared + PLACE + 10 : target + 10,
				    bytes, 9100);
	}
}

/* Longer than any cache: copied by one method and then by the other, from odd offsets to odd
 * offsets, and not a byte more. */
static void test_long_messages_go_there_and_back(void **state)
{
	enum {
		BYTES = (3 << 20) + 77,
		FIRST = 1000003,
		PLACE_THERE = 5,
		ROUNDS_MAX = 20,
		ALL_WAYS = 15
	};
	uint8_t *bytes = malloc(BYTES), *back = calloc(1, BYTES + 1);
	struct span spans[] = {{bytes, FIRST}, {bytes + FIRST, BYTES - FIRST}};
	struct span back_span = {back, BYTES};
	struct bypass write = {.opcode = SEND_RDMA_WRITE, .byte_count = BYTES};
	struct bypass read = {.opcode = SEND_RDMA_READ, .byte_count = BYTES};
	const struct peer_target found = {.shared = peer_memory.shared + PLACE_THERE};
	unsigned ways = 0;

	(void)state;
	assert_non_null(bytes);
	assert_non_null(back);
	write.payload = (struct payload){.spans = spans, .span_count = 2, .byte_count = BYTES};
	read.payload = (struct payload){.spans = &back_span, .span_count = 1, .byte_count = BYTES};
	for (unsigned round = 0; round < ROUNDS_MAX && ways != ALL_WAYS; round++) {
		ways |= 1u << peer_memory.writes[1].way | 4u << peer_memory.reads[1].way;
		for (unsigned i = 0; i < BYTES; i++)
			bytes[i] = (uint8_t)(i * 3 + i / 4096 + round);
		peer_memory.shared[PLACE_THERE - 1] = 0xee;
		peer_memory.shared[PLACE_THERE + BYTES] = 0xee;
		move_all(&write, &found);
		assert_memory_equal(peer_memory.shared + PLACE_THERE, bytes, BYTES);
		assert_int_equal(peer_memory.shared[PLACE_THERE - 1], 0xee);
		assert_int_equal(peer_memory.shared[PLACE_THERE + BYTES], 0xee);
		move_all(&read, &found);
		assert_memory_equal(back, bytes, BYTES);
		assert_int_equal(back[BYTES], 0);
	}
	assert_int_equal(ways, ALL_WAYS);
	free(bytes);
	free(back);
}

static void test_ranges_that_are_written_to_are_mapped_once_and_no_others(void **state)
{
	enum { BYTES = 2 * PEER_MEMORY_BLOCK_BYTES };
	uint8_t *bytes = calloc(1, BYTES);
	struct span span = {bytes, BYTES};
	struct bypass write = {.opcode = SEND_RDMA_WRITE, .byte_count = BYTES};
	const size_t last = RKEY_EXPORT_SHARED_BYTES / PEER_MEMORY_BLOCK_BYTES - 1;
	struct peer_target found = {.shared = peer_memory.shared + PEER_MEMORY_BLOCK_BYTES + 100};

	(void)state;
	assert_non_null(bytes);
	write.payload = (struct payload){.spans = &span, .span_count = 1, .byte_count = BYTES};
	move_all(&write, &found);
	assert_false(peer_memory.is_mapped[0]);
	assert_true(peer_memory.is_mapped[1] && peer_memory.is_mapped[2] &&
		    peer_memory.is_mapped[3]);
	assert_false(peer_memory.is_mapped[4]);
	found.shared = peer_memory.shared + (last - 1) * PEER_MEMORY_BLOCK_BYTES;
	move_all(&write, &found);
	assert_false(peer_memory.is_mapped[last - 2]);
	assert_true(peer_memory.is_mapped[last - 1] && peer_memory.is_mapped[last]);
	free(bytes);
}

static void test_atomics_change_the_shared_word(void **state)
{
	uint64_t result = 0, *word = (uint64_t *)(void *)(peer_memory.shared + PLACE + 16);
	struct span span = {(uint8_t *)&result, sizeof(result)};
	struct bypass bypass = {.opcode = SEND_FETCH_ADD, .byte_count = 8, .compare_or_add = 5};
	struct peer_target found;

	(void)state;
	bypass.payload = (struct payload){.spans = &span, .span_count = 1, .byte_count = 8};
	*word = 100;
	assert_true(allows(0x1200, ACCESS_REMOTE_ATOMIC, 0x100010, 8, &found));
	move_all(&bypass, &found);
	assert_int_equal(*word, 105);
	assert_int_equal(result, 100);
	bypass.opcode = SEND_COMPARE_SWAP;
	bypass.compare_or_add = 104;
	bypass.swap = 1;
	move_all(&bypass, &found);
	assert_int_equal(*word, 105);
	assert_int_equal(result, 105);
	bypass.compare_or_add = 105;
	move_all(&bypass, &found);
	assert_int_equal(*word, 1);
	assert_int_equal(result, 105);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_the_rule_is_the_responder_s),
		CASE(test_words_that_lie_oddly_are_left_to_the_responder),
		CASE(test_memory_that_is_no_longer_shared_is_accessed_otherwise),
		CASE(test_bytes_of_several_places_go_there_and_back),
		CASE(test_long_messages_go_there_and_back),
		CASE(test_ranges_that_are_written_to_are_mapped_once_and_no_others),
		CASE(test_atomics_change_the_shared_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
