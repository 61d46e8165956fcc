/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric's folder: one owner at a time, remains removed at the start, nothing left at the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/core/runtime_folder.h"
#include "unit/daemon/daemon_fixture.h"

static int set_up(void **state)
{
	(void)state;
	fixture_directory();
	return 0;
}

static void touch(const struct runtime_folder *folder, const char *name)
{
	int file = openat(folder->directory, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(file >= 0);
	close(file);
}

static void test_a_fabric_has_one_owner(void **state)
{
	struct runtime_folder first, second;

	(void)state;
	assert_int_equal(runtime_folder_claim(&first, "one"), 0);
	assert_int_equal(runtime_folder_claim(&second, "one"), -EEXIST);
	assert_int_equal(runtime_folder_claim(&second, "two"), 0);
	runtime_folder_remove(&first);
	runtime_folder_remove(&second);
	assert_int_equal(runtime_folder_claim(&first, "one"), 0);
	runtime_folder_remove(&first);
}

static void test_remains_of_a_dead_owner_are_swept(void **state)
{
	struct runtime_folder dead, next;
	char path[CONTROL_PATH_BYTES + 64];
	struct stat status;

	(void)state;
	assert_int_equal(runtime_folder_claim(&dead, "one"), 0);
	touch(&dead, CONTROL_SOCKET);
	touch(&dead, OPERATOR_SOCKET);
	touch(&dead, OPERATOR_SOCKET ".new");
	assert_int_equal(mkdirat(dead.directory, "hosts", 0700), 0);
	assert_int_equal(mkdirat(dead.directory, "hosts/h1", 0700), 0);
	touch(&dead, "hosts/h1/file");
	/* Removing the remains must not follow a link. */
	assert_int_equal(symlinkat("/", dead.directory, "hosts/h1/root"), 0);
	close(dead.pid_file);
	close(dead.directory);

	assert_int_equal(runtime_folder_claim(&next, "one"), 0);
	snprintf(path, sizeof(path), "%s/hosts", next.path);
	assert_int_equal(stat(path, &status), -1);
	assert_int_equal(stat("/etc", &status), 0);

	int listener = runtime_folder_listen(&next, OPERATOR_SOCKET);

	assert_true(listener >= 0);
	assert_int_equal(fstatat(next.directory, OPERATOR_SOCKET, &status, 0), 0);
	assert_int_equal(fstatat(next.directory, OPERATOR_SOCKET ".new", &status, 0), -1);
	close(listener);
	runtime_folder_remove(&next);
	assert_int_equal(stat(next.path, &status), -1);
}

static void test_bad_names_are_refused(void **state)
{
	struct runtime_folder folder;

	(void)state;
	assert_int_equal(runtime_folder_claim(&folder, "../up"), -EINVAL);
	assert_int_equal(runtime_folder_claim(&folder, ""), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_fabric_has_one_owner, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_remains_of_a_dead_owner_are_swept, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_bad_names_are_refused, set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
