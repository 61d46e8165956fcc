/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that move into shared memory and back: contents, neighbours, and pages that must not move.
 * Covers: runtime/memory/own_mappings.c */
#include "runtime/rma/shared_mr.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "runtime/rma/kernel_ring.h"
#include "ipc/memory_file.h"
#include "runtime/memory/own_mappings.h"

enum { PAGE = RKEY_EXPORT_PAGE_BYTES, PAGES = 16 };

static struct shared_mr shared_mr;
static uint8_t *rkey_export; /* the peer's mapping */
static uint8_t *shared;
static uint8_t *bytes;
static int file;

static int set_up(void **state)
{
	(void)state;
	unsetenv("SOFTIB_ADOPT");
	if (memory_file_create("test", rkey_export_layout().total_bytes, &file,
			       (void **)&rkey_export) != 0)
		return -1;
	shared = rkey_export + rkey_export_layout().shared_offset;
	shared_mr_init(&shared_mr, file);
	bytes = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	for (unsigned i = 0; i < PAGES * PAGE; i++)
		bytes[i] = (uint8_t)(i * 7 + i / PAGE);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	shared_mr_end(&shared_mr);
	munmap(bytes, PAGES * PAGE);
	munmap(rkey_export, rkey_export_layout().total_bytes);
	close(file);
	return 0;
}

static void expect_contents(void)
{
	for (unsigned i = 0; i < PAGES * PAGE; i++)
		assert_int_equal(bytes[i], (uint8_t)(i * 7 + i / PAGE));
}

static void test_whole_pages_of_a_region_are_shared(void **state)
{
	uint64_t place = shared_mr_take(&shared_mr, bytes + 100, 5 * PAGE, true);

	(void)state;
	assert_int_not_equal(place, 0);
	expect_contents();
	/* Pages 1 to 4: the peer's writes show here, and ours show there. */
	shared[place - 1] = 0xaa;
	assert_int_equal(bytes[PAGE], 0xaa);
	bytes[PAGE] = (uint8_t)(PAGE * 7 + 1);
	assert_int_equal(shared[place - 1], (uint8_t)(PAGE * 7 + 1));
	shared_mr_drop(&shared_mr, bytes + 100, 5 * PAGE, true);
	expect_contents();
	/* The memory is the program's own again. */
	shared[place - 1] = 0xbb;
	expect_contents();
}

/* Writes to the pages of a fresh mapping that the mask names. */
static uint8_t *map_sparsely(uint32_t mask)
{
	uint8_t *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	/* With a large page all of them would be present. */
	(void)madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (unsigned page = 0; page < PAGES; page++)
		if (mask >> page & 1)
			memset(memory + page * PAGE, (int)(page + 1), PAGE);
	return memory;
}

static void expect_sparse(const uint8_t *memory, uint32_t mask)
{
	for (unsigned i = 0; i < PAGES * PAGE; i++)
		assert_int_equal(memory[i], mask >> i / PAGE & 1 ? i / PAGE + 1 : 0);
}

static uint64_t taken_bytes(void)
{
	struct stat status;

	assert_int_equal(fstat(file, &status), 0);
	return (uint64_t)status.st_blocks * 512;
}

/* Pages that were never written are zero before and after the move, and take no memory. */
static void test_only_pages_that_hold_anything_are_copied(void **state)
{
	static const uint32_t masks[] = {0, 1, 0x8000, 0xffff, 0x0ff0, 0x5555, 0x9629, 0x7ffe};

	(void)state;
	for (unsigned i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		uint8_t *memory = map_sparsely(masks[i]);
		const uint64_t before = taken_bytes();
		const uint64_t moved = shared_mr.moved_bytes;
		const uint64_t data = (uint64_t)__builtin_popcount(masks[i]) * PAGE;
		uint64_t place = shared_mr_take(&shared_mr, memory, PAGES * PAGE, true);

		assert_int_not_equal(place, 0);
		assert_int_equal(taken_bytes() - before, data);
		assert_int_equal(shared_mr.moved_bytes - moved, data);
		expect_sparse(memory, masks[i]);
		expect_sparse(shared + place - 1, masks[i]);
		/* A peer writes to a page that was not present. */
		shared[place - 1 + 3 * PAGE + 5] = 0x77;
		assert_int_equal(memory[3 * PAGE + 5], 0x77);
		shared_mr_drop(&shared_mr, memory, PAGES * PAGE, true);
		assert_int_equal(memory[3 * PAGE + 5], 0x77);
		memory[3 * PAGE + 5] = masks[i] >> 3 & 1 ? 4 : 0;
		expect_sparse(memory, masks[i]);
		assert_int_equal(taken_bytes(), before);
		munmap(memory, PAGES * PAGE);
	}
}

