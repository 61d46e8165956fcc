/* SPDX-License-Identifier: Apache-2.0 */
/* One side of calls for EE contexts: an RD queue pair, a channel, and memory for one message. */
#ifndef SOFTIB_TESTS_CLIENTS_RD_CLIENT_H
#define SOFTIB_TESTS_CLIENTS_RD_CLIENT_H

#include <arpa/inet.h>
#include <softib/verbs.h>
#include "verbs_client.h"

enum { RD_RECEIVES = 200, RD_MESSAGE_BYTES = 100 };

struct rd_side {
	struct device device;
	struct softib_rdd *rdd;
	struct softib_cm_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t bytes[RD_MESSAGE_BYTES];
};

static inline void rd_open(struct rd_side *side)
{
	side->device = device_open();
	side->rdd = softib_alloc_rdd(side->device.context);
	side->channel = softib_create_cm_channel(side->device.context);
	side->cq = ibv_create_cq(side->device.context, 2 * RD_RECEIVES, NULL, NULL, 0);
	side->mr = ibv_reg_mr(side->device.pd, side->bytes, sizeof(side->bytes), ALL_ACCESS);
	CHECK(side->rdd && side->channel && side->cq && side->mr);

	struct ibv_qp_init_attr options = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {1, RD_RECEIVES, 1, 1, 0},
		.qp_type = SOFTIB_QPT_RD,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .qkey = QKEY,
				   .qp_access_flags = ALL_ACCESS,
				   .min_rnr_timer = 1};

	side->qp = softib_create_rd_qp(side->device.pd, side->rdd, &options);
	CHECK(side->qp);
	CHECK_EQUAL(
		ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS),
		0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQUAL(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE), 0);
}

static inline struct softib_eec_offer rd_offer(const struct rd_side *side)
{
	return (struct softib_eec_offer){
		.qp_num = side->qp->qp_num, .qkey = QKEY, .retry_count = 7, .rnr_retry_count = 7};
}

static inline struct softib_eec *rd_context(const struct rd_side *side)
{
	struct softib_eec *eec = softib_create_eec(side->rdd, NULL);

	CHECK(eec);
	return eec;
}

static inline struct softib_cm_event rd_next_event(const struct rd_side *side)
{
	struct softib_cm_event event;

	CHECK_EQUAL(softib_get_cm_event(side->channel, &event), 0);
	softib_ack_cm_event(&event);
	return event;
}

/* Destroys the id and its EE context. */
static inline void rd_forget(struct softib_cm_id *id)
{
	struct softib_eec *eec = id->eec;

	CHECK_EQUAL(softib_destroy_cm_id(id), 0);
	if (eec)
		CHECK_EQUAL(softib_destroy_eec(eec), 0);
}

/* Posts all receives, and tells the script. */
static inline struct softib_cm_id *rd_listen(struct rd_side *side, uint64_t service_id)
{
	struct ibv_sge sge = {(uintptr_t)side->bytes, RD_MESSAGE_BYTES, side->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct softib_cm_id *listener = softib_listen_eec(side->channel, 1, service_id, 0, NULL);

	CHECK(listener);
	for (unsigned i = 0; i < RD_RECEIVES; i++)
		CHECK_EQUAL(ibv_post_recv(side->qp, &wr, &bad), 0);
	printf("listening\n");
	fflush(stdout);
	return listener;
}

/* Sends to the queue pair that the event of the call names. */
static inline void rd_send(struct rd_side *side, const struct softib_cm_event *event, uint32_t eecn)
{
	struct ibv_sge sge = {(uintptr_t)side->bytes, RD_MESSAGE_BYTES, side->mr->lkey};
	struct softib_rd_send_wr wr = {
		.wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND},
		.eec_num = eecn,
		.remote_qpn = event->remote_qpn,
		.remote_qkey = event->remote_qkey,
	};
	struct softib_rd_send_wr *bad;

	CHECK_EQUAL(softib_post_rd_send(side->qp, &wr, &bad), 0);
	expect_status(side->cq, IBV_WC_SUCCESS);
}

static inline union ibv_gid rd_gid(const char *text)
{
	union ibv_gid gid;

	CHECK_EQUAL(inet_pton(AF_INET6, text, &gid), 1);
	return gid;
}

#endif
