/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the SCSI target on disks in memory: results, sense data, what never reaches the disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <errno.h>
#include "base/bytes.h"
#include "base/random.h"
#include "io/scsi/scsi_target.h"

enum { BLOCKS = 4096 };

static uint8_t medium[BLOCKS * SCSI_BLOCK_BYTES];
static uint8_t data[SCSI_TRANSFER_BYTES_MAX];
static int medium_error;
static unsigned write_count, sync_count, discard_count;

static bool is_inside(uint64_t offset, uint64_t byte_count)
{
	return offset <= sizeof(medium) && byte_count <= sizeof(medium) - offset;
}

static int read_medium(void *context, uint64_t offset, uint8_t *ret_bytes, size_t byte_count)
{
	(void)context;
	assert_true(is_inside(offset, byte_count));
	memcpy(ret_bytes, medium + offset, byte_count);
	return medium_error;
}

static int write_medium(void *context, uint64_t offset, const uint8_t *bytes, size_t byte_count)
{
	(void)context;
	assert_true(is_inside(offset, byte_count));
	write_count++;
	memcpy(medium + offset, bytes, byte_count);
	return medium_error;
}

static int discard_medium(void *context, uint64_t offset, uint64_t byte_count)
{
	(void)context;
	assert_true(is_inside(offset, byte_count));
	discard_count++;
	memset(medium + offset, 0, byte_count);
	return medium_error;
}

static int synchronize_medium(void *context)
{
	(void)context;
	sync_count++;
	return medium_error;
}

static const struct scsi_backend backend = {read_medium, write_medium, discard_medium,
					    synchronize_medium};
static struct scsi_target target;
static struct scsi_nexus nexus;
static struct scsi_answer answer;

static int set_up(void **state)
{
	(void)state;
	memset(&nexus, 0, sizeof(nexus));
	memset(data, 0, sizeof(data));
	medium_error = 0;
	write_count = sync_count = discard_count = 0;
	for (size_t i = 0; i < sizeof(medium); i++)
		medium[i] = (uint8_t)(i / SCSI_BLOCK_BYTES);
	target = (struct scsi_target){.disk_count = 2};
	for (unsigned i = 0; i < 2; i++)
		target.disks[i] = (struct scsi_disk){.block_count = BLOCKS,
						     .serial = "T",
						     .is_read_only = i == 1,
						     .backend = &backend};
	return 0;
}

/* Runs a command with this much room for data in and this many bytes of data out. */
static enum scsi_status run(uint32_t lun, const uint8_t *cdb, uint64_t in_room, uint64_t out_bytes)
{
	struct scsi_command command = {
		.lun = scsi_lun_encode(lun), .data_in_room = in_room, .data_out_bytes = out_bytes};
	struct scsi_work work;

	memcpy(command.cdb, cdb, SCSI_CDB_BYTES);
	if (scsi_prepare(&target, &nexus, &command, &work, &answer)) {
		assert_true(work.data_out_bytes <= out_bytes);
		scsi_execute(&target, &work, data, &answer);
	}
	assert_true(answer.data_in_bytes <= in_room);
	return answer.status;
}

static enum scsi_status run_extent(uint32_t lun, enum scsi_operation_code operation,
				   struct scsi_extent extent, uint64_t in_room, uint64_t out_bytes)
{
	uint8_t cdb[SCSI_CDB_BYTES];

	scsi_extent_encode(operation, &extent, cdb);
	return run(lun, cdb, in_room, out_bytes);
}

static void expect_sense(enum scsi_sense_key key, enum scsi_sense_code code)
{
	assert_int_equal(answer.status, SCSI_CHECK_CONDITION);
	assert_int_equal(answer.sense.key, key);
	assert_int_equal(answer.sense.code, code);
	assert_int_equal(answer.data_in_bytes, 0);
}

static void test_reads_return_blocks(void **state)
{
	static const uint8_t six[SCSI_CDB_BYTES] = {SCSI_READ_6, 0, 0, 5, 2};
	static const uint8_t ten[SCSI_CDB_BYTES] = {SCSI_READ_10, 0, 0, 0, 0, 6, 0, 0, 1};

	(void)state;
	assert_int_equal(run(0, six, 1024, 0), SCSI_GOOD);
	assert_int_equal(answer.data_in_bytes, 1024);
	assert_int_equal(data[0], 5);
	assert_int_equal(data[1023], 6);
	/* More room than blocks. */
	assert_int_equal(run(1, ten, 4096, 0), SCSI_GOOD);
	assert_int_equal(answer.data_in_bytes, 512);
	assert_int_equal(data[0], 6);
	assert_int_equal(
		run_extent(0, SCSI_READ_16, (struct scsi_extent){BLOCKS - 1, 1, 0}, 512, 0),
		SCSI_GOOD);
	/* No block at all, even behind the last one. */
	assert_int_equal(run_extent(0, SCSI_READ_16, (struct scsi_extent){BLOCKS, 0, 0}, 0, 0),
			 SCSI_GOOD);
}

