/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets in files: created where they are missing, refused where others may read them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "launch/secret_file.h"

static char folder[] = "/tmp/softib-secret-XXXXXX";
static char path[64];

static int setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/softib-secret-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/secret", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void write_file(const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void test_secret_is_made_once_and_for_its_owner_alone(void **state)
{
	uint8_t made[SECRET_BYTES], read[SECRET_BYTES];
	const uint8_t zeros[SECRET_BYTES] = {0};
	struct stat status;

	(void)state;
	assert_int_equal(secret_file_read(path, made), 0);
	assert_memory_not_equal(made, zeros, SECRET_BYTES);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(secret_file_read(path, read), 0);
	assert_memory_equal(made, read, SECRET_BYTES);
}

/* Managers that start at the same time agree: none of them reads half a file. */
static void test_processes_that_make_it_at_once_agree(void **state)
{
	enum { ROUNDS = 50, MAKERS = 4 };

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint8_t first[SECRET_BYTES], other[SECRET_BYTES];
		int pipes[2], status;

		unlink(path);
		assert_int_equal(pipe(pipes), 0);
		for (unsigned i = 0; i < MAKERS; i++) {
			if (fork() != 0)
				continue;

			uint8_t secret[SECRET_BYTES];
			int error = secret_file_read(path, secret);

			if (!error && write(pipes[1], secret, SECRET_BYTES) != SECRET_BYTES)
				error = -errno;
			_exit(error ? 1 : 0);
		}
		for (unsigned i = 0; i < MAKERS; i++) {
			assert_true(wait(&status) > 0);
			assert_int_equal(status, 0);
		}
		assert_int_equal(read(pipes[0], first, SECRET_BYTES), SECRET_BYTES);
		for (unsigned i = 1; i < MAKERS; i++) {
			assert_int_equal(read(pipes[0], other, SECRET_BYTES), SECRET_BYTES);
			assert_memory_equal(first, other, SECRET_BYTES);
		}
		close(pipes[0]);
		close(pipes[1]);
	}
}

static void test_digits_are_read_as_they_stand(void **state)
{
	uint8_t secret[SECRET_BYTES];

	(void)state;
	write_file("000102030405060708090a0B0c0D0e0f\n", 0600);
	assert_int_equal(secret_file_read(path, secret), 0);
	for (unsigned i = 0; i < SECRET_BYTES; i++)
		assert_int_equal(secret[i], i);
}

static void test_what_is_no_secret_is_refused(void **state)
{
	static const char *const texts[] = {"", "nonsense\n", "000102030405060708090a0b0c0d0e0\n",
					    "000102030405060708090a0b0c0d0e0f0\n",
					    "000102030405060708090a0b0c0d0e0x\n"};
	uint8_t secret[SECRET_BYTES];

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(texts); i++) {
		write_file(texts[i], 0600);
		assert_int_equal(secret_file_read(path, secret), -EINVAL);
	}
}

static void test_file_that_others_may_use_is_refused(void **state)
{
	static const mode_t modes[] = {0640, 0604, 0620, 0666, 0610};
	uint8_t secret[SECRET_BYTES];

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(modes); i++) {
		write_file("000102030405060708090a0b0c0d0e0f\n", modes[i]);
		assert_int_equal(secret_file_read(path, secret), -EPERM);
		assert_non_null(strstr(secret_file_reason(-EPERM), "chmod 600"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_secret_is_made_once_and_for_its_owner_alone,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_processes_that_make_it_at_once_agree, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_digits_are_read_as_they_stand, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_is_no_secret_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_that_others_may_use_is_refused, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
