/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XRC between processes: two receivers open one domain by a file, and requests of an initiator in a
 * third process that come in by one target reach the queues and the memory of either.
 * Covers: runtime/xrc/shared_domains.c runtime/xrc/leased_targets.c daemon/xrc/xrc_domains.c
 * daemon/xrc/xrc_targets.c daemon/xrc/xrc_leases.c daemon/control/xrc_domain_commands.c
 */
#include "verbs_client.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 5000, PATH_PSN = 0xfffff0, ROUNDS = 100, WINDOW = 16 };

enum order_kind {
	ORDER_OPEN_DOMAIN, /* argument: oflags; value: errno or 0 */
	ORDER_OPEN_QUEUE,  /* value: its number, address and rkey */
	ORDER_MAKE_TARGET, /* value: QPN */
	ORDER_OPEN_TARGET, /* argument: QPN; value: errno or 0 */
	ORDER_CONNECT,	   /* arguments: QPN, LID of the initiator; to RTS */
	ORDER_STATE,	   /* value: state of the target */
	ORDER_BREAK,	   /* modifies the target to Error */
	ORDER_RECEIVE,	   /* arguments: how many, from which place on */
	ORDER_COMPLETIONS, /* argument: how many; value: their bytes together */
	ORDER_EVENT,	   /* value: the type of the next asynchronous event */
	ORDER_SUM,	   /* arguments: offset, count; value: sum of those bytes */
	ORDER_CLOSE_TARGET,
	ORDER_CLOSE_DOMAIN, /* value: errno or 0 */
	ORDER_EXIT,
};

struct order {
	enum order_kind kind;
	uint64_t arguments[2];
};

struct answer {
	uint64_t value;
	uint64_t address;
	uint32_t rkey;
};

struct receiver {
	struct device device;
	struct ibv_xrcd *xrcd;
	struct endpoint queue;
	struct ibv_qp *target;
};

static void open_queue(struct receiver *receiver, struct answer *answer)
{
	struct endpoint *queue = &receiver->queue;
	uint32_t number;

	queue->device = &receiver->device;
	endpoint_register(queue);
	queue->cq = ibv_create_cq(receiver->device.context, 4 * QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(queue->cq);

	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 4 * QUEUE_DEPTH, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = receiver->device.pd,
		.xrcd = receiver->xrcd,
		.cq = queue->cq,
	};

	queue->srq = ibv_create_srq_ex(receiver->device.context, &attr);
	CHECK(queue->srq);
	CHECK_EQUAL(ibv_get_srq_num(queue->srq, &number), 0);
	*answer = (struct answer){number, (uintptr_t)queue->bytes, queue->mr->rkey};
}

static uint64_t open_domain(struct receiver *receiver, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = oflags,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(receiver->device.context, &attr);

	if (!xrcd)
		return (uint64_t)errno;
	receiver->xrcd = xrcd;
	return 0;
}

static uint64_t make_target(struct receiver *receiver)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = receiver->xrcd,
	};

	receiver->target = ibv_create_qp_ex(receiver->device.context, &attr);
	CHECK(receiver->target);
	return receiver->target->qp_num;
}

static uint64_t open_target(struct receiver *receiver, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn,
		.xrcd = receiver->xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp *target = ibv_open_qp(receiver->device.context, &attr);

	if (!target)
		return (uint64_t)errno;
	CHECK_EQUAL(target->qp_num, qpn);
	receiver->target = target;
	return 0;
}

static void to_state(struct ibv_qp *qp, enum ibv_qp_state state, uint16_t dlid, uint32_t qpn)
{
	struct ibv_qp_attr attr = connection_to(dlid, qpn);

	attr.rq_psn = PATH_PSN;
	attr.sq_psn = PATH_PSN;
	attr.retry_cnt = 2;
	qp_modify_to(qp, state, attr);
}

static void connect_qp(struct ibv_qp *qp, uint16_t lid, uint32_t qpn)
{
	to_state(qp, IBV_QPS_INIT, 0, 0);
	to_state(qp, IBV_QPS_RTR, lid, qpn);
	to_state(qp, IBV_QPS_RTS, lid, qpn);
}

