/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The XRC calls that OFED's libraries had before rdma-core got its own (ibv_open_xrcd and others),
 * for programs written for them. See ofa_verbs(7).
 *
 * A receive QP of this interface has no handle: its number identifies it within its domain. It
 * lives until the last process that registered with it unregisters or ends.
 */
#ifndef INFINIBAND_OFA_VERBS_H
#define INFINIBAND_OFA_VERBS_H

#include <stdint.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_xrc_domain {
	struct ibv_context *context;
	uint32_t handle;
};

/* The struct that ibv_create_xrc_srq returns. */
struct ibv_srq_legacy {
	struct ibv_srq srq;
	uint32_t xrc_srq_num;
	struct ibv_xrc_domain *xrc_domain;
	struct ibv_cq *xrc_cq;
};

/* The argument of ibv_create_xrc_rcv_qp, and of ibv_create_qp for IBV_QPT_XRC: pass the address of
 * attr. */
struct ibv_qp_init_attr_legacy {
	struct ibv_qp_init_attr attr;
	struct ibv_xrc_domain *xrc_domain;
};

/* The send side: a QP whose requests name an SRQ in qp_type.xrc.remote_srqn. */
#define IBV_QPT_XRC ((enum ibv_qp_type)5)

/* In ibv_async_event.event_type: the event belongs to a receive QP of this interface. The QP number
 * is where OFED's verbs.h had element.xrc_qp_num. The event need not be acknowledged. */
#define IBV_XRC_QP_EVENT_FLAG ((int)0x80000000)

static inline uint32_t ibv_event_xrc_qp_num(const struct ibv_async_event *event)
{
	return (uint32_t)event->element.port_num;
}

/* fd: a file that identifies the domain for all processes of a host, or -1 with O_CREAT for a
 * domain of this process only. oflag: O_CREAT, O_EXCL. NULL with errno. */
struct ibv_xrc_domain *ibv_open_xrc_domain(struct ibv_context *context, int fd, int oflag);
/* Returns 0 or an errno value, as all calls below. EBUSY: this process has SRQs or QPs in the
 * domain. */
int ibv_close_xrc_domain(struct ibv_xrc_domain *domain);

/* The SRQ's number is in ibv_srq_legacy; ibv_get_srq_num returns it too. NULL with errno. */
struct ibv_srq *ibv_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrc_domain *domain,
				   struct ibv_cq *xrc_cq, struct ibv_srq_init_attr *init_attr);

/* init_attr: the member of a struct ibv_qp_init_attr_legacy, of which xrc_domain is used. Registers
 * the process with the QP. */
int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *init_attr, uint32_t *xrc_rcv_qpn);
/* Any process that has the domain open may call it. The QP receives from RTR on. */
int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			  struct ibv_qp_attr *attr, int attr_mask);
int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			 struct ibv_qp_attr *attr, int attr_mask,
			 struct ibv_qp_init_attr *init_attr);
/* EINVAL: the domain has no such QP. Registering twice is no error and counts once. */
int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num);
/* EINVAL: this process is not registered with the QP. */
int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num);

#ifdef __cplusplus
}
#endif

#endif
