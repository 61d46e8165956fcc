/* SPDX-License-Identifier: Apache-2.0 */
/* The sending side of RMPP: segments, window, ACKs, and every kind of failure (management 1.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/bytes.h"
#include "mgmt/mad/rmpp_sender.h"

enum { SA_OFFSET = 56 };

static const struct rmpp_sender_options options = {.timeout = MILLISECONDS(100), .tries = 3};
static const struct mad_address peer = {.lid = 7, .qpn = 1, .pkey = 0xffff};
static struct rmpp_sender sender;
static struct mad_message out[16];
static uint8_t message[SA_OFFSET + 4000];

static void begin(size_t data_bytes)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_SUBNET_ADMINISTRATION,
		.class_version = 2,
		.method = MAD_GET_TABLE_RESPONSE,
		.transaction_id = 0x1234,
		.attribute_id = 0x11,
	};

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 7);
	mad_header_encode(&header, message);
	rmpp_sender_begin(&sender, &options, &peer, message, SA_OFFSET + data_bytes);
}

static struct rmpp_header header_of(const struct mad_message *mad)
{
	struct rmpp_header header;

	rmpp_header_decode(mad->bytes, &header);
	return header;
}

static void ack(uint32_t segment, uint32_t window_last, time_ns now)
{
	const struct rmpp_header header = {.version = 1,
					   .type = RMPP_TYPE_ACK,
					   .flags = RMPP_FLAG_ACTIVE,
					   .segment_number = segment,
					   .length_or_last = window_last};

	rmpp_sender_receive(&sender, now, &header);
}

static void expect_segment(const struct mad_message *mad, uint32_t segment, uint8_t flags,
			   uint32_t length)
{
	struct rmpp_header header = header_of(mad);

	assert_int_equal(header.version, 1);
	assert_int_equal(header.type, RMPP_TYPE_DATA);
	assert_int_equal(header.flags, flags | RMPP_FLAG_ACTIVE);
	assert_int_equal(header.segment_number, segment);
	assert_int_equal(header.length_or_last, length);
	assert_int_equal(mad->bytes[3], MAD_GET_TABLE_RESPONSE);
}

static void expect_abort(time_ns now, enum rmpp_status status)
{
	assert_int_equal(rmpp_sender_deadline(&sender), 0);
	assert_int_equal(rmpp_sender_transmit(&sender, now, 16, out), 1);
	assert_int_equal(header_of(&out[0]).type, RMPP_TYPE_ABORT);
	assert_int_equal(header_of(&out[0]).status, status);
	assert_int_equal(header_of(&out[0]).segment_number, 0);
	assert_int_equal(header_of(&out[0]).length_or_last, 0);
	assert_int_equal(sender.state, RMPP_SENDER_FAILED);
	assert_int_equal(sender.status, status);
	assert_int_equal(rmpp_sender_deadline(&sender), TIME_NEVER);
	assert_int_equal(rmpp_sender_transmit(&sender, now, 16, out), 0);
}

static void expect_abort_at(time_ns now)
{
	assert_int_equal(rmpp_sender_deadline(&sender), now);
	assert_int_equal(rmpp_sender_transmit(&sender, now, 16, out), 1);
	assert_int_equal(header_of(&out[0]).type, RMPP_TYPE_ABORT);
	assert_int_equal(header_of(&out[0]).status, RMPP_STATUS_TOO_MANY_RETRIES);
}

/* The example of management 1.8: five NodeRecords of 112 bytes make three segments with 200, 200
 * and 160 bytes. */
