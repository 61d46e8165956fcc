/* SPDX-License-Identifier: Apache-2.0 */
/* Streams between two rsockets whose verbs are a loop: a write lands in the other's memory at once,
 * its completions wait until they are polled. Covers: api/librdmacm/rsocket/rsocket_reading.c */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "api/librdmacm/rsocket/rsocket_stream.h"
#include "base/bytes.h"
#include "base/random.h"

enum { RING_BYTES = 1 << 12, SENDS = 64, RECEIVES = 64, COMPLETIONS = 1024 };

/* One end: a socket, its memory, and the completions it has not polled. */
struct end {
	struct rsocket socket;
	struct rdma_cm_id id;
	struct ibv_qp qp;
	struct ibv_cq cq;
	struct ibv_context context;
	struct ibv_mr mrs[3];
	uint8_t send_ring[RING_BYTES];
	uint8_t receive_ring[RING_BYTES];
	struct rsocket_control control[2];
	uint32_t send_bytes[SENDS + RSOCKET_CONTROL_RESERVE];
	struct ibv_wc completions[COMPLETIONS];
	unsigned first, count;
	unsigned posted_receives;
	unsigned signaled_count, write_count;
	struct end *peer;
};

static struct end left, right;

static struct end *end_of_qp(struct ibv_qp *qp)
{
	return container_of(qp, struct end, qp);
}

static void complete(struct end *end, const struct ibv_wc *completion)
{
	assert_true(end->count < COMPLETIONS);
	end->completions[(end->first + end->count++) % COMPLETIONS] = *completion;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
	struct end *end = end_of_qp(qp);
	struct end *peer = end->peer;

	(void)bad;
	assert_true(stream_sends_under_way(&end->socket) < SENDS + RSOCKET_CONTROL_RESERVE);
	for (int i = 0; i < request->num_sge; i++)
		memcpy((void *)(uintptr_t)request->wr.rdma.remote_addr,
		       (const void *)(uintptr_t)request->sg_list[i].addr,
		       request->sg_list[i].length);
	end->write_count++;
	if (request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		/* A write with notice needs a receive there: that is what the counts are for. */
		assert_true(peer->posted_receives > 0);
		peer->posted_receives--;
		complete(peer, &(struct ibv_wc){.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
						.imm_data = request->imm_data});
	}
	if (request->send_flags & IBV_SEND_SIGNALED) {
		end->signaled_count++;
		complete(end,
			 &(struct ibv_wc){.opcode = IBV_WC_RDMA_WRITE, .wr_id = request->wr_id});
	}
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int count_max, struct ibv_wc *ret_completions)
{
	struct end *end = container_of(cq, struct end, cq);
	int count = 0;

	while (count < count_max && end->count) {
		ret_completions[count++] = end->completions[end->first];
		end->first = (end->first + 1) % COMPLETIONS;
		end->count--;
	}
	return count;
}

int stream_post_receive(struct rsocket *socket)
{
	container_of(socket, struct end, socket)->posted_receives++;
	return 0;
}

int rsocket_fail(struct rsocket *socket, int error)
{
	socket->state = RSOCKET_FAILED;
	socket->error = error;
	errno = error;
	return -1;
}

/* Nobody waits here: what would, stops. */
int rsocket_wait(struct rsocket *socket, short events, int flags)
{
	(void)events;
	(void)flags;
	stream_poll(socket);
	errno = EAGAIN;
	return -1;
}

static void open_end(struct end *end, struct end *peer)
{
	struct rsocket *socket = &end->socket;

	memset(end, 0, sizeof(*end));
	end->peer = peer;
	end->context.ops.post_send = post_send;
	end->context.ops.poll_cq = poll_cq;
	end->qp.context = &end->context;
	end->cq.context = &end->context;
	end->id.qp = &end->qp;
	socket->id = &end->id;
	socket->cq = &end->cq;
	socket->state = RSOCKET_CONNECTED;
	socket->options.sends_max = SENDS;
	socket->options.receives_max = RECEIVES;
	socket->stream.send_ring =
		(struct rsocket_region){end->send_ring, RING_BYTES, &end->mrs[0]};
	socket->stream.receive_ring =
		(struct rsocket_region){end->receive_ring, RING_BYTES, &end->mrs[1]};
	socket->stream.control = (struct rsocket_region){(uint8_t *)end->control,
							 sizeof(end->control), &end->mrs[2]};
	socket->stream.send_bytes = end->send_bytes;
	socket->stream.peer = (struct rsocket_greeting){
		.ring_address = (uintptr_t)peer->receive_ring,
		.ring_bytes = RING_BYTES,
		.control_address = (uintptr_t)peer->control,
		.receive_count = RECEIVES,
	};
	end->posted_receives = RECEIVES;
}

static int set_up(void **state)
{
	(void)state;
	open_end(&left, &right);
	open_end(&right, &left);
	return 0;
}

static ssize_t send_bytes(struct end *end, const void *bytes, size_t byte_count)
{
	const struct iovec part = {(void *)bytes, byte_count};

	return stream_send(&end->socket, &part, 1, 0);
}

