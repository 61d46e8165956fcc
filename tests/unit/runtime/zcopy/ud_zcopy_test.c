/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams sent by reference, on a fake softibd: which ones are, when their requests complete, and
 * that the sent bytes arrive whatever the sender does to its memory after that. Covers:
 * runtime/zcopy/ud_zcopy_receive.c */
#include "runtime/zcopy/ud_zcopy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/fast/short_send.h"
#include "runtime/packets/receive.h"
#include "wire/mtu.h"
#include "wire/packet.h"
#include "unit/runtime/runtime_pair.h"

enum {
	QKEY = 0x1234,
	DATAGRAM_BYTES = 2000,
	STEP_BYTES = 4096,
	RECEIVED_AT = PAIR_BUFFER_BYTES / 2
};

static struct qp_object *sender, *receiver;

static struct qp_object *make_datagram_qp(struct pair_end *end)
{
	const struct qp_options options = {
		.type = QP_UD,
		.pd = end->pd,
		.send_cq = end->cq,
		.receive_cq = end->cq,
		.capabilities = {.send_requests_max = 256,
				 .receive_requests_max = 64,
				 .send_sges_max = 2,
				 .receive_sges_max = 2},
	};
	const struct qp_attributes steps[] = {
		{.state = QP_INIT, .port_number = 1, .qkey = QKEY},
		{.state = QP_RTR},
		{.state = QP_RTS},
	};
	static const uint32_t masks[] = {
		QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_QKEY,
		QP_HAS_STATE,
		QP_HAS_STATE | QP_HAS_SQ_PSN,
	};
	struct qp_object *qp = NULL;

	adapter_lock(end->adapter);
	assert_int_equal(qp_object_create(adapter_hca(end->adapter), &options, &qp), 0);
	for (unsigned i = 0; i < ARRAY_COUNT(steps); i++)
		assert_int_equal(
			qp_object_modify(qp, adapter_now(end->adapter), &steps[i], masks[i]), 0);
	adapter_unlock(end->adapter);
	return qp;
}

static int start(void **state)
{
	if (pair_start_connected(state) != 0)
		return -1;
	sender = make_datagram_qp(&pair.ends[0]);
	receiver = make_datagram_qp(&pair.ends[1]);
	adapter_lock(pair.ends[0].adapter);
	pair_share_buffer(&pair.ends[0]);
	/* Datagrams are one packet each. */
	sender->qp.port->mtu_code = MTU_4096;
	receiver->qp.port->mtu_code = MTU_4096;
	adapter_unlock(pair.ends[0].adapter);
	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 0; i < 4; i++)
		pair_send_and_check(8, i);
	return 0;
}

static uint8_t *bytes_of(unsigned number)
{
	return pair.ends[0].buffer + number * STEP_BYTES;
}

static uint8_t *place_of(unsigned number)
{
	return pair.ends[1].buffer + RECEIVED_AT + number * STEP_BYTES;
}

static void post_receive(unsigned number)
{
	const struct sge sge = {(uintptr_t)place_of(number), STEP_BYTES, pair.ends[1].region->key};
	const struct receive_request request = {.wr_id = number, .sge_count = 1, .sges = &sge};

	memset(place_of(number), 0, STEP_BYTES);
	assert_int_equal(qp_object_post_receive(receiver, 0, &request), 0);
}

/* Posts as ibv_post_send does. */
static uint32_t wrong_key_bits; /* in the next posts */

static void post(unsigned number, uint32_t byte_count, uint32_t flags, enum send_opcode opcode)
{
	const struct address_vector address = {.dlid = 2, .port_number = 1};
	const struct sge sge = {(uintptr_t)bytes_of(number), byte_count,
				pair.ends[0].region->key ^ wrong_key_bits};
	const struct send_request request = {
		.wr_id = number,
		.opcode = opcode,
		.flags = flags,
		.immediate_or_rkey = 0x12345678,
		.address = &address,
		.address_pd = pair.ends[0].pd,
		.remote_qpn = receiver->qp.qpn,
		.remote_qkey = QKEY,
		.sge_count = 1,
		.sges = &sge,
	};

	pair_fill(bytes_of(number), byte_count, number);
	if (adapter_post(pair.ends[0].adapter, sender, &request))
		return;
	assert_int_equal(qp_post_send(&sender->qp, adapter_now(pair.ends[0].adapter), &request), 0);
	adapter_send(pair.ends[0].adapter, sender);
}

