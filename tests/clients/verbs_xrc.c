/* SPDX-License-Identifier: Apache-2.0 */
/* XRC: domains, shared queues with numbers, an initiator and a target, and a target opened twice.
 * Covers: api/libibverbs/verbs_xrcd.c */
#include "verbs_client.h"

#include <fcntl.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 5000, PATH_PSN = 0xfffff0 };

struct stage {
	struct device *device;
	struct ibv_xrcd *xrcd;
	struct endpoint initiator; /* its memory sends */
	struct endpoint queues[2]; /* XRC SRQs with a CQ each; their memory receives */
	uint32_t numbers[2];
	struct ibv_qp *target;
};

static struct ibv_xrcd *open_domain(struct ibv_context *context, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = oflags,
	};

	return ibv_open_xrcd(context, &attr);
}

static void domains(struct device *device)
{
	char path[] = "/tmp/softib-xrcd-XXXXXX";
	int fd = mkstemp(path);
	int again = open(path, O_RDONLY);
	struct ibv_xrcd_init_attr incomplete = {.comp_mask = IBV_XRCD_INIT_ATTR_FD, .fd = -1};

	CHECK(fd >= 0 && again >= 0);
	unlink(path);
	CHECK(!ibv_open_xrcd(device->context, &incomplete) && errno == EINVAL);
	CHECK(!open_domain(device->context, 1000000, O_CREAT) && errno == EBADF);
	CHECK(!open_domain(device->context, fd, 0) && errno == EAGAIN);

	struct ibv_xrcd *first = open_domain(device->context, fd, O_CREAT);
	struct ibv_xrcd *second = open_domain(device->context, again, 0);

	CHECK(first && second);
	CHECK(!open_domain(device->context, fd, O_CREAT | O_EXCL) && errno == EINVAL);
	CHECK_EQUAL(ibv_close_xrcd(first), 0);
	CHECK_EQUAL(ibv_close_xrcd(second), 0);
	CHECK(!open_domain(device->context, fd, 0) && errno == EAGAIN);
	close(fd);
	close(again);
}

static struct endpoint open_queue(struct stage *stage, uint32_t *ret_number)
{
	struct endpoint queue = {.device = stage->device};

	endpoint_register(&queue);
	queue.cq = ibv_create_cq(stage->device->context, QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(queue.cq);

	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = QUEUE_DEPTH, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = stage->device->pd,
		.xrcd = stage->xrcd,
		.cq = queue.cq,
	};

	queue.srq = ibv_create_srq_ex(stage->device->context, &attr);
	CHECK(queue.srq);
	CHECK_EQUAL(ibv_get_srq_num(queue.srq, ret_number), 0);
	return queue;
}

static void close_queue(struct endpoint *queue)
{
	CHECK_EQUAL(ibv_destroy_cq(queue->cq), EBUSY);
	CHECK_EQUAL(ibv_destroy_srq(queue->srq), 0);
	CHECK_EQUAL(ibv_destroy_cq(queue->cq), 0);
	CHECK_EQUAL(ibv_dereg_mr(queue->mr), 0);
	free(queue->bytes);
}

static struct endpoint open_initiator(struct device *device)
{
	struct endpoint initiator = {.device = device};
	struct ibv_qp_init_attr_ex attr = {
		.cap = {.max_send_wr = QUEUE_DEPTH, .max_send_sge = SGES, .max_inline_data = 64},
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = device->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ,
	};

	endpoint_register(&initiator);
	initiator.cq = ibv_create_cq(device->context, QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(initiator.cq);
	attr.send_cq = initiator.cq;
	initiator.qp = ibv_create_qp_ex(device->context, &attr);
	CHECK(initiator.qp);
	CHECK_EQUAL(attr.cap.max_recv_wr, 0);
	return initiator;
}

static struct ibv_qp *open_target(struct stage *stage)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = stage->xrcd,
	};
	struct ibv_qp_init_attr_ex without = {.qp_type = IBV_QPT_XRC_RECV};
	struct ibv_qp *target = ibv_create_qp_ex(stage->device->context, &attr);

	CHECK(target);
	CHECK(!target->pd && !target->send_cq && !target->recv_cq);
	CHECK(!ibv_create_qp_ex(stage->device->context, &without) && errno == EINVAL);
	return target;
}

/* As programs do: with all attributes of RC, for either half. */
static void to_state(struct ibv_qp *qp, enum ibv_qp_state state, uint16_t dlid, uint32_t qpn)
{
	struct ibv_qp_attr attr = connection_to(dlid, qpn);

	attr.rq_psn = PATH_PSN;
	attr.sq_psn = PATH_PSN;
	attr.retry_cnt = 3;
	attr.rnr_retry = 3;
	qp_modify_to(qp, state, attr);
}

