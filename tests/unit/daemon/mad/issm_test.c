/* SPDX-License-Identifier: Apache-2.0 */
/* IsSM is set while a program holds the port's issm device open, as OpenSM does (management 8.3;
 * abi 8.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "daemon/mad/issm.h"
#include "daemon/sysfs/sysfs_tree.h"
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;
static char device[SYSFS_PATH_BYTES + 32];

static struct endpoint *endpoint_of(const char *host)
{
	return host_endpoint(host_table_find(&softibd->core.hosts, host), 0, 1);
}

static int set_up(void **state)
{
	char tree[SYSFS_PATH_BYTES];
	struct host *host;

	(void)state;
	softibd = fixture_start("star:2");
	host = host_table_find(&softibd->core.hosts, "h2");
	assert_int_equal(sysfs_tree_render(&softibd->sysfs, host), 0);
	sysfs_tree_path(&softibd->sysfs, host, tree);
	snprintf(device, sizeof(device), "%s/dev/infiniband/issm0", tree);
	return 0;
}

static bool is_sm(const char *host)
{
	fixture_settle();
	return endpoint_of(host)->port->info.capability_mask & CAPABILITY_IS_SM;
}

static int open_device(void)
{
	int file = open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	assert_true(file >= 0);
	return file;
}

static void test_opening_sets_the_bit_and_closing_clears_it(void **state)
{
	(void)state;
	assert_false(is_sm("h2"));
	for (unsigned round = 0; round < 3; round++) {
		int file = open_device();

		assert_true(is_sm("h2"));
		close(file);
		assert_false(is_sm("h2"));
	}
}

static void test_the_last_of_several_openers_clears_it(void **state)
{
	int first = open_device();
	int second = open_device();

	(void)state;
	assert_true(is_sm("h2"));
	close(first);
	assert_true(is_sm("h2"));
	close(second);
	assert_false(is_sm("h2"));
}

static void test_a_manager_that_is_killed_clears_it(void **state)
{
	int ends[2];
	char ready;

	(void)state;
	assert_int_equal(pipe(ends), 0);

	pid_t child = fork();

	if (child == 0) {
		int file = open(device, O_RDONLY | O_NONBLOCK);

		if (file < 0 || write(ends[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ends[0], &ready, 1), 1);
	assert_true(is_sm("h2"));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(is_sm("h2"));
	close(ends[0]);
	close(ends[1]);
}

/* IsSM of the built-in manager's port stays when a tool opens and closes its device. */
static void test_the_built_in_manager_keeps_its_bit(void **state)
{
	struct endpoint *endpoint = endpoint_of("h1");

	(void)state;
	assert_true(is_sm("h1"));
	issm_hold(&softibd->core, endpoint);
	issm_release(&softibd->core, endpoint);
	assert_true(is_sm("h1"));
}

#define ISSM_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ISSM_TEST(test_opening_sets_the_bit_and_closing_clears_it),
		ISSM_TEST(test_the_last_of_several_openers_clears_it),
		ISSM_TEST(test_a_manager_that_is_killed_clears_it),
		ISSM_TEST(test_the_built_in_manager_keeps_its_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