static uint32_t zcopy_count(void)
{
	return pair_channel()->zcopies.tail - pair_channel()->zcopies.taken_back;
}

static void post_zcopy(unsigned number, uint32_t byte_count)
{
	uint32_t before = zcopy_count();

	pair_channel()->zcopies.ring = NULL; /* no program is known to wait */
	post(number, byte_count, SEND_SIGNALED, SEND_SEND);
	assert_int_equal(zcopy_count(), before + 1);
}

static void progress(void)
{
	adapter_progress(pair.ends[1].adapter, adapter_now(pair.ends[1].adapter));
}

static void expect_sent(unsigned number, enum completion_status status)
{
	const struct completion *completion = cq_first(pair.ends[0].cq);

	assert_non_null(completion);
	assert_int_equal(completion->wr_id, number);
	assert_int_equal(completion->status, status);
	cq_advance(pair.ends[0].cq);
}

static void expect_received(unsigned number, uint32_t byte_count)
{
	const struct completion *completion = cq_first(pair.ends[1].cq);
	uint8_t expected[STEP_BYTES];

	assert_non_null(completion);
	assert_int_equal(completion->wr_id, number);
	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	assert_int_equal(completion->byte_count, byte_count + GRH_BYTES);
	assert_int_equal(completion->source_qpn, sender->qp.qpn);
	pair_fill(expected, byte_count, number);
	assert_memory_equal(place_of(number) + GRH_BYTES, expected, byte_count);
	cq_advance(pair.ends[1].cq);
}

/* The first datagram after a change resolves the flow. */
static void warm_up(void)
{
	post_receive(0);
	post(0, 8, SEND_SIGNALED, SEND_SEND);
	progress();
	expect_received(0, 8);
	expect_sent(0, COMPLETION_SUCCESS);
}

/* The test holds the lock, so neither the progress thread nor the fake softibd take part. */
static int begin(void **state)
{
	(void)state;
	adapter_lock(pair.ends[0].adapter);
	pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
	pair_channel()->zcopies.copies_left = 0;
	pair_channel()->zcopies.copies_next = 64;
	pair_channel()->zcopies.returned = 0;
	warm_up();
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_null(cq_first(pair.ends[0].cq));
	assert_null(cq_first(pair.ends[1].cq));
	assert_true(list_is_empty(&pair_runtime()->zcopy_channels));
	adapter_unlock(pair.ends[0].adapter);
	return 0;
}

static void test_a_datagram_is_done_when_it_was_read(void **state)
{
	static const uint32_t sizes[] = {
		ZCOPY_BYTES_MIN, ZCOPY_BYTES_MIN + 1, 1027, 2048, 4095, 4056};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		uint32_t byte_count =
			sizes[i] > STEP_BYTES - GRH_BYTES ? STEP_BYTES - GRH_BYTES : sizes[i];

		post_receive(i);
		post_zcopy(i, byte_count);
		(void)ud_zcopies_return(pair_runtime(), 0);
		assert_null(cq_first(pair.ends[0].cq));
		progress();
		expect_received(i, byte_count);
		expect_sent(i, COMPLETION_SUCCESS);
	}
}

static void test_requests_end_in_their_order(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++)
		post_receive(i);
	post_zcopy(0, DATAGRAM_BYTES);
	post(1, 16, SEND_SIGNALED, SEND_SEND);
	post(2, 16, 0, SEND_SEND);
	post_zcopy(3, DATAGRAM_BYTES);
	post(4, DATAGRAM_BYTES, 0, SEND_SEND);
	post(5, 16, SEND_SIGNALED, SEND_SEND);
	assert_int_equal(zcopy_count(), 3);
	assert_null(cq_first(pair.ends[0].cq));
	progress();
	for (unsigned i = 0; i < 6; i++)
		expect_received(i, i == 0 || i == 3 || i == 4 ? DATAGRAM_BYTES : 16);
	expect_sent(0, COMPLETION_SUCCESS);
	expect_sent(1, COMPLETION_SUCCESS);
	expect_sent(3, COMPLETION_SUCCESS);
	expect_sent(5, COMPLETION_SUCCESS);
	/* Their slots are free again. */
	assert_int_equal(sender->qp.requester.queue.head, sender->qp.requester.queue.tail);
}

