/* SPDX-License-Identifier: Apache-2.0 */
/* Messages sent by reference, whose payload the receiver's owner fetches, end as messages sent in
 * packets do, also with loss. A message that its sender took back is not fetched. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "net/transport/fast/fast_receive.h"
#include "support/rc_pair.h"
#include "support/sent_packet.h"
#include "wire/mtu.h"

enum { MESSAGES = 60, MESSAGE_BYTES_MAX_HERE = 3000, SEEDS = 20, FIRST_PSN = 0xfffff0 };

static struct rc_pair pair;
static unsigned taken_back;

static void take_back(struct qp *qp)
{
	assert_true(qp == &pair.a.qp);
	taken_back++;
}

static void connect_with_mtu(uint8_t mtu_code)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	options.mtu_code = mtu_code;
	options.sq_psn = FIRST_PSN;
	options.rq_psn = FIRST_PSN;
	options.rnr_retry = 7;
	options.retry_count = 7;
	rc_pair_connect_with(&pair, &options);
	pair.a.environment.take_back = take_back;
	pair.b.environment.take_back = take_back;
	taken_back = 0;
}

static void connect(void)
{
	connect_with_mtu(MTU_256);
}

struct fetched {
	struct zcopy_source source;
	const uint8_t *bytes;
	bool is_gone;
};

static bool fetch(const struct zcopy_source *source, uint8_t *ret_bytes)
{
	const struct fetched *fetched = container_of(source, struct fetched, source);

	memcpy(ret_bytes, fetched->bytes, source->byte_count);
	return !fetched->is_gone;
}

/* Sends the request at the cursor by reference, and receives it unless it is lost. Returns whether
 * it could go by reference. */
static bool cross(bool is_lost, bool is_gone)
{
	uint8_t headers[FAST_HEADER_BYTES_MAX] = {0};
	struct fast_packet packet = {0};
	struct psn psn;

	if (!fast_next_zcopy(&pair.a.qp, &packet))
		return false;

	struct fetched fetched = {
		.source = {packet.payload_bytes, packet.packet_count, fetch},
		.bytes = packet.payload,
		.is_gone = is_gone,
	};

	write_queued_zcopy(&pair.a.qp, pair.now, &packet, headers);
	if (is_lost || !fast_receive_zcopy(&pair.b.qp, pair.now, 1, &packet_source_fabric, headers,
					   &fetched.source))
		return true;
	if (fast_take_ack(&pair.b.qp, &psn) && fast_acknowledge(&pair.a.qp, pair.now, psn))
		retry_date(&pair.a.qp, pair.now);
	return true;
}

static void test_zcopy_messages_arrive_as_others_do(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct random random = random_seeded(seed);
		uint32_t psn_count = 0, by_zcopy = 0;

		connect();
		for (uint32_t i = 0; i < MESSAGES; i++) {
			uint32_t byte_count =
				(uint32_t)random_below(&random, MESSAGE_BYTES_MAX_HERE);
			bool has_immediate = random_below(&random, 4) == 0;
			const uint8_t *sent;
			const uint8_t *place = NULL;

			/* Now and then the receiver is not ready yet. */
			bool is_late = random_below(&random, 10) == 0;

			if (!is_late)
				place = post_receive(&pair, &pair.b, MESSAGE_BYTES_MAX_HERE);
			sent = post_send_as(&pair, &pair.a,
					    has_immediate ? SEND_SEND_IMMEDIATE : SEND_SEND,
					    SEND_SIGNALED, byte_count);
			by_zcopy +=
				cross(random_below(&random, 8) == 0, random_below(&random, 8) == 0);
			if (is_late)
				place = post_receive(&pair, &pair.b, MESSAGE_BYTES_MAX_HERE);
			run_until_idle(&pair);
			(void)expect_completion(&pair.a, COMPLETION_SUCCESS);

			const struct completion *received =
				expect_received(&pair.b, COMPLETION_SUCCESS);

			assert_int_equal(received->byte_count, byte_count);
			assert_int_equal(received->flags,
					 has_immediate ? COMPLETION_HAS_IMMEDIATE : 0);
			assert_memory_equal(place, sent, byte_count);
			psn_count += byte_count ? (byte_count + 255) / 256 : 1;
			assert_int_equal(pair.b.qp.responder.expected_psn.value,
					 (FIRST_PSN + psn_count) & 0xffffff);
			assert_int_equal(pair.b.qp.responder.msn, i + 1);
		}
		/* The test proves nothing if no message goes by reference. */
		assert_true(by_zcopy > MESSAGES / 2);
		assert_int_equal(taken_back, 0);
		rc_pair_release(&pair);
	}
}

