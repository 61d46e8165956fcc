/* SPDX-License-Identifier: Apache-2.0 */
/* Counters in sysfs follow the ports by themselves, one host at a time, and rest when nothing
 * moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "daemon/sysfs/counter_files.h"
#include "daemon/sysfs/sysfs_file.h"
#include "daemon/sysfs/sysfs_tree.h"
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;
static struct counter_files files;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:3");
	return 0;
}

static uint64_t shown(const char *name)
{
	char path[SYSFS_PATH_BYTES + 128], root[SYSFS_PATH_BYTES], text[64] = "";

	sysfs_tree_path(&softibd->sysfs, host_table_find(&softibd->core.hosts, name), root);
	snprintf(path, sizeof(path),
		 "%s/sys/class/infiniband/softib0/ports/1/counters/symbol_error", root);

	FILE *file = fopen(path, "re");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	return strtoull(text, NULL, 10);
}

static time_ns deadline(void)
{
	return counter_files_deadline(&files, &softibd->core, &softibd->sysfs);
}

/* Runs at the next deadline; false: there is none. */
static bool run_next(void)
{
	if (deadline() == TIME_NEVER)
		return false;
	softibd->core.loop.now = deadline();
	counter_files_run(&files, &softibd->core, &softibd->sysfs);
	return true;
}

static void test_hosts_take_turns_until_nothing_changes(void **state)
{
	unsigned rounds = 0;

	(void)state;
	/* Without files there is nothing to do, whatever happens. */
	files.work_seen = softibd->core.fabric.work.tail - 1;
	assert_int_equal(deadline(), TIME_NEVER);
	for (unsigned number = 2; number <= 3; number++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", number);
		assert_int_equal(sysfs_tree_render(&softibd->sysfs,
						   host_table_find(&softibd->core.hosts, name)),
				 0);
		fixture_port(name)->counters.symbol_errors = 10 + number;
	}
	assert_int_equal(softibd->sysfs.rendered_count, 2);
	assert_int_equal(shown("h2"), 0);
	files.written_at = softibd->core.loop.now;
	/* Two hosts: one each half second. */
	assert_int_equal(deadline(), files.written_at + MILLISECONDS(500));
	counter_files_run(&files, &softibd->core, &softibd->sysfs);
	assert_int_equal(shown("h2") + shown("h3"), 0);
	assert_true(run_next());
	assert_int_equal(shown("h2") + shown("h3"), 12);
	while (run_next())
		assert_true(++rounds < 10);
	assert_int_equal(shown("h2"), 12);
	assert_int_equal(shown("h3"), 13);
}

static void test_packets_in_the_fabric_start_a_new_round(void **state)
{
	(void)state;
	assert_int_equal(deadline(), TIME_NEVER);
	fixture_port("h3")->counters.symbol_errors = 99;
	softibd->core.fabric.work.tail++;
	softibd->core.fabric.work.head++;
	assert_true(run_next());
	assert_true(run_next());
	assert_false(run_next());
	assert_int_equal(shown("h3"), 99);
}

static void test_many_hosts_are_not_written_more_often(void **state)
{
	uint32_t count = softibd->sysfs.rendered_count;

	(void)state;
	softibd->core.fabric.work.tail++;
	softibd->core.fabric.work.head++;
	softibd->sysfs.rendered_count = 10000;
	assert_int_equal(deadline(), files.written_at + COUNTER_FILES_PERIOD);
	softibd->sysfs.rendered_count = count;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts_take_turns_until_nothing_changes),
		cmocka_unit_test(test_packets_in_the_fabric_start_a_new_round),
		cmocka_unit_test(test_many_hosts_are_not_written_more_often),
	};

	return cmocka_run_group_tests(tests, set_up, fixture_tear_down);
}