static uint64_t target_state(struct receiver *receiver)
{
	struct ibv_qp_init_attr options;
	struct ibv_qp_attr attr;

	CHECK_EQUAL(ibv_query_qp(receiver->target, &attr, IBV_QP_STATE, &options), 0);
	return attr.qp_state;
}

static uint64_t wait_event(struct receiver *receiver)
{
	struct ibv_async_event event;

	CHECK_EQUAL(ibv_get_async_event(receiver->device.context, &event), 0);
	ibv_ack_async_event(&event);
	return event.event_type;
}

static uint64_t sum(const struct receiver *receiver, uint64_t offset, uint64_t count)
{
	uint64_t total = 0;

	for (uint64_t i = 0; i < count; i++)
		total += receiver->queue.bytes[offset + i];
	return total;
}

static uint64_t take_completions(struct receiver *receiver, uint64_t count)
{
	uint64_t total = 0;

	for (uint64_t i = 0; i < count; i++) {
		struct ibv_wc wc = expect_status(receiver->queue.cq, IBV_WC_SUCCESS);

		total += wc.byte_len;
	}
	return total;
}

static void close_queue(struct receiver *receiver)
{
	CHECK_EQUAL(ibv_destroy_srq(receiver->queue.srq), 0);
	CHECK_EQUAL(ibv_destroy_cq(receiver->queue.cq), 0);
	CHECK_EQUAL(ibv_dereg_mr(receiver->queue.mr), 0);
	receiver->queue.srq = NULL;
}

static void obey(struct receiver *receiver, int fd, const struct order *order,
		 struct answer *ret_answer)
{
	const uint64_t *arguments = order->arguments;

	*ret_answer = (struct answer){0};
	switch (order->kind) {
	case ORDER_OPEN_DOMAIN:
		ret_answer->value = open_domain(receiver, fd, (int)arguments[0]);
		break;
	case ORDER_OPEN_QUEUE:
		open_queue(receiver, ret_answer);
		break;
	case ORDER_MAKE_TARGET:
		ret_answer->value = make_target(receiver);
		break;
	case ORDER_OPEN_TARGET:
		ret_answer->value = open_target(receiver, (uint32_t)arguments[0]);
		break;
	case ORDER_CONNECT:
		connect_qp(receiver->target, (uint16_t)arguments[1], (uint32_t)arguments[0]);
		break;
	case ORDER_STATE:
		ret_answer->value = target_state(receiver);
		break;
	case ORDER_BREAK:
		to_state(receiver->target, IBV_QPS_ERR, 0, 0);
		break;
	case ORDER_RECEIVE:
		for (uint64_t i = 0; i < arguments[0]; i++)
			post_receive(&receiver->queue, i, (arguments[1] + i) * MESSAGE_BYTES,
				     MESSAGE_BYTES);
		break;
	case ORDER_COMPLETIONS:
		ret_answer->value = take_completions(receiver, arguments[0]);
		break;
	case ORDER_EVENT:
		ret_answer->value = wait_event(receiver);
		break;
	case ORDER_SUM:
		ret_answer->value = sum(receiver, arguments[0], arguments[1]);
		break;
	case ORDER_CLOSE_TARGET:
		CHECK_EQUAL(ibv_destroy_qp(receiver->target), 0);
		break;
	case ORDER_CLOSE_DOMAIN:
		if (receiver->queue.srq)
			close_queue(receiver);
		ret_answer->value = (uint64_t)ibv_close_xrcd(receiver->xrcd);
		break;
	case ORDER_EXIT:
		device_close(&receiver->device);
		exit(0);
	}
}

static void serve(int socket, int fd)
{
	struct receiver receiver = {.device = device_open()};
	struct order order;
	struct answer answer;

	while (read(socket, &order, sizeof(order)) == sizeof(order)) {
		obey(&receiver, fd, &order, &answer);
		CHECK(write(socket, &answer, sizeof(answer)) == sizeof(answer));
	}
	exit(1);
}

struct child {
	pid_t pid;
	int socket;
	struct endpoint remote; /* its memory, as the initiator's requests name it */
	struct ibv_mr mr;
	uint32_t srqn;
};

