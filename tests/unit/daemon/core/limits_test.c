/* SPDX-License-Identifier: Apache-2.0 */
/* What one process and all processes may take, and what they are told when they may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/resource.h>
#include "daemon/core/limits.h"

enum { PID = 17, OTHER_PID = 18 };

static struct accounts accounts;

static int set_up(void **state)
{
	(void)state;
	accounts_init(&accounts);
	accounts.process_max[LIMIT_CM_IDS] = 3;
	accounts.all_max[LIMIT_CM_IDS] = 5;
	accounts.floor[LIMIT_CM_IDS] = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(accounts.by_process.count, 0);
	for (unsigned limit = 0; limit < LIMIT_COUNT; limit++)
		assert_int_equal(accounts.used[limit], 0);
	accounts_release(&accounts);
	return 0;
}

static void test_one_process_and_all_processes_have_limits(void **state)
{
	struct account *one = account_of(&accounts, PID, 1);
	struct account *other = account_of(&accounts, OTHER_PID, 2);
	char text[LIMIT_TEXT_BYTES];

	(void)state;
	assert_int_equal(account_take(one, LIMIT_CM_IDS, 4), -EMFILE);
	assert_int_equal(account_take(one, LIMIT_CM_IDS, 2), 0);
	assert_int_equal(account_take(one, LIMIT_CM_IDS, 2), -EMFILE);
	assert_int_equal(one->refused, LIMIT_CM_IDS);
	account_explain(one, LIMIT_CM_IDS, text);
	assert_string_equal(text, "softibd keeps 2 communication ids for this process; a process "
				  "may have 3");
	assert_int_equal(account_take(other, LIMIT_CM_IDS, 3), 0);
	assert_int_equal(account_take(one, LIMIT_CM_IDS, 1), -EMFILE);
	account_explain(one, LIMIT_CM_IDS, text);
	assert_string_equal(text, "softibd keeps 5 communication ids for all processes; all may "
				  "have 5");
	/* Another thing is not affected. */
	assert_int_equal(account_take(one, LIMIT_MAD_PORTS, 1), 0);
	account_give(one, LIMIT_MAD_PORTS, 1);
	account_give(other, LIMIT_CM_IDS, 3);
	assert_int_equal(account_take(one, LIMIT_CM_IDS, 1), 0);
	account_give(one, LIMIT_CM_IDS, 3);
	account_release(one);
	account_release(other);
}

/* Processes that took all there is had an honest one cut off with its next event. */
static void test_other_processes_cannot_take_the_floor(void **state)
{
	struct account *greedy = account_of(&accounts, PID, 1);
	struct account *honest = account_of(&accounts, OTHER_PID, 2);

	(void)state;
	accounts.floor[LIMIT_CM_IDS] = 2;
	accounts.process_max[LIMIT_CM_IDS] = 9;
	assert_int_equal(account_take(greedy, LIMIT_CM_IDS, 8), -EMFILE);
	assert_int_equal(account_take(greedy, LIMIT_CM_IDS, 7), 0);
	assert_int_equal(accounts.used[LIMIT_CM_IDS], 5);
	assert_int_equal(account_take(honest, LIMIT_CM_IDS, 3), -EMFILE);
	assert_int_equal(account_take(honest, LIMIT_CM_IDS, 2), 0);
	assert_int_equal(account_take(honest, LIMIT_CM_IDS, 1), -EMFILE);
	account_give(greedy, LIMIT_CM_IDS, 1);
	assert_int_equal(account_take(honest, LIMIT_CM_IDS, 1), 0);
	account_give(honest, LIMIT_CM_IDS, 3);
	account_give(greedy, LIMIT_CM_IDS, 6);
	account_release(greedy);
	account_release(honest);
}

static void test_an_account_lives_as_long_as_what_refers_to_it(void **state)
{
	struct account *account = account_of(&accounts, PID, 1);

	(void)state;
	assert_ptr_equal(account_of(&accounts, PID, 2), account);
	assert_ptr_equal(account_share(account), account);
	account_release(account);
	account_release(account);
	assert_int_equal(accounts.by_process.count, 1);
	account_release(account);
}

/* The kernel shows processes of other PID namespaces as process 0. */
static void test_unknown_processes_do_not_share_an_account(void **state)
{
	struct account *one = account_of(&accounts, 0, 1);
	struct account *other = account_of(&accounts, 0, 2);

	(void)state;
	assert_ptr_not_equal(one, other);
	account_release(one);
	account_release(other);
}

static void test_descriptors_follow_the_limit_of_softibd(void **state)
{
	struct rlimit before, few;
	struct accounts small;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	accounts_init(&small);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(small.all_max[LIMIT_DESCRIPTORS], 64 - 16 - 64 / 16);
	assert_int_equal(small.process_max[LIMIT_DESCRIPTORS], (64 - 16 - 64 / 16) / 2);
	accounts_release(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_process_and_all_processes_have_limits,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_processes_cannot_take_the_floor, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_an_account_lives_as_long_as_what_refers_to_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unknown_processes_do_not_share_an_account,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_descriptors_follow_the_limit_of_softibd,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