/* Whatever their length, flags and immediate data. */
static void test_datagrams_in_a_row_go_by_reference(void **state)
{
	const uint32_t psn = sender->qp.requester.next_psn.value;

	(void)state;
	for (unsigned i = 0; i < 9; i++)
		post_receive(i);
	for (unsigned i = 0; i < 4; i++)
		post_zcopy(i, DATAGRAM_BYTES);
	post_zcopy(4, DATAGRAM_BYTES + 3);
	post(5, DATAGRAM_BYTES + 3, SEND_SIGNALED | SEND_SOLICITED, SEND_SEND);
	post(6, DATAGRAM_BYTES + 3, SEND_SIGNALED, SEND_SEND_IMMEDIATE);
	assert_int_equal(zcopy_count(), 7);
	pair_channel()->zcopies.copies_left = 1;
	post(7, DATAGRAM_BYTES + 3, SEND_SIGNALED, SEND_SEND);
	assert_int_equal(zcopy_count(), 7);
	post(8, 16, SEND_SIGNALED, SEND_SEND);
	assert_int_equal(sender->qp.requester.next_psn.value, (psn + 9) & 0xffffff);
	progress();
	for (unsigned i = 0; i < 9; i++) {
		const struct completion *received = cq_first(pair.ends[1].cq);

		assert_non_null(received);
		assert_int_equal(received->is_solicited, i == 5);
		assert_int_equal(received->flags, i == 6 ? COMPLETION_HAS_IMMEDIATE : 0);
		expect_received(i, i == 8 ? 16 : DATAGRAM_BYTES + (i < 4 ? 0 : 3));
		expect_sent(i, COMPLETION_SUCCESS);
	}
}

static void test_immediate_data_comes_along(void **state)
{
	(void)state;
	post_receive(1);
	post(1, DATAGRAM_BYTES, SEND_SIGNALED, SEND_SEND_IMMEDIATE);
	assert_int_equal(zcopy_count(), 1);
	progress();
	assert_non_null(cq_first(pair.ends[1].cq));
	assert_int_equal(cq_first(pair.ends[1].cq)->flags, COMPLETION_HAS_IMMEDIATE);
	assert_int_equal(cq_first(pair.ends[1].cq)->immediate_or_rkey, 0x12345678);
	expect_received(1, DATAGRAM_BYTES);
	expect_sent(1, COMPLETION_SUCCESS);
}

static void test_what_is_taken_back_arrives_as_it_was(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		post_receive(i);
		post_zcopy(i, DATAGRAM_BYTES + i);
	}
	ud_zcopies_end(pair_runtime(), 0);
	assert_int_equal(zcopy_count(), 0);
	for (unsigned i = 0; i < 8; i++) {
		expect_sent(i, COMPLETION_SUCCESS);
		/* The memory is the program's again. */
		memset(bytes_of(i), 0xff, STEP_BYTES);
	}
	/* And later zcopy datagrams are not among them. */
	post_receive(8);
	post_zcopy(8, DATAGRAM_BYTES);
	progress();
	for (unsigned i = 0; i < 8; i++)
		expect_received(i, DATAGRAM_BYTES + i);
	expect_received(8, DATAGRAM_BYTES);
	expect_sent(8, COMPLETION_SUCCESS);
}

/* The ring space of a record that was read may belong to another record. */
static void test_what_was_read_is_not_put_into_the_ring(void **state)
{
	(void)state;
	for (unsigned lap = 0; lap < 1000; lap++) {
		unsigned number = lap % 8;

		post_receive(number);
		post_zcopy(number, DATAGRAM_BYTES);
		receive_all(pair_runtime(), 0);
		expect_received(number, DATAGRAM_BYTES);
		/* The record was read, but its request has not completed. */
		post_receive(number + 8);
		post_zcopy(number + 8, DATAGRAM_BYTES);
		ud_zcopies_take_back(pair_runtime());
		memset(bytes_of(number), 0xff, STEP_BYTES);
		memset(bytes_of(number + 8), 0xff, STEP_BYTES);
		progress();
		expect_received(number + 8, DATAGRAM_BYTES);
		expect_sent(number, COMPLETION_SUCCESS);
		expect_sent(number + 8, COMPLETION_SUCCESS);
	}
}