static void test_lengths_are_those_of_the_example_of_five_node_records(void **state)
{
	(void)state;
	begin(560);
	assert_int_equal(sender.segment_count, 3);
	assert_int_equal(rmpp_sender_transmit(&sender, 0, 16, out), 1);
	expect_segment(&out[0], 1, RMPP_FLAG_FIRST, 620);
	ack(1, 33, 10);
	assert_int_equal(rmpp_sender_transmit(&sender, 10, 16, out), 2);
	expect_segment(&out[0], 2, 0, 0);
	expect_segment(&out[1], 3, RMPP_FLAG_LAST, 180);
	assert_memory_equal(out[0].bytes + SA_OFFSET, message + SA_OFFSET + 200, 200);
	assert_memory_equal(out[1].bytes + SA_OFFSET, message + SA_OFFSET + 400, 160);
	for (unsigned i = SA_OFFSET + 160; i < MAD_BYTES; i++)
		assert_int_equal(out[1].bytes[i], 0);
	assert_memory_equal(out[1].bytes + 36, message + 36, 20);
	ack(3, 33, 20);
	assert_int_equal(sender.state, RMPP_SENDER_DONE);
	assert_int_equal(rmpp_sender_deadline(&sender), TIME_NEVER);
}

static void test_no_data_are_one_segment_of_length_twenty(void **state)
{
	(void)state;
	begin(0);
	assert_int_equal(rmpp_sender_transmit(&sender, 0, 16, out), 1);
	expect_segment(&out[0], 1, RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 20);
	ack(1, 1, 0);
	assert_int_equal(sender.state, RMPP_SENDER_DONE);
}

static void test_vendor_segments_hold_216_bytes(void **state)
{
	(void)state;
	begin(0);
	message[1] = 0x32;
	rmpp_sender_begin(&sender, &options, &peer, message, 40 + 217);
	assert_int_equal(sender.segment_count, 2);
	rmpp_sender_transmit(&sender, 0, 16, out);
	assert_int_equal(header_of(&out[0]).length_or_last, 217 + 2 * 4);
	ack(1, 2, 0);
	rmpp_sender_transmit(&sender, 0, 16, out);
	assert_int_equal(header_of(&out[0]).length_or_last, 1 + 4);
	assert_int_equal(out[0].bytes[40], message[40 + 216]);
}

static void test_window_holds_segments_back(void **state)
{
	(void)state;
	begin(2000);
	assert_int_equal(rmpp_sender_transmit(&sender, 0, 16, out), 1);
	assert_int_equal(rmpp_sender_transmit(&sender, 0, 16, out), 0);
	ack(1, 4, 0);
	assert_int_equal(rmpp_sender_transmit(&sender, 0, 2, out), 2);
	assert_int_equal(rmpp_sender_transmit(&sender, 0, 16, out), 1);
	assert_int_equal(header_of(&out[0]).segment_number, 4);
	/* The window opens, but no further segment is acknowledged. */
	ack(1, 5, 0);
	assert_int_equal(rmpp_sender_transmit(&sender, 0, 16, out), 1);
	assert_int_equal(header_of(&out[0]).segment_number, 5);
}

static void test_timeout_resends_from_the_first_unacknowledged(void **state)
{
	(void)state;
	begin(2000);
	rmpp_sender_transmit(&sender, 0, 16, out);
	ack(1, 4, 0);
	rmpp_sender_transmit(&sender, 0, 16, out);
	ack(2, 4, 50);
	assert_int_equal(rmpp_sender_deadline(&sender), 50 + MILLISECONDS(100));
	assert_int_equal(rmpp_sender_transmit(&sender, 49 + MILLISECONDS(100), 16, out), 0);
	assert_int_equal(rmpp_sender_transmit(&sender, 50 + MILLISECONDS(100), 16, out), 2);
	assert_int_equal(header_of(&out[0]).segment_number, 3);
	assert_int_equal(header_of(&out[1]).segment_number, 4);
}

static void test_tries_end_with_abort_126(void **state)
{
	(void)state;
	begin(100);
	for (unsigned try = 0; try < 3; try++)
		assert_int_equal(rmpp_sender_transmit(&sender, try * MILLISECONDS(100), 16, out),
				 1);
	assert_int_equal(rmpp_sender_deadline(&sender), 3 * MILLISECONDS(100));
	assert_int_equal(rmpp_sender_transmit(&sender, 3 * MILLISECONDS(100), 16, out), 1);
	assert_int_equal(header_of(&out[0]).type, RMPP_TYPE_ABORT);
	assert_int_equal(header_of(&out[0]).status, RMPP_STATUS_TOO_MANY_RETRIES);
	assert_int_equal(sender.state, RMPP_SENDER_FAILED);
}

