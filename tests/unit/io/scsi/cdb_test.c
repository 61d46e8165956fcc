/* SPDX-License-Identifier: Apache-2.0 */
/* CDBs that address blocks, and logical unit numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "io/scsi/cdb.h"

static void test_extents_of_every_length(void **state)
{
	static const struct {
		uint8_t cdb[SCSI_CDB_BYTES];
		uint64_t lba;
		uint32_t block_count;
		uint8_t flags;
	} cases[] = {
		{{SCSI_READ_6, 0xff, 2, 3, 4}, 0x1f0203, 4, 0},
		{{SCSI_WRITE_6, 0, 0, 1, 0}, 1, 256, 0},
		{{SCSI_READ_10, 8, 1, 2, 3, 4, 0, 5, 6}, 0x01020304, 0x0506, 8},
		{{SCSI_WRITE_SAME_10, 0, 0, 0, 0, 1, 0, 0, 2}, 1, 2, 0},
		{{SCSI_READ_12, 0, 1, 2, 3, 4, 5, 6, 7, 8}, 0x01020304, 0x05060708, 0},
		{{SCSI_WRITE_16, 0xe8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		 0x0102030405060708,
		 0x090a0b0c,
		 0xe8},
		{{0xff, 0, 1, 2, 3}, 0, 0, 0},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scsi_extent extent;

		scsi_extent_decode(cases[i].cdb, &extent);
		assert_int_equal(extent.lba, cases[i].lba);
		assert_int_equal(extent.block_count, cases[i].block_count);
		assert_int_equal(extent.flags, cases[i].flags);
	}
}

static void test_encoded_extents_come_back(void **state)
{
	const struct scsi_extent extent = {0x1122334455667788, 0x99aabbcc, SCSI_FLAG_FUA};
	struct scsi_extent back;
	uint8_t cdb[SCSI_CDB_BYTES];

	(void)state;
	scsi_extent_encode(SCSI_WRITE_16, &extent, cdb);
	assert_int_equal(cdb[0], 0x8a);
	scsi_extent_decode(cdb, &back);
	assert_int_equal(back.lba, extent.lba);
	assert_int_equal(back.block_count, extent.block_count);
	assert_int_equal(back.flags, extent.flags);
}

static void test_logical_unit_numbers(void **state)
{
	static const uint32_t numbers[] = {0, 1, 255, 256, 0x3fff};
	uint32_t number;

	(void)state;
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_true(scsi_lun_decode(scsi_lun_encode(numbers[i]), &number));
		assert_int_equal(number, numbers[i]);
	}
	assert_true(scsi_lun_decode(0x4001000000000000, &number));
	assert_int_equal(number, 1);
	/* A second level, other buses, well-known units. */
	assert_false(scsi_lun_decode(0x0001000100000000, &number));
	assert_false(scsi_lun_decode(0x0101000000000000, &number));
	assert_false(scsi_lun_decode(0xc101000000000000, &number));
	assert_false(scsi_lun_decode(1, &number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extents_of_every_length),
		cmocka_unit_test(test_encoded_extents_come_back),
		cmocka_unit_test(test_logical_unit_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