/* The target goes to RTR only, so that its first packet is an event. */
static void set_stage(struct stage *stage, struct device *device)
{
	uint16_t lid = device->port.lid;

	stage->device = device;
	stage->xrcd = open_domain(device->context, -1, O_CREAT);
	CHECK(stage->xrcd);
	for (unsigned i = 0; i < 2; i++)
		stage->queues[i] = open_queue(stage, &stage->numbers[i]);
	CHECK(stage->numbers[0] != stage->numbers[1]);
	stage->initiator = open_initiator(device);
	stage->target = open_target(stage);
	to_state(stage->initiator.qp, IBV_QPS_INIT, 0, 0);
	to_state(stage->target, IBV_QPS_INIT, 0, 0);
	to_state(stage->initiator.qp, IBV_QPS_RTR, lid, stage->target->qp_num);
	to_state(stage->target, IBV_QPS_RTR, lid, stage->initiator.qp->qp_num);
	to_state(stage->initiator.qp, IBV_QPS_RTS, lid, stage->target->qp_num);
}

static struct ibv_send_wr request_to(struct stage *stage, unsigned index, enum ibv_wr_opcode opcode,
				     struct ibv_sge *sge)
{
	struct ibv_send_wr wr = request(opcode, sge, &stage->queues[index], 0);

	wr.qp_type.xrc.remote_srqn = stage->numbers[index];
	return wr;
}

static void send_and_check(struct stage *stage, unsigned index, size_t byte_count)
{
	struct endpoint *queue = &stage->queues[index];
	struct ibv_sge sge = sge_of(&stage->initiator, 0, byte_count);
	struct ibv_send_wr wr = request_to(stage, index, IBV_WR_SEND, &sge);

	fill(stage->initiator.bytes, byte_count, (unsigned)byte_count);
	memset(queue->bytes, 0, byte_count);
	post_receive(queue, 70 + index, 0, byte_count);
	post(&stage->initiator, &wr);
	expect_status(stage->initiator.cq, IBV_WC_SUCCESS);

	struct ibv_wc wc = expect_status(queue->cq, IBV_WC_SUCCESS);

	CHECK_EQUAL(wc.wr_id, 70 + index);
	CHECK_EQUAL(wc.byte_len, byte_count);
	CHECK_EQUAL(wc.qp_num, stage->target->qp_num);
	CHECK(memcmp(queue->bytes, stage->initiator.bytes, byte_count) == 0);
}

static void expect_established(struct ibv_context *context, struct ibv_qp *first,
			       struct ibv_qp *second)
{
	struct ibv_async_event events[2];

	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQUAL(ibv_get_async_event(context, &events[i]), 0);
		CHECK_EQUAL(events[i].event_type, IBV_EVENT_COMM_EST);
	}
	CHECK(events[0].element.qp != events[1].element.qp);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(events[i].element.qp == first || events[i].element.qp == second);
		ibv_ack_async_event(&events[i]);
	}
}

/* A second handle of the target gets the events of the first, and keeps the target alive. */
static void shared_target(struct stage *stage)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = stage->target->qp_num,
		.xrcd = stage->xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp_attr queried;
	struct ibv_qp_init_attr options;
	struct ibv_qp *second = ibv_open_qp(stage->device->context, &attr);

	CHECK(second);
	CHECK_EQUAL(second->qp_num, stage->target->qp_num);
	attr.qp_num = stage->initiator.qp->qp_num;
	CHECK(!ibv_open_qp(stage->device->context, &attr) && errno == EINVAL);
	send_and_check(stage, 0, 100);
	expect_established(stage->device->context, stage->target, second);
	CHECK_EQUAL(ibv_destroy_qp(stage->target), 0);
	stage->target = second;
	to_state(second, IBV_QPS_RTS, 0, 0);
	CHECK_EQUAL(ibv_query_qp(second, &queried, IBV_QP_STATE, &options), 0);
	CHECK_EQUAL(queried.qp_state, IBV_QPS_RTS);
	CHECK_EQUAL(options.qp_type, IBV_QPT_XRC_RECV);
	CHECK_EQUAL(options.cap.max_recv_sge, 0);
}