/* Nobody reads; the program gets its requests back all the same. */
static void test_a_receiver_that_takes_nothing_is_not_waited_for(void **state)
{
	time_ns now = runtime_now();

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		uint32_t copies = 64u << round;

		post_receive(round);
		post_zcopy(round, DATAGRAM_BYTES);
		assert_false(ud_zcopies_watch(pair_runtime(), now));
		assert_false(ud_zcopies_watch(pair_runtime(), now + MICROSECONDS(15)));
		assert_int_equal(zcopy_count(), 1);
		assert_true(ud_zcopies_watch(pair_runtime(), now + MICROSECONDS(25)));
		expect_sent(round, COMPLETION_SUCCESS);
		memset(bytes_of(round), 0xff, STEP_BYTES);
		progress();
		expect_received(round, DATAGRAM_BYTES);
		/* The sender copies for a while, each time for longer. */
		for (uint32_t i = 0; i < copies; i++) {
			post_receive(8);
			post(8, DATAGRAM_BYTES, SEND_SIGNALED, SEND_SEND);
			assert_int_equal(zcopy_count(), 0);
			expect_sent(8, COMPLETION_SUCCESS);
			progress();
			expect_received(8, DATAGRAM_BYTES);
		}
	}
}

static void modify(enum qp_state state)
{
	const struct qp_attributes attributes = {.state = state, .port_number = 1, .qkey = QKEY};
	uint32_t mask = QP_HAS_STATE;

	if (state == QP_INIT)
		mask |= QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_QKEY;
	if (state == QP_RTS && sender->qp.state == QP_RTR)
		mask |= QP_HAS_SQ_PSN;
	assert_int_equal(
		qp_object_modify(sender, adapter_now(pair.ends[0].adapter), &attributes, mask), 0);
}

static void restart(void)
{
	modify(QP_INIT);
	modify(QP_RTR);
	modify(QP_RTS);
	warm_up();
}

static void test_what_was_sent_before_an_error_arrives(void **state)
{
	(void)state;
	post_receive(1);
	post_zcopy(1, DATAGRAM_BYTES);
	modify(QP_ERROR);
	expect_sent(1, COMPLETION_SUCCESS);
	memset(bytes_of(1), 0xff, STEP_BYTES);
	post(2, DATAGRAM_BYTES, SEND_SIGNALED, SEND_SEND);
	expect_sent(2, COMPLETION_FLUSHED);
	progress();
	expect_received(1, DATAGRAM_BYTES);
	modify(QP_RESET);
	restart();
	post_receive(3);
	post_zcopy(3, DATAGRAM_BYTES);
	/* A reset forgets the posted requests, and still sends their datagrams. */
	modify(QP_RESET);
	memset(bytes_of(3), 0xff, STEP_BYTES);
	progress();
	expect_received(3, DATAGRAM_BYTES);
	restart();
}

static void test_a_queue_that_drains_has_its_memory_at_once(void **state)
{
	(void)state;
	post_receive(1);
	post_zcopy(1, DATAGRAM_BYTES);
	modify(QP_SQD);
	expect_sent(1, COMPLETION_SUCCESS);
	assert_false(sender->qp.attributes.is_draining);
	memset(bytes_of(1), 0xff, STEP_BYTES);
	progress();
	expect_received(1, DATAGRAM_BYTES);
	modify(QP_RTS);
}

static void test_a_failing_request_completes_after_zcopy_datagrams(void **state)
{
	(void)state;
	post_receive(1);
	post_zcopy(1, DATAGRAM_BYTES);
	wrong_key_bits = 0xff00;
	post(2, DATAGRAM_BYTES, SEND_SIGNALED, SEND_SEND);
	wrong_key_bits = 0;
	assert_null(cq_first(pair.ends[0].cq));
	progress();
	expect_received(1, DATAGRAM_BYTES);
	expect_sent(1, COMPLETION_SUCCESS);
	expect_sent(2, COMPLETION_LOCAL_PROTECTION);
	modify(QP_RTS);
}

static void test_a_receiver_without_the_fast_path_takes_them_as_packets(void **state)
{
	(void)state;
	for (unsigned is_taken_back = 0; is_taken_back < 2; is_taken_back++) {
		post_receive(1);
		post_zcopy(1, DATAGRAM_BYTES + 1);
		if (is_taken_back) {
			ud_zcopies_take_back(pair_runtime());
			memset(bytes_of(1), 0xff, STEP_BYTES);
		}
		pair_runtime()->may_go_fast = false;
		progress();
		pair_runtime()->may_go_fast = true;
		expect_received(1, DATAGRAM_BYTES + 1);
		expect_sent(1, COMPLETION_SUCCESS);
	}
}