static ssize_t receive_bytes(struct end *end, void *bytes, size_t byte_count, int flags)
{
	const struct iovec part = {bytes, byte_count};

	return stream_receive(&end->socket, &part, 1, flags);
}

static void test_bytes_arrive_in_order_whatever_the_pieces(void **state)
{
	struct random random = random_seeded(11);
	uint8_t piece[3000];
	uint64_t sent = 0, received = 0;

	(void)state;
	while (received < 3000000) {
		size_t wanted = 1 + random_below(&random, sizeof(piece));

		for (size_t i = 0; i < wanted; i++)
			piece[i] = (uint8_t)((sent + i) * 31 >> 3);

		ssize_t done = send_bytes(&left, piece, wanted);

		sent += done > 0 ? (uint64_t)done : 0;
		if (random_below(&random, 3) == 0)
			continue;
		done = receive_bytes(&right, piece, 1 + random_below(&random, sizeof(piece)), 0);
		for (ssize_t i = 0; i < done; i++)
			assert_int_equal(piece[i], (uint8_t)((received + (uint64_t)i) * 31 >> 3));
		received += done > 0 ? (uint64_t)done : 0;
	}
	assert_true(sent >= received && sent - received <= RING_BYTES);
	/* Not each write is told of, and enough are. */
	assert_true(left.signaled_count < left.write_count / 2);
	assert_false(left.socket.is_disconnected);
}

static void test_a_full_ring_stops_the_sender_until_something_was_read(void **state)
{
	static uint8_t bytes[2 * RING_BYTES];

	(void)state;
	assert_int_equal(send_bytes(&left, bytes, sizeof(bytes)), RING_BYTES);
	assert_false(stream_is_writable(&left.socket));
	assert_int_equal(send_bytes(&left, bytes, 1), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(receive_bytes(&right, bytes, RING_BYTES / 2, 0), RING_BYTES / 2);
	stream_poll(&left.socket);
	assert_true(stream_is_writable(&left.socket));
	assert_int_equal(send_bytes(&left, bytes, sizeof(bytes)), RING_BYTES / 2);
}

static void test_many_small_messages_never_run_out_of_receives(void **state)
{
	uint8_t byte = 1;
	unsigned sent = 0, received = 0;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		if (send_bytes(&left, &byte, 1) == 1)
			sent++;
		else
			while (receive_bytes(&right, &byte, 1, 0) == 1)
				received++;
		/* And back, so that notices of both kinds share the receives. */
		if (round % 3 == 0 && send_bytes(&right, &byte, 1) != 1)
			while (receive_bytes(&left, &byte, 1, 0) == 1)
				;
	}
	while (receive_bytes(&right, &byte, 1, 0) == 1)
		received++;
	assert_int_equal(sent, received);
	assert_true(sent > 15000);
}

static void test_looking_takes_nothing_and_all_means_all(void **state)
{
	char text[8] = "";

	(void)state;
	assert_int_equal(send_bytes(&left, "abcdef", 6), 6);
	assert_int_equal(receive_bytes(&right, text, 3, MSG_PEEK), 3);
	assert_memory_equal(text, "abc", 3);
	assert_int_equal(receive_bytes(&right, text, 7, MSG_WAITALL), 6);
	assert_memory_equal(text, "abcdef", 6);
}

static void test_the_end_is_read_after_the_bytes(void **state)
{
	char text[8];

	(void)state;
	assert_int_equal(send_bytes(&left, "end", 3), 3);
	stream_end_writing(&left.socket);
	stream_flush(&left.socket, 1000);
	assert_int_equal(send_bytes(&left, "x", 1), -1);
	assert_int_equal(errno, EPIPE);
	stream_poll(&right.socket);
	assert_true(stream_is_readable(&right.socket));
	assert_int_equal(receive_bytes(&right, text, sizeof(text), 0), 3);
	assert_int_equal(receive_bytes(&right, text, sizeof(text), 0), 0);
}

static void test_a_peer_that_says_more_than_the_ring_holds_is_cut_off(void **state)
{
	char text[8];

	(void)state;
	complete(&right,
		 &(struct ibv_wc){.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
				  .imm_data = rsocket_notice_encode(NOTICE_DATA, RING_BYTES + 1)});
	stream_poll(&right.socket);
	assert_int_equal(right.socket.state, RSOCKET_FAILED);
	assert_int_equal(right.socket.error, EPROTO);
	(void)text;
}

static void test_a_failed_completion_ends_the_connection(void **state)
{
	char text[8];

	(void)state;
	complete(&left, &(struct ibv_wc){.status = IBV_WC_WR_FLUSH_ERR});
	assert_int_equal(send_bytes(&left, "x", 1), -1);
	assert_int_equal(errno, ECONNRESET);
	assert_int_equal(receive_bytes(&left, text, 1, 0), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		TEST(test_bytes_arrive_in_order_whatever_the_pieces),
		TEST(test_a_full_ring_stops_the_sender_until_something_was_read),
		TEST(test_many_small_messages_never_run_out_of_receives),
		TEST(test_looking_takes_nothing_and_all_means_all),
		TEST(test_the_end_is_read_after_the_bytes),
		TEST(test_a_peer_that_says_more_than_the_ring_holds_is_cut_off),
		TEST(test_a_failed_completion_ends_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
