/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second program from which tools/train takes its profile; bench/instructions.c, the first, has
 * one process. Here two processes take turns, as in a latency test. Then one sends to the other
 * without a pause, as in a bandwidth test, over a connection and as datagrams, both bcopy and
 * zcopy. Then one uses RDMA WRITE, READ and atomics on the other's memory, in shared pages and in a
 * page that is not shared.
 *
 *   turns ROUNDS
 */
#include "tests/clients/two_sides.h"

#include <sched.h>
#include <sys/wait.h>

enum {
	MESSAGE_BYTES = 8,
	LARGE_BYTES = 4096,
	DATAGRAM_BYTES = 2048,
	POLLED = 16,
	SIGNALED = QUEUE_DEPTH / 2,
	TRIES_MAX = 100000000,
	TRIES_PER_YIELD = 32,
	/* The first page of a buffer belongs to the buffer only in part, and so is not shared; the
	   others are (runtime/rma/shared_mr.h). */
	OWN_PLACE = 0,
	SHARED_PLACE = 8192,
};

/* Defined by the preload library of softib run: without it nothing is shared, since nobody would
 * report new threads. There are none here. */
__attribute__((visibility("default"))) void (*softib_before_thread)(void);

struct address {
	uint64_t memory;
	uint32_t lid, qpn, datagram_qpn, key;
};

/* Each has a CQ of its own for receives. */
struct turns {
	struct device device;
	struct endpoint connection, datagrams;
	struct ibv_cq *sent;
	struct ibv_ah *ah;
	struct address peer;
	bool is_first;
	int socket;
};

/* Waits for this many completions. A build keeps the processors busy with other work than the peer:
 * polls that find nothing would be most of the profile. */
static void await(struct ibv_cq *cq, int count)
{
	struct ibv_wc wc[POLLED];

	for (unsigned tries = 0; count > 0; tries++) {
		int got = ibv_poll_cq(cq, count < POLLED ? count : POLLED, wc);

		CHECK(got >= 0 && tries < TRIES_MAX);
		for (int i = 0; i < got; i++)
			CHECK_EQUAL(wc[i].status, IBV_WC_SUCCESS);
		count -= got;
		if (!got && tries % TRIES_PER_YIELD == 0)
			sched_yield();
	}
}

static void send_one(struct turns *turns, struct endpoint *endpoint, size_t place,
		     uint32_t byte_count, unsigned flags)
{
	struct ibv_sge sge = sge_of(endpoint, place, byte_count);
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = flags,
	};

	if (endpoint == &turns->datagrams) {
		wr.wr.ud.ah = turns->ah;
		wr.wr.ud.remote_qpn = turns->peer.datagram_qpn;
		wr.wr.ud.remote_qkey = QKEY;
	}
	post(endpoint, &wr);
}

static void expect_one(struct endpoint *endpoint)
{
	post_receive(endpoint, 0, BUFFER_BYTES / 2, GRH_BYTES + LARGE_BYTES);
}

static void send_and_wait(struct turns *turns)
{
	send_one(turns, &turns->connection, OWN_PLACE, MESSAGE_BYTES,
		 IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	await(turns->sent, 1);
}

static void take_turns(struct turns *turns, long rounds)
{
	for (; rounds > 0; rounds--) {
		if (turns->is_first)
			send_and_wait(turns);
		await(turns->connection.cq, 1);
		expect_one(&turns->connection);
		if (!turns->is_first)
			send_and_wait(turns);
	}
}

/* rounds: a multiple of QUEUE_DEPTH. */
static void stream(struct turns *turns, struct endpoint *endpoint, size_t place,
		   uint32_t byte_count, long rounds)
{
	int under_way = 0;

	for (long i = 1; i <= rounds; i++) {
		if (!turns->is_first) {
			await(endpoint->cq, 1);
			expect_one(endpoint);
			continue;
		}
		send_one(turns, endpoint, place, byte_count, i % SIGNALED ? 0 : IBV_SEND_SIGNALED);
		under_way += i % SIGNALED == 0;
		if (under_way == QUEUE_DEPTH / SIGNALED) {
			await(turns->sent, 1);
			under_way--;
		}
	}
	await(turns->sent, under_way);
	rendezvous(turns->socket);
}

static void reach(struct turns *turns, enum ibv_wr_opcode opcode, size_t place, uint32_t byte_count,
		  long rounds)
{
	struct ibv_sge sge = sge_of(&turns->connection, place, byte_count);
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {turns->peer.memory + place, turns->peer.key},
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = turns->peer.memory + place;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = turns->peer.key;
	}
	for (; turns->is_first && rounds > 0; rounds--) {
		post(&turns->connection, &wr);
		await(turns->sent, 1);
	}
	rendezvous(turns->socket);
}

