/* SPDX-License-Identifier: Apache-2.0 */
/* The receiving side of RMPP: reassembly, ACKs, limits, and every kind of refusal (management 1.8).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "mgmt/mad/rmpp_receiver.h"

enum { SA_OFFSET = 56, SA_ROOM = 200 };

static const struct rmpp_receiver_options options = {
	.window = 4, .byte_count_max = 4096, .total_timeout = SECONDS(40)};
static struct rmpp_receiver receiver;
static struct mad_message out;

static struct mad_message segment(uint32_t number, unsigned flags, uint32_t length)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_SUBNET_ADMINISTRATION,
		.class_version = 2,
		.method = MAD_GET_TABLE_RESPONSE,
		.transaction_id = 0x99,
		.attribute_id = 0x35,
	};
	const struct rmpp_header rmpp = {
		.version = 1,
		.type = RMPP_TYPE_DATA,
		.flags = (uint8_t)(flags | RMPP_FLAG_ACTIVE),
		.segment_number = number,
		.length_or_last = length,
	};
	struct mad_message message = {.address = {.lid = 3, .qpn = 1}};

	mad_header_encode(&header, message.bytes);
	memset(message.bytes + SA_OFFSET, (int)(number & 0xff), SA_ROOM);
	rmpp_header_encode(&rmpp, message.bytes);
	return message;
}

static void give(const struct mad_message *message)
{
	rmpp_receiver_receive(&receiver, message);
}

static void begin(const struct mad_message *first)
{
	rmpp_receiver_begin(&receiver, &options, 0, first);
	give(first);
}

static int teardown(void **state)
{
	(void)state;
	rmpp_receiver_release(&receiver);
	return 0;
}

static void expect(enum rmpp_type type, enum rmpp_status status, uint32_t data1, uint32_t data2)
{
	struct rmpp_header header;

	assert_int_equal(rmpp_receiver_deadline(&receiver), 0);
	assert_int_equal(rmpp_receiver_transmit(&receiver, 1, &out), 1);
	rmpp_header_decode(out.bytes, &header);
	assert_int_equal(header.type, type);
	assert_int_equal(header.status, status);
	assert_int_equal(header.segment_number, data1);
	assert_int_equal(header.length_or_last, data2);
	assert_int_equal(header.flags, RMPP_FLAG_ACTIVE);
	/* Only the R bit is flipped, the rest of the header stays. */
	assert_int_equal(out.bytes[3], MAD_GET_TABLE);
	assert_memory_equal(out.bytes + 4, receiver.first.bytes + 4, 20);
	assert_int_equal(out.address.lid, 3);
	assert_int_equal(rmpp_receiver_transmit(&receiver, 1, &out), 0);
}

static void test_whole_message_is_what_was_sent(void **state)
{
	(void)state;
	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 620);
	struct mad_message second = segment(2, 0, 0);
	struct mad_message last = segment(3, RMPP_FLAG_LAST, 180);

	begin(&first);
	expect(RMPP_TYPE_ACK, RMPP_STATUS_NORMAL, 1, 5);
	give(&second);
	assert_int_equal(rmpp_receiver_transmit(&receiver, 1, &out), 0);
	give(&last);
	assert_int_equal(receiver.state, RMPP_RECEIVER_DONE);
	expect(RMPP_TYPE_ACK, RMPP_STATUS_NORMAL, 3, 5);
	assert_int_equal(receiver.byte_count, SA_OFFSET + 560);
	assert_memory_equal(receiver.bytes, first.bytes, SA_OFFSET);
	assert_int_equal(receiver.bytes[SA_OFFSET + 199], 1);
	assert_int_equal(receiver.bytes[SA_OFFSET + 200], 2);
	assert_int_equal(receiver.bytes[SA_OFFSET + 559], 3);
	assert_int_equal(rmpp_receiver_deadline(&receiver), TIME_NEVER);
}

static void test_empty_message_has_only_the_header(void **state)
{
	(void)state;
	struct mad_message only = segment(1, RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 20);

	begin(&only);
	assert_int_equal(receiver.state, RMPP_RECEIVER_DONE);
	assert_int_equal(receiver.byte_count, SA_OFFSET);
}

