/* SPDX-License-Identifier: Apache-2.0 */
/* Requests between ibv_wr_start and ibv_wr_complete keep their data while the arrays grow. */
#include "api/libibverbs/data/staged_requests.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>

static struct staged_requests staged;

static void test_nothing_staged_is_nothing_to_post(void **state)
{
	(void)state;
	assert_null(staged_requests_link(&staged));
	staged_requests_release(&staged);
}

static void test_many_requests_come_out_as_one_list_with_their_data(void **state)
{
	enum { REQUESTS = 100 };
	char text[8] = "abcdefg";
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < REQUESTS; i++) {
		const struct ibv_sge sges[2] = {{.addr = i, .length = 1, .lkey = 5},
						{.addr = i + 1, .length = 2, .lkey = 6}};
		const struct ibv_data_buf pieces[2] = {{text, 3}, {text + 3, i % 5}};

		assert_non_null(staged_requests_add(&staged, i, IBV_WR_SEND, IBV_SEND_SIGNALED));
		if (i % 2)
			staged_requests_set_sges(&staged, sges, 2);
		else
			staged_requests_set_inline(&staged, pieces, 2);
	}
	for (struct ibv_send_wr *wr = staged_requests_link(&staged); wr; wr = wr->next) {
		unsigned i = count++;

		assert_int_equal(wr->wr_id, i);
		if (i % 2) {
			assert_int_equal(wr->num_sge, 2);
			assert_int_equal(wr->send_flags, IBV_SEND_SIGNALED);
			assert_int_equal(wr->sg_list[1].addr, i + 1);
		} else {
			assert_int_equal(wr->num_sge, 1);
			assert_int_equal(wr->send_flags, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
			assert_int_equal(wr->sg_list[0].length, 3 + i % 5);
			assert_memory_equal((void *)wr->sg_list[0].addr, text, 3 + i % 5);
		}
	}
	assert_int_equal(count, REQUESTS);
	staged_requests_release(&staged);
}

static void test_an_error_lasts_until_the_next_clear(void **state)
{
	(void)state;
	assert_null(staged_requests_newest(&staged));
	assert_int_equal(staged.error, EINVAL);
	staged_requests_fail(&staged, EOPNOTSUPP);
	assert_int_equal(staged.error, EINVAL);
	assert_null(staged_requests_add(&staged, 1, IBV_WR_SEND, 0));
	staged_requests_clear(&staged);
	assert_int_equal(staged.error, 0);
	assert_non_null(staged_requests_add(&staged, 1, IBV_WR_SEND, 0));
	assert_non_null(staged_requests_newest(&staged));
	staged_requests_release(&staged);
}

/* The program's own inline flag means nothing here: data makes a request inline. */
static void test_flags_of_the_program_do_not_make_a_request_inline(void **state)
{
	(void)state;
	staged_requests_add(&staged, 1, IBV_WR_SEND, IBV_SEND_INLINE | IBV_SEND_FENCE);
	assert_int_equal(staged_requests_link(&staged)->send_flags, IBV_SEND_FENCE);
	staged_requests_release(&staged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_staged_is_nothing_to_post),
		cmocka_unit_test(test_many_requests_come_out_as_one_list_with_their_data),
		cmocka_unit_test(test_an_error_lasts_until_the_next_clear),
		cmocka_unit_test(test_flags_of_the_program_do_not_make_a_request_inline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
