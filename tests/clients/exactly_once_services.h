/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How exactly_once.c opens, connects and posts to one queue of each service. A queue is what
 * carries messages both ways between the two sides: a queue pair; for XRC an initiator, a target
 * and an XRC SRQ; for RD a queue pair and an EE context of its own.
 */
#ifndef SOFTIB_TESTS_CLIENTS_EXACTLY_ONCE_SERVICES_H
#define SOFTIB_TESTS_CLIENTS_EXACTLY_ONCE_SERVICES_H

#include <fcntl.h>
#include <softib/verbs.h>
#include "verbs_client.h"

enum service { SERVICE_RC, SERVICE_UC, SERVICE_UD, SERVICE_XRC, SERVICE_RD };

enum { RD_LIST_MAX = 32 };

/* The data of a queue that the peer must know. */
struct link_address {
	uint32_t qpn;	     /* where SENDs go; for RD the queue pair */
	uint32_t source_qpn; /* where they come from: an XRC initiator's; otherwise qpn */
	uint32_t srqn;	     /* XRC */
	uint32_t eecn;	     /* RD */
};

struct link {
	enum service service;
	struct ibv_qp *qp;     /* requests are posted here */
	struct ibv_qp *target; /* XRC; otherwise NULL */
	struct ibv_srq *srq;   /* receives are posted here if not NULL */
	struct softib_eec *eec;
	struct link_address peer;
};

static inline bool service_is_reliable(enum service service)
{
	return service != SERVICE_UC && service != SERVICE_UD;
}

static inline enum service service_named(const char *name)
{
	static const char *const names[] = {"rc", "uc", "ud", "xrc", "rd"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return (enum service)i;
	fprintf(stderr, "no service is called %s\n", name);
	exit(2);
}

static inline void xrc_open(struct link *link, const struct device *device,
			    const struct ibv_qp_init_attr *options)
{
	static struct ibv_xrcd *xrcd;
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	if (!xrcd)
		CHECK((xrcd = ibv_open_xrcd(device->context, &domain)));

	struct ibv_srq_init_attr_ex queue = {
		.attr = {options->cap.max_recv_wr, 1, 0},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = device->pd,
		.xrcd = xrcd,
		.cq = options->recv_cq,
	};
	struct ibv_qp_init_attr_ex initiator = {
		.send_cq = options->send_cq,
		.cap = options->cap,
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = device->pd,
	};
	struct ibv_qp_init_attr_ex target = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};

	initiator.cap.max_recv_wr = initiator.cap.max_recv_sge = 0;
	CHECK((link->srq = ibv_create_srq_ex(device->context, &queue)));
	CHECK((link->qp = ibv_create_qp_ex(device->context, &initiator)));
	CHECK((link->target = ibv_create_qp_ex(device->context, &target)));
}

static inline void rd_open(struct link *link, const struct device *device,
			   struct ibv_qp_init_attr *options)
{
	static struct softib_rdd *rdd;

	if (!rdd)
		CHECK((rdd = softib_alloc_rdd(device->context)));
	options->qp_type = SOFTIB_QPT_RD;
	CHECK((link->qp = softib_create_rd_qp(device->pd, rdd, options)));
	CHECK((link->eec = softib_create_eec(rdd, NULL)));
}

/* options: all but the type; its SRQ, if any, is shared by several queues. */
static inline void link_open(struct link *link, enum service service, const struct device *device,
			     struct ibv_qp_init_attr options)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};

	link->service = service;
	link->srq = options.srq;
	if (service == SERVICE_XRC) {
		xrc_open(link, device, &options);
	} else if (service == SERVICE_RD) {
		rd_open(link, device, &options);
	} else {
		options.qp_type = types[service];
		CHECK((link->qp = ibv_create_qp(device->pd, &options)));
	}
}

static inline struct link_address link_address(const struct link *link)
{
	struct link_address address = {
		.qpn = (link->target ? link->target : link->qp)->qp_num,
		.source_qpn = link->qp->qp_num,
		.eecn = link->eec ? link->eec->eec_num : 0,
	};

	if (link->target)
		CHECK_EQUAL(ibv_get_srq_num(link->srq, &address.srqn), 0);
	return address;
}

static inline void rd_connect(struct link *link, struct ibv_qp_attr attr)
{
	struct ibv_qp_attr own = attr;

	own.qp_state = IBV_QPS_INIT;
	CHECK_EQUAL(ibv_modify_qp(link->qp, &own, IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS),
		    0);
	own.qp_state = IBV_QPS_RTR;
	CHECK_EQUAL(ibv_modify_qp(link->qp, &own, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER), 0);
	own.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(ibv_modify_qp(link->qp, &own, IBV_QP_STATE), 0);

	attr.dest_qp_num = link->peer.eecn;
	attr.qp_state = IBV_QPS_INIT;
	CHECK_EQUAL(
		softib_modify_eec(link->eec, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT),
		0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQUAL(softib_modify_eec(link->eec, &attr,
				      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC),
		    0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(softib_modify_eec(link->eec, &attr,
				      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					      IBV_QP_MAX_QP_RD_ATOMIC),
		    0);
}

/* attr: connection_to the peer's port. */
static inline void link_connect(struct link *link, const struct link_address *peer,
				struct ibv_qp_attr attr)
{
	link->peer = *peer;
	if (link->service == SERVICE_RD) {
		rd_connect(link, attr);
		return;
	}
	attr.dest_qp_num = peer->qpn;
	qp_modify_to(link->qp, IBV_QPS_INIT, attr);
	qp_connect(link->qp, attr);
	if (link->target) {
		attr.dest_qp_num = peer->source_qpn;
		qp_modify_to(link->target, IBV_QPS_INIT, attr);
		qp_connect(link->target, attr);
	}
}

static inline bool link_has_qp(const struct link *link, uint32_t qpn)
{
	return link->qp->qp_num == qpn || (link->target && link->target->qp_num == qpn);
}

/* ah: of UD. */
static inline void link_address_request(const struct link *link, struct ibv_ah *ah,
					struct ibv_send_wr *wr)
{
	if (link->service == SERVICE_UD) {
		wr->wr.ud.ah = ah;
		wr->wr.ud.remote_qpn = link->peer.qpn;
		wr->wr.ud.remote_qkey = QKEY;
	}
	if (link->service == SERVICE_XRC)
		wr->qp_type.xrc.remote_srqn = link->peer.srqn;
}

static inline void rd_post(const struct link *link, struct ibv_send_wr *requests)
{
	struct softib_rd_send_wr list[RD_LIST_MAX], *bad;
	unsigned count = 0;

	for (struct ibv_send_wr *wr = requests; wr; wr = wr->next) {
		CHECK(count < RD_LIST_MAX);
		list[count] = (struct softib_rd_send_wr){
			.wr = *wr,
			.next = wr->next ? &list[count + 1] : NULL,
			.eec_num = link->eec->eec_num,
			.remote_qpn = link->peer.qpn,
			.remote_qkey = QKEY,
		};
		count++;
	}
	CHECK_EQUAL(softib_post_rd_send(link->qp, list, &bad), 0);
}

static inline void link_post(const struct link *link, struct ibv_send_wr *requests)
{
	struct ibv_send_wr *bad;

	if (link->service == SERVICE_RD)
		rd_post(link, requests);
	else
		CHECK_EQUAL(ibv_post_send(link->qp, requests, &bad), 0);
}

#endif
