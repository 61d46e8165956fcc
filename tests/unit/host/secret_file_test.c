/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets in files: made where there are none, refused where others may read them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "host/secret_file.h"

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
		cmocka_unit_test_setup_teardown(test_digits_are_read_as_they_stand, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_is_no_secret_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_that_others_may_use_is_refused, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
