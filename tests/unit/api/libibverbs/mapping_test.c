/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of memory with every kind of page at their ends and a hole in the middle. */
#include "api/libibverbs/mapping.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

enum { PAGES = 6 };

static size_t page_bytes;
static uint8_t *pages;

/* Two writable pages, a read-only one, one without any rights, a hole, a writable one. */
static int set_up(void **state)
{
	(void)state;
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (pages == MAP_FAILED)
		return -1;
	mprotect(pages + 2 * page_bytes, page_bytes, PROT_READ);
	mprotect(pages + 3 * page_bytes, page_bytes, PROT_NONE);
	return munmap(pages + 4 * page_bytes, page_bytes);
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(pages, PAGES * page_bytes);
}

static int check(unsigned first_page, unsigned page_count, enum mapping_use use)
{
	/* Neither begins nor ends on a page. */
	return mapping_check(pages + first_page * page_bytes + 10, page_count * page_bytes - 20,
			     use);
}

static void test_every_page_has_its_uses(void **state)
{
	static const struct {
		unsigned page;
		enum mapping_use use;
		int error;
	} cases[] = {
		{0, MAPPING_EXISTS, 0},	       {0, MAPPING_READ, 0},
		{0, MAPPING_WRITTEN, 0},       {2, MAPPING_EXISTS, 0},
		{2, MAPPING_READ, 0},	       {2, MAPPING_WRITTEN, -EFAULT},
		{3, MAPPING_EXISTS, 0},	       {3, MAPPING_READ, -EFAULT},
		{3, MAPPING_WRITTEN, -EFAULT}, {4, MAPPING_EXISTS, -EFAULT},
		{4, MAPPING_READ, -EFAULT},    {4, MAPPING_WRITTEN, -EFAULT},
		{5, MAPPING_WRITTEN, 0},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(check(cases[i].page, 1, cases[i].use), cases[i].error);
}

static void test_both_ends_count_and_so_does_a_hole(void **state)
{
	(void)state;
	assert_int_equal(check(0, 2, MAPPING_WRITTEN), 0);
	assert_int_equal(check(0, 3, MAPPING_READ), 0);
	assert_int_equal(check(0, 3, MAPPING_WRITTEN), -EFAULT);
	assert_int_equal(check(2, 2, MAPPING_READ), -EFAULT);
	assert_int_equal(check(0, 6, MAPPING_EXISTS), -EFAULT);
}

static void test_what_is_no_range_at_all(void **state)
{
	(void)state;
	assert_int_equal(mapping_check(NULL, 0, MAPPING_WRITTEN), 0);
	assert_int_equal(mapping_check(NULL, 8, MAPPING_EXISTS), -EFAULT);
	assert_int_equal(mapping_check(pages, SIZE_MAX, MAPPING_EXISTS), -EFAULT);
}

/* The check does not change the memory. */
static void test_contents_stay(void **state)
{
	(void)state;
	pages[17] = 0x5a;
	assert_int_equal(check(0, 2, MAPPING_WRITTEN), 0);
	assert_int_equal(pages[17], 0x5a);
	assert_int_equal(pages[page_bytes + 17], 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_every_page_has_its_uses),
		TEST(test_both_ends_count_and_so_does_a_hole),
		TEST(test_what_is_no_range_at_all),
		TEST(test_contents_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
