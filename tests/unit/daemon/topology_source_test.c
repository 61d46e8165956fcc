/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of a topology, and the errors of invalid ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "daemon/core/log.h"
#include "daemon/daemon.h"
#include "daemon/topology_source.h"
#include "unit/daemon/daemon_fixture.h"

static char folder[64];

static int set_up(void **state)
{
	char path[96];

	(void)state;
	snprintf(folder, sizeof(folder), "%s", fixture_directory());
	snprintf(path, sizeof(path), "%s/log", folder);
	return log_open(path);
}

static int build_with(const struct daemon_options *options, uint32_t *ret_nodes)
{
	struct fabric fabric;

	assert_int_equal(fabric_init(&fabric, &(struct fabric_owner){0}), 0);

	int error = topology_build(options, &fabric);

	if (ret_nodes)
		*ret_nodes = fabric.node_count;
	fabric_release(&fabric);
	return error;
}

static int build(const char *topology, unsigned host_count, uint32_t *ret_nodes)
{
	return build_with(&(struct daemon_options){.topology = topology, .host_count = host_count},
			  ret_nodes);
}

static void write_file(const char *name, const char *text, char *ret_path, size_t path_bytes)
{
	snprintf(ret_path, path_bytes, "%s/%s", folder, name);

	FILE *file = fopen(ret_path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
}

static void expect_log(const char *part)
{
	char path[96], line[1024], last[1024] = "";

	snprintf(path, sizeof(path), "%s/log", folder);

	FILE *file = fopen(path, "re");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		memcpy(last, line, sizeof(last));
	fclose(file);
	if (!strstr(last, part))
		fail_msg("no \"%s\" in %s", part, last);
}

static void test_hosts_generators_and_files_make_fabrics(void **state)
{
	char path[160];
	uint32_t nodes;

	(void)state;
	assert_int_equal(build(NULL, 5, &nodes), 0);
	assert_int_equal(nodes, 6);
	assert_int_equal(build("ring:3", 0, &nodes), 0);
	assert_int_equal(nodes, 6);
	write_file("good", "Switch 2 \"S-1\"\n[1] \"H-1\"[1]\n\nHca 1 \"H-1\"\n[1] \"S-1\"[1]\n",
		   path, sizeof(path));
	assert_int_equal(build(path, 0, &nodes), 0);
	assert_int_equal(nodes, 2);
}

static void test_target_adapters_are_added_to_hosts_and_generators(void **state)
{
	struct daemon_options options = {.host_count = 5, .tca_count = 3};
	uint32_t nodes;

	(void)state;
	assert_int_equal(build_with(&options, &nodes), 0);
	assert_int_equal(nodes, 1 + 5 + 3);
	options.topology = "ring:3";
	assert_int_equal(build_with(&options, &nodes), 0);
	assert_int_equal(nodes, 6 + 3);
	options.topology = "/a/file";
	assert_true(build_with(&options, NULL) < 0);
	expect_log("leave out --tcas");
	options.topology = "star:0000000000000000000000000000000000000000000000000000000000001";
	assert_true(build_with(&options, NULL) < 0);
	expect_log("too long");
}

static void test_errors_name_file_line_and_reason(void **state)
{
	char path[160];

	(void)state;
	write_file("bad", "Switch 2 \"S-1\"\n[9] \"H-1\"[1]\n", path, sizeof(path));
	assert_true(build(path, 0, NULL) < 0);
	expect_log("/bad:2: ");
	assert_true(build("/no/such/file", 0, NULL) < 0);
	expect_log("/no/such/file: No such file or directory");
	assert_true(build("mesh:0x4", 0, NULL) < 0);
	expect_log("topology mesh:0x4: ");
	assert_true(build(folder, 0, NULL) < 0);
	expect_log("Is a directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_hosts_generators_and_files_make_fabrics,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_target_adapters_are_added_to_hosts_and_generators, set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_errors_name_file_line_and_reason, set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
