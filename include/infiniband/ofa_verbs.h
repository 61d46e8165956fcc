/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The XRC calls of the OFED libraries before rdma-core had its own (ibv_open_xrcd and its kin), for
 * programs that were written with them. See ofa_verbs(7).
 *
 * A receiving queue pair of this interface has no handle: its number names it, within its domain.
 * It lives until the last process that is registered with it has taken itself off or ended.
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

/* What ibv_create_xrc_srq returns, whole. */
struct ibv_srq_legacy {
	struct ibv_srq srq;
	uint32_t xrc_srq_num;
	struct ibv_xrc_domain *xrc_domain;
	struct ibv_cq *xrc_cq;
};

/* What ibv_create_xrc_rcv_qp takes, and ibv_create_qp for IBV_QPT_XRC; pass the address of attr. */
struct ibv_qp_init_attr_legacy {
	struct ibv_qp_init_attr attr;
	struct ibv_xrc_domain *xrc_domain;
};

/* The sending side: a queue pair whose requests name an SRQ in qp_type.xrc.remote_srqn. */
#define IBV_QPT_XRC ((enum ibv_qp_type)5)

/* In ibv_async_event.event_type: the event is of a receiving queue pair of this interface. Its
 * number stands where OFED's own verbs.h had element.xrc_qp_num. It need not be acknowledged. */
#define IBV_XRC_QP_EVENT_FLAG ((int)0x80000000)

static inline uint32_t ibv_event_xrc_qp_num(const struct ibv_async_event *event)
{
	return (uint32_t)event->element.port_num;
}

/* fd: of a file that names the domain to the processes of a host, or -1 with O_CREAT for one of
 * this process alone. oflag: O_CREAT, O_EXCL. NULL with errno. */
struct ibv_xrc_domain *ibv_open_xrc_domain(struct ibv_context *context, int fd, int oflag);
/* 0 or an errno value, as all that follow: EBUSY while it has SRQs or queue pairs of this process. */
int ibv_close_xrc_domain(struct ibv_xrc_domain *domain);

/* Its number is in ibv_srq_legacy, and ibv_get_srq_num gives it. NULL with errno. */
struct ibv_srq *ibv_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrc_domain *domain,
				   struct ibv_cq *xrc_cq, struct ibv_srq_init_attr *init_attr);

/* init_attr: that of a struct ibv_qp_init_attr_legacy, of which xrc_domain counts. The process is
 * registered with the queue pair. */
int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *init_attr, uint32_t *xrc_rcv_qpn);
/* Of any process that has the domain open. The queue pair receives from RTR on. */
int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			  struct ibv_qp_attr *attr, int attr_mask);
int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num,
			 struct ibv_qp_attr *attr, int attr_mask,
			 struct ibv_qp_init_attr *init_attr);
/* EINVAL: the domain has no such queue pair. Once per process counts; more is no error. */
int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num);
/* EINVAL: this process is not registered with it. */
int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *domain, uint32_t xrc_qp_num);

#ifdef __cplusplus
}
#endif

#endif
