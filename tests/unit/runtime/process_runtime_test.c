/* SPDX-License-Identifier: Apache-2.0 */
/* A process on its fabric: forks and the death of softibd. The order matters: the last test ends
 * softibd. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit/runtime/runtime_pair.h"

static void test_child_of_a_fork_leaves_the_parent_alone(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		bool ok;

		adapter_lock(pair.ends[0].adapter);
		ok = !adapter_progress(pair.ends[0].adapter, adapter_now(pair.ends[0].adapter));
		ok = ok && adapter_more_qpns(pair.ends[0].adapter) == -ENODEV;
		adapter_unlock(pair.ends[0].adapter);
		_exit(ok ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	pair_send_and_check(1000, 5);
}

static void test_death_of_softibd_is_fatal_and_nothing_hangs(void **state)
{
	struct completion completion;

	(void)state;
	pair_post_receive(&pair.ends[1], 42, 100);
	fake_softibd_stop(&pair.softibd);
	pair_wait_until_told(&pair.told_fatal, 2);
	pair_poll_one(&pair.ends[1], &completion);
	assert_int_equal(completion.wr_id, 42);
	assert_int_equal(completion.status, COMPLETION_FLUSHED);
	assert_int_equal(adapter_open(pair.session, 0, &pair_owner, &pair.ends[0].adapter),
			 -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_child_of_a_fork_leaves_the_parent_alone),
		cmocka_unit_test(test_death_of_softibd_is_fatal_and_nothing_hangs),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
