/* SPDX-License-Identifier: Apache-2.0 */
/* A sender of each service type with its receiver, and the transitions of both into every state. */
#ifndef SOFTIB_TESTS_CLIENTS_SERVICE_TYPES_H
#define SOFTIB_TESTS_CLIENTS_SERVICE_TYPES_H

#include "verbs_client.h"

#include <fcntl.h>
#include <softib/verbs.h>

enum {
	PSN_STEP = 0x12345,
	RECEIVES = 8,
	RECEIVE_BYTES = 256 << 10,
	RECEIVES_FROM = 2 << 20, /* in the receiver's memory */
};

/* The sender and the receiver are the same queue pair where the type is raw. */
struct service {
	enum ibv_qp_type type;
	struct device *device;
	struct ibv_comp_channel *channel; /* of the sender's CQ */
	struct endpoint sender, receiver;
	struct ibv_ah *ah;
	struct ibv_mw *mw;
	struct ibv_xrcd *xrcd;
	uint32_t srq_number;
	struct softib_rdd *rdd;
	struct softib_eec *eecs[2];
	uint8_t retry_count; /* of the sender's next connection */
	/* The first PSN of each connection: late packets of the connection before must not be
	 * accepted. */
	uint32_t psn;
	unsigned receives;	/* that are posted */
	unsigned receives_ever; /* the slot of the next */
};

static inline size_t receive_offset(uint64_t place)
{
	return RECEIVES_FROM + place * RECEIVE_BYTES;
}

static inline bool service_is_raw(enum ibv_qp_type type)
{
	return type == SOFTIB_QPT_RAW_IPV6 || type == SOFTIB_QPT_RAW_ETHERTYPE;
}

static inline struct ibv_srq *open_xrc_srq(struct service *service)
{
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = QUEUE_DEPTH, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = service->device->pd,
		.cq = service->receiver.cq,
	};

	service->xrcd = ibv_open_xrcd(service->device->context, &domain);
	CHECK(service->xrcd);
	attr.xrcd = service->xrcd;

	struct ibv_srq *srq = ibv_create_srq_ex(service->device->context, &attr);

	CHECK(srq);
	CHECK_EQUAL(ibv_get_srq_num(srq, &service->srq_number), 0);
	return srq;
}

static inline struct ibv_qp *open_sender(struct service *service)
{
	struct ibv_qp_init_attr options = qp_options(&service->sender, service->type);
	struct ibv_qp_init_attr_ex xrc = {
		.send_cq = service->sender.cq,
		.cap = options.cap,
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = service->device->pd,
	};

	xrc.cap.max_recv_wr = 0;
	if (service->type == IBV_QPT_XRC_SEND)
		return ibv_create_qp_ex(service->device->context, &xrc);
	if (service->type == SOFTIB_QPT_RD)
		return softib_create_rd_qp(service->device->pd, service->rdd, &options);
	if (service_is_raw(service->type))
		return softib_create_raw_qp(service->device->pd, 1, &options);
	return ibv_create_qp(service->device->pd, &options);
}

static inline struct ibv_qp *open_receiver(struct service *service)
{
	struct ibv_qp_init_attr options = qp_options(&service->receiver, service->type);
	struct ibv_qp_init_attr_ex xrc = {.qp_type = IBV_QPT_XRC_RECV,
					  .comp_mask = IBV_QP_INIT_ATTR_XRCD};

	if (service->type == IBV_QPT_XRC_SEND) {
		service->receiver.srq = open_xrc_srq(service);
		xrc.xrcd = service->xrcd;
		return ibv_create_qp_ex(service->device->context, &xrc);
	}
	if (service->type == SOFTIB_QPT_RD)
		return softib_create_rd_qp(service->device->pd, service->rdd, &options);
	return ibv_create_qp(service->device->pd, &options);
}

static inline void service_open(struct service *service, struct device *device,
				enum ibv_qp_type type)
{
	struct ibv_ah_attr address = {.dlid = device->port.lid, .port_num = 1};

