/* SPDX-License-Identifier: Apache-2.0 */
/* Another process's memory is accessible while that process lives, and no other memory is. */
#include "runtime/rma/cma.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { MEMORY_BYTES = 1 << 20 };

static uint64_t nonce;
static uint8_t bytes[MEMORY_BYTES]; /* the child has its own word at the same address */
static pid_t child;

static int start_child(void **state)
{
	(void)state;
	nonce = 0x1111;
	child = fork();
	if (child == 0) {
		nonce = 0x2222;
		memset(bytes, 7, sizeof(bytes));
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	/* The child is stopped: nothing that follows is its doing. */
	return waitpid(child, NULL, WUNTRACED) == child ? 0 : -1;
}

static int end_child(void **state)
{
	(void)state;
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return 0;
}

static void test_bytes_go_both_ways_in_any_number_of_parts(void **state)
{
	static const size_t sizes[] = {1, 8, 4096, 8192, 8193, 100001, MEMORY_BYTES};
	uint8_t *out = malloc(MEMORY_BYTES), *in = malloc(MEMORY_BYTES);
	struct cma memory;

	(void)state;
	assert_int_equal(cma_open(&memory, child, 0x2222, (uintptr_t)&nonce), 0);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const size_t size = sizes[i], third = size / 3;
		const struct iovec parts[] = {
			{out, third}, {out + third, third}, {out + 2 * third, size - 2 * third}};
		const struct iovec whole = {in, size};

		for (size_t j = 0; j < size; j++)
			out[j] = (uint8_t)(j * 13 + i);
		assert_true(cma_write(&memory, (uintptr_t)bytes, parts, 3, size));
		memset(in, 0, size);
		assert_true(cma_read(&memory, (uintptr_t)bytes, &whole, 1, size));
		assert_memory_equal(in, out, size);
	}
	/* The child's memory, not ours. */
	assert_int_equal(bytes[5], 0);
	cma_close(&memory);
	free(out);
	free(in);
}

static void test_whoever_has_another_nonce_is_not_the_one(void **state)
{
	struct cma memory;

	(void)state;
	assert_int_equal(cma_open(&memory, child, 0x3333, (uintptr_t)&nonce), -ESRCH);
	assert_int_equal(cma_open(&memory, child, 0x2222, 16), -ESRCH);
	assert_true(cma_open(&memory, 0x7ffffff, 0x2222, (uintptr_t)&nonce) < 0);
}

static void test_what_is_not_mapped_is_refused(void **state)
{
	const struct iovec small = {bytes, 8}, large = {bytes, 20000};
	struct cma memory;

	(void)state;
	assert_int_equal(cma_open(&memory, child, 0x2222, (uintptr_t)&nonce), 0);
	assert_false(cma_write(&memory, 4096, &small, 1, 8));
	assert_false(cma_read(&memory, 4096, &small, 1, 8));
	assert_false(cma_write(&memory, 4096, &large, 1, 20000));
	cma_close(&memory);
}

static void test_the_own_process_is_accessible_too(void **state)
{
	static uint8_t here[64];
	const struct iovec part = {(void *)(uintptr_t) "abcdefgh", 8};
	struct iovec back = {here + 32, 8};
	struct cma memory;

	(void)state;
	assert_int_equal(cma_open(&memory, getpid(), 0x1111, (uintptr_t)&nonce), 0);
	assert_true(cma_write(&memory, (uintptr_t)here, &part, 1, 8));
	assert_memory_equal(here, "abcdefgh", 8);
	assert_true(cma_read(&memory, (uintptr_t)here, &back, 1, 8));
	assert_memory_equal(here + 32, "abcdefgh", 8);
	cma_close(&memory);
}

static void test_the_memory_of_an_ended_process_is_not_accessible(void **state)
{
	const struct iovec small = {bytes, 8}, large = {bytes, 20000};
	struct cma memory;

	(void)state;
	assert_int_equal(cma_open(&memory, child, 0x2222, (uintptr_t)&nonce), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	child = -1;
	assert_false(cma_write(&memory, (uintptr_t)bytes, &small, 1, 8));
	assert_false(cma_write(&memory, (uintptr_t)bytes, &large, 1, 20000));
	assert_false(cma_read(&memory, (uintptr_t)bytes, &large, 1, 20000));
	cma_close(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_go_both_ways_in_any_number_of_parts),
		cmocka_unit_test(test_whoever_has_another_nonce_is_not_the_one),
		cmocka_unit_test(test_what_is_not_mapped_is_refused),
		cmocka_unit_test(test_the_own_process_is_accessible_too),
		cmocka_unit_test(test_the_memory_of_an_ended_process_is_not_accessible),
	};

	return cmocka_run_group_tests(tests, start_child, end_child);
}
