/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter data of a disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/bytes.h"
#include "io/scsi/inquiry.h"

static const struct scsi_disk disk = {
	.block_count = 0x2000, .identifier = 0x3123456789abcd01, .serial = "S1"};
static struct scsi_parameters parameters;

static void test_standard_data(void **state)
{
	(void)state;
	scsi_inquiry_standard(&disk, &parameters);
	assert_int_equal(parameters.byte_count, 66);
	assert_int_equal(parameters.bytes[0], 0);
	assert_int_equal(parameters.bytes[4], 61);
	assert_memory_equal(parameters.bytes + 8, "SOFTIB  SRP DISK        1   ", 28);
	assert_int_equal(get_be16(parameters.bytes + 60), 0x0940);
	scsi_inquiry_standard(NULL, &parameters);
	assert_int_equal(parameters.bytes[0], 0x7f);
}

static void test_every_listed_page_is_there_and_no_other(void **state)
{
	bool is_listed[256] = {0};

	(void)state;
	assert_true(scsi_inquiry_page(&disk, 0, &parameters));
	for (size_t i = 4; i < parameters.byte_count; i++)
		is_listed[parameters.bytes[i]] = true;
	for (unsigned page = 0; page < 256; page++) {
		assert_int_equal(scsi_inquiry_page(&disk, (uint8_t)page, &parameters),
				 is_listed[page]);
		if (!is_listed[page])
			continue;
		assert_int_equal(parameters.bytes[1], page);
		assert_int_equal(get_be16(parameters.bytes + 2) + 4, parameters.byte_count);
	}
}

static void test_contents_of_pages(void **state)
{
	(void)state;
	assert_true(scsi_inquiry_page(&disk, 0x80, &parameters));
	assert_memory_equal(parameters.bytes + 4, "S1", 2);
	assert_true(scsi_inquiry_page(&disk, 0x83, &parameters));
	assert_int_equal(get_be32(parameters.bytes + 4), 0x01030008);
	assert_int_equal(get_be64(parameters.bytes + 8), disk.identifier);
	assert_int_equal(get_be32(parameters.bytes + 16), 0x0201000a);
	assert_memory_equal(parameters.bytes + 20, "SOFTIB  S1", 10);
	assert_true(scsi_inquiry_page(&disk, 0xb0, &parameters));
	assert_int_equal(parameters.byte_count, 64);
	assert_int_equal(get_be32(parameters.bytes + 8), SCSI_TRANSFER_BLOCKS_MAX);
	assert_true(scsi_inquiry_page(&disk, 0xb2, &parameters));
	assert_int_equal(parameters.bytes[5], 0xe4);
	assert_int_equal(parameters.bytes[6], 2);
}

static void test_mode_pages(void **state)
{
	struct scsi_mode_request request = {.header = SCSI_MODE_HEADER_6, .page = 8};
	struct scsi_disk protected = disk;

	(void)state;
	protected.is_read_only = true;
	assert_true(scsi_mode_pages(&disk, &request, &parameters));
	assert_int_equal(parameters.byte_count, 24);
	assert_int_equal(get_be32(parameters.bytes), 0x17001000);
	assert_int_equal(get_be24(parameters.bytes + 4), 0x081204);
	request.page = 0x3f;
	request.header = SCSI_MODE_HEADER_10;
	request.has_descriptor = true;
	assert_true(scsi_mode_pages(&protected, &request, &parameters));
	assert_int_equal(parameters.byte_count, 8 + 8 + 20 + 12);
	assert_int_equal(get_be16(parameters.bytes), 46);
	assert_int_equal(parameters.bytes[3], 0x90);
	assert_int_equal(parameters.bytes[7], 8);
	assert_int_equal(get_be32(parameters.bytes + 8), 0x2000);
	assert_int_equal(get_be32(parameters.bytes + 12), 512);
	request.is_changeable = true;
	assert_true(scsi_mode_pages(&disk, &request, &parameters));
	assert_int_equal(parameters.bytes[18], 0);
	request.page = 0x1c;
	assert_false(scsi_mode_pages(&disk, &request, &parameters));
}

static void test_capacity(void **state)
{
	const struct scsi_disk large = {.block_count = 1ull << 33};

	(void)state;
	scsi_capacity_10(&disk, &parameters);
	assert_int_equal(get_be64(parameters.bytes), 0x00001fff00000200);
	scsi_capacity_10(&large, &parameters);
	assert_int_equal(get_be32(parameters.bytes), 0xffffffff);
	scsi_capacity_16(&large, &parameters);
	assert_int_equal(parameters.byte_count, 32);
	assert_int_equal(get_be64(parameters.bytes), 0x1ffffffff);
	assert_int_equal(get_be32(parameters.bytes + 8), 512);
	assert_int_equal(parameters.bytes[14], 0xc0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standard_data),
		cmocka_unit_test(test_every_listed_page_is_there_and_no_other),
		cmocka_unit_test(test_contents_of_pages),
		cmocka_unit_test(test_mode_pages),
		cmocka_unit_test(test_capacity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
