/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that the library allocates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "api/libibverbs/buffer.h"

static void test_a_buffer_is_page_aligned_zeroed_and_writable(void **state)
{
	struct ibv_buf *buffer = NULL;
	unsigned char *bytes = ibv_alloc_buf(NULL, 10000, &buffer);

	(void)state;
	assert_non_null(bytes);
	assert_non_null(buffer);
	assert_int_equal((uintptr_t)bytes % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
	for (size_t i = 0; i < 10000; i++)
		assert_int_equal(bytes[i], 0);
	bytes[0] = 1;
	bytes[9999] = 1;
	ibv_free_buf(buffer);
}

static void test_an_empty_or_impossible_buffer_is_refused(void **state)
{
	struct ibv_buf *untouched = (struct ibv_buf *)1;
	struct ibv_buf *buffer = untouched;

	(void)state;
	errno = 0;
	assert_null(ibv_alloc_buf(NULL, 0, &buffer));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_alloc_buf(NULL, SIZE_MAX / 2, &buffer));
	assert_int_equal(errno, ENOMEM);
	assert_ptr_equal(buffer, untouched);
	ibv_free_buf(NULL);
}

static void test_a_region_outside_its_buffer_is_refused(void **state)
{
	struct ibv_buf *buffer = NULL;
	char *bytes = ibv_alloc_buf(NULL, 4096, &buffer);

	(void)state;
	assert_non_null(bytes);
	errno = 0;
	assert_null(ibv_reg_buf_mr(NULL, buffer, bytes + 1, 4096, 0));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(ibv_reg_buf_mr(NULL, buffer, bytes - 1, 1, 0));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(ibv_reg_buf_mr(NULL, buffer, bytes + 4096, SIZE_MAX, 0));
	assert_int_equal(errno, EINVAL);
	ibv_free_buf(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_buffer_is_page_aligned_zeroed_and_writable),
		cmocka_unit_test(test_an_empty_or_impossible_buffer_is_refused),
		cmocka_unit_test(test_a_region_outside_its_buffer_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