static void start(struct child *child, int fd)
{
	int sockets[2];

	CHECK_EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	child->pid = fork();
	CHECK(child->pid >= 0);
	if (child->pid == 0) {
		close(sockets[0]);
		serve(sockets[1], fd);
	}
	close(sockets[1]);
	child->socket = sockets[0];
}

static struct answer tell(struct child *child, enum order_kind kind, uint64_t first,
			  uint64_t second)
{
	const struct order order = {kind, {first, second}};
	struct answer answer;

	CHECK(write(child->socket, &order, sizeof(order)) == sizeof(order));
	CHECK(read(child->socket, &answer, sizeof(answer)) == sizeof(answer));
	return answer;
}

static uint64_t ask(struct child *child, enum order_kind kind, uint64_t first, uint64_t second)
{
	return tell(child, kind, first, second).value;
}

static void get_queue(struct child *child)
{
	const struct answer answer = tell(child, ORDER_OPEN_QUEUE, 0, 0);

	child->srqn = (uint32_t)answer.value;
	child->mr.rkey = answer.rkey;
	child->remote.bytes = (uint8_t *)(uintptr_t)answer.address;
	child->remote.mr = &child->mr;
}

static void finish(struct child *child)
{
	const struct order order = {.kind = ORDER_EXIT};
	int status;

	CHECK(write(child->socket, &order, sizeof(order)) == sizeof(order));
	CHECK(waitpid(child->pid, &status, 0) == child->pid);
	CHECK_EQUAL(status, 0);
	close(child->socket);
}

static struct endpoint open_initiator(struct device *device)
{
	struct endpoint initiator = {.device = device};
	struct ibv_qp_init_attr_ex attr = {
		.cap = {.max_send_wr = QUEUE_DEPTH, .max_send_sge = 1},
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = device->pd,
	};

	endpoint_register(&initiator);
	initiator.cq = ibv_create_cq(device->context, QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(initiator.cq);
	attr.send_cq = initiator.cq;
	initiator.qp = ibv_create_qp_ex(device->context, &attr);
	CHECK(initiator.qp);
	return initiator;
}

static void reconnect(struct endpoint *initiator, uint32_t qpn)
{
	to_state(initiator->qp, IBV_QPS_RESET, 0, 0);
	connect_qp(initiator->qp, initiator->device->port.lid, qpn);
}

static void post_to(struct endpoint *initiator, const struct child *child,
		    enum ibv_wr_opcode opcode, size_t byte_count, size_t remote_offset)
{
	struct ibv_sge sge = sge_of(initiator, 0, byte_count);
	struct ibv_send_wr wr = request(opcode, &sge, &child->remote, remote_offset);

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)child->remote.bytes + remote_offset;
		wr.wr.atomic.compare_add = 5;
		wr.wr.atomic.swap = 0;
		wr.wr.atomic.rkey = child->mr.rkey;
	}
	wr.qp_type.xrc.remote_srqn = child->srqn;
	post(initiator, &wr);
}

static void wait_sends(struct endpoint *initiator, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		expect_status(initiator->cq, IBV_WC_SUCCESS);
}

static uint64_t local_sum(const struct endpoint *endpoint, size_t byte_count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < byte_count; i++)
		total += endpoint->bytes[i];
	return total;
}

/* One message to each queue in turn, each waited for. */
static void take_turns(struct endpoint *initiator, struct child children[2])
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct child *child = &children[i % 2];
		size_t byte_count = i % 3 ? 64 : MESSAGE_BYTES;

		fill(initiator->bytes, byte_count, i);
		ask(child, ORDER_RECEIVE, 1, 0);
		post_to(initiator, child, IBV_WR_SEND, byte_count, 0);
		wait_sends(initiator, 1);
		CHECK_EQUAL(ask(child, ORDER_COMPLETIONS, 1, 0), byte_count);
		CHECK_EQUAL(ask(child, ORDER_SUM, 0, byte_count), local_sum(initiator, byte_count));
	}
}