static void test_lengths_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	run_extent(0, SCSI_READ_16, (struct scsi_extent){0, 2, 0}, 1023, 0);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
	run_extent(0, SCSI_WRITE_16, (struct scsi_extent){0, 2, 0}, 0, 1023);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
	run_extent(0, SCSI_READ_16, (struct scsi_extent){0, SCSI_TRANSFER_BLOCKS_MAX + 1, 0},
		   1ull << 40, 0);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
	run_extent(0, SCSI_WRITE_16, (struct scsi_extent){0, SCSI_TRANSFER_BLOCKS_MAX + 1, 0}, 0,
		   1ull << 40);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
	/* Protection information is not kept. */
	run_extent(0, SCSI_READ_16, (struct scsi_extent){0, 1, 1 << 5}, 512, 0);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
	assert_int_equal(write_count, 0);
}

static void test_blocks_out_of_range_are_named(void **state)
{
	(void)state;
	run_extent(0, SCSI_READ_16, (struct scsi_extent){BLOCKS, 1, 0}, 512, 0);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_LBA_OUT_OF_RANGE);
	assert_int_equal(answer.sense.lba, BLOCKS);
	run_extent(0, SCSI_WRITE_16, (struct scsi_extent){BLOCKS - 1, 2, 0}, 0, 1024);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_LBA_OUT_OF_RANGE);
	run_extent(0, SCSI_READ_16, (struct scsi_extent){UINT64_MAX, 1, 0}, 512, 0);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_LBA_OUT_OF_RANGE);
	run_extent(0, SCSI_SYNCHRONIZE_CACHE_16, (struct scsi_extent){BLOCKS + 1, 0, 0}, 0, 0);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_LBA_OUT_OF_RANGE);
	assert_int_equal(write_count, 0);
}

static void test_writes_and_the_cache(void **state)
{
	(void)state;
	memset(data, 0xab, 1024);
	assert_int_equal(run_extent(0, SCSI_WRITE_16, (struct scsi_extent){7, 2, 0}, 0, 1024),
			 SCSI_GOOD);
	assert_int_equal(medium[7 * 512 - 1], 6);
	assert_int_equal(medium[7 * 512], 0xab);
	assert_int_equal(medium[9 * 512 - 1], 0xab);
	assert_int_equal(medium[9 * 512], 9);
	assert_int_equal(sync_count, 0);
	run_extent(0, SCSI_WRITE_16, (struct scsi_extent){7, 1, SCSI_FLAG_FUA}, 0, 512);
	assert_int_equal(sync_count, 1);
	run_extent(0, SCSI_SYNCHRONIZE_CACHE_16, (struct scsi_extent){0}, 0, 0);
	assert_int_equal(sync_count, 2);
	static const uint8_t stop[SCSI_CDB_BYTES] = {SCSI_START_STOP_UNIT};
	static const uint8_t eject[SCSI_CDB_BYTES] = {SCSI_START_STOP_UNIT, 0, 0, 0, 2};

	assert_int_equal(run(0, stop, 0, 0), SCSI_GOOD);
	assert_int_equal(sync_count, 3);
	run(0, eject, 0, 0);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
}

static void test_read_only_disk_takes_no_writes(void **state)
{
	static const enum scsi_operation_code writes[] = {SCSI_WRITE_16, SCSI_WRITE_SAME_16};
	static const uint8_t unmap[SCSI_CDB_BYTES] = {SCSI_UNMAP, [8] = 24};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		run_extent(1, writes[i], (struct scsi_extent){0, 1, 0}, 0, 512);
		expect_sense(SCSI_DATA_PROTECT, SCSI_WRITE_PROTECTED);
	}
	run(1, unmap, 0, 24);
	expect_sense(SCSI_DATA_PROTECT, SCSI_WRITE_PROTECTED);
	assert_int_equal(write_count + discard_count, 0);
	assert_int_equal(run_extent(1, SCSI_SYNCHRONIZE_CACHE_16, (struct scsi_extent){0}, 0, 0),
			 SCSI_GOOD);
}

static void test_errors_of_the_medium(void **state)
{
	(void)state;
	medium_error = -EIO;
	run_extent(0, SCSI_READ_16, (struct scsi_extent){3, 1, 0}, 512, 0);
	expect_sense(SCSI_MEDIUM_ERROR, SCSI_UNRECOVERED_READ_ERROR);
	assert_int_equal(answer.sense.lba, 3);
	run_extent(0, SCSI_WRITE_16, (struct scsi_extent){3, 1, 0}, 0, 512);
	expect_sense(SCSI_MEDIUM_ERROR, SCSI_WRITE_ERROR);
	run_extent(0, SCSI_SYNCHRONIZE_CACHE_16, (struct scsi_extent){0}, 0, 0);
	expect_sense(SCSI_MEDIUM_ERROR, SCSI_WRITE_ERROR);
	medium_error = -ENOSPC;
	run_extent(0, SCSI_WRITE_16, (struct scsi_extent){3, 1, 0}, 0, 512);
	expect_sense(SCSI_DATA_PROTECT, SCSI_SPACE_ALLOCATION_FAILED);
}