	*service = (struct service){.type = type,
				    .device = device,
				    .sender = {.device = device},
				    .receiver = {.device = device}};
	service->ah = ibv_create_ah(device->pd, &address);
	service->mw = ibv_alloc_mw(device->pd, IBV_MW_TYPE_2);
	service->channel = ibv_create_comp_channel(device->context);
	CHECK(service->ah && service->mw && service->channel);
	endpoint_register(&service->sender);
	endpoint_register(&service->receiver);
	service->sender.cq =
		ibv_create_cq(device->context, 4 * QUEUE_DEPTH, NULL, service->channel, 0);
	service->receiver.cq = ibv_create_cq(device->context, 4 * QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(service->sender.cq && service->receiver.cq);
	if (type == SOFTIB_QPT_RD) {
		service->rdd = softib_alloc_rdd(device->context);
		CHECK(service->rdd);
		for (unsigned i = 0; i < 2; i++) {
			service->eecs[i] = softib_create_eec(service->rdd, NULL);
			CHECK(service->eecs[i]);
		}
	}
	service->sender.qp = open_sender(service);
	CHECK(service->sender.qp);
	service->receiver.qp = service_is_raw(type) ? NULL : open_receiver(service);
	CHECK(service->receiver.qp || service_is_raw(type));
}

static inline void service_close(struct service *service)
{
	if (service->receiver.qp)
		CHECK_EQUAL(ibv_destroy_qp(service->receiver.qp), 0);
	CHECK_EQUAL(ibv_destroy_qp(service->sender.qp), 0);
	for (unsigned i = 0; i < 2 && service->rdd; i++)
		CHECK_EQUAL(softib_destroy_eec(service->eecs[i]), 0);
	if (service->rdd)
		CHECK_EQUAL(softib_dealloc_rdd(service->rdd), 0);
	if (service->receiver.srq)
		CHECK_EQUAL(ibv_destroy_srq(service->receiver.srq), 0);
	if (service->xrcd)
		CHECK_EQUAL(ibv_close_xrcd(service->xrcd), 0);
	CHECK_EQUAL(ibv_dealloc_mw(service->mw), 0);
	CHECK_EQUAL(ibv_destroy_ah(service->ah), 0);
	CHECK_EQUAL(ibv_destroy_cq(service->sender.cq), 0);
	CHECK_EQUAL(ibv_destroy_cq(service->receiver.cq), 0);
	CHECK_EQUAL(ibv_destroy_comp_channel(service->channel), 0);
	CHECK_EQUAL(ibv_dereg_mr(service->sender.mr), 0);
	CHECK_EQUAL(ibv_dereg_mr(service->receiver.mr), 0);
	free(service->sender.bytes);
	free(service->receiver.bytes);
}

/* The attributes that a transition of this type needs besides the state. */
static inline int service_wants(enum ibv_qp_type type, enum ibv_qp_state state)
{
	if (service_is_raw(type))
		return IBV_QP_STATE;
	if (type != SOFTIB_QPT_RD)
		return attributes_wanted(type, state);
	if (state == IBV_QPS_INIT)
		return IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS;
	return state == IBV_QPS_RTR ? IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER : IBV_QP_STATE;
}

static inline int service_move(struct service *service, struct ibv_qp *qp, enum ibv_qp_state state)
{
	const struct ibv_qp *other = qp == service->sender.qp && service->receiver.qp
					     ? service->receiver.qp
					     : service->sender.qp;
	struct ibv_qp_attr attr = connection_to(service->device->port.lid, other->qp_num);
	bool is_plain = state == IBV_QPS_RESET || state == IBV_QPS_SQD || state == IBV_QPS_ERR;

	attr.qp_state = state;
	attr.retry_cnt = service->retry_count;
	attr.sq_psn = attr.rq_psn = service->psn;
	return ibv_modify_qp(qp, &attr,
			     is_plain ? IBV_QP_STATE : service_wants(service->type, state));
}

/* The sender, in SQE. */
static inline int service_continue(struct service *service)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};

	return ibv_modify_qp(service->sender.qp, &attr, IBV_QP_STATE);
}

static inline void connect_contexts(struct service *service)
{
	static const enum ibv_qp_state way[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
						IBV_QPS_RTS};

	for (unsigned step = 0; step < 4; step++)
		for (unsigned i = 0; i < 2; i++) {
			struct ibv_qp_attr attr = connection_to(service->device->port.lid,
								service->eecs[!i]->eec_num);
			int mask = attributes_wanted(IBV_QPT_RC, way[step]);

			attr.qp_state = way[step];
			attr.sq_psn = attr.rq_psn = service->psn;
			mask &= ~(IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER);
			CHECK_EQUAL(softib_modify_eec(service->eecs[i], &attr, mask), 0);
		}
}

/* Takes both from Reset; the receiver has all its receives and can receive. */
static inline void service_begin(struct service *service)
{
	struct ibv_qp *receiver = service->receiver.qp;

	service->psn = (service->psn + PSN_STEP) & 0xffffff;
	CHECK_EQUAL(service_move(service, service->sender.qp, IBV_QPS_RESET), 0);
	if (!receiver)
		return;
	CHECK_EQUAL(service_move(service, receiver, IBV_QPS_RESET), 0);
	if (service->rdd)
		connect_contexts(service);
	if (!service->receiver.srq)
		service->receives = service->receives_ever = 0;
	CHECK_EQUAL(service_move(service, receiver, IBV_QPS_INIT), 0);
	for (; service->receives < RECEIVES; service->receives++) {
		unsigned place = service->receives_ever++ % RECEIVES;

		post_receive(&service->receiver, place, receive_offset(place), RECEIVE_BYTES);
	}
	CHECK_EQUAL(service_move(service, receiver, IBV_QPS_RTR), 0);
	if (receiver->qp_type != IBV_QPT_XRC_RECV)
		CHECK_EQUAL(service_move(service, receiver, IBV_QPS_RTS), 0);
}

#endif