static void test_lengths_that_do_not_agree_are_refused(void **state)
{
	uint8_t headers[FAST_HEADER_BYTES_MAX] = {0};
	struct fast_packet packet = {0};

	(void)state;
	connect();
	(void)post_receive(&pair, &pair.b, MESSAGE_BYTES_MAX_HERE);
	(void)post_send(&pair, &pair.a, 1000);
	assert_true(fast_next_zcopy(&pair.a.qp, &packet));
	write_queued_zcopy(&pair.a.qp, pair.now, &packet, headers);
	for (uint32_t byte_count = 0; byte_count < 2000; byte_count++) {
		struct fetched fetched = {.source = {byte_count, packet.packet_count, fetch},
					  .bytes = packet.payload,
					  .is_gone = true};
		bool agrees = byte_count > 768 && byte_count <= 1024;

		assert_int_equal(fast_receive_zcopy(&pair.b.qp, pair.now, 1, &packet_source_fabric,
						    headers, &fetched.source),
				 agrees);
	}
	expect_nothing_received(&pair.b);
	rc_pair_release(&pair);
}

static void test_errors_and_resets_take_back_what_was_sent(void **state)
{
	static const enum qp_state states[] = {QP_ERROR, QP_RESET};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(states); i++) {
		connect();
		(void)post_send(&pair, &pair.a, 1000);
		assert_true(cross(true, false));
		assert_int_equal(taken_back, 0);
		assert_int_equal(endpoint_set_state(&pair.a, pair.now, states[i]), 0);
		assert_int_equal(taken_back, 1);
		rc_pair_release(&pair);
		assert_int_equal(taken_back, 1);
	}
	/* A queue pair that is destroyed leaves none either. */
	connect();
	(void)post_send(&pair, &pair.a, 1000);
	assert_true(cross(true, false));
	rc_pair_release(&pair);
	assert_int_equal(taken_back, 1);
	/* Nor does one that gives up. */
	connect();
	(void)post_send(&pair, &pair.a, 1000);
	assert_true(cross(true, false));
	endpoint_set_state(&pair.b, pair.now, QP_RESET);
	run_until_idle(&pair);
	(void)expect_completion(&pair.a, COMPLETION_RETRY_EXCEEDED);
	assert_int_equal(taken_back, 1);
	rc_pair_release(&pair);
}

/* The other end need not have a timer. */
static void test_what_could_not_be_fetched_is_asked_for_once(void **state)
{
	uint8_t headers[FAST_HEADER_BYTES_MAX] = {0};
	struct fast_packet packet = {0};

	(void)state;
	for (unsigned is_unusual = 0; is_unusual < 2; is_unusual++) {
		connect();
		pair.a.qp.attributes.timeout = 0;

		const uint8_t *place = post_receive(&pair, &pair.b, MESSAGE_BYTES_MAX_HERE);
		const uint8_t *sent = post_send(&pair, &pair.a, 1000);

		assert_true(fast_next_zcopy(&pair.a.qp, &packet));
		write_queued_zcopy(&pair.a.qp, pair.now, &packet, headers);

		struct fetched gone = {.source = {1000, packet.packet_count, fetch},
				       .bytes = packet.payload,
				       .is_gone = true};

		if (is_unusual)
			fast_zcopy_failed(&pair.b.qp, 1, &packet_source_fabric, headers);
		else
			assert_true(fast_receive_zcopy(&pair.b.qp, pair.now, 1,
						       &packet_source_fabric, headers,
						       &gone.source));
		assert_true(pair.b.qp.responder.nak_is_due);
		run_until_idle(&pair);
		(void)expect_completion(&pair.a, COMPLETION_SUCCESS);
		(void)expect_received(&pair.b, COMPLETION_SUCCESS);
		assert_memory_equal(place, sent, 1000);
		/* The receiver does not ask for a message that it has received, nor for a
		 * stranger's. */
		fast_zcopy_failed(&pair.b.qp, 1, &packet_source_fabric, headers);
		headers[7] ^= 1;
		headers[LRH_BYTES + 11] = (uint8_t)(headers[LRH_BYTES + 11] + 50);
		fast_zcopy_failed(&pair.b.qp, 1, &packet_source_fabric, headers);
		assert_false(pair.b.qp.responder.nak_is_due);
		rc_pair_release(&pair);
	}
}

