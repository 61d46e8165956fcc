/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned ranges: which pages are pinned for a peer, for how long, and for whom not. */
#include "runtime/rma/pinned_range.h"

#include "runtime/rma/rkey_export.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/rma/kernel_ring.h"
#include "ipc/rma_area.h"
#include "runtime/rma/rma_state.h"
#include "unit/runtime/runtime_pair.h"

enum { REGION_BYTES = 20 * PINNED_RANGE_BYTES, ALL = 7 /* local write, remote write and read */ };

static uint8_t *memory; /* aligned to a range */
static const uint64_t proof = 0x1234567890;
static uint32_t ask_number;

static struct pinned_ranges *pinned(void)
{
	return &pair_channel()->rma_in->pinned;
}

static struct region *add_region(uint8_t *bytes, uint64_t byte_count, uint32_t access)
{
	struct pair_end *end = &pair.ends[1];
	struct region *region;

	adapter_lock(end->adapter);
	assert_int_equal(region_register(&adapter_hca(end->adapter)->memory, end->pd, bytes,
					 byte_count, 0x1000, access, &region),
			 0);
	adapter_unlock(end->adapter);
	return region;
}

static void remove_region(struct region *region)
{
	adapter_lock(pair.ends[1].adapter);
	assert_int_equal(region_deregister(&adapter_hca(pair.ends[1].adapter)->memory, region), 0);
	adapter_unlock(pair.ends[1].adapter);
}

static void ask_with(uint32_t key, const uint8_t *address, const void *proof_address)
{
	struct pin_ask ask = {key, ++ask_number, (uintptr_t)address, (uintptr_t)proof_address};
	const struct ring_record record = {
		.kind = RECORD_PIN_ASKED,
		.port = 1 << 8 | 1,
		.body = (uint8_t *)&ask,
		.byte_count = sizeof(ask),
	};

	runtime_lock(pair_runtime());
	pinned_range_asked(pair_runtime(), pair_channel(), &record);
	runtime_unlock(pair_runtime());
	assert_int_equal(pinned()->answered, ask_number);
}

static void ask(const struct region *region, const uint8_t *address)
{
	ask_with(region->key, address, &proof);
}

static unsigned range_count(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PINNED_RANGES_MAX; i++)
		count += pinned()->ranges[i].serial % 2;
	return count;
}

static void expect_range(unsigned index, const uint8_t *begin, size_t byte_count)
{
	const struct pinned_range *window = &pinned()->ranges[index];

	assert_int_equal(window->serial % 2, 1);
	assert_int_equal(window->begin, (uintptr_t)begin);
	assert_int_equal(window->byte_count, byte_count);
}

/* As the peer gets the descriptor. */
static struct kernel_ring ring = {.file = -1};
static int source;

