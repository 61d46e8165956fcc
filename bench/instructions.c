/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that bench/instructions counts under callgrind: one process, two queue pairs that
 * exchange messages on an offloaded flow, and one function per operation that is counted.
 *
 *   instructions rc|ud|batch|write ROUNDS
 *
 * Each counted function has a name of its own and is never inlined, so that its inclusive cost
 * divided by its calls is the figure.
 */
#include "tests/clients/verbs_client.h"

enum { MESSAGE_BYTES = 8, WARM_UP_ROUNDS = 2000, BATCH = 16, ROUND_TRIES_MAX = 1000000 };

#ifdef __clang__
#define COUNTED __attribute__((noinline))
#else
#define COUNTED __attribute__((noinline, noclone))
#endif

struct pair {
	struct device device;
	struct endpoint sender, receiver;
	struct ibv_cq *sent;
	struct ibv_ah *ah;
};

static struct ibv_send_wr send_request(struct pair *pair, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = {
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
	};

	if (pair->ah) {
		wr.wr.ud.ah = pair->ah;
		wr.wr.ud.remote_qpn = pair->receiver.qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	return wr;
}

COUNTED static void counted_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	CHECK_EQUAL(ibv_post_send(qp, wr, &bad), 0);
}

COUNTED static void counted_post_receive(struct ibv_qp *qp, struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *bad;

	CHECK_EQUAL(ibv_post_recv(qp, wr, &bad), 0);
}

/* The poll that takes the message out of the ring. */
COUNTED static int counted_receive(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	return ibv_poll_cq(cq, count, wc);
}

/* The poll that takes the acknowledgement, where there is one. */
COUNTED static int counted_complete(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	__asm__ volatile(
		""
		:
		:
		: "memory"); /* otherwise the compiler would merge it with the last function */
	return ibv_poll_cq(cq, count, wc);
}

COUNTED static int counted_idle(struct ibv_cq *cq, struct ibv_wc *wc)
{
	return ibv_poll_cq(cq, 1, wc);
}

/* Not counted: takes what the functions above leave over. */
static void poll_rest(struct ibv_cq *cq, int count)
{
	struct ibv_wc wc[BATCH];

	for (unsigned tries = 0; count > 0; tries++) {
		int got = ibv_poll_cq(cq, count < BATCH ? count : BATCH, wc);

		CHECK(got >= 0 && tries < ROUND_TRIES_MAX);
		for (int i = 0; i < got; i++)
			CHECK_EQUAL(wc[i].status, IBV_WC_SUCCESS);
		count -= got;
	}
}

static void take(struct ibv_cq *cq, int count, struct ibv_wc *wc, int got)
{
	CHECK(got >= 0);
	for (int i = 0; i < got; i++)
		CHECK_EQUAL(wc[i].status, IBV_WC_SUCCESS);
	poll_rest(cq, count - got);
}

static void run_round(struct pair *pair, unsigned batch)
{
	struct ibv_sge out = sge_of(&pair->sender, 0, MESSAGE_BYTES);
	struct ibv_sge in = sge_of(&pair->receiver, 0, MESSAGE_BYTES + GRH_BYTES);
	struct ibv_send_wr sends[BATCH];
	struct ibv_recv_wr receives[BATCH];
	struct ibv_wc wc[BATCH];

	for (unsigned i = 0; i < batch; i++) {
		sends[i] = send_request(pair, &out);
		sends[i].next = i + 1 < batch ? &sends[i + 1] : NULL;
		receives[i] = (struct ibv_recv_wr){.sg_list = &in, .num_sge = 1};
		receives[i].next = i + 1 < batch ? &receives[i + 1] : NULL;
	}
	counted_post_receive(pair->receiver.qp, receives);
	counted_post_send(pair->sender.qp, sends);
	take(pair->receiver.cq, (int)batch, wc, counted_receive(pair->receiver.cq, (int)batch, wc));
	take(pair->sent, (int)batch, wc, counted_complete(pair->sent, (int)batch, wc));
	CHECK_EQUAL(counted_idle(pair->receiver.cq, wc), 0);
}

/* A WRITE goes by RMA: the post carries it out, and the completion is there. */
static void run_write_round(struct pair *pair)
{
	struct ibv_sge out = sge_of(&pair->sender, 0, MESSAGE_BYTES);
	struct ibv_send_wr write = send_request(pair, &out);
	struct ibv_wc wc;

	write.opcode = IBV_WR_RDMA_WRITE;
	write.wr.rdma.remote_addr = (uintptr_t)pair->receiver.bytes + BUFFER_BYTES / 2;
	write.wr.rdma.rkey = pair->receiver.mr->rkey;
	counted_post_send(pair->sender.qp, &write);
	take(pair->sent, 1, &wc, counted_complete(pair->sent, 1, &wc));
}

static void warm_up_round(struct pair *pair)
{
	struct ibv_sge out = sge_of(&pair->sender, 0, MESSAGE_BYTES);
	struct ibv_sge in = sge_of(&pair->receiver, 0, MESSAGE_BYTES + GRH_BYTES);
	struct ibv_send_wr send = send_request(pair, &out), *bad_send;
	struct ibv_recv_wr receive = {.sg_list = &in, .num_sge = 1}, *bad_receive;

	CHECK_EQUAL(ibv_post_recv(pair->receiver.qp, &receive, &bad_receive), 0);
	CHECK_EQUAL(ibv_post_send(pair->sender.qp, &send, &bad_send), 0);
	poll_rest(pair->receiver.cq, 1);
	poll_rest(pair->sent, 1);
}

static void open_pair(struct pair *pair, enum ibv_qp_type type)
{
	pair->device = device_open();
	pair->receiver = endpoint_open(&pair->device, type);
	pair->sender = (struct endpoint){.device = &pair->device};
	endpoint_register(&pair->sender);
	pair->sender.cq = pair->receiver.cq;
	pair->sent = ibv_create_cq(pair->device.context, 4 * QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(pair->sent);

	struct ibv_qp_init_attr options = qp_options(&pair->sender, type);

	options.send_cq = pair->sent;
	pair->sender.qp = ibv_create_qp(pair->device.pd, &options);
	CHECK(pair->sender.qp);
	connect_endpoints(&pair->sender, &pair->receiver);
	if (type == IBV_QPT_UD) {
		struct ibv_ah_attr attr = {.dlid = pair->device.port.lid, .port_num = 1};

		pair->ah = ibv_create_ah(pair->device.pd, &attr);
		CHECK(pair->ah);
	}
}

int main(int argument_count, char **arguments)
{
	CHECK_EQUAL(argument_count, 3);

	struct pair pair = {0};
	bool is_batch = strcmp(arguments[1], "batch") == 0;
	bool is_write = strcmp(arguments[1], "write") == 0;
	char *end;
	long rounds = strtol(arguments[2], &end, 10);

	CHECK(rounds > 0 && *end == 0);
	open_pair(&pair, strcmp(arguments[1], "ud") == 0 ? IBV_QPT_UD : IBV_QPT_RC);
	for (unsigned i = 0; i < WARM_UP_ROUNDS; i++)
		warm_up_round(&pair);
	for (; is_write && rounds > 0; rounds--)
		run_write_round(&pair);
	for (; rounds > 0; rounds--)
		run_round(&pair, is_batch ? BATCH : 1);
	return 0;
}
