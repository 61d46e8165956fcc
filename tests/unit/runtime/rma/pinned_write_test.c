/* SPDX-License-Identifier: Apache-2.0 */
/* Short WRITEs to pinned pages of the peer: every byte arrives, through the ring or otherwise. */
#include "runtime/rma/pinned_write.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/random.h"
#include "runtime/rma/pinned_range.h"
#include "runtime/rma/rma_state.h"
#include "unit/runtime/runtime_pair.h"

enum { WRITES_UNTIL_PINNED = 40, FIRST_WRITES = 20 };

static struct pinned_write *pinned(void)
{
	return &pair_channel()->peer->pinned;
}

static struct pinned_ranges *windows(void)
{
	return &pair_channel()->rma_out->pinned;
}

/* Offset of the first range that lies completely in the target's buffer. */
static uint64_t first_block(void)
{
	return PINNED_RANGE_BYTES - (uintptr_t)pair.ends[1].buffer % PINNED_RANGE_BYTES;
}

/* WRITEs the first bytes of one buffer to an offset of the other. */
static void write_to(uint64_t offset, uint32_t byte_count)
{
	struct pair_end *from = &pair.ends[0], *to = &pair.ends[1];
	const struct sge sge = {(uintptr_t)from->buffer, byte_count, from->region->key};
	const struct send_request request = {
		.opcode = SEND_RDMA_WRITE,
		.flags = SEND_SIGNALED,
		.remote_address = (uintptr_t)to->buffer + offset,
		.remote_key = to->region->key,
		.sge_count = 1,
		.sges = &sge,
	};
	struct completion completion;

	if (!pair_post_at_once(from, &request)) {
		adapter_lock(from->adapter);
		assert_int_equal(
			qp_object_post_send(from->qp, adapter_now(from->adapter), &request), 0);
		adapter_transmit(from->adapter, adapter_now(from->adapter));
		adapter_unlock(from->adapter);
	}
	pair_poll_one(from, &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
}

/* The same with new bytes; only the offset changes. */
static void write_and_check(uint64_t offset, uint32_t byte_count, uint32_t seed)
{
	uint8_t *place = pair.ends[1].buffer + offset;

	pair_fill(pair.ends[0].buffer, byte_count, seed);
	memset(place - 1, 0x77, byte_count + 2);
	write_to(offset, byte_count);
	assert_memory_equal(place, pair.ends[0].buffer, byte_count);
	assert_int_equal(place[-1], 0x77);
	assert_int_equal(place[byte_count], 0x77);
}

static void let_target_work(void)
{
	runtime_lock(pair_runtime());
	runtime_progress(pair_runtime(), runtime_now());
	runtime_unlock(pair_runtime());
}

/* WRITEs there until the range is pinned. */
static void have_pinned(uint64_t offset)
{
	const uint32_t before = pinned()->ring.count;

	for (unsigned i = 0; i < WRITES_UNTIL_PINNED; i++) {
		write_and_check(offset, 8, i);
		let_target_work();
	}
	assert_int_equal(pinned()->state, PINNED_OPEN);
	assert_true(pinned()->ring.count > before);
}

/* Whether the WRITE went through the pinned pages. */
static bool is_pinned_write(uint64_t offset, uint32_t byte_count)
{
	const uint32_t before = pinned()->ring.count;

	write_and_check(offset, byte_count, before);
	return pinned()->state == PINNED_OPEN && pinned()->ring.count == before + 1;
}

static int start(void **state)
{
	if (pair_start_with_kernel_ring(state) != 0)
		return -1;
	for (unsigned i = 0; i < FIRST_WRITES; i++)
		write_to(0, 8);
	return pair.ends[0].qp->qp.owner_rma ? 0 : -1;
}

/* As if the two ends were processes that have not written to each other yet. */
static int begin(void **state)
{
	(void)state;
	runtime_lock(pair_runtime());
	pair_channel()->peer->peer_memory.memory.is_self = false;
	pinned_write_close(pinned());
	memset(pinned(), 0, sizeof(*pinned()));
	pinned_range_close(pair_runtime(), pair_channel());
	memset(windows(), 0, sizeof(*windows()));
	runtime_unlock(pair_runtime());
	return 0;
}

static void test_many_short_writes_have_their_pages_pinned(void **state)
{
	const uint64_t place = first_block();

	(void)state;
	have_pinned(place + 100);
	assert_int_equal(pinned()->asked, 1);
	assert_true(is_pinned_write(place + 100, 8));
	/* The whole range is pinned. */
	assert_true(is_pinned_write(place + PINNED_RANGE_BYTES / 2, 1));
	/* Other ranges are pinned when many WRITEs go there. */
	assert_false(is_pinned_write(place + PINNED_RANGE_BYTES, 8));
	have_pinned(place + PINNED_RANGE_BYTES);
	for (unsigned i = 0; i < 20; i++)
		assert_true(is_pinned_write(place + (i % 2) * PINNED_RANGE_BYTES + i, 8));
}

static void test_ranges_are_used_up_to_their_edges(void **state)
{
	const uint64_t begin_at = first_block(), end_at = begin_at + PINNED_RANGE_BYTES;

	(void)state;
	have_pinned(begin_at);
	assert_true(is_pinned_write(begin_at, 1));
	assert_true(is_pinned_write(end_at - 1, 1));
	assert_true(is_pinned_write(end_at - 4096, 4096));
	assert_false(is_pinned_write(begin_at - 1, 1));
	assert_false(is_pinned_write(begin_at - 1, 2));
	assert_false(is_pinned_write(end_at - 1, 2));
	assert_false(is_pinned_write(end_at, 1));
	assert_true(is_pinned_write(begin_at, PINNED_WRITE_BYTES_MAX));
	assert_false(is_pinned_write(begin_at, PINNED_WRITE_BYTES_MAX + 1));
}

/* The staging pages are reused many times, and at every offset. */
static void test_every_byte_arrives_whatever_the_sizes(void **state)
{
	const uint64_t place = first_block();
	struct random random = random_seeded(7);

	(void)state;
	have_pinned(place);
	for (unsigned i = 0; i < 3000; i++) {
		const uint32_t limit = i % 3 ? 300 : PINNED_WRITE_BYTES_MAX;
		const uint32_t size = 1 + (uint32_t)random_below(&random, limit);

		assert_true(is_pinned_write(
			place + random_below(&random, PINNED_RANGE_BYTES - size + 1), size));
	}
	/* By whole pages, too. */
	for (unsigned i = 0; i < 50; i++)
		assert_true(is_pinned_write(place, 4096));
}

static void test_what_is_taken_back_is_written_the_other_way(void **state)
{
	const uint64_t place = first_block();

	(void)state;
	have_pinned(place);
	runtime_lock(pair_runtime());
	pinned_range_withdraw_all(pair_runtime());
	pinned_range_end_all(pair_runtime());
	runtime_unlock(pair_runtime());
	assert_false(is_pinned_write(place, 8));
	assert_int_equal(pinned()->state, PINNED_OPEN);
	/* The range is pinned again when WRITEs continue there. */
	have_pinned(place);
	assert_true(is_pinned_write(place, 8));
}

static void test_another_registration_has_other_ranges(void **state)
{
	struct pair_end *end = &pair.ends[1];
	struct memory *memory = &adapter_hca(end->adapter)->memory;
	const uint64_t place = first_block();

	(void)state;
	have_pinned(place);
	adapter_lock(end->adapter);
	assert_int_equal(region_deregister(memory, end->region), 0);
	assert_int_equal(pair_runtime()->pins.byte_count, 0);
	assert_int_equal(
		region_register(memory, end->pd, end->buffer, PAIR_BUFFER_BYTES,
				(uintptr_t)end->buffer,
				ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ,
				&end->region),
		0);
	adapter_unlock(end->adapter);
	assert_false(is_pinned_write(place, 8));
	have_pinned(place);
}

/* A WRITE that fails in the ring goes the other way, and later WRITEs no longer use the ring. */
static void test_a_surprise_ends_it_and_loses_nothing(void **state)
{
	const uint64_t place = first_block();

	(void)state;
	have_pinned(place);
	/* The pages disappear without notice. */
	assert_int_equal(kernel_ring_unpin((int)windows()->ring_number - 1, 0), 0);
	assert_false(is_pinned_write(place, 8));
	assert_int_equal(pinned()->state, PINNED_OFF);
	for (unsigned i = 0; i < WRITES_UNTIL_PINNED; i++)
		assert_false(is_pinned_write(place, 8));
}

static void test_half_of_it_is_not_written_twice(void **state)
{
	const uint64_t place = first_block();
	uint8_t drained[1 << 15];
	struct kernel_ring *ring;

	(void)state;
	have_pinned(place);
	ring = &pinned()->ring;
	/* All but the next five bytes have left the pipe; these five are the bytes at the cursor.
	 */
	pinned()->cursor = sizeof(drained) - 5;
	runtime_lock(pair_runtime());
	for (uint32_t left = (uint32_t)sizeof(drained) - 5 - ring->count * 8; left;) {
		const uint32_t piece = left < 4096 ? left : 4096;

		assert_int_equal(kernel_ring_read(ring, pinned()->last,
						  (uintptr_t)pair.ends[1].buffer + place, piece),
				 piece);
		left -= piece;
	}
	runtime_unlock(pair_runtime());
	assert_false(is_pinned_write(place, 8));
	assert_int_equal(pinned()->state, PINNED_OFF);
}

static void test_strangers_words_do_no_harm(void **state)
{
	const uint64_t place = first_block();

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		begin(NULL);
		for (unsigned j = 0; j < WRITES_UNTIL_PINNED && !pinned()->asked; j++)
			write_and_check(place, 8, j);
		let_target_work();
		assert_int_equal(windows()->answered, 1);
		if (i == 0)
			windows()->proof ^= 1;
		else if (i == 1)
			windows()->ring_number = 1;
		else if (i == 2)
			windows()->ring_number = UINT32_MAX;
		else if (i == 3)
			windows()->ring_number = 0;
		else
			windows()->ranges[0].byte_count = UINT32_MAX;
		for (unsigned j = 0; j < WRITES_UNTIL_PINNED; j++)
			write_and_check(place, 8, j);
		if (i < 4)
			assert_int_equal(pinned()->state, PINNED_OFF);
		else
			assert_false(is_pinned_write(place + PINNED_RANGE_BYTES - 4, 8));
	}
}

