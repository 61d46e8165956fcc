/* SPDX-License-Identifier: Apache-2.0 */
/* Registered memory without pages: what the thread that holds the lock reads there, and what
 * remains after it has left the lock. */
#include "runtime/memory/memory_guard.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/memory/own_mappings.h"
#include "unit/runtime/runtime_pair.h"

enum { PAGE_BYTES = 4096, PAGES = 20 };

static struct memory *memory(void)
{
	return &adapter_hca(pair.ends[0].adapter)->memory;
}

static uint8_t *register_pages(int file, struct region **ret_region)
{
	uint8_t *pages = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			      file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	/* cmocka has handlers of its own for each test. */
	memory_guard_renew();
	memset(pages, 7, PAGES * PAGE_BYTES);
	adapter_lock(pair.ends[0].adapter);
	assert_int_equal(region_register(memory(), pair.ends[0].pd, pages, PAGES * PAGE_BYTES, 0,
					 ACCESS_LOCAL_WRITE, ret_region),
			 0);
	adapter_unlock(pair.ends[0].adapter);
	return pages;
}

static void deregister(struct region *region, uint8_t *pages)
{
	adapter_lock(pair.ends[0].adapter);
	assert_int_equal(region_deregister(memory(), region), 0);
	adapter_unlock(pair.ends[0].adapter);
	munmap(pages, PAGES * PAGE_BYTES);
}

/* Whether the guard has put a page there. Other threads may map memory of their own into a hole, as
 * sanitizers do. */
static bool has_guard_page(const uint8_t *page)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	bool is_there = false;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		char *rest;
		const uintptr_t begin = strtoul(line, &rest, 16);
		const uintptr_t end = strtoul(rest + 1, NULL, 16);

		is_there |= (uintptr_t)page >= begin && (uintptr_t)page < end &&
			    strstr(line, "softib-unmapped") != NULL;
	}
	fclose(maps);
	return is_there;
}

static void test_an_unmapped_page_is_there_while_the_lock_is_held(void **state)
{
	struct region *region;
	uint8_t *pages = register_pages(-1, &region);

	(void)state;
	munmap(pages + PAGE_BYTES, 18 * PAGE_BYTES);
	for (unsigned round = 0; round < 3; round++) {
		adapter_lock(pair.ends[0].adapter);
		assert_true(memory_has_pages(memory(), pages, PAGE_BYTES));
		assert_false(memory_guard_has_gaps());
		memset(pages, 9, PAGES * PAGE_BYTES);
		assert_true(memory_guard_has_gaps());
		assert_false(memory_has_pages(memory(), pages, 2 * PAGE_BYTES));
		assert_true(memory_has_pages(memory(), pages + 19 * PAGE_BYTES, PAGE_BYTES));
		adapter_unlock(pair.ends[0].adapter);
		/* If the progress thread wanted the lock just then, it removes the pages; this
		 * waits for it. */
		memory_guard_take_back(pair_runtime());
		assert_false(memory_guard_has_gaps());
		for (unsigned i = 1; i < 19; i++)
			assert_false(has_guard_page(pages + i * PAGE_BYTES));
	}
	assert_int_equal(pages[0], 9);
	assert_int_equal(pages[19 * PAGE_BYTES], 9);
	deregister(region, pages);
}

/* The thread that holds the mutex restores the pages itself. One that has the lock by its bias
 * leaves that to the progress thread if the progress thread wants the lock at that moment. */
static void lock_with_mutex(void)
{
	biased_lock_take_slowly(&pair_runtime()->lock);
}

static void test_protection_is_lifted_while_the_lock_is_held(void **state)
{
	static const int rights[] = {PROT_NONE, PROT_READ};
	struct region *region;
	uint8_t *pages = register_pages(-1, &region);
	int found;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		mprotect(pages, PAGE_BYTES, rights[i]);
		lock_with_mutex();
		assert_true(memory_has_pages(memory(), pages, PAGE_BYTES));
		assert_int_equal(pages[0], 7 + i);
		pages[0]++;
		adapter_unlock(pair.ends[0].adapter);
		assert_true(own_mapping_rights((uintptr_t)pages, &found));
		assert_int_equal(found, rights[i]);
	}
	mprotect(pages, PAGE_BYTES, PROT_READ | PROT_WRITE);
	assert_int_equal(pages[0], 9);
	deregister(region, pages);
}

/* There are more pages than guard entries: all of them get their protection back. */
static void test_protection_of_many_pages_comes_back(void **state)
{
	enum { MANY = 3000 };
	uint8_t *pages = mmap(NULL, MANY * PAGE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct region *region;
	int found;

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	memory_guard_renew();
	adapter_lock(pair.ends[0].adapter);
	assert_int_equal(region_register(memory(), pair.ends[0].pd, pages, MANY * PAGE_BYTES, 0,
					 ACCESS_LOCAL_WRITE, &region),
			 0);
	adapter_unlock(pair.ends[0].adapter);
	assert_int_equal(mprotect(pages, MANY * PAGE_BYTES, PROT_READ), 0);
	lock_with_mutex();
	memset(pages, 5, MANY * PAGE_BYTES);
	adapter_unlock(pair.ends[0].adapter);
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(pages[i * PAGE_BYTES], 5);
		assert_true(own_mapping_rights((uintptr_t)pages + i * PAGE_BYTES, &found));
		assert_int_equal(found, PROT_READ);
	}
	adapter_lock(pair.ends[0].adapter);
	assert_int_equal(region_deregister(memory(), region), 0);
	adapter_unlock(pair.ends[0].adapter);
	munmap(pages, MANY * PAGE_BYTES);
}

static void test_a_truncated_file_is_a_gap_until_it_grows(void **state)
{
	int file = memfd_create("guarded", MFD_CLOEXEC);
	struct region *region;
	uint8_t *pages;

	(void)state;
	assert_int_equal(ftruncate(file, PAGES * PAGE_BYTES), 0);
	pages = register_pages(file, &region);
	assert_int_equal(ftruncate(file, 0), 0);
	lock_with_mutex();
	pages[100] = 1;
	assert_false(memory_has_pages(memory(), pages, 1));
	adapter_unlock(pair.ends[0].adapter);
	assert_int_equal(ftruncate(file, PAGES * PAGE_BYTES), 0);
	assert_int_equal(pages[100], 0);
	deregister(region, pages);
	close(file);
}

/* In a thread that does not have the bias of the lock. */
static void test_the_progress_thread_is_guarded_as_well(void **state)
{
	struct region *region;
	uint8_t *pages = register_pages(-1, &region);
	struct process_runtime *runtime = pair_runtime();

	(void)state;
	munmap(pages, PAGE_BYTES);
	biased_lock_take_slowly(&runtime->lock);
	pages[5] = 1;
	assert_true(memory_guard_has_gaps());
	biased_lock_leave_slowly(&runtime->lock);
	assert_false(has_guard_page(pages));
	memory_guard_take_back(runtime);
	assert_int_equal(mmap(pages, PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			      -1, 0) == pages,
			 1);
	deregister(region, pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_unmapped_page_is_there_while_the_lock_is_held),
		cmocka_unit_test(test_protection_is_lifted_while_the_lock_is_held),
		cmocka_unit_test(test_protection_of_many_pages_comes_back),
		cmocka_unit_test(test_a_truncated_file_is_a_gap_until_it_grows),
		cmocka_unit_test(test_the_progress_thread_is_guarded_as_well),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
