/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams for memory that the program has unmapped while it was registered, as programs do that
 * cache registrations: an adapter would write to the pages that it has pinned. Covers:
 * runtime/memory/memory_guard.c */
#include "verbs_client.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ROUNDS = 20,
	MESSAGE_BYTES = 1000,
	MESSAGES = 32,
	ROOM_BYTES = 2048,
	MEMORY_BYTES = MESSAGES * ROOM_BYTES,
};

static struct device device;

struct receiver {
	struct endpoint endpoint; /* an event for every completion */
	struct ibv_comp_channel *channel;
	uint8_t *memory;
	struct ibv_mr *mr;
};

static struct receiver receiver_open(void)
{
	struct receiver receiver = {.endpoint = endpoint_open(&device, IBV_QPT_UD)};
	struct endpoint *endpoint = &receiver.endpoint;

	receiver.channel = ibv_create_comp_channel(device.context);
	CHECK(receiver.channel);
	CHECK_EQUAL(ibv_destroy_qp(endpoint->qp), 0);
	CHECK_EQUAL(ibv_destroy_cq(endpoint->cq), 0);
	endpoint->cq = ibv_create_cq(device.context, 2 * MESSAGES, NULL, receiver.channel, 0);
	CHECK(endpoint->cq);

	struct ibv_qp_init_attr options = qp_options(endpoint, IBV_QPT_UD);

	endpoint->qp = ibv_create_qp(device.pd, &options);
	CHECK(endpoint->qp);
	to_init(endpoint, 0), to_rts(endpoint, NULL, 0);
	receiver.memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(receiver.memory != MAP_FAILED);
	receiver.mr = ibv_reg_mr(device.pd, receiver.memory, MEMORY_BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK(receiver.mr);
	for (unsigned i = 0; i < MESSAGES; i++) {
		struct ibv_sge sge = {(uintptr_t)receiver.memory + i * ROOM_BYTES, ROOM_BYTES,
				      receiver.mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;

		CHECK_EQUAL(ibv_post_recv(endpoint->qp, &wr, &bad), 0);
	}
	return receiver;
}

static void receiver_close(struct receiver *receiver)
{
	endpoint_close(&receiver->endpoint);
	CHECK_EQUAL(ibv_dereg_mr(receiver->mr), 0);
	CHECK_EQUAL(ibv_destroy_comp_channel(receiver->channel), 0);
}

static void send_all(struct endpoint *sender, uint16_t lid, uint32_t qpn)
{
	struct ibv_ah_attr address = {.dlid = lid, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(device.pd, &address);
	struct ibv_sge sge = sge_of(sender, 0, MESSAGE_BYTES);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.ud = {ah, qpn, QKEY}};

	CHECK(ah);
	for (unsigned i = 0; i < MESSAGES; i++)
		post(sender, &wr);
	for (unsigned i = 0; i < MESSAGES; i++)
		expect_status(sender->cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
}

struct destination {
	uint16_t lid;
	uint32_t qpn;
};

static void send_whenever_told(int from_receiver, int to_receiver)
{
	struct destination to;

	device = device_open();

	struct endpoint sender = endpoint_open(&device, IBV_QPT_UD);

	to_init(&sender, 0), to_rts(&sender, NULL, 0);
	while (read(from_receiver, &to, sizeof(to)) == sizeof(to)) {
		send_all(&sender, to.lid, to.qpn);
		CHECK_EQUAL(write(to_receiver, "s", 1), 1);
	}
	endpoint_close(&sender);
	device_close(&device);
}

static int to_sender, from_sender;

static void have_it_send(const struct receiver *receiver)
{
	struct destination to = {device.port.lid, receiver->endpoint.qp->qp_num};

	CHECK_EQUAL(write(to_sender, &to, sizeof(to)), sizeof(to));
}

static void await_sender(void)
{
	char byte;

	CHECK_EQUAL(read(from_sender, &byte, 1), 1);
}

/* The progress thread receives the datagrams, and an event says that it did. */
static void while_the_program_sleeps(void)
{
	struct receiver receiver = receiver_open();
	struct pollfd item = {.fd = receiver.channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	CHECK_EQUAL(ibv_req_notify_cq(receiver.endpoint.cq, 0), 0);
	CHECK_EQUAL(munmap(receiver.memory, MEMORY_BYTES), 0);
	have_it_send(&receiver);
	CHECK_EQUAL(poll(&item, 1, POLL_SECONDS_MAX * 1000), 1);
	CHECK_EQUAL(ibv_get_cq_event(receiver.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	await_sender();
	receiver_close(&receiver);
}

/* Messages that have arrived when a queue pair is destroyed are received, for the ACKs that they
 * may carry. */
static void while_the_queue_pair_goes(void)
{
	struct receiver receiver = receiver_open();

	CHECK_EQUAL(munmap(receiver.memory, MEMORY_BYTES), 0);
	have_it_send(&receiver);
	receiver_close(&receiver);
	await_sender();
}

int main(void)
{
	int there[2], back[2], status;

	CHECK_EQUAL(pipe(there), 0);
	CHECK_EQUAL(pipe(back), 0);
	to_sender = there[1];
	from_sender = back[0];

	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		close(there[1]);
		send_whenever_told(there[0], back[1]);
		return 0;
	}
	device = device_open();
	for (unsigned i = 0; i < ROUNDS; i++) {
		while_the_program_sleeps();
		while_the_queue_pair_goes();
	}
	close(to_sender);
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK_EQUAL(status, 0);
	device_close(&device);
	puts("ok");
	return 0;
}
