/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory by descriptor: the properties that a receiver must be able to rely on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ipc/memory_file.h"

enum { BYTES = 8192 };

static void test_both_ends_see_the_same_bytes(void **state)
{
	void *mine, *theirs;
	int file;

	(void)state;
	assert_int_equal(memory_file_create("test", BYTES, &file, &mine), 0);
	assert_int_equal(memory_file_map(file, BYTES, &theirs), 0);
	memcpy(mine, "hello", 6);
	assert_string_equal(theirs, "hello");
	munmap(mine, BYTES);
	munmap(theirs, BYTES);
	close(file);
}

static void test_size_cannot_change(void **state)
{
	void *memory;
	int file;

	(void)state;
	assert_int_equal(memory_file_create("test", BYTES, &file, &memory), 0);
	assert_int_equal(ftruncate(file, 0), -1);
	assert_int_equal(ftruncate(file, 2 * BYTES), -1);
	munmap(memory, BYTES);
	close(file);
}

static void test_unsealed_or_wrong_size_is_refused(void **state)
{
	void *memory = NULL;
	int file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int plain = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_int_equal(ftruncate(file, BYTES), 0);
	assert_int_equal(memory_file_map(file, BYTES, &memory), -EPROTO);
	assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_int_equal(memory_file_map(file, BYTES + 1, &memory), -EPROTO);
	assert_int_equal(memory_file_map(file, BYTES / 2, &memory), -EPROTO);
	assert_int_equal(memory_file_map(plain, BYTES, &memory), -EPROTO);
	assert_null(memory);
	assert_int_equal(memory_file_map(file, BYTES, &memory), 0);
	munmap(memory, BYTES);
	close(file);
	close(plain);
}

static void test_published_memory_is_read_only_for_others(void **state)
{
	const void *theirs;
	void *mine, *writable;
	int file;

	(void)state;
	assert_int_equal(memory_file_create_published("test", BYTES, &file, &mine), 0);
	assert_int_equal(memory_file_map(file, BYTES, &writable), -EPERM);
	assert_int_equal(memory_file_map_readonly(file, BYTES, &theirs), 0);
	memcpy(mine, "news", 5);
	assert_string_equal(theirs, "news");
	assert_int_equal(mprotect((void *)(uintptr_t)theirs, BYTES, PROT_READ | PROT_WRITE), -1);
	munmap(mine, BYTES);
	munmap((void *)(uintptr_t)theirs, BYTES);
	close(file);
}

/* The first of two peers can't forbid the other to map the file or to write to it. */
static void test_nobody_can_add_seals(void **state)
{
	static const int seals[] = {0x10 /* F_SEAL_FUTURE_WRITE */, F_SEAL_WRITE, F_SEAL_SEAL};
	int (*const create[])(const char *, size_t, int *,
			      void **) = {memory_file_create, memory_file_create_published};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		void *memory;
		int file;

		assert_int_equal(create[i]("test", BYTES, &file, &memory), 0);
		for (unsigned j = 0; j < 3; j++) {
			assert_int_equal(fcntl(file, F_ADD_SEALS, seals[j]), -1);
			assert_int_equal(errno, EPERM);
		}
		munmap(memory, BYTES);
		close(file);
	}
}

static void test_only_pages_that_were_written_have_data(void **state)
{
	enum { PAGE = 4096, PAGES = 8 };
	uint8_t *memory;
	off_t begin = 0, end = -1;
	int file;

	(void)state;
	assert_int_equal(memory_file_create("test", PAGES * PAGE, &file, (void **)&memory), 0);
	assert_false(memory_file_next_data(file, &begin, PAGES * PAGE, &end));
	assert_int_equal(begin, 0);
	memory[2 * PAGE] = memory[3 * PAGE] = memory[6 * PAGE] = 1;
	assert_true(memory_file_next_data(file, &begin, PAGES * PAGE, &end));
	assert_int_equal(begin, 2 * PAGE);
	assert_int_equal(end, 4 * PAGE);
	begin = end;
	assert_true(memory_file_next_data(file, &begin, PAGES * PAGE, &end));
	assert_int_equal(begin, 6 * PAGE);
	assert_int_equal(end, 7 * PAGE);
	begin = end;
	assert_false(memory_file_next_data(file, &begin, PAGES * PAGE, &end));
	/* Not beyond the requested end. */
	begin = PAGE;
	assert_true(memory_file_next_data(file, &begin, 3 * PAGE, &end));
	assert_int_equal(begin, 2 * PAGE);
	assert_int_equal(end, 3 * PAGE);
	begin = 4 * PAGE;
	assert_false(memory_file_next_data(file, &begin, 6 * PAGE, &end));
	munmap(memory, PAGES * PAGE);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ends_see_the_same_bytes),
		cmocka_unit_test(test_size_cannot_change),
		cmocka_unit_test(test_nobody_can_add_seals),
		cmocka_unit_test(test_unsealed_or_wrong_size_is_refused),
		cmocka_unit_test(test_published_memory_is_read_only_for_others),
		cmocka_unit_test(test_only_pages_that_were_written_have_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