static void test_messages_that_can_not_go_by_reference_do_not(void **state)
{
	struct fast_packet packet = {0};

	(void)state;
	connect();
	assert_false(fast_next_zcopy(&pair.a.qp, &packet)); /* nothing there */
	(void)post_send(&pair, &pair.a, 0);
	assert_false(fast_next_zcopy(&pair.a.qp, &packet));
	rc_pair_release(&pair);
	connect();
	(void)post_write(&pair, &pair.a, &pair.b, 0, 1000);
	assert_false(fast_next_zcopy(&pair.a.qp, &packet));
	rc_pair_release(&pair);
}

static void connect_datagrams(void)
{
	struct endpoint_options options = endpoint_options_default(QP_UD);

	options.mtu_code = MTU_4096;
	options.signal_all = false;
	rc_pair_connect_with(&pair, &options);
	pair.a.environment.take_back = take_back;
	taken_back = 0;
}

/* Posts a datagram by reference; returns its headers. */
static const uint8_t *post_zcopy(uint64_t wr_id, uint32_t byte_count, uint32_t flags,
				 struct fetched *ret_fetched)
{
	static uint8_t headers[FAST_HEADER_BYTES_MAX];
	static const struct address_vector address = {.dlid = 2, .port_number = 1};
	const uint8_t *bytes = area_take(&pair.a.outbox, byte_count);
	const struct sge sge = area_sge(&pair.a.outbox, bytes, byte_count);
	const struct send_request request = {
		.wr_id = wr_id,
		.opcode = SEND_SEND,
		.flags = flags,
		.address = &address,
		.address_pd = &pair.a.pd,
		.remote_qpn = pair.b.qp.qpn,
		.remote_qkey = pair.b.qp.attributes.qkey,
		.sge_count = 1,
		.sges = &sge,
	};
	struct fast_packet packet = {0};

	assert_true(fast_may_post(&pair.a.qp, pair.a.qp.type, &request, &packet));
	packet.is_zcopy = true;
	fast_write(&pair.a.qp, pair.a.qp.type, &request, &packet, headers);
	fast_enqueue(&pair.a.qp, pair.a.qp.type, pair.now, &request, &packet);
	*ret_fetched = (struct fetched){.source = {byte_count, 1, fetch}, .bytes = bytes};
	return headers;
}

static void test_a_zcopy_datagram_completes_when_its_owner_says_so(void **state)
{
	struct fetched fetched;

	(void)state;
	connect_datagrams();
	for (uint32_t byte_count = 1024; byte_count < 1030; byte_count++) {
		const uint8_t *place = post_receive(&pair, &pair.b, GRH_BYTES + byte_count);
		const uint8_t *headers =
			post_zcopy(byte_count, byte_count, SEND_SIGNALED, &fetched);

		expect_no_completion(&pair.a);
		/* A length that differs from the headers is refused. */
		fetched.source.byte_count--;
		assert_false(fast_receive_zcopy(&pair.b.qp, pair.now, 1, &packet_source_fabric,
						headers, &fetched.source));
		fetched.source.byte_count++;
		assert_true(fast_receive_zcopy(&pair.b.qp, pair.now, 1, &packet_source_fabric,
					       headers, &fetched.source));
		assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count,
				 GRH_BYTES + byte_count);
		assert_memory_equal(place + GRH_BYTES, fetched.bytes, byte_count);
		expect_no_completion(&pair.a);
		fast_ud_zcopy_done(&pair.a.qp, pair.now);
		assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->wr_id, byte_count);
	}
	assert_int_equal(taken_back, 0);
	rc_pair_release(&pair);
}

/* Receives the second of two equal messages, with a bit of its headers flipped, with the receive
 * template of the first one or with none. Returns whether it was taken. */
