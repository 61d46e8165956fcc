/* SPDX-License-Identifier: Apache-2.0 */
/* Sense data, both formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "io/scsi/sense.h"

static void test_fixed_format(void **state)
{
	static const uint8_t expected[SCSI_SENSE_BYTES] = {0xf0, 0, 5, 0, 1, 2,	  3,
							   10,	 0, 0, 0, 0, 0x21};
	struct scsi_sense sense = {.key = SCSI_ILLEGAL_REQUEST,
				   .code = SCSI_LBA_OUT_OF_RANGE,
				   .has_lba = true,
				   .lba = 0x10203};
	uint8_t bytes[SCSI_SENSE_BYTES];
	struct scsi_sense back;

	(void)state;
	scsi_sense_encode(&sense, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
	assert_true(scsi_sense_decode(bytes, sizeof(bytes), &back));
	assert_int_equal(back.key, sense.key);
	assert_int_equal(back.code, sense.code);
	assert_int_equal(back.lba, sense.lba);
	/* 33 bits do not fit the field. */
	sense.lba = 1ull << 32;
	scsi_sense_encode(&sense, bytes);
	assert_int_equal(bytes[0], 0x70);
}

static void test_descriptor_format_and_short_data(void **state)
{
	static const uint8_t bytes[] = {0x72, 0x06, 0x29, 0x03, 0, 0, 0, 0};
	static const uint8_t fixed[] = {0x70, 0, 0x03, 0, 0, 0, 0, 0};
	static const uint8_t other[8] = {0x7e};
	struct scsi_sense sense;

	(void)state;
	assert_true(scsi_sense_decode(bytes, sizeof(bytes), &sense));
	assert_int_equal(sense.key, SCSI_UNIT_ATTENTION);
	assert_int_equal(sense.code, SCSI_BUS_DEVICE_RESET);
	assert_true(scsi_sense_decode(bytes, 4, &sense));
	assert_false(scsi_sense_decode(bytes, 3, &sense));
	assert_true(scsi_sense_decode(fixed, sizeof(fixed), &sense));
	assert_int_equal(sense.code, 0);
	assert_false(scsi_sense_decode(fixed, 7, &sense));
	assert_false(scsi_sense_decode(other, sizeof(other), &sense));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed_format),
		cmocka_unit_test(test_descriptor_format_and_short_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