static void open_endpoint(struct turns *turns, struct endpoint *ret_endpoint, enum ibv_qp_type type)
{
	*ret_endpoint = (struct endpoint){.device = &turns->device};
	endpoint_register(ret_endpoint);
	ret_endpoint->cq = ibv_create_cq(turns->device.context, 4 * QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(ret_endpoint->cq);

	struct ibv_qp_init_attr options = qp_options(ret_endpoint, type);

	options.send_cq = turns->sent;
	ret_endpoint->qp = ibv_create_qp(turns->device.pd, &options);
	CHECK(ret_endpoint->qp);
	to_init(ret_endpoint, ALL_ACCESS);
}

static void open_turns(struct turns *turns)
{
	turns->device = device_open();
	turns->sent = ibv_create_cq(turns->device.context, 4 * QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(turns->sent);
	open_endpoint(turns, &turns->connection, IBV_QPT_RC);
	open_endpoint(turns, &turns->datagrams, IBV_QPT_UD);

	const struct address own = {
		.memory = (uintptr_t)turns->connection.bytes,
		.lid = turns->device.port.lid,
		.qpn = turns->connection.qp->qp_num,
		.datagram_qpn = turns->datagrams.qp->qp_num,
		.key = turns->connection.mr->rkey,
	};

	give(turns->socket, &own, sizeof(own));
	take(turns->socket, &turns->peer, sizeof(turns->peer));

	struct ibv_qp_attr attr = connection_to((uint16_t)turns->peer.lid, turns->peer.qpn);

	attr.path_mtu = IBV_MTU_4096;
	qp_connect(turns->connection.qp, attr);
	to_rts(&turns->datagrams, NULL, 3);
	turns->ah = ibv_create_ah(turns->device.pd, &attr.ah_attr);
	CHECK(turns->ah);
	for (unsigned i = 0; i < QUEUE_DEPTH; i++) {
		expect_one(&turns->connection);
		expect_one(&turns->datagrams);
	}
	rendezvous(turns->socket);
}

int main(int argument_count, char **arguments)
{
	static const size_t places[] = {OWN_PLACE, SHARED_PLACE};
	struct turns turns = {0};
	int sockets[2], status = 0;

	CHECK_EQUAL(argument_count, 2);

	long rounds = strtol(arguments[1], NULL, 10) / QUEUE_DEPTH * QUEUE_DEPTH;

	CHECK(rounds > 0);
	CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);

	pid_t child = fork();

	CHECK(child >= 0);
	turns.is_first = child != 0;
	turns.socket = sockets[child ? 0 : 1];
	open_turns(&turns);
	take_turns(&turns, rounds);
	stream(&turns, &turns.connection, OWN_PLACE, MESSAGE_BYTES, 2 * rounds);
	stream(&turns, &turns.datagrams, OWN_PLACE, MESSAGE_BYTES, rounds);
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		stream(&turns, &turns.connection, places[i], LARGE_BYTES, rounds);
		stream(&turns, &turns.datagrams, places[i], DATAGRAM_BYTES, rounds);
		reach(&turns, IBV_WR_RDMA_READ, places[i], MESSAGE_BYTES, rounds);
		reach(&turns, IBV_WR_RDMA_WRITE, places[i], MESSAGE_BYTES, rounds);
		reach(&turns, IBV_WR_RDMA_WRITE, places[i], LARGE_BYTES, rounds);
		reach(&turns, IBV_WR_ATOMIC_FETCH_AND_ADD, places[i], MESSAGE_BYTES, rounds);
	}
	if (child) {
		CHECK_EQUAL(waitpid(child, &status, 0), child);
		CHECK_EQUAL(status, 0);
	}
	return 0;
}
