/* SPDX-License-Identifier: Apache-2.0 */
/* The files that programs read: their names, their formats, and that they follow the ports (abi
 * 7.1).
 * Covers: daemon/sysfs/sysfs_tree.c daemon/sysfs/sysfs_port.c daemon/sysfs/sysfs_file.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/packets/port_updates.h"
#include "daemon/sysfs/sysfs_file.h"
#include "daemon/sysfs/sysfs_tree.h"
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;
static struct host *host;
static char root[SYSFS_PATH_BYTES];

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:2");
	host = host_table_find(&softibd->core.hosts, "h2");
	sysfs_tree_path(&softibd->sysfs, host, root);
	return 0;
}

static void expect_file(const char *name, const char *expected)
{
	char path[SYSFS_PATH_BYTES + 128], text[256] = "";

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/softib0/%s", root, name);

	FILE *file = fopen(path, "re");

	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	assert_non_null(fgets(text, sizeof(text), file));
	assert_string_equal(text, expected);
	fclose(file);
}

static void test_files_are_rendered_when_asked_for(void **state)
{
	struct stat status;

	(void)state;
	assert_int_equal(stat(root, &status), -1);
	assert_int_equal(sysfs_tree_render(&softibd->sysfs, host), 0);
	assert_int_equal(sysfs_tree_render(&softibd->sysfs, host), 0);
	expect_file("node_guid", "025f:1b01:0002:0000\n");
	expect_file("node_type", "1: CA\n");
	expect_file("ports/1/state", "4: ACTIVE\n");
	expect_file("ports/1/phys_state", "5: LinkUp\n");
	expect_file("ports/1/rate", "100 Gb/sec (4X EDR)\n");
	expect_file("ports/1/link_layer", "InfiniBand\n");
	expect_file("ports/1/gids/0", "fe80:0000:0000:0000:025f:1b01:0002:0001\n");
	expect_file("ports/1/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	expect_file("ports/1/pkeys/0", "0xffff\n");
	expect_file("ports/1/gid_attrs/types/0", "IB/RoCE v1\n");
	expect_file("device/numa_node", "-1\n");
	expect_file("device/infiniband/softib0/fw_ver", "0.1.0\n");
}

static void test_devices_look_like_character_devices(void **state)
{
	char path[SYSFS_PATH_BYTES + 64];
	struct stat status;

	(void)state;
	assert_int_equal(sysfs_tree_render(&softibd->sysfs, host), 0);
	snprintf(path, sizeof(path), "%s/dev/infiniband/uverbs0", root);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISCHR(status.st_mode));
	assert_int_equal(access(path, R_OK | W_OK), 0);
	snprintf(path, sizeof(path), "%s/dev/infiniband/issm0", root);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
}

static void test_files_follow_the_port(void **state)
{
	struct port *port = host_endpoint(host, 0, 1)->port;

	(void)state;
	assert_int_equal(sysfs_tree_render(&softibd->sysfs, host), 0);
	fabric_set_cable(&softibd->core.fabric, port, false, softibd->core.loop.now);
	fixture_settle();
	expect_file("ports/1/state", "1: DOWN\n");
	port->counters.transmit_words = 12345678901;
	expect_file("ports/1/counters/port_rcv_errors", "0\n");
	sysfs_tree_update_counters(&softibd->sysfs, host);
	expect_file("ports/1/counters/port_xmit_data", "12345678901\n");
}

static ino_t file_of(const char *name)
{
	char path[SYSFS_PATH_BYTES + 128];
	struct stat status;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/softib0/%s", root, name);
	assert_int_equal(stat(path, &status), 0);
	return status.st_ino;
}

/* A replaced file has a new inode; files whose text stays are not touched. */
static void test_only_what_changed_is_written(void **state)
{
	struct port *port = host_endpoint(host, 0, 1)->port;

	(void)state;
	assert_int_equal(sysfs_tree_render(&softibd->sysfs, host), 0);

	ino_t state_file = file_of("ports/1/state");
	ino_t key_file = file_of("ports/1/pkeys/0");
	ino_t gid_file = file_of("ports/1/gids/0");

	fabric_set_cable(&softibd->core.fabric, port, false, softibd->core.loop.now);
	fixture_settle();
	expect_file("ports/1/state", "1: DOWN\n");
	assert_int_not_equal(file_of("ports/1/state"), state_file);
	assert_int_equal(file_of("ports/1/pkeys/0"), key_file);
	assert_int_equal(file_of("ports/1/gids/0"), gid_file);
	port->pkeys[0] = 0x7fff;
	sysfs_tree_update_port(&softibd->sysfs, host_endpoint(host, 0, 1));
	expect_file("ports/1/pkeys/0", "0x7fff\n");
}

static void test_what_can_not_be_written_leaves_nothing(void **state)
{
	char path[SYSFS_PATH_BYTES + 64];
	struct stat status;

	(void)state;
	assert_int_equal(sysfs_folder_make(root, "sys/class"), 0);
	/* A file where a folder should be. */
	snprintf(path, sizeof(path), "%s/sys/class", root);
	assert_int_equal(sysfs_file_write(path, "infiniband_verbs", "in the way"), 0);
	assert_int_equal(sysfs_tree_render(&softibd->sysfs, host), -ENOTDIR);
	assert_false(host->sysfs_is_rendered);
	assert_int_equal(stat(root, &status), -1);
	assert_int_equal(sysfs_tree_render(&softibd->sysfs, host), 0);
}

static void test_a_file_is_replaced_whole_or_not_at_all(void **state)
{
	char long_text[10000];

	(void)state;
	assert_int_equal(sysfs_tree_render(&softibd->sysfs, host), 0);
	memset(long_text, 'x', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';

	char folder[SYSFS_PATH_BYTES + 64];

	snprintf(folder, sizeof(folder), "%s/sys/class/infiniband/softib0", root);
	assert_int_equal(sysfs_file_write(folder, "fw_ver", "%s", long_text), -EMSGSIZE);
	expect_file("fw_ver", "0.1.0\n");
	assert_int_equal(sysfs_file_write(folder, "fw_ver", "%d", 5), 0);
	expect_file("fw_ver", "5\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files_are_rendered_when_asked_for, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_devices_look_like_character_devices, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_files_follow_the_port, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_only_what_changed_is_written, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_what_can_not_be_written_leaves_nothing, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_file_is_replaced_whole_or_not_at_all, set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