static void operations(struct stage *stage)
{
	struct endpoint *queue = &stage->queues[1];
	struct ibv_sge sge = sge_of(&stage->initiator, 0, MESSAGE_BYTES);
	struct ibv_sge eight = sge_of(&stage->initiator, 0, 8);
	struct ibv_send_wr write = request_to(stage, 1, IBV_WR_RDMA_WRITE_WITH_IMM, &sge);
	struct ibv_send_wr add = request_to(stage, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, &eight);
	uint64_t word = 40;

	send_and_check(stage, 0, MESSAGE_BYTES);
	send_and_check(stage, 1, MESSAGE_BYTES);
	fill(stage->initiator.bytes, MESSAGE_BYTES, 3);
	post_receive(queue, 80, 0, 0);
	post(&stage->initiator, &write);
	expect_status(stage->initiator.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(expect_status(queue->cq, IBV_WC_SUCCESS).opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK(memcmp(queue->bytes, stage->initiator.bytes, MESSAGE_BYTES) == 0);

	memcpy(queue->bytes, &word, sizeof(word));
	add.wr.atomic.remote_addr = (uintptr_t)queue->bytes;
	add.wr.atomic.rkey = queue->mr->rkey;
	add.wr.atomic.compare_add = 2;
	post(&stage->initiator, &add);
	expect_status(stage->initiator.cq, IBV_WC_SUCCESS);
	memcpy(&word, queue->bytes, sizeof(word));
	CHECK_EQUAL(word, 42);
}

static void builder(struct stage *stage)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(stage->initiator.qp);
	struct endpoint *queue = &stage->queues[1];
	char text[] = "built";

	CHECK(qp);
	post_receive(queue, 90, 0, 64);
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qp);
	ibv_wr_set_xrc_srqn(qp, stage->numbers[1]);
	ibv_wr_set_inline_data(qp, text, sizeof(text));
	qp->wr_id = 2;
	ibv_wr_rdma_read(qp, queue->mr->rkey, (uintptr_t)queue->bytes);
	ibv_wr_set_xrc_srqn(qp, stage->numbers[1]);
	ibv_wr_set_sge(qp, stage->initiator.mr->lkey, (uintptr_t)stage->initiator.bytes,
		       sizeof(text));
	CHECK_EQUAL(ibv_wr_complete(qp), 0);
	expect_status(stage->initiator.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(expect_status(stage->initiator.cq, IBV_WC_SUCCESS).wr_id, 2);
	expect_status(queue->cq, IBV_WC_SUCCESS);
	CHECK(memcmp(stage->initiator.bytes, text, sizeof(text)) == 0);

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_xrc_srqn(qp, 1 << 24);
	CHECK_EQUAL(ibv_wr_complete(qp), EINVAL);
}

static void mistakes(struct stage *stage)
{
	struct ibv_srq_init_attr basic = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 1, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD,
		.srq_type = IBV_SRQT_XRC,
		.pd = stage->device->pd,
		.xrcd = stage->xrcd,
	};
	struct ibv_recv_wr receive = {0}, *bad_receive;
	struct ibv_sge sge = sge_of(&stage->initiator, 0, 8);
	struct ibv_send_wr wr = request_to(stage, 0, IBV_WR_SEND, &sge), *bad;
	struct ibv_srq *srq = ibv_create_srq(stage->device->pd, &basic);
	uint32_t number;

	CHECK(srq);
	CHECK_EQUAL(ibv_get_srq_num(srq, &number), EINVAL);
	CHECK_EQUAL(ibv_destroy_srq(srq), 0);
	CHECK(!ibv_create_srq_ex(stage->device->context, &attr) && errno == EINVAL);
	attr.srq_type = IBV_SRQT_TM;
	CHECK(!ibv_create_srq_ex(stage->device->context, &attr) && errno == EINVAL);
	CHECK_EQUAL(ibv_post_recv(stage->initiator.qp, &receive, &bad_receive), EINVAL);
	CHECK_EQUAL(ibv_post_recv(stage->target, &receive, &bad_receive), EINVAL);
	CHECK_EQUAL(ibv_post_send(stage->target, &wr, &bad), EINVAL);
	CHECK_EQUAL(ibv_close_xrcd(stage->xrcd), EBUSY);

	wr.qp_type.xrc.remote_srqn = stage->numbers[1] + 1000;
	post(&stage->initiator, &wr);
	expect_status(stage->initiator.cq, IBV_WC_REM_INV_REQ_ERR);
}

int main(void)
{
	struct device device = device_open();
	struct ibv_device_attr attr;
	struct stage stage = {0};

	CHECK_EQUAL(ibv_query_device(device.context, &attr), 0);
	CHECK(attr.device_cap_flags & IBV_DEVICE_XRC);
	domains(&device);
	set_stage(&stage, &device);
	shared_target(&stage);
	operations(&stage);
	builder(&stage);
	mistakes(&stage);
	CHECK_EQUAL(ibv_destroy_qp(stage.target), 0);
	endpoint_close(&stage.initiator);
	for (unsigned i = 0; i < 2; i++)
		close_queue(&stage.queues[i]);
	CHECK_EQUAL(ibv_close_xrcd(stage.xrcd), 0);
	device_close(&device);
	puts("ok");
	return 0;
}