static void open_ring(void)
{
	int file = kernel_ring_fetch(getpid(), (int)pinned()->ring_number - 1);
	int ends[2];

	assert_true(file >= 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(kernel_ring_open(&ring, file, ends[0]), 0);
	close(ends[0]);
	source = ends[1];
}

static int write_by_ring(unsigned index, const uint8_t *address, uint64_t word)
{
	if (ring.file < 0)
		open_ring();
	assert_int_equal(write(source, &word, sizeof(word)), sizeof(word));
	return kernel_ring_read(&ring, index, (uintptr_t)address, sizeof(word));
}

static int start(void **state)
{
	if (pair_start_with_kernel_ring(state) != 0)
		return -1;
	memory = mmap(NULL, REGION_BYTES + PINNED_RANGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -1;
	memory += PINNED_RANGE_BYTES - (uintptr_t)memory % PINNED_RANGE_BYTES;
	/* As if the peer were another process. */
	peer_memory_try(&pair_channel()->peer->peer_memory);
	pair_channel()->peer->peer_memory.memory.is_self = false;
	return 0;
}

static int forget(void **state)
{
	(void)state;
	runtime_lock(pair_runtime());
	pinned_range_close(pair_runtime(), pair_channel());
	runtime_unlock(pair_runtime());
	memset(pinned(), 0, sizeof(*pinned()));
	if (ring.file >= 0) {
		kernel_ring_close(&ring);
		close(source);
	}
	return pair_runtime()->pins.byte_count == 0 && pair_runtime()->pins.ring_count == 0 ? 0
											    : -1;
}

static void test_the_block_that_was_asked_for_is_pinned(void **state)
{
	struct region *region = add_region(memory + 100, REGION_BYTES - 200, ALL);
	struct published_view view;

	(void)state;
	ask(region, memory + 2 * PINNED_RANGE_BYTES + 5);
	expect_range(0, memory + 2 * PINNED_RANGE_BYTES, PINNED_RANGE_BYTES);
	assert_int_equal(range_count(), 1);
	assert_int_equal(pair_runtime()->pins.byte_count, PINNED_RANGE_BYTES);
	assert_int_equal(pinned()->proof, proof);
	assert_true(published_keys_read(pair_runtime()->rkey_export.keys, 1, region->key, &view));
	assert_int_equal(
		pinned()->ranges[0].key_id,
		published_key_id(pair_runtime()->rkey_export.keys, view.entry, view.sequence));
	assert_int_equal(write_by_ring(0, memory + 2 * PINNED_RANGE_BYTES + 8, 0x55aa), 8);
	assert_int_equal(memory[2 * PINNED_RANGE_BYTES + 8], 0xaa);
	/* A second request for the range gets the same pin. */
	ask(region, memory + 3 * PINNED_RANGE_BYTES - 1);
	assert_int_equal(range_count(), 1);
	ask(region, memory + 3 * PINNED_RANGE_BYTES);
	expect_range(1, memory + 3 * PINNED_RANGE_BYTES, PINNED_RANGE_BYTES);
	remove_region(region);
}

static void test_a_range_ends_where_the_region_does(void **state)
{
	struct region *region = add_region(memory + 100, REGION_BYTES - 200, ALL);

	(void)state;
	ask(region, memory + 100);
	expect_range(0, memory + 100, PINNED_RANGE_BYTES - 100);
	ask(region, memory + REGION_BYTES - 101);
	expect_range(1, memory + REGION_BYTES - PINNED_RANGE_BYTES, PINNED_RANGE_BYTES - 100);
	ask(region, memory + 99);
	ask(region, memory + REGION_BYTES - 100);
	assert_int_equal(range_count(), 2);
	remove_region(region);
}

static void test_a_region_that_is_less_than_a_page(void **state)
{
	struct region *region = add_region(memory + 5000, 100, ALL);

	(void)state;
	ask(region, memory + 5099);
	expect_range(0, memory + 5000, 100);
	assert_int_equal(pair_runtime()->pins.byte_count, RKEY_EXPORT_PAGE_BYTES);
	remove_region(region);
	region = add_region(memory + 8190, 4, ALL);
	ask(region, memory + 8190);
	assert_int_equal(pair_runtime()->pins.byte_count, 2 * RKEY_EXPORT_PAGE_BYTES);
	remove_region(region);
}

static void test_a_key_that_goes_takes_its_ranges_along(void **state)
{
	struct region *region = add_region(memory, REGION_BYTES, ALL);
	struct region *other = add_region(memory, REGION_BYTES, ALL);

	(void)state;
	ask(region, memory);
	ask(other, memory);
	ask(region, memory + PINNED_RANGE_BYTES);
	assert_int_equal(range_count(), 3);
	remove_region(region);
	assert_int_equal(range_count(), 1);
	assert_int_equal(pinned()->ranges[0].serial, 2);
	assert_int_equal(pair_runtime()->pins.byte_count, PINNED_RANGE_BYTES);
	assert_true(write_by_ring(0, memory, 7) < 0);
	assert_int_equal(write_by_ring(1, memory, 7), 8);
	/* The slot belongs to another range now. */
	ask(other, memory + PINNED_RANGE_BYTES);
	assert_int_equal(pinned()->ranges[0].serial, 3);
	remove_region(other);
	assert_int_equal(range_count(), 0);
}

static void test_all_end_before_pages_move(void **state)
{
	struct region *region = add_region(memory, REGION_BYTES, ALL);

	(void)state;
	ask(region, memory);
	ask(region, memory + PINNED_RANGE_BYTES);
	runtime_lock(pair_runtime());
	pair_runtime()->rkey_export.shared_mr->is_on = true;
	rkey_export_end_sharing(pair_runtime());
	runtime_unlock(pair_runtime());
	assert_int_equal(range_count(), 0);
	assert_int_equal(pair_runtime()->pins.byte_count, 0);
	assert_true(write_by_ring(0, memory, 7) < 0);
	ask(region, memory);
	assert_int_equal(range_count(), 1);
	remove_region(region);
}

static void test_there_is_an_end_to_what_is_pinned(void **state)
{
	struct region *region = add_region(memory, REGION_BYTES, ALL);

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		ask(region, memory + i * PINNED_RANGE_BYTES);
	assert_true(range_count() >= 1 && range_count() <= PINNED_RANGES_MAX);
	assert_true(pair_runtime()->pins.byte_count <= 1 << 20);
	assert_int_equal(pair_runtime()->pins.byte_count, range_count() * PINNED_RANGE_BYTES);
	remove_region(region);
}

static void test_what_no_peer_may_write_to_is_not_pinned(void **state)
{
	struct region *read_only = add_region(memory, REGION_BYTES, ACCESS_REMOTE_READ);
	struct region *on_demand = add_region(memory, REGION_BYTES, ALL | ACCESS_ON_DEMAND);

	(void)state;
	ask(read_only, memory);
	ask(on_demand, memory);
	ask_with(on_demand->key + 1, memory, &proof);
	assert_int_equal(range_count(), 0);
	assert_int_equal(pinned()->ring_number, 0);
	remove_region(read_only);
	remove_region(on_demand);
}

static void test_memory_that_is_gone_is_not_pinned(void **state)
{
	struct region *region = add_region(memory, REGION_BYTES, ALL);

	(void)state;
	assert_int_equal(munmap(memory + 3 * PINNED_RANGE_BYTES, RKEY_EXPORT_PAGE_BYTES), 0);
	ask(region, memory + 3 * PINNED_RANGE_BYTES + 9000);
	assert_int_equal(range_count(), 0);
	assert_int_equal(pair_runtime()->pins.byte_count, 0);
	assert_true(mmap(memory + 3 * PINNED_RANGE_BYTES, RKEY_EXPORT_PAGE_BYTES,
			 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			 0) != MAP_FAILED);
	ask(region, memory + 3 * PINNED_RANGE_BYTES + 9000);
	assert_int_equal(range_count(), 1);
	remove_region(region);
}

/* The proof is a random number in the peer's memory. A peer whose memory we can't read gets no
 * ring. */
static void test_without_the_proof_there_is_no_ring(void **state)
{
	struct region *region = add_region(memory, REGION_BYTES, ALL);

	(void)state;
	ask_with(region->key, memory, NULL);
	assert_int_equal(pinned()->ring_number, 0);
	assert_int_equal(range_count(), 0);
	pair_channel()->peer->peer_memory.memory.is_self = true;
	ask(region, memory);
	pair_channel()->peer->peer_memory.memory.is_self = false;
	assert_int_equal(pinned()->ring_number, 0);
	remove_region(region);
}

static void test_settings_turn_it_off(void **state)
{
	static const char *const names[] = {"SOFTIB_PIN", "SOFTIB_CMA"};
	struct region *region = add_region(memory, REGION_BYTES, ALL);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		setenv(names[i], "0", 1);
		ask(region, memory);
		assert_int_equal(range_count(), 0);
		unsetenv(names[i]);
	}
	ask(region, memory);
	assert_int_equal(range_count(), 1);
	remove_region(region);
}

static void test_nonsense_is_not_answered(void **state)
{
	uint8_t body[sizeof(struct pin_ask) + 8] = {0};
	struct ring_record record = {.kind = RECORD_PIN_ASKED, .port = 1 << 8 | 1, .body = body};

	(void)state;
	pinned()->answered = 99;
	runtime_lock(pair_runtime());
	for (uint32_t i = 0; i <= sizeof(body); i++) {
		record.byte_count = i;
		if (i != sizeof(struct pin_ask))
			pinned_range_asked(pair_runtime(), pair_channel(), &record);
	}
	record.byte_count = sizeof(struct pin_ask);
	record.port = 0xff01;
	pinned_range_asked(pair_runtime(), pair_channel(), &record);
	runtime_unlock(pair_runtime());
	assert_int_equal(pinned()->answered, 99);
	assert_int_equal(range_count(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_the_block_that_was_asked_for_is_pinned, forget),
		cmocka_unit_test_teardown(test_a_range_ends_where_the_region_does, forget),
		cmocka_unit_test_teardown(test_a_region_that_is_less_than_a_page, forget),
		cmocka_unit_test_teardown(test_a_key_that_goes_takes_its_ranges_along, forget),
		cmocka_unit_test_teardown(test_all_end_before_pages_move, forget),
		cmocka_unit_test_teardown(test_there_is_an_end_to_what_is_pinned, forget),
		cmocka_unit_test_teardown(test_what_no_peer_may_write_to_is_not_pinned, forget),
		cmocka_unit_test_teardown(test_memory_that_is_gone_is_not_pinned, forget),
		cmocka_unit_test_teardown(test_without_the_proof_there_is_no_ring, forget),
		cmocka_unit_test_teardown(test_settings_turn_it_off, forget),
		cmocka_unit_test_teardown(test_nonsense_is_not_answered, forget),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