static void test_the_own_process_and_settings_need_none(void **state)
{
	(void)state;
	setenv("SOFTIB_PIN", "0", 1);
	write_and_check(first_block(), 8, 1);
	assert_int_equal(pinned()->state, PINNED_OFF);
	unsetenv("SOFTIB_PIN");
	begin(NULL);
	pair_channel()->peer->peer_memory.memory.is_self = true;
	write_and_check(first_block(), 8, 1);
	assert_int_equal(pinned()->state, PINNED_OFF);
}

static void test_nobody_asks_again_and_again_in_vain(void **state)
{
	const uint64_t place = first_block();

	(void)state;
	pinned()->refused_count = 0;
	for (unsigned i = 0; i < 5000; i++) {
		/* As if no memory could be pinned. */
		memset(windows()->ranges, 0, sizeof(windows()->ranges));
		windows()->answered = pinned()->asked;
		write_to(place, 8);
	}
	assert_true(pinned()->asked >= 3);
	assert_true(pinned()->asked <= 12);
}

static void test_the_child_of_a_fork_has_none_of_it(void **state)
{
	int status;

	(void)state;
	have_pinned(first_block());

	const int file = pinned()->ring.file, pipe = pinned()->pipe;
	const int own_file = (int)windows()->ring_number - 1;
	pid_t child = fork();

	/* The fork handlers of the session have done it. */
	if (child == 0)
		_exit(pinned()->state == PINNED_OFF && close(file) != 0 && close(pipe) != 0 &&
				      close(own_file) != 0
			      ? 0
			      : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (unsigned i = 0; i < 20; i++)
		assert_true(is_pinned_write(first_block() + i, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_many_short_writes_have_their_pages_pinned, begin),
		cmocka_unit_test_setup(test_ranges_are_used_up_to_their_edges, begin),
		cmocka_unit_test_setup(test_every_byte_arrives_whatever_the_sizes, begin),
		cmocka_unit_test_setup(test_what_is_taken_back_is_written_the_other_way, begin),
		cmocka_unit_test_setup(test_another_registration_has_other_ranges, begin),
		cmocka_unit_test_setup(test_a_surprise_ends_it_and_loses_nothing, begin),
		cmocka_unit_test_setup(test_half_of_it_is_not_written_twice, begin),
		cmocka_unit_test_setup(test_strangers_words_do_no_harm, begin),
		cmocka_unit_test_setup(test_the_own_process_and_settings_need_none, begin),
		cmocka_unit_test_setup(test_nobody_asks_again_and_again_in_vain, begin),
		cmocka_unit_test_setup(test_the_child_of_a_fork_has_none_of_it, begin),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