static void test_reordered_segments_inside_the_window_are_kept(void **state)
{
	(void)state;
	static const uint32_t order[] = {4, 2, 5, 3};
	struct mad_message message = segment(1, RMPP_FLAG_FIRST, 0);

	begin(&message);
	expect(RMPP_TYPE_ACK, RMPP_STATUS_NORMAL, 1, 5);
	for (unsigned i = 0; i < 4; i++) {
		message = order[i] == 5 ? segment(5, RMPP_FLAG_LAST, 220) : segment(order[i], 0, 0);
		give(&message);
	}
	assert_int_equal(receiver.state, RMPP_RECEIVER_DONE);
	assert_int_equal(receiver.byte_count, SA_OFFSET + 5 * SA_ROOM);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(receiver.bytes[SA_OFFSET + i * SA_ROOM], i + 1);
}

static void test_segment_behind_the_window_is_dropped(void **state)
{
	(void)state;
	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 0);
	struct mad_message far = segment(6, 0, 0);

	begin(&first);
	expect(RMPP_TYPE_ACK, RMPP_STATUS_NORMAL, 1, 5);
	give(&far);
	assert_int_equal(receiver.kept, 0);
	assert_int_equal(receiver.state, RMPP_RECEIVER_RECEIVING);
	assert_int_equal(rmpp_receiver_transmit(&receiver, 1, &out), 0);
}

static void test_duplicate_gets_the_last_ack_again(void **state)
{
	(void)state;
	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 0);

	begin(&first);
	expect(RMPP_TYPE_ACK, RMPP_STATUS_NORMAL, 1, 5);
	give(&first);
	expect(RMPP_TYPE_ACK, RMPP_STATUS_NORMAL, 1, 5);
}

static void test_duplicate_after_the_end_is_acknowledged_again(void **state)
{
	(void)state;
	struct mad_message only = segment(1, RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 100);

	begin(&only);
	expect(RMPP_TYPE_ACK, RMPP_STATUS_NORMAL, 1, 1);
	give(&only);
	expect(RMPP_TYPE_ACK, RMPP_STATUS_NORMAL, 1, 1);
}

static void test_first_flag_on_a_later_segment_is_aborted_with_120(void **state)
{
	(void)state;
	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 0);
	struct mad_message wrong = segment(2, RMPP_FLAG_FIRST, 0);

	begin(&first);
	expect(RMPP_TYPE_ACK, RMPP_STATUS_NORMAL, 1, 5);
	give(&wrong);
	expect(RMPP_TYPE_ABORT, RMPP_STATUS_BAD_SEGMENT, 0, 0);
	assert_int_equal(receiver.state, RMPP_RECEIVER_FAILED);
}

static void test_segment_zero_is_aborted_with_120(void **state)
{
	(void)state;
	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 0);
	struct mad_message zero = segment(0, 0, 0);

	begin(&first);
	give(&zero);
	expect(RMPP_TYPE_ABORT, RMPP_STATUS_BAD_SEGMENT, 0, 0);
}

static void test_two_ends_are_aborted_with_120(void **state)
{
	(void)state;
	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 0);
	struct mad_message behind = segment(4, 0, 0);
	struct mad_message last = segment(3, RMPP_FLAG_LAST, 180);

	begin(&first);
	give(&behind);
	give(&last);
	expect(RMPP_TYPE_ABORT, RMPP_STATUS_BAD_SEGMENT, 0, 0);
	begin(&first);
	give(&last);
	give(&behind);
	expect(RMPP_TYPE_ABORT, RMPP_STATUS_BAD_SEGMENT, 0, 0);
}

static void test_inconsistent_lengths_are_aborted_with_119(void **state)
{
	(void)state;
	static const uint32_t wrong_lengths[] = {0, 19, 221, 0xffffffff};

	for (unsigned i = 0; i < 4; i++) {
		struct mad_message only =
			segment(1, RMPP_FLAG_FIRST | RMPP_FLAG_LAST, wrong_lengths[i]);

		begin(&only);
		expect(RMPP_TYPE_ABORT, RMPP_STATUS_BAD_LENGTH, 0, 0);
	}

	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 621);
	struct mad_message last = segment(2, RMPP_FLAG_LAST, 180);

	begin(&first);
	give(&last);
	expect(RMPP_TYPE_ABORT, RMPP_STATUS_BAD_LENGTH, 0, 0);
}