static void test_it_waits_in_the_ring_for_a_receive(void **state)
{
	(void)state;
	for (unsigned is_taken_back = 0; is_taken_back < 2; is_taken_back++) {
		post_zcopy(1, DATAGRAM_BYTES);
		progress();
		assert_null(cq_first(pair.ends[0].cq));
		assert_true(channel_holds_back(pair_channel()));
		if (is_taken_back) {
			ud_zcopies_take_back(pair_runtime());
			memset(bytes_of(1), 0xff, STEP_BYTES);
		}
		post_receive(1);
		progress();
		expect_received(1, DATAGRAM_BYTES);
		expect_sent(1, COMPLETION_SUCCESS);
	}
}

static void test_senders_that_do_not_poll_send_no_zcopy(void **state)
{
	(void)state;
	post_receive(1);
	pair_runtime()->progress.mode = PROGRESS_LISTENING;
	pair_runtime()->progress.wakes_at = 0;
	post(1, DATAGRAM_BYTES, SEND_SIGNALED, SEND_SEND);
	pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
	assert_int_equal(zcopy_count(), 0);
	expect_sent(1, COMPLETION_SUCCESS);
	progress();
	expect_received(1, DATAGRAM_BYTES);
}

static void test_senders_that_wait_for_each_datagram_send_no_zcopy(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		post_receive(i);
	post(0, DATAGRAM_BYTES, SEND_SIGNALED, SEND_SEND);
	ud_zcopies_end(pair_runtime(), 0);
	expect_sent(0, COMPLETION_SUCCESS);
	/* The program has taken that completion. */
	post(1, DATAGRAM_BYTES, SEND_SIGNALED, SEND_SEND);
	assert_int_equal(zcopy_count(), 0);
	expect_sent(1, COMPLETION_SUCCESS);
	post(2, DATAGRAM_BYTES, SEND_SIGNALED, SEND_SEND);
	assert_int_equal(zcopy_count(), 0);
	/* And now it has not. */
	post(3, DATAGRAM_BYTES, SEND_SIGNALED, SEND_SEND);
	assert_int_equal(zcopy_count(), 1);
	expect_sent(2, COMPLETION_SUCCESS);
	progress();
	expect_sent(3, COMPLETION_SUCCESS);
	for (unsigned i = 0; i < 4; i++)
		expect_received(i, DATAGRAM_BYTES);
}

static void test_short_and_inline_datagrams_do_not_go_by_reference(void **state)
{
	(void)state;
	post_receive(1);
	post(1, ZCOPY_BYTES_MIN - 1, SEND_SIGNALED, SEND_SEND);
	assert_int_equal(zcopy_count(), 0);
	expect_sent(1, COMPLETION_SUCCESS);
	progress();
	expect_received(1, ZCOPY_BYTES_MIN - 1);
}

/* Requests of a queue pair complete in order: records of two rings are not read in one order. */
static void test_zcopy_datagrams_of_a_queue_pair_use_one_ring_at_a_time(void **state)
{
	(void)state;
	post_receive(1);
	post_receive(2);
	post_zcopy(1, DATAGRAM_BYTES);
	sender->qp.owner_zcopy = &pair; /* the channel of the other ring */
	post(2, DATAGRAM_BYTES, SEND_SIGNALED, SEND_SEND);
	assert_int_equal(zcopy_count(), 1);
	progress();
	expect_received(1, DATAGRAM_BYTES);
	expect_received(2, DATAGRAM_BYTES);
	expect_sent(1, COMPLETION_SUCCESS);
	expect_sent(2, COMPLETION_SUCCESS);
}

static void test_a_reader_shows_how_far_it_came_when_nothing_comes(void **state)
{
	(void)state;
	post_receive(1);
	post_zcopy(1, DATAGRAM_BYTES);
	for (unsigned i = 0; i <= UD_ZCOPY_IDLE_ROUNDS; i++) {
		(void)adapter_poll(pair.ends[1].adapter);
		(void)ud_zcopies_return(pair_runtime(), 0);
	}
	expect_received(1, DATAGRAM_BYTES);
	expect_sent(1, COMPLETION_SUCCESS);
}

/* The bytes that a round may copy are its own: earlier rounds have copied more. */
static void test_a_round_takes_a_record_whatever_rounds_before_it_copied(void **state)
{
	(void)state;
	for (uint32_t copied = 0; copied < 2 * ZCOPY_ROUND_BYTES; copied += DATAGRAM_BYTES) {
		post_receive(1);
		post_zcopy(1, DATAGRAM_BYTES);
		progress();
		expect_received(1, DATAGRAM_BYTES);
		expect_sent(1, COMPLETION_SUCCESS);
	}
	post_receive(2);
	post_zcopy(2, DATAGRAM_BYTES);
	assert_int_equal(poll_round_run(pair_runtime()), POLL_ROUND_DONE);
	expect_received(2, DATAGRAM_BYTES);
	progress();
	expect_sent(2, COMPLETION_SUCCESS);
}