static bool take_second(enum qp_type type, unsigned bit, bool has_template)
{
	enum { BYTES = 1026 };
	uint8_t headers[FAST_HEADER_BYTES_MAX] = {0};
	struct fast_packet packet = {0};
	struct fetched fetched;
	bool is_taken = false;

	if (type == QP_UD)
		connect_datagrams();
	else
		connect_with_mtu(MTU_2048);
	for (unsigned i = 0; i < 2; i++) {
		(void)post_receive(&pair, &pair.b, GRH_BYTES + BYTES);
		if (type == QP_UD) {
			memcpy(headers, post_zcopy(i, BYTES, 0, &fetched), sizeof(headers));
		} else {
			(void)post_send(&pair, &pair.a, BYTES);
			assert_true(fast_next_zcopy(&pair.a.qp, &packet));
			write_queued_zcopy(&pair.a.qp, pair.now, &packet, headers);
			fetched = (struct fetched){.source = {BYTES, 1, fetch},
						   .bytes = packet.payload};
		}
		if (i == 1)
			headers[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!has_template)
			invalidate(&pair.b.environment);
		is_taken = fast_receive_zcopy(&pair.b.qp, pair.now, 1, &packet_source_fabric,
					      headers, &fetched.source);
		assert_true(is_taken || i == 1);
		assert_true(pair.b.qp.templates->receive.epoch == pair.b.environment.epoch ||
			    i == 1);
	}
	for (unsigned i = 0; i < 1u + is_taken; i++) {
		const struct completion *received = expect_received(&pair.b, COMPLETION_SUCCESS);

		assert_int_equal(received->byte_count, BYTES + (type == QP_UD ? GRH_BYTES : 0));
	}
	expect_nothing_received(&pair.b);
	rc_pair_release(&pair);
	return is_taken;
}

/* The receive template accepts nothing that would be refused without it. */
static void test_messages_with_a_template_are_judged_as_without_it(void **state)
{
	static const enum qp_type types[] = {QP_RC, QP_UD};
	const unsigned psn_bit = (LRH_BYTES + 11) * 8;

	(void)state;
	for (unsigned type = 0; type < ARRAY_COUNT(types); type++) {
		const unsigned bits =
			8 * (FAST_HEADER_BYTES + (types[type] == QP_UD ? DETH_BYTES : 0));

		for (unsigned bit = 0; bit < bits; bit++) {
			assert_int_equal(take_second(types[type], bit, true),
					 take_second(types[type], bit, false));
		}
		/* The next PSN is no obstacle for a datagram. */
		assert_int_equal(take_second(types[type], psn_bit, true), types[type] == QP_UD);
	}
}

static void test_zcopy_datagrams_complete_in_order_with_others(void **state)
{
	struct fetched fetched;

	(void)state;
	connect_datagrams();
	(void)post_zcopy(1, 1024, SEND_SIGNALED, &fetched);
	(void)post_zcopy(2, 1024, 0, &fetched);
	(void)post_zcopy(3, 1024, SEND_SIGNALED, &fetched);
	expect_no_completion(&pair.a);
	fast_ud_zcopy_done(&pair.a.qp, pair.now);
	assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->wr_id, 1);
	fast_ud_zcopy_done(&pair.a.qp, pair.now);
	expect_no_completion(&pair.a);
	fast_ud_zcopy_done(&pair.a.qp, pair.now);
	assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->wr_id, 3);
	rc_pair_release(&pair);
}

static void test_zcopy_datagrams_have_been_sent_when_the_queue_pair_stops(void **state)
{
	static const enum qp_state states[] = {QP_ERROR, QP_SQD};
	struct fetched fetched;

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(states); i++) {
		connect_datagrams();
		(void)post_zcopy(1, 1024, SEND_SIGNALED, &fetched);
		assert_int_equal(endpoint_set_state(&pair.a, pair.now, states[i]), 0);
		assert_int_equal(taken_back, 1);
		assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->wr_id, 1);
		assert_false(pair.a.qp.attributes.is_draining);
		rc_pair_release(&pair);
		assert_int_equal(taken_back, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_zcopy_datagram_completes_when_its_owner_says_so),
		cmocka_unit_test(test_messages_with_a_template_are_judged_as_without_it),
		cmocka_unit_test(test_zcopy_datagrams_complete_in_order_with_others),
		cmocka_unit_test(test_zcopy_datagrams_have_been_sent_when_the_queue_pair_stops),
		cmocka_unit_test(test_zcopy_messages_arrive_as_others_do),
		cmocka_unit_test(test_lengths_that_do_not_agree_are_refused),
		cmocka_unit_test(test_errors_and_resets_take_back_what_was_sent),
		cmocka_unit_test(test_what_could_not_be_fetched_is_asked_for_once),
		cmocka_unit_test(test_messages_that_can_not_go_by_reference_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
