/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the built-in manager: read, or refused with file, line and reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "daemon/core/log.h"
#include "daemon/managers/sm_policy.h"
#include "mgmt/sm/qos.h"
#include "mgmt/subnet/partitions.h"
#include "unit/daemon/daemon_fixture.h"

enum { LINE_BYTES = 512 };

static char partitions_path[96], qos_path[96], log_path[96];
static char line[LINE_BYTES];
static struct sm_policy policy;

static int set_up(void **state)
{
	const char *folder = fixture_directory();

	(void)state;
	snprintf(partitions_path, sizeof(partitions_path), "%s/partitions.conf", folder);
	snprintf(qos_path, sizeof(qos_path), "%s/qos.conf", folder);
	snprintf(log_path, sizeof(log_path), "%s/log", folder);
	return log_open(log_path);
}

static int tear_down(void **state)
{
	sm_policy_release(&policy);
	log_close();
	return fixture_tear_down(state);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* The last line of the log, without its time. */
static const char *last_line(void)
{
	FILE *file = fopen(log_path, "re");
	char next[LINE_BYTES];

	assert_non_null(file);
	line[0] = '\0';
	while (fgets(next, sizeof(next), file))
		snprintf(line, sizeof(line), "%s", next + strlen("2000-01-01 00:00:00 "));
	fclose(file);
	return line;
}

static void test_no_wishes_are_no_policy(void **state)
{
	const struct sm_settings settings = {0};

	(void)state;
	assert_int_equal(sm_policy_read(&policy, &settings), 0);
	assert_null(policy.partitions);
	assert_null(policy.qos);
	assert_string_equal(last_line(), "");
}

static void test_files_are_read(void **state)
{
	const struct sm_settings settings = {.engine = "updn",
					     .partitions_path = partitions_path,
					     .qos_path = qos_path,
					     .lmc = 7};

	(void)state;
	write_text(partitions_path, "Default=0x7fff, ipoib : ALL=full;\nblue=0x12 : 0x1=full;\n");
	write_text(qos_path, "");
	assert_int_equal(sm_policy_read(&policy, &settings), 0);
	assert_non_null(policy.partitions);
	assert_non_null(partitions_find(policy.partitions, 0x12));
	assert_non_null(policy.qos);
}

static void test_error_in_partitions_names_its_line(void **state)
{
	const struct sm_settings settings = {.partitions_path = partitions_path};
	char place[128];

	(void)state;
	write_text(partitions_path, "Default=0x7fff : ALL=full;\nblue=0xzz : ALL;\n");
	snprintf(place, sizeof(place), "%s:2: ", partitions_path);
	assert_int_equal(sm_policy_read(&policy, &settings), -EINVAL);
	assert_null(policy.partitions);
	assert_memory_equal(last_line(), place, strlen(place));
	assert_true(strlen(line) > strlen(place) + 1);
}

/* What was read before the error is freed. */
static void test_error_in_the_second_file_leaves_nothing(void **state)
{
	const struct sm_settings settings = {.partitions_path = partitions_path,
					     .qos_path = qos_path};
	char place[128];

	(void)state;
	write_text(partitions_path, "Default=0x7fff : ALL=full;\n");
	write_text(qos_path, "no such thing\n");
	snprintf(place, sizeof(place), "%s:1: ", qos_path);
	assert_int_equal(sm_policy_read(&policy, &settings), -EINVAL);
	assert_null(policy.partitions);
	assert_null(policy.qos);
	assert_memory_equal(last_line(), place, strlen(place));
}

static void test_missing_file_is_named(void **state)
{
	const struct sm_settings settings = {.qos_path = qos_path};
	char expected[192];

	(void)state;
	unlink(qos_path);
	snprintf(expected, sizeof(expected), "%s: No such file or directory\n", qos_path);
	assert_int_equal(sm_policy_read(&policy, &settings), -ENOENT);
	assert_string_equal(last_line(), expected);
}

static void test_unknown_engine_and_large_lmc_are_refused_before_files_are_read(void **state)
{
	const struct sm_settings engine = {.engine = "magic", .partitions_path = "/nowhere"};
	const struct sm_settings lmc = {.lmc = 8, .partitions_path = "/nowhere"};

	(void)state;
	assert_int_equal(sm_policy_read(&policy, &engine), -EINVAL);
	assert_string_equal(last_line(), "unknown routing engine magic\n");
	assert_int_equal(sm_policy_read(&policy, &lmc), -EINVAL);
	assert_string_equal(last_line(), "LMC 8 is not in the range 0 to 7\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_no_wishes_are_no_policy),
		TEST(test_files_are_read),
		TEST(test_error_in_partitions_names_its_line),
		TEST(test_error_in_the_second_file_leaves_nothing),
		TEST(test_missing_file_is_named),
		TEST(test_unknown_engine_and_large_lmc_are_refused_before_files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