/* A record that a peer writes into a ring is untrusted. */
static void test_references_to_memory_that_is_not_shared_are_refused(void **state)
{
	static const struct {
		struct ud_zcopy_ticket ticket;
		uint32_t byte_count;
	} records[] = {
		{{.place = RKEY_EXPORT_SHARED_BYTES}, 40 + 1},
		{{.place = RKEY_EXPORT_SHARED_BYTES - 4095}, 36 + 4096},
		{{.place = UINT32_MAX}, 36 + 4096},
		{{.place = 0}, 36},
		{{.place = 0}, 36 + 4097},
		{{.place = 0}, 200000},
	};
	static uint8_t body[200000];

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(records); i++) {
		struct ring_record record = {.byte_count = records[i].byte_count,
					     .kind = RECORD_UD_ZCOPY,
					     .port = 1 << 8 | 1,
					     .packet_count = 1,
					     .body = body};
		uint64_t malformed = pair_runtime()->drops.malformed;

		memcpy(body, &records[i].ticket, sizeof(records[i].ticket));
		assert_null(ud_zcopy_receive(pair_runtime(), pair_channel(), 0, &record));
		ud_zcopy_receive_packet(pair_runtime(), pair_channel(), 0, &record);
		assert_int_equal(pair_runtime()->drops.malformed, malformed + 1);
		for (record.byte_count = 0; record.byte_count < 40; record.byte_count++)
			assert_null(ud_zcopy_receive(pair_runtime(), pair_channel(), 0, &record));
	}
	pair_channel()->release_in = 0;
}

/* This test comes last: the region is gone after it. */
static void test_a_region_goes_and_what_was_sent_from_it_arrives(void **state)
{
	(void)state;
	post_receive(1);
	post_zcopy(1, DATAGRAM_BYTES);
	assert_int_equal(
		region_deregister(&adapter_hca(pair.ends[0].adapter)->memory, pair.ends[0].region),
		0);
	assert_int_equal(zcopy_count(), 0);
	memset(bytes_of(1), 0xff, STEP_BYTES);
	progress();
	expect_received(1, DATAGRAM_BYTES);
	expect_sent(1, COMPLETION_SUCCESS);
}

#define ZCOPY_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ZCOPY_TEST(test_a_datagram_is_done_when_it_was_read),
		ZCOPY_TEST(test_requests_end_in_their_order),
		ZCOPY_TEST(test_datagrams_in_a_row_go_by_reference),
		ZCOPY_TEST(test_immediate_data_comes_along),
		ZCOPY_TEST(test_what_is_taken_back_arrives_as_it_was),
		ZCOPY_TEST(test_what_was_read_is_not_put_into_the_ring),
		ZCOPY_TEST(test_a_receiver_that_takes_nothing_is_not_waited_for),
		ZCOPY_TEST(test_what_was_sent_before_an_error_arrives),
		ZCOPY_TEST(test_a_queue_that_drains_has_its_memory_at_once),
		ZCOPY_TEST(test_a_failing_request_completes_after_zcopy_datagrams),
		ZCOPY_TEST(test_a_receiver_without_the_fast_path_takes_them_as_packets),
		ZCOPY_TEST(test_it_waits_in_the_ring_for_a_receive),
		ZCOPY_TEST(test_senders_that_do_not_poll_send_no_zcopy),
		ZCOPY_TEST(test_senders_that_wait_for_each_datagram_send_no_zcopy),
		ZCOPY_TEST(test_short_and_inline_datagrams_do_not_go_by_reference),
		ZCOPY_TEST(test_zcopy_datagrams_of_a_queue_pair_use_one_ring_at_a_time),
		ZCOPY_TEST(test_a_reader_shows_how_far_it_came_when_nothing_comes),
		ZCOPY_TEST(test_a_round_takes_a_record_whatever_rounds_before_it_copied),
		ZCOPY_TEST(test_references_to_memory_that_is_not_shared_are_refused),
		ZCOPY_TEST(test_a_region_goes_and_what_was_sent_from_it_arrives),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