/* Many messages under way, which go to both. */
static void mix(struct endpoint *initiator, struct child children[2])
{
	fill(initiator->bytes, MESSAGE_BYTES, 9);
	for (unsigned i = 0; i < 2; i++)
		ask(&children[i], ORDER_RECEIVE, 2 * WINDOW, 1);
	for (unsigned i = 0; i < 4 * WINDOW; i++) {
		if (i >= WINDOW)
			wait_sends(initiator, 1);
		post_to(initiator, &children[i % 2], IBV_WR_SEND, MESSAGE_BYTES, 0);
	}
	wait_sends(initiator, WINDOW);
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQUAL(ask(&children[i], ORDER_COMPLETIONS, 2 * WINDOW, 0),
			    2 * WINDOW * MESSAGE_BYTES);
		for (uint64_t j = 1; j <= 2 * WINDOW; j++)
			CHECK_EQUAL(ask(&children[i], ORDER_SUM, j * MESSAGE_BYTES, MESSAGE_BYTES),
				    local_sum(initiator, MESSAGE_BYTES));
	}
}

/* Writes, reads and atomics in the memory of either, in order with each other. */
static void one_sided(struct endpoint *initiator, struct child children[2])
{
	enum { PLACE = 3 << 20 };

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct child *child = &children[i % 2];
		uint64_t word;

		fill(initiator->bytes, MESSAGE_BYTES, i);

		uint64_t expected = local_sum(initiator, MESSAGE_BYTES);

		post_to(initiator, child, IBV_WR_RDMA_WRITE, MESSAGE_BYTES, PLACE);
		wait_sends(initiator, 1);
		memset(initiator->bytes, 0, MESSAGE_BYTES);
		post_to(initiator, child, IBV_WR_RDMA_READ, MESSAGE_BYTES, PLACE);
		/* The other's memory right behind it. */
		post_to(initiator, &children[1 - i % 2], IBV_WR_RDMA_WRITE, 1, PLACE - 8);
		wait_sends(initiator, 2);
		CHECK_EQUAL(local_sum(initiator, MESSAGE_BYTES), expected);
		post_to(initiator, child, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, PLACE - 64);
		wait_sends(initiator, 1);
		memcpy(&word, initiator->bytes, sizeof(word));
		CHECK_EQUAL(word, 5 * (i / 2));
	}
}

/* The one that made the target goes; the other, who has opened it, keeps it alive. */
static void outlive(struct endpoint *initiator, struct child children[2], uint32_t qpn)
{
	CHECK_EQUAL(ask(&children[1], ORDER_OPEN_TARGET, qpn + 1, 0), EINVAL);
	CHECK_EQUAL(ask(&children[1], ORDER_OPEN_TARGET, qpn, 0), 0);
	CHECK_EQUAL(ask(&children[1], ORDER_STATE, 0, 0), IBV_QPS_RTS);
	CHECK_EQUAL(ask(&children[0], ORDER_CLOSE_DOMAIN, 0, 0), EBUSY);
	ask(&children[0], ORDER_CLOSE_TARGET, 0, 0);
	CHECK_EQUAL(ask(&children[0], ORDER_CLOSE_DOMAIN, 0, 0), 0);
	finish(&children[0]);
	ask(&children[1], ORDER_RECEIVE, 1, 0);
	post_to(initiator, &children[1], IBV_WR_SEND, MESSAGE_BYTES, 0);
	wait_sends(initiator, 1);
	CHECK_EQUAL(ask(&children[1], ORDER_COMPLETIONS, 1, 0), MESSAGE_BYTES);
	ask(&children[1], ORDER_BREAK, 0, 0);
	CHECK_EQUAL(ask(&children[1], ORDER_STATE, 0, 0), IBV_QPS_ERR);
	post_to(initiator, &children[1], IBV_WR_SEND, 8, 0);
	expect_status(initiator->cq, IBV_WC_RETRY_EXC_ERR);
	ask(&children[1], ORDER_CLOSE_TARGET, 0, 0);
	CHECK_EQUAL(ask(&children[1], ORDER_CLOSE_DOMAIN, 0, 0), 0);
	finish(&children[1]);
}