static void test_data_with_a_status_is_aborted_with_124(void **state)
{
	(void)state;
	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 0);
	struct mad_message second = segment(2, 0, 0);

	begin(&first);
	second.bytes[27] = 7;
	give(&second);
	expect(RMPP_TYPE_ABORT, RMPP_STATUS_BAD_STATUS, 0, 0);
}

static void test_other_version_and_unknown_type_are_aborted(void **state)
{
	(void)state;
	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 0);
	struct mad_message second = segment(2, 0, 0);

	begin(&first);
	second.bytes[24] = 2;
	give(&second);
	expect(RMPP_TYPE_ABORT, RMPP_STATUS_BAD_VERSION, 0, 0);
	begin(&first);
	second.bytes[24] = 1;
	second.bytes[25] = 77;
	give(&second);
	expect(RMPP_TYPE_ABORT, RMPP_STATUS_BAD_TYPE, 0, 0);
}

static void test_message_too_long_is_stopped_with_1(void **state)
{
	(void)state;
	struct mad_message message = segment(1, RMPP_FLAG_FIRST, 0);

	begin(&message);
	for (uint32_t number = 2; receiver.state == RMPP_RECEIVER_RECEIVING; number++) {
		assert_true(number < 64);
		assert_true(receiver.byte_capacity <= 8192);
		message = segment(number, 0, 0);
		give(&message);
	}
	expect(RMPP_TYPE_STOP, RMPP_STATUS_RESOURCES_EXHAUSTED, 0, 0);
	assert_null(receiver.bytes);
}

static void test_slow_transfer_is_aborted_with_118(void **state)
{
	(void)state;
	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 0);
	struct rmpp_header header;

	begin(&first);
	expect(RMPP_TYPE_ACK, RMPP_STATUS_NORMAL, 1, 5);
	assert_int_equal(rmpp_receiver_deadline(&receiver), SECONDS(40));
	assert_int_equal(rmpp_receiver_transmit(&receiver, SECONDS(40) - 1, &out), 0);
	assert_int_equal(rmpp_receiver_transmit(&receiver, SECONDS(40), &out), 1);
	rmpp_header_decode(out.bytes, &header);
	assert_int_equal(header.type, RMPP_TYPE_ABORT);
	assert_int_equal(header.status, RMPP_STATUS_TOTAL_TIME_TOO_LONG);
	assert_int_equal(rmpp_receiver_deadline(&receiver), TIME_NEVER);
}

static void test_abort_of_the_sender_ends_it_without_an_answer(void **state)
{
	(void)state;
	struct mad_message first = segment(1, RMPP_FLAG_FIRST, 0);
	struct mad_message end = segment(0, 0, 0);

	begin(&first);
	end.bytes[25] = RMPP_TYPE_ABORT;
	end.bytes[27] = RMPP_STATUS_TOO_MANY_RETRIES;
	give(&end);
	assert_int_equal(receiver.state, RMPP_RECEIVER_FAILED);
	assert_int_equal(receiver.status, RMPP_STATUS_TOO_MANY_RETRIES);
	assert_int_equal(rmpp_receiver_transmit(&receiver, 1, &out), 0);
}

#define receiver_test(function) cmocka_unit_test_teardown(function, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		receiver_test(test_whole_message_is_what_was_sent),
		receiver_test(test_empty_message_has_only_the_header),
		receiver_test(test_reordered_segments_inside_the_window_are_kept),
		receiver_test(test_segment_behind_the_window_is_dropped),
		receiver_test(test_duplicate_gets_the_last_ack_again),
		receiver_test(test_duplicate_after_the_end_is_acknowledged_again),
		receiver_test(test_first_flag_on_a_later_segment_is_aborted_with_120),
		receiver_test(test_segment_zero_is_aborted_with_120),
		receiver_test(test_two_ends_are_aborted_with_120),
		receiver_test(test_inconsistent_lengths_are_aborted_with_119),
		receiver_test(test_data_with_a_status_is_aborted_with_124),
		receiver_test(test_other_version_and_unknown_type_are_aborted),
		receiver_test(test_message_too_long_is_stopped_with_1),
		receiver_test(test_slow_transfer_is_aborted_with_118),
		receiver_test(test_abort_of_the_sender_ends_it_without_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