static void test_unmap(void **state)
{
	static const uint8_t cdb[SCSI_CDB_BYTES] = {SCSI_UNMAP, [8] = 40};

	(void)state;
	put_be16(data, 38);
	put_be16(data + 2, 32);
	put_be64(data + 8, 2);
	put_be32(data + 16, 1);
	put_be64(data + 24, BLOCKS - 1);
	put_be32(data + 32, 1);
	assert_int_equal(run(0, cdb, 0, 40), SCSI_GOOD);
	assert_int_equal(discard_count, 2);
	assert_int_equal(medium[2 * 512] + medium[3 * 512 - 1], 0);
	assert_int_equal(medium[3 * 512], 3);
	/* One of two is out of range: none is unmapped. */
	discard_count = 0;
	put_be32(data + 32, 2);
	run(0, cdb, 0, 40);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_LBA_OUT_OF_RANGE);
	assert_int_equal(discard_count, 0);
	/* A list that is longer than what came. */
	put_be16(data + 2, 48);
	run(0, cdb, 0, 40);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_PARAMETERS);
	run(0, cdb, 0, 39);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_PARAMETER_LIST_LENGTH_ERROR);
}

static void test_write_same(void **state)
{
	(void)state;
	memset(data, 0x77, 512);
	assert_int_equal(run_extent(0, SCSI_WRITE_SAME_16,
				    (struct scsi_extent){10, 3000, SCSI_FLAG_UNMAP}, 0, 512),
			 SCSI_GOOD);
	assert_int_equal(discard_count, 0);
	assert_int_equal(medium[10 * 512], 0x77);
	assert_int_equal(medium[3010 * 512 - 1], 0x77);
	assert_int_equal(medium[3010 * 512], (uint8_t)3010);
	/* Zeros, without data, to the end, unmapped. */
	assert_int_equal(
		run_extent(0, SCSI_WRITE_SAME_16,
			   (struct scsi_extent){20, 0, SCSI_FLAG_UNMAP | SCSI_FLAG_NO_DATA}, 0, 0),
		SCSI_GOOD);
	assert_int_equal(discard_count, 1);
	assert_int_equal(medium[20 * 512] + medium[sizeof(medium) - 1], 0);
	run_extent(0, SCSI_WRITE_SAME_16, (struct scsi_extent){0, 1, 0}, 0, 511);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
}

static void test_units_that_are_not_there(void **state)
{
	static const uint8_t ready[SCSI_CDB_BYTES] = {SCSI_TEST_UNIT_READY};
	static const uint8_t inquiry[SCSI_CDB_BYTES] = {SCSI_INQUIRY, 0, 0, 0, 36};
	static const uint8_t page[SCSI_CDB_BYTES] = {SCSI_INQUIRY, 1, 0x83, 0, 36};
	static const uint8_t sense[SCSI_CDB_BYTES] = {SCSI_REQUEST_SENSE, 0, 0, 0, 18};
	static const uint8_t luns[SCSI_CDB_BYTES] = {SCSI_REPORT_LUNS, [9] = 64};

	(void)state;
	assert_int_equal(run(1, ready, 0, 0), SCSI_GOOD);
	run(2, ready, 0, 0);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_LUN_NOT_SUPPORTED);
	assert_int_equal(run(2, inquiry, 36, 0), SCSI_GOOD);
	assert_int_equal(answer.data_in_bytes, 36);
	assert_int_equal(data[0], 0x7f);
	run(2, page, 36, 0);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
	assert_int_equal(run(9, sense, 18, 0), SCSI_GOOD);
	assert_int_equal(data[2], SCSI_ILLEGAL_REQUEST);
	assert_int_equal(data[12], 0x25);
	assert_int_equal(run(9, luns, 64, 0), SCSI_GOOD);
	assert_int_equal(get_be32(data), 16);
	assert_int_equal(get_be64(data + 16), 0x0001000000000000);
}