static void test_runs_of_pages_that_hold_anything(void **state)
{
	uint8_t *memory = map_sparsely(0x9629); /* 0, 3, 5, 9, 10, 12, 15 */
	static const uint8_t runs[][2] = {{0, 1}, {3, 4}, {5, 6}, {9, 11}, {12, 13}, {15, 16}};
	struct own_pages pages = own_pages_open();
	const uint64_t first = (uintptr_t)memory, behind = first + PAGES * PAGE;
	uint64_t begin = first, end;

	(void)state;
	for (unsigned i = 0; i < sizeof(runs) / sizeof(runs[0]); i++, begin = end) {
		assert_true(own_pages_next(&pages, &begin, behind, &end));
		assert_int_equal(begin, first + runs[i][0] * PAGE);
		assert_int_equal(end, first + runs[i][1] * PAGE);
	}
	assert_false(own_pages_next(&pages, &begin, behind, &end));
	begin = first + 9 * PAGE;
	assert_true(own_pages_next(&pages, &begin, begin + PAGE, &end));
	assert_int_equal(end, first + 10 * PAGE);
	own_pages_close(&pages);
	/* Where the kernel does not tell, all of them. */
	begin = first;
	assert_true(own_pages_next(&pages, &begin, behind, &end));
	assert_int_equal(begin, first);
	assert_int_equal(end, behind);
	munmap(memory, PAGES * PAGE);
}

static void test_regions_on_the_same_pages_share_them(void **state)
{
	uint64_t place = shared_mr_take(&shared_mr, bytes, 8 * PAGE, true);

	(void)state;
	assert_int_not_equal(place, 0);
	assert_int_equal(shared_mr_take(&shared_mr, bytes + 2 * PAGE, PAGE, true),
			 place + 2 * PAGE);
	assert_int_equal(shared_mr_find(&shared_mr, bytes + 3 * PAGE + 1, 2 * PAGE),
			 place + 4 * PAGE);
	shared_mr_drop(&shared_mr, bytes, 8 * PAGE, true);
	/* The second region still needs it. */
	shared[place - 1 + 2 * PAGE] ^= 0xff;
	assert_int_equal(bytes[2 * PAGE], (uint8_t)(2 * PAGE * 7 + 2) ^ 0xff);
	bytes[2 * PAGE] ^= 0xff;
	shared_mr_drop(&shared_mr, bytes + 2 * PAGE, PAGE, true);
	assert_int_equal(shared_mr.range_count, 0);
	expect_contents();
}

/* A peer may be writing to a region that was not moved. */
static void test_what_overlaps_a_region_that_stayed_stays(void **state)
{
	(void)state;
	assert_int_equal(shared_mr_take(&shared_mr, bytes + 1, PAGE, true), 0); /* no whole page */
	assert_int_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);
	shared_mr_drop(&shared_mr, bytes, 2 * PAGE, true);
	shared_mr_drop(&shared_mr, bytes + 1, PAGE, true);
	assert_int_not_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);
	assert_false(shared_mr_is_on_others(&shared_mr, bytes, 2 * PAGE));
	/* Also a region that overlaps a moved one in part. */
	assert_int_equal(shared_mr_take(&shared_mr, bytes + PAGE, 2 * PAGE, true), 0);
	/* It moves with the other one, then. */
	assert_true(shared_mr_is_on_others(&shared_mr, bytes, 2 * PAGE));
	assert_false(shared_mr_is_on_others(&shared_mr, bytes + PAGE, 2 * PAGE));
	assert_false(shared_mr_is_on_others(&shared_mr, bytes + 4 * PAGE, 2 * PAGE));
	shared_mr_drop(&shared_mr, bytes + PAGE, 2 * PAGE, true);
	assert_false(shared_mr_is_on_others(&shared_mr, bytes, 2 * PAGE));
}

