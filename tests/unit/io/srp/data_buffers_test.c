/* SPDX-License-Identifier: Apache-2.0 */
/* Data buffer descriptors: good ones, and every way in which their lengths do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/bytes.h"
#include "io/srp/data_buffers.h"

static uint8_t unit[SRP_CMD_BYTES_MAX + 64];
static struct srp_data_buffer out, in;

static enum srp_buffer_verdict decode(const struct srp_cmd *cmd, size_t byte_count)
{
	memset(&out, 0xee, sizeof(out));
	memset(&in, 0xee, sizeof(in));
	return srp_data_buffers_decode(cmd, unit, byte_count, &out, &in);
}

static void put_segment(size_t at, uint64_t address, uint32_t rkey, uint32_t byte_count)
{
	const struct srp_segment segment = {address, rkey, byte_count};

	srp_segment_encode(&segment, unit + at);
}

static void test_no_data(void **state)
{
	(void)state;
	assert_int_equal(decode(&(struct srp_cmd){0}, SRP_CMD_BYTES), SRP_BUFFERS_GOOD);
	assert_int_equal(out.byte_count + in.byte_count, 0);
	assert_int_equal(out.segment_count + in.segment_count, 0);
}

static void test_direct_descriptor_follows_the_additional_cdb(void **state)
{
	const struct srp_cmd cmd = {.in_format = SRP_BUFFER_DIRECT, .additional_cdb_words = 2};

	(void)state;
	put_segment(SRP_CMD_BYTES + 8, 0x1122334455667788, 0x99, 4096);
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES + 24), SRP_BUFFERS_GOOD);
	assert_int_equal(in.segment_count, 1);
	assert_int_equal(in.segments[0].address, 0x1122334455667788);
	assert_int_equal(in.segments[0].rkey, 0x99);
	assert_int_equal(in.byte_count, 4096);
	assert_int_equal(out.byte_count, 0);
	for (size_t length = SRP_CMD_BYTES; length < SRP_CMD_BYTES + 24; length++)
		assert_int_equal(decode(&cmd, length), SRP_BUFFERS_CUT);
}

/* Writes a table of two segments with 512 and 1,024 bytes. */
static struct srp_cmd table_of_two(void)
{
	put_segment(SRP_CMD_BYTES, 0x1000, 7, 32);
	put_be32(unit + SRP_CMD_BYTES + 16, 1536);
	put_segment(SRP_CMD_BYTES + 20, 0x2000, 8, 512);
	put_segment(SRP_CMD_BYTES + 36, 0x3000, 9, 1024);
	return (struct srp_cmd){.out_format = SRP_BUFFER_INDIRECT, .out_descriptor_count = 2};
}

static void test_indirect_table(void **state)
{
	struct srp_cmd cmd = table_of_two();

	(void)state;
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES + 52), SRP_BUFFERS_GOOD);
	assert_int_equal(out.segment_count, 2);
	assert_int_equal(out.byte_count, 1536);
	assert_int_equal(out.segments[1].rkey, 9);
	for (size_t length = SRP_CMD_BYTES; length < SRP_CMD_BYTES + 52; length++)
		assert_int_equal(decode(&cmd, length), SRP_BUFFERS_CUT);
}

static void test_tables_that_do_not_fit_are_refused(void **state)
{
	struct srp_cmd cmd = table_of_two();

	(void)state;
	/* The lengths do not add up. */
	put_be32(unit + SRP_CMD_BYTES + 16, 1537);
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES + 52), SRP_BUFFERS_LENGTHS_DIFFER);
	/* Two lengths whose sum wraps 32 bits. */
	cmd = table_of_two();
	put_be32(unit + SRP_CMD_BYTES + 16, 0);
	put_segment(SRP_CMD_BYTES + 20, 0x2000, 8, 0x80000000);
	put_segment(SRP_CMD_BYTES + 36, 0x3000, 9, 0x80000000);
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES + 52), SRP_BUFFERS_LENGTHS_DIFFER);
	/* A table of half a descriptor. */
	cmd = table_of_two();
	put_segment(SRP_CMD_BYTES, 0x1000, 7, 40);
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES + 52), SRP_BUFFERS_LENGTHS_DIFFER);
	/* A third descriptor in the initiator's memory. */
	put_segment(SRP_CMD_BYTES, 0x1000, 7, 48);
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES + 52), SRP_BUFFERS_TABLE_ELSEWHERE);
	/* More than this target takes, and the longest length that there is. */
	put_segment(SRP_CMD_BYTES, 0x1000, 7, (SRP_SEGMENTS_MAX + 1) * 16);
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES + 52), SRP_BUFFERS_TABLE_TOO_LONG);
	put_segment(SRP_CMD_BYTES, 0x1000, 7, 0xfffffff0);
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES + 52), SRP_BUFFERS_TABLE_TOO_LONG);
}

static void test_the_longest_table(void **state)
{
	const struct srp_cmd cmd = {.in_format = SRP_BUFFER_INDIRECT,
				    .in_descriptor_count = SRP_SEGMENTS_MAX};

	(void)state;
	put_segment(SRP_CMD_BYTES, 0, 0, SRP_SEGMENTS_MAX * 16);
	put_be32(unit + SRP_CMD_BYTES + 16, SRP_SEGMENTS_MAX * 512);
	for (size_t i = 0; i < SRP_SEGMENTS_MAX; i++)
		put_segment(SRP_CMD_BYTES + 20 + 16 * i, i, (uint32_t)i, 512);
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES_MAX), SRP_BUFFERS_GOOD);
	assert_int_equal(in.byte_count, SRP_SEGMENTS_MAX * 512);
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES_MAX - 1), SRP_BUFFERS_CUT);
}

static void test_unknown_formats_and_both_ways_are_refused(void **state)
{
	struct srp_cmd cmd = {0};

	(void)state;
	for (uint8_t format = 3; format < 16; format++) {
		cmd.out_format = format;
		assert_int_equal(decode(&cmd, sizeof(unit)), SRP_BUFFERS_FORMAT_UNKNOWN);
	}
	cmd = (struct srp_cmd){.out_format = SRP_BUFFER_DIRECT, .in_format = SRP_BUFFER_DIRECT};
	put_segment(SRP_CMD_BYTES, 0, 0, 512);
	put_segment(SRP_CMD_BYTES + 16, 0, 0, 512);
	assert_int_equal(decode(&cmd, SRP_CMD_BYTES + 32), SRP_BUFFERS_BOTH_WAYS);
	for (int verdict = SRP_BUFFERS_GOOD; verdict <= SRP_BUFFERS_BOTH_WAYS; verdict++)
		assert_true(strlen(srp_buffer_verdict_text((enum srp_buffer_verdict)verdict)) > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_data),
		cmocka_unit_test(test_direct_descriptor_follows_the_additional_cdb),
		cmocka_unit_test(test_indirect_table),
		cmocka_unit_test(test_tables_that_do_not_fit_are_refused),
		cmocka_unit_test(test_the_longest_table),
		cmocka_unit_test(test_unknown_formats_and_both_ways_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