static void test_progress_gives_new_tries(void **state)
{
	(void)state;
	time_ns now = 0;

	begin(600);
	for (uint32_t segment = 1; segment <= 3; segment++) {
		for (unsigned try = 0; try < 3; try++, now += MILLISECONDS(100))
			assert_int_equal(rmpp_sender_transmit(&sender, now, 16, out), 1);
		ack(segment, segment + 1, now - 1);
	}
	assert_int_equal(sender.state, RMPP_SENDER_DONE);
}

/* A peer that acknowledges but keeps its window closed is probed until the tries end. */
static void test_shut_window_is_probed_until_the_tries_end(void **state)
{
	(void)state;
	begin(1000);
	rmpp_sender_transmit(&sender, 0, 16, out);
	ack(1, 1, 0);
	assert_int_equal(rmpp_sender_deadline(&sender), MILLISECONDS(100));
	for (unsigned try = 1; try < 3; try++) {
		assert_int_equal(rmpp_sender_transmit(&sender, try * MILLISECONDS(100), 16, out),
				 1);
		assert_int_equal(header_of(&out[0]).segment_number, 1);
		assert_int_equal(rmpp_sender_deadline(&sender), (try + 1) * MILLISECONDS(100));
	}
	expect_abort_at(3 * MILLISECONDS(100));
	/* A window that opens late is used. */
	begin(1000);
	rmpp_sender_transmit(&sender, 0, 16, out);
	ack(1, 1, 0);
	ack(1, 3, 10);
	assert_int_equal(rmpp_sender_transmit(&sender, 10, 16, out), 2);
}

static void test_old_acknowledgements_change_nothing(void **state)
{
	(void)state;
	begin(2000);
	rmpp_sender_transmit(&sender, 0, 16, out);
	ack(1, 6, 0);
	rmpp_sender_transmit(&sender, 0, 16, out);
	ack(5, 9, 0);
	ack(3, 4, 0);
	assert_int_equal(sender.acked, 5);
	assert_int_equal(sender.window_last, 9);
	assert_int_equal(sender.state, RMPP_SENDER_SENDING);
}

static void test_ack_with_a_status_is_aborted_with_124(void **state)
{
	(void)state;
	const struct rmpp_header header = {.version = 1, .type = RMPP_TYPE_ACK, .status = 1};

	begin(100);
	rmpp_sender_transmit(&sender, 0, 16, out);
	rmpp_sender_receive(&sender, 0, &header);
	expect_abort(0, RMPP_STATUS_BAD_STATUS);
}

static void test_window_before_the_segment_is_aborted_with_122(void **state)
{
	(void)state;
	begin(1000);
	rmpp_sender_transmit(&sender, 0, 16, out);
	ack(1, 0, 0);
	expect_abort(0, RMPP_STATUS_WINDOW_TOO_SMALL);
}

static void test_ack_of_a_segment_never_sent_is_aborted_with_123(void **state)
{
	(void)state;
	begin(1000);
	rmpp_sender_transmit(&sender, 0, 16, out);
	ack(2, 4, 0);
	expect_abort(0, RMPP_STATUS_SEGMENT_TOO_BIG);
}

static void test_other_version_is_aborted_with_125(void **state)
{
	(void)state;
	const struct rmpp_header header = {.version = 2, .type = RMPP_TYPE_ACK};

	begin(100);
	rmpp_sender_transmit(&sender, 0, 16, out);
	rmpp_sender_receive(&sender, 0, &header);
	expect_abort(0, RMPP_STATUS_BAD_VERSION);
}