static void test_parameter_data_are_cut_to_allocation_and_room(void **state)
{
	static const uint8_t inquiry[SCSI_CDB_BYTES] = {SCSI_INQUIRY, 0, 0, 0, 40};
	static const uint8_t capacity[SCSI_CDB_BYTES] = {SCSI_SERVICE_ACTION_IN_16,
							 SCSI_READ_CAPACITY_16_ACTION, [13] = 12};
	static const uint8_t ten[SCSI_CDB_BYTES] = {SCSI_READ_CAPACITY_10};
	static const uint8_t mode[SCSI_CDB_BYTES] = {SCSI_MODE_SENSE_6, 0, 0x3f, 0, 255};
	static const uint8_t saved[SCSI_CDB_BYTES] = {SCSI_MODE_SENSE_10, 0, 0xff, [8] = 255};

	(void)state;
	assert_int_equal(run(0, inquiry, 100, 0), SCSI_GOOD);
	assert_int_equal(answer.data_in_bytes, 40);
	assert_int_equal(run(0, inquiry, 5, 0), SCSI_GOOD);
	assert_int_equal(answer.data_in_bytes, 5);
	assert_int_equal(run(0, capacity, 100, 0), SCSI_GOOD);
	assert_int_equal(answer.data_in_bytes, 12);
	assert_int_equal(get_be64(data), BLOCKS - 1);
	assert_int_equal(run(0, ten, 8, 0), SCSI_GOOD);
	assert_int_equal(get_be32(data), BLOCKS - 1);
	assert_int_equal(run(1, mode, 255, 0), SCSI_GOOD);
	assert_int_equal(data[2], 0x90);
	run(0, saved, 255, 0);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_SAVING_NOT_SUPPORTED);
}

static void test_verify_reads_and_returns_nothing(void **state)
{
	(void)state;
	assert_int_equal(run_extent(0, SCSI_VERIFY_16, (struct scsi_extent){0, 4, 0}, 0, 0),
			 SCSI_GOOD);
	assert_int_equal(answer.data_in_bytes, 0);
	medium_error = -EIO;
	run_extent(0, SCSI_VERIFY_16, (struct scsi_extent){0, 4, 0}, 0, 0);
	expect_sense(SCSI_MEDIUM_ERROR, SCSI_UNRECOVERED_READ_ERROR);
	run_extent(0, SCSI_VERIFY_16, (struct scsi_extent){0, 4, 1 << 1}, 0, 2048);
	expect_sense(SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
}

static void test_unit_attention_is_told_once(void **state)
{
	static const uint8_t ready[SCSI_CDB_BYTES] = {SCSI_TEST_UNIT_READY};
	static const uint8_t inquiry[SCSI_CDB_BYTES] = {SCSI_INQUIRY, 0, 0, 0, 36};

	(void)state;
	nexus.attention[0] = SCSI_BUS_DEVICE_RESET;
	assert_int_equal(run(0, inquiry, 36, 0), SCSI_GOOD);
	assert_int_equal(run(1, ready, 0, 0), SCSI_GOOD);
	run(0, ready, 0, 0);
	expect_sense(SCSI_UNIT_ATTENTION, SCSI_BUS_DEVICE_RESET);
	assert_int_equal(run(0, ready, 0, 0), SCSI_GOOD);
}

/* Every operation code with random CDBs: nothing reaches blocks outside the disk (the backend
 * checks that), and unknown codes are refused. */
static void test_any_cdb_is_answered(void **state)
{
	struct random random = random_seeded(0x5c51);
	unsigned unknown = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t cdb[SCSI_CDB_BYTES];

		for (unsigned at = 0; at < sizeof(cdb); at++)
			cdb[at] =
				random_below(&random, 4) ? 0 : (uint8_t)random_below(&random, 256);
		cdb[0] = (uint8_t)i;
		for (unsigned at = 0; at < 64; at++)
			data[at] = (uint8_t)random_below(&random, 256);
		nexus = (struct scsi_nexus){0};
		run((uint32_t)random_below(&random, 3), cdb, random_below(&random, 1 << 21),
		    random_below(&random, 1 << 21));
		unknown += answer.sense.code == SCSI_INVALID_OPERATION_CODE;
	}
	assert_true(unknown > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_reads_return_blocks, set_up),
		cmocka_unit_test_setup(test_lengths_that_do_not_fit_are_refused, set_up),
		cmocka_unit_test_setup(test_blocks_out_of_range_are_named, set_up),
		cmocka_unit_test_setup(test_writes_and_the_cache, set_up),
		cmocka_unit_test_setup(test_read_only_disk_takes_no_writes, set_up),
		cmocka_unit_test_setup(test_errors_of_the_medium, set_up),
		cmocka_unit_test_setup(test_unmap, set_up),
		cmocka_unit_test_setup(test_write_same, set_up),
		cmocka_unit_test_setup(test_units_that_are_not_there, set_up),
		cmocka_unit_test_setup(test_parameter_data_are_cut_to_allocation_and_room, set_up),
		cmocka_unit_test_setup(test_verify_reads_and_returns_nothing, set_up),
		cmocka_unit_test_setup(test_unit_attention_is_told_once, set_up),
		cmocka_unit_test_setup(test_any_cdb_is_answered, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
