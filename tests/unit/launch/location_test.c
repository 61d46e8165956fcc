/* SPDX-License-Identifier: Apache-2.0 */
/* Finding softib's own files from where this code was loaded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ipc/control_socket.h"

static void test_program_beside_this_one_is_found(void **state)
{
	char path[CONTROL_PATH_BYTES], self[PATH_MAX];

	(void)state;
	assert_non_null(realpath("/proc/self/exe", self));
	assert_int_equal(program_path(strrchr(self, '/') + 1, path), 0);
	assert_string_equal(path, self);
}

static void test_missing_program_is_said_to_be_missing(void **state)
{
	char path[CONTROL_PATH_BYTES];

	(void)state;
	assert_int_equal(program_path("no-such-program", path), -ENOENT);
}

/* PREFIX/LIBDIR/softib leads to PREFIX/libexec/softib. */
static void test_program_is_found_from_an_installation(void **state)
{
	static const char *const folders[] = {"lib", "lib/triplet", "lib/triplet/softib", "libexec",
					      "libexec/softib"};
	char prefix[] = "/tmp/softib-test-XXXXXX", path[CONTROL_PATH_BYTES], text[96];

	(void)state;
	assert_non_null(mkdtemp(prefix));
	for (unsigned i = 0; i < ARRAY_COUNT(folders); i++) {
		snprintf(text, sizeof(text), "%s/%s", prefix, folders[i]);
		assert_int_equal(mkdir(text, 0700), 0);
	}
	snprintf(text, sizeof(text), "%s/libexec/softib/test-daemon", prefix);

	int file = open(text, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);

	assert_true(file >= 0);
	close(file);
	snprintf(text, sizeof(text), "%s/lib/triplet/softib", prefix);
	setenv("SOFTIB_LIBDIR", text, 1);
	assert_int_equal(program_path("test-daemon", path), 0);
	snprintf(text, sizeof(text), "%s/libexec/softib/test-daemon", prefix);
	assert_string_equal(path, text);
	unsetenv("SOFTIB_LIBDIR");
	snprintf(text, sizeof(text), "rm -rf %s", prefix);
	assert_int_equal(system(text), 0);
}

static void test_libraries_are_where_the_launcher_says(void **state)
{
	char path[CONTROL_PATH_BYTES];

	(void)state;
	setenv("SOFTIB_LIBDIR", "/some/where", 1);
	assert_int_equal(library_directory(path), 0);
	assert_string_equal(path, "/some/where");
	unsetenv("SOFTIB_LIBDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_beside_this_one_is_found),
		cmocka_unit_test(test_missing_program_is_said_to_be_missing),
		cmocka_unit_test(test_program_is_found_from_an_installation),
		cmocka_unit_test(test_libraries_are_where_the_launcher_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