/* It is no user of pages around it that are moved later. */
static void test_a_region_that_stayed_goes_without_a_trace(void **state)
{
	uint64_t place;

	(void)state;
	assert_int_not_equal(shared_mr_take(&shared_mr, bytes + PAGE, PAGE, false), 0);
	assert_int_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, false), 0);
	shared_mr_drop(&shared_mr, bytes + PAGE, PAGE, false);
	place = shared_mr_take(&shared_mr, bytes, 8 * PAGE, true);
	assert_int_not_equal(place, 0);
	shared_mr_drop(&shared_mr, bytes, 2 * PAGE, false);
	assert_int_equal(shared_mr_find(&shared_mr, bytes, 8 * PAGE), place);
	assert_memory_equal(shared + place - 1, bytes, 8 * PAGE);
	shared_mr_drop(&shared_mr, bytes, 8 * PAGE, true);
	assert_int_equal(shared_mr.range_count, 0);
	assert_int_equal(shared_mr.other_count, 0);
	expect_contents();
}

static void test_memory_that_replaced_a_part_is_not_what_was_there(void **state)
{
	uint64_t place;

	(void)state;
	assert_int_not_equal(shared_mr_take(&shared_mr, bytes, 8 * PAGE, true), 0);
	assert_int_not_equal(shared_mr_take(&shared_mr, bytes, PAGE, true), 0);
	assert_true(shared_mr_locate(&shared_mr, bytes + PAGE, 100, &place));
	shared_mr_drop(&shared_mr, bytes, 8 * PAGE, true);
	assert_true(mmap(bytes + PAGE, 7 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == bytes + PAGE);
	/* A sender that may send from anywhere sends the bytes that are there now. */
	assert_false(shared_mr_locate(&shared_mr, bytes + PAGE, 100, &place));
	assert_int_equal(shared_mr_take(&shared_mr, bytes + PAGE, 7 * PAGE, true), 0);
	assert_int_equal(shared_mr_take(&shared_mr, bytes + PAGE, 100, false), 0);
	assert_false(shared_mr_locate(&shared_mr, bytes + PAGE, 100, &place));
	shared_mr_drop(&shared_mr, bytes + PAGE, 100, false);
	shared_mr_drop(&shared_mr, bytes + PAGE, 7 * PAGE, true);
	shared_mr_drop(&shared_mr, bytes, PAGE, true);
	assert_int_equal(shared_mr.other_count, 0);
}

static bool all_is_zcopy(void *context, const uint8_t *begin, size_t byte_count)
{
	return begin == context && byte_count == 2 * PAGE;
}

static void test_referenced_memory_stays_as_it_was(void **state)
{
	uint8_t before[2 * PAGE];
	uint64_t place;

	(void)state;
	memcpy(before, bytes, sizeof(before));
	shared_mr.is_external = all_is_zcopy;
	shared_mr.context = bytes;
	for (unsigned i = 0; i < 2; i++) {
		place = shared_mr_take(&shared_mr, bytes, 2 * PAGE, false);
		assert_int_not_equal(place, 0);
		memcpy(bytes, before, 2 * PAGE);
		if (i)
			shared_mr_end(&shared_mr);
		else
			shared_mr_drop(&shared_mr, bytes, 2 * PAGE, false);
		memset(bytes, 0xee, 2 * PAGE);
		assert_memory_equal(shared + place - 1, before, 2 * PAGE);
		/* No other region gets the memory. */
		assert_int_equal(shared_mr.is_used[(place - 1) / PAGE], 1);
	}
}

static void test_only_private_writable_memory_moves(void **state)
{
	uint8_t on_stack[3 * PAGE];
	uint8_t *other =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_int_equal(shared_mr_take(&shared_mr, on_stack, sizeof(on_stack), true), 0);
	assert_int_equal(shared_mr_take(&shared_mr, other, 2 * PAGE, true), 0);
	munmap(other, 2 * PAGE);
	assert_int_equal(mprotect(bytes, PAGE, PROT_READ), 0);
	assert_int_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);
	assert_int_equal(mprotect(bytes, PAGE, PROT_READ | PROT_WRITE), 0);
	shared_mr_drop(&shared_mr, bytes, 2 * PAGE, true);
	/* A region over all of memory: anything may be written. */
	assert_int_equal(shared_mr_take(&shared_mr, NULL, UINT64_MAX, true), 0);
	assert_int_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);
}

static void test_locked_memory_stays(void **state)
{
	(void)state;
	/* Sanitizers have an mlock that does nothing. */
	if (syscall(SYS_mlock, bytes, PAGE) != 0)
		skip();
	assert_int_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);
	syscall(SYS_munlock, bytes, PAGE);
}

