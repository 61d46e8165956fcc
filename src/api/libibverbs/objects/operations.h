/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that programs call through the function pointers in a context. Each is in the file that
 * the comment above it names. */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_OPERATIONS_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_OPERATIONS_H

#include <infiniband/verbs.h>
#include "base/attributes.h"

struct cq;
struct verbs_qp;

/* verbs_query.c */
int verbs_query_port(struct ibv_context *context, uint8_t port_number,
		     struct ibv_port_attr *ret_attr, size_t attr_bytes);
int verbs_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *ret_attr, size_t attr_bytes);
int verbs_query_rt_values(struct ibv_context *context, struct ibv_values_ex *ret_values);

/* parent_domain.c */
struct ibv_td *verbs_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int verbs_dealloc_td(struct ibv_td *td);
struct ibv_pd *verbs_alloc_parent_domain(struct ibv_context *context,
					 struct ibv_parent_domain_init_attr *attr);

/* mr.c */
int verbs_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		    struct ibv_sge *sges, uint32_t sge_count);

/* null_mr.c */
struct ibv_mr *verbs_alloc_null_mr(struct ibv_pd *pd);

/* mw.c */
struct ibv_mw *verbs_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int verbs_dealloc_mw(struct ibv_mw *mw);
int verbs_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* device_memory.c */
struct ibv_dm *verbs_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
int verbs_free_dm(struct ibv_dm *dm);
struct ibv_mr *verbs_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
			       size_t byte_count, unsigned int access);

/* verbs_cq.c */
struct ibv_cq_ex *verbs_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
int verbs_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
int verbs_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
/* hca_owner.cq_notify: the adapter's lock is held. */
void verbs_cq_notify(void *context, struct cq *cq);

/* data/poll.c */
int verbs_poll_cq(struct ibv_cq *cq, int entry_count, struct ibv_wc *ret_completions);
int verbs_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* Whether arming a CQ raises no event for completions that are in it already. */
bool arming_is_strict(void);
void verbs_set_readers(struct ibv_cq_ex *cq);

/* verbs_xrcd.c */
struct ibv_xrcd *verbs_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int verbs_close_xrcd(struct ibv_xrcd *xrcd);

/* verbs_srq.c */
struct ibv_srq *verbs_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int verbs_get_srq_num(struct ibv_srq *srq, uint32_t *ret_number);

/* srq_tags.c */
int verbs_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *requests,
		       struct ibv_ops_wr **ret_bad);

/* verbs_qp.c */
struct ibv_qp *verbs_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *verbs_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);

/* data/post.c */
int verbs_post_send(struct ibv_qp *qp, struct ibv_send_wr *requests, struct ibv_send_wr **ret_bad);
/* Posts the whole list or nothing. 0 or -errno. */
MUST_USE int verbs_post_whole(struct verbs_qp *qp, struct ibv_send_wr *requests);
int verbs_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *requests, struct ibv_recv_wr **ret_bad);
int verbs_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *requests,
			struct ibv_recv_wr **ret_bad);

#endif