static void test_unknown_type_is_aborted_with_121(void **state)
{
	(void)state;
	const struct rmpp_header header = {.version = 1, .type = 9};

	begin(100);
	rmpp_sender_transmit(&sender, 0, 16, out);
	rmpp_sender_receive(&sender, 0, &header);
	expect_abort(0, RMPP_STATUS_BAD_TYPE);
}

static void test_stop_and_abort_of_the_peer_end_it_without_an_answer(void **state)
{
	(void)state;
	static const struct {
		enum rmpp_type type;
		uint8_t status;
		enum rmpp_status expected;
	} cases[] = {
		{RMPP_TYPE_STOP, RMPP_STATUS_RESOURCES_EXHAUSTED, RMPP_STATUS_RESOURCES_EXHAUSTED},
		{RMPP_TYPE_STOP, 0, RMPP_STATUS_BAD_STATUS},
		{RMPP_TYPE_STOP, 118, RMPP_STATUS_BAD_STATUS},
		{RMPP_TYPE_ABORT, 118, RMPP_STATUS_TOTAL_TIME_TOO_LONG},
		{RMPP_TYPE_ABORT, 0, RMPP_STATUS_BAD_STATUS},
		{RMPP_TYPE_ABORT, 1, RMPP_STATUS_BAD_STATUS},
		{RMPP_TYPE_ABORT, 200, (enum rmpp_status)200},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rmpp_header header = {
			.version = 1, .type = (uint8_t)cases[i].type, .status = cases[i].status};

		begin(1000);
		rmpp_sender_transmit(&sender, 0, 16, out);
		rmpp_sender_receive(&sender, 0, &header);
		assert_int_equal(sender.state, RMPP_SENDER_FAILED);
		assert_int_equal(sender.status, cases[i].expected);
		assert_int_equal(rmpp_sender_transmit(&sender, SECONDS(1), 16, out), 0);
	}
}

/* GetMulti: the sender answers the last ACK with ACK{0, 1}, and repeats it when the peer repeats
 * the last ACK. */
static void test_double_sided_opens_the_window_of_the_answer(void **state)
{
	(void)state;
	begin(100);
	sender.options.sides = RMPP_DOUBLE_SIDED;
	rmpp_sender_transmit(&sender, 0, 16, out);
	for (unsigned repetition = 0; repetition < 2; repetition++) {
		ack(1, 33, 0);
		assert_int_equal(sender.state, RMPP_SENDER_DONE);
		assert_int_equal(rmpp_sender_deadline(&sender), 0);
		assert_int_equal(rmpp_sender_transmit(&sender, 0, 16, out), 1);
		assert_int_equal(header_of(&out[0]).type, RMPP_TYPE_ACK);
		assert_int_equal(header_of(&out[0]).segment_number, 0);
		assert_int_equal(header_of(&out[0]).length_or_last, 1);
		assert_int_equal(rmpp_sender_deadline(&sender), TIME_NEVER);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths_are_those_of_the_example_of_five_node_records),
		cmocka_unit_test(test_no_data_are_one_segment_of_length_twenty),
		cmocka_unit_test(test_vendor_segments_hold_216_bytes),
		cmocka_unit_test(test_window_holds_segments_back),
		cmocka_unit_test(test_timeout_resends_from_the_first_unacknowledged),
		cmocka_unit_test(test_tries_end_with_abort_126),
		cmocka_unit_test(test_progress_gives_new_tries),
		cmocka_unit_test(test_shut_window_is_probed_until_the_tries_end),
		cmocka_unit_test(test_old_acknowledgements_change_nothing),
		cmocka_unit_test(test_ack_with_a_status_is_aborted_with_124),
		cmocka_unit_test(test_window_before_the_segment_is_aborted_with_122),
		cmocka_unit_test(test_ack_of_a_segment_never_sent_is_aborted_with_123),
		cmocka_unit_test(test_other_version_is_aborted_with_125),
		cmocka_unit_test(test_unknown_type_is_aborted_with_121),
		cmocka_unit_test(test_stop_and_abort_of_the_peer_end_it_without_an_answer),
		cmocka_unit_test(test_double_sided_opens_the_window_of_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