static pthread_barrier_t barrier;

static void *wait_twice(void *context)
{
	(void)context;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* The mappings by which we write to our peers know nothing of the program's memory. */
static void test_only_rings_of_the_program_keep_its_memory_where_it_is(void **state)
{
	int own = kernel_ring_create(), programs = kernel_ring_create();
	struct kernel_ring ring;
	int source[2];

	(void)state;
	if (own < 0 || programs < 0)
		skip();
	assert_int_equal(pipe(source), 0);
	assert_int_equal(kernel_ring_open(&ring, own, source[0]), 0);
	assert_int_not_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);

	void *mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, programs, 0);

	assert_true(mapped != MAP_FAILED);
	assert_int_equal(shared_mr_take(&shared_mr, bytes + 4 * PAGE, PAGE, true), 0);
	munmap(mapped, PAGE);
	close(programs);
	close(source[0]);
	close(source[1]);
	kernel_ring_close(&ring);
	assert_int_equal(kernel_ring_mapping_count(), 0);
}

static void test_nothing_moves_while_there_are_threads(void **state)
{
	pthread_t threads[2];

	(void)state;
	pthread_barrier_init(&barrier, NULL, 3);
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, wait_twice, NULL);
	pthread_barrier_wait(&barrier);
	assert_int_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
}

/* The program may have mapped something else there. */
static void test_what_is_there_no_more_is_left_alone(void **state)
{
	(void)state;
	assert_int_not_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);
	assert_ptr_equal(mmap(bytes, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 bytes);
	memset(bytes, 0x55, 2 * PAGE);
	shared_mr_drop(&shared_mr, bytes, 2 * PAGE, true);
	for (unsigned i = 0; i < 2 * PAGE; i++)
		assert_int_equal(bytes[i], 0x55);
}

static void test_a_child_that_was_not_prepared_for_does_not_share(void **state)
{
	int status;

	(void)state;
	assert_int_not_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);

	pid_t child = fork();

	if (child == 0) {
		/* The child has no page there, instead of its parent's. */
		_exit(madvise(bytes, PAGE, MADV_NORMAL) == 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_who_comes_and_goes_is_soon_left_alone(void **state)
{
	unsigned moved = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		moved += shared_mr_take(&shared_mr, bytes, 2 * PAGE, true) != 0;
		shared_mr_drop(&shared_mr, bytes, 2 * PAGE, true);
	}
	assert_true(moved > 0 && moved < 50);
	expect_contents();
}

static void test_it_can_be_turned_off(void **state)
{
	(void)state;
	setenv("SOFTIB_ADOPT", "0", 1);
	shared_mr_init(&shared_mr, file);
	assert_int_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);
}

static void test_the_end_is_for_good(void **state)
{
	uint64_t place = shared_mr_take(&shared_mr, bytes, 2 * PAGE, true);

	(void)state;
	assert_int_not_equal(place, 0);
	shared_mr_end(&shared_mr);
	shared[place - 1] = 0x99;
	expect_contents();
	assert_int_equal(shared_mr_take(&shared_mr, bytes, 2 * PAGE, true), 0);
	assert_int_equal(shared_mr_find(&shared_mr, bytes, 2 * PAGE), 0);
	shared_mr_drop(&shared_mr, bytes, 2 * PAGE, true);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_whole_pages_of_a_region_are_shared),
		CASE(test_only_pages_that_hold_anything_are_copied),
		CASE(test_runs_of_pages_that_hold_anything),
		CASE(test_regions_on_the_same_pages_share_them),
		CASE(test_what_overlaps_a_region_that_stayed_stays),
		CASE(test_a_region_that_stayed_goes_without_a_trace),
		CASE(test_memory_that_replaced_a_part_is_not_what_was_there),
		CASE(test_referenced_memory_stays_as_it_was),
		CASE(test_only_private_writable_memory_moves),
		CASE(test_locked_memory_stays),
		CASE(test_only_rings_of_the_program_keep_its_memory_where_it_is),
		CASE(test_nothing_moves_while_there_are_threads),
		CASE(test_what_is_there_no_more_is_left_alone),
		CASE(test_a_child_that_was_not_prepared_for_does_not_share),
		CASE(test_who_comes_and_goes_is_soon_left_alone),
		CASE(test_it_can_be_turned_off),
		CASE(test_the_end_is_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
