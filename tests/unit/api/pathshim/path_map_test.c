/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths are mapped, and to what (abi 2.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "api/pathshim/path_map.h"

static char buffer[MAPPED_PATH_BYTES];

static void assert_mapped(const char *path, const char *expected)
{
	assert_string_equal(path_map(path, "/t", buffer), expected);
}

static void assert_untouched(const char *path)
{
	assert_ptr_equal(path_map(path, "/t", buffer), path);
}

static void test_the_prefixes_and_what_is_below_them_are_mapped(void **state)
{
	(void)state;
	assert_mapped("/sys/class/infiniband", "/t/sys/class/infiniband");
	assert_mapped("/sys/class/infiniband/", "/t/sys/class/infiniband/");
	assert_mapped("/sys/class/infiniband/softib0/ports/1/state",
		      "/t/sys/class/infiniband/softib0/ports/1/state");
	assert_mapped("/sys/class/infiniband_mad/abi_version",
		      "/t/sys/class/infiniband_mad/abi_version");
	assert_mapped("/sys/class/infiniband_verbs", "/t/sys/class/infiniband_verbs");
	assert_mapped("/sys/class/infiniband_cm/x", "/t/sys/class/infiniband_cm/x");
	assert_mapped("/sys/class/scsi_host/", "/t/sys/class/scsi_host/");
	assert_mapped("/sys/class/misc/rdma_cm/abi_version",
		      "/t/sys/class/misc/rdma_cm/abi_version");
	assert_mapped("/dev/infiniband/uverbs0", "/t/dev/infiniband/uverbs0");
}

static void test_everything_else_stays_as_it_is(void **state)
{
	(void)state;
	assert_untouched("/sys/class/infiniband_srp");
	assert_untouched("/sys/class/infinibandx");
	assert_untouched("/sys/class/infini");
	assert_untouched("/sys/class/scsi_hosts");
	assert_untouched("/sys/class/misc/rdma_cmx");
	assert_untouched("/sys/class/net");
	assert_untouched("/dev/infinibandx/uverbs0");
	assert_untouched("/dev/null");
	assert_untouched("/d");
	assert_untouched("sys/class/infiniband");
	assert_untouched("/");
	assert_untouched("");
	assert_null(path_map(NULL, "/t", buffer));
}

static void test_without_a_tree_nothing_is_mapped(void **state)
{
	const char *path = "/dev/infiniband";

	(void)state;
	assert_ptr_equal(path_map(path, NULL, buffer), path);
	assert_ptr_equal(path_map(path, "", buffer), path);
}

static void test_a_path_that_does_not_fit_is_left_alone(void **state)
{
	char tree[MAPPED_PATH_BYTES + 1];
	const char *path = "/dev/infiniband";
	size_t fits = MAPPED_PATH_BYTES - 1 - strlen(path);

	(void)state;
	memset(tree, 't', sizeof(tree));
	tree[fits] = '\0';
	assert_ptr_equal(path_map(path, tree, buffer), buffer);
	assert_int_equal(strlen(buffer), MAPPED_PATH_BYTES - 1);
	tree[fits] = 't';
	tree[fits + 1] = '\0';
	assert_ptr_equal(path_map(path, tree, buffer), path);
}

static void test_counters_are_told_from_other_files(void **state)
{
	static const char counter[] =
		"/t/sys/class/infiniband/softib0/ports/1/counters/port_xmit_data";

	(void)state;
	assert_true(path_is_counter(counter, "/t"));
	assert_false(path_is_counter(counter, "/u"));
	assert_false(path_is_counter("/t/sys/class/infiniband/softib0/ports/1/counters", "/t"));
	assert_false(path_is_counter("/t/sys/class/infiniband/softib0/ports/1/state", "/t"));
}

static void test_an_open_file_has_a_path(void **state)
{
	char path[FD_PATH_BYTES];

	(void)state;
	path_of_fd(0, path);
	assert_string_equal(path, "/proc/self/fd/0");
	path_of_fd(2147483647, path);
	assert_string_equal(path, "/proc/self/fd/2147483647");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_prefixes_and_what_is_below_them_are_mapped),
		cmocka_unit_test(test_everything_else_stays_as_it_is),
		cmocka_unit_test(test_without_a_tree_nothing_is_mapped),
		cmocka_unit_test(test_a_path_that_does_not_fit_is_left_alone),
		cmocka_unit_test(test_counters_are_told_from_other_files),
		cmocka_unit_test(test_an_open_file_has_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
