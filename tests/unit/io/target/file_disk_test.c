/* SPDX-License-Identifier: Apache-2.0 */
/* Files as disks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io/target/file_disk.h"

static char path[] = "/tmp/softib-file-disk-XXXXXX";

static void test_blocks_are_written_read_and_discarded(void **state)
{
	struct scsi_disk disk;
	uint8_t bytes[1024], back[1024];
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, 10 * 512 + 100), 0);
	assert_int_equal(file_disk_open(path, 0x31, &disk), 0);
	assert_int_equal(disk.block_count, 10);
	assert_false(disk.is_read_only);
	assert_string_equal(disk.serial, "0000000000000031");
	memset(bytes, 0x5a, sizeof(bytes));
	assert_int_equal(disk.backend->write(disk.context, 512, bytes, sizeof(bytes)), 0);
	assert_int_equal(disk.backend->synchronize(disk.context), 0);
	assert_int_equal(disk.backend->read(disk.context, 512, back, sizeof(back)), 0);
	assert_memory_equal(bytes, back, sizeof(back));
	assert_int_equal(disk.backend->discard(disk.context, 512, 512), 0);
	assert_int_equal(disk.backend->read(disk.context, 512, back, sizeof(back)), 0);
	memset(bytes, 0, 512);
	assert_memory_equal(bytes, back, sizeof(back));
	/* Somebody cuts the file. */
	assert_int_equal(ftruncate(file, 512), 0);
	assert_int_equal(disk.backend->read(disk.context, 0, back, sizeof(back)), -EIO);
	file_disk_close(&disk);
	close(file);
}

static void test_read_only_file(void **state)
{
	struct scsi_disk disk;
	char text[sizeof(path) + 3];
	const uint8_t byte = 1;

	(void)state;
	snprintf(text, sizeof(text), "%s,ro", path);
	assert_int_equal(file_disk_open(text, 1, &disk), 0);
	assert_true(disk.is_read_only);
	assert_int_equal(disk.backend->write(disk.context, 0, &byte, 1), -EBADF);
	file_disk_close(&disk);
}

static void test_files_without_a_block_are_refused(void **state)
{
	struct scsi_disk disk;

	(void)state;
	assert_int_equal(truncate(path, 511), 0);
	assert_int_equal(file_disk_open(path, 1, &disk), -ENODATA);
	unlink(path);
	assert_int_equal(file_disk_open(path, 1, &disk), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_are_written_read_and_discarded),
		cmocka_unit_test(test_read_only_file),
		cmocka_unit_test(test_files_without_a_block_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