/* Connects two receivers; the first made the target. */
static uint32_t set_stage(struct endpoint *initiator, struct child children[2], int fd)
{
	CHECK_EQUAL(ask(&children[0], ORDER_OPEN_DOMAIN, O_CREAT | O_EXCL, 0), 0);

	uint32_t qpn = (uint32_t)ask(&children[0], ORDER_MAKE_TARGET, 0, 0);

	(void)fd;
	get_queue(&children[0]);
	reconnect(initiator, qpn);
	ask(&children[0], ORDER_CONNECT, initiator->qp->qp_num, initiator->device->port.lid);
	/* While it has the domain alone. */
	ask(&children[0], ORDER_RECEIVE, 1, 0);
	post_to(initiator, &children[0], IBV_WR_SEND, MESSAGE_BYTES, 0);
	wait_sends(initiator, 1);
	CHECK_EQUAL(ask(&children[0], ORDER_COMPLETIONS, 1, 0), MESSAGE_BYTES);
	CHECK_EQUAL(ask(&children[1], ORDER_OPEN_DOMAIN, O_CREAT | O_EXCL, 0), EINVAL);
	CHECK_EQUAL(ask(&children[1], ORDER_OPEN_DOMAIN, 0, 0), 0);
	get_queue(&children[1]);
	CHECK(children[0].srqn != children[1].srqn);
	return qpn;
}

/* The error of a request is reported to all processes that have the target open. */
static void wrong_key(struct endpoint *initiator, struct child children[2], uint32_t qpn)
{
	CHECK_EQUAL(ask(&children[1], ORDER_OPEN_TARGET, qpn, 0), 0);
	children[1].mr.rkey ^= 0x100;
	post_to(initiator, &children[1], IBV_WR_RDMA_WRITE, 8, 0);
	children[1].mr.rkey ^= 0x100;
	expect_status(initiator->cq, IBV_WC_REM_ACCESS_ERR);
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQUAL(ask(&children[i], ORDER_EVENT, 0, 0), IBV_EVENT_QP_ACCESS_ERR);
		CHECK_EQUAL(ask(&children[i], ORDER_STATE, 0, 0), IBV_QPS_ERR);
	}
}

/* A process that is killed takes its queue along and leaves the target to the other. */
static void killed(struct endpoint *initiator, struct child children[2])
{
	int status;

	CHECK_EQUAL(kill(children[1].pid, SIGKILL), 0);
	CHECK(waitpid(children[1].pid, &status, 0) == children[1].pid);
	ask(&children[0], ORDER_RECEIVE, 1, 0);
	post_to(initiator, &children[0], IBV_WR_SEND, 64, 0);
	wait_sends(initiator, 1);
	CHECK_EQUAL(ask(&children[0], ORDER_COMPLETIONS, 1, 0), 64);
	ask(&children[0], ORDER_CLOSE_TARGET, 0, 0);
	CHECK_EQUAL(ask(&children[0], ORDER_CLOSE_DOMAIN, 0, 0), 0);
	finish(&children[0]);
}

int main(void)
{
	char path[] = "/tmp/softib-xrc-XXXXXX";
	int fd = mkstemp(path);
	struct child first[2], second[2], third[2];

	CHECK(fd >= 0);
	unlink(path);
	/* Before this process opens a device. */
	for (unsigned i = 0; i < 2; i++) {
		start(&first[i], fd);
		start(&second[i], fd);
		start(&third[i], fd);
	}

	struct device device = device_open();
	struct endpoint initiator = open_initiator(&device);
	uint32_t qpn = set_stage(&initiator, first, fd);

	take_turns(&initiator, first);
	mix(&initiator, first);
	one_sided(&initiator, first);
	outlive(&initiator, first, qpn);

	qpn = set_stage(&initiator, second, fd);
	take_turns(&initiator, second);
	wrong_key(&initiator, second, qpn);
	for (unsigned i = 0; i < 2; i++) {
		ask(&second[i], ORDER_CLOSE_TARGET, 0, 0);
		CHECK_EQUAL(ask(&second[i], ORDER_CLOSE_DOMAIN, 0, 0), 0);
		finish(&second[i]);
	}

	set_stage(&initiator, third, fd);
	take_turns(&initiator, third);
	killed(&initiator, third);

	endpoint_close(&initiator);
	device_close(&device);
	puts("ok");
	return 0;
}
