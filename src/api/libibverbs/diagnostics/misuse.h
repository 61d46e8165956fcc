/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that each verb makes when the program asked for warnings: mistakes that the call itself
 * does not report. The checks change nothing.
 *
 * Called only when warnings_are_on, and with the adapter's lock held unless the function says
 * otherwise.
 */
#ifndef SOFTIB_API_LIBIBVERBS_DIAGNOSTICS_MISUSE_H
#define SOFTIB_API_LIBIBVERBS_DIAGNOSTICS_MISUSE_H

#include "api/libibverbs/objects/objects.h"
#include "api/libibverbs/diagnostics/warnings.h"

/* Before the request is posted. */
void misuse_post_send(const struct verbs_qp *qp, const struct send_request *request);
void misuse_post_receive(const struct verbs_qp *qp, const struct receive_request *request);
void misuse_post_shared(const struct verbs_srq *srq, const struct receive_request *request);

/* The QP is in context->qps already. */
void misuse_create_qp(const struct verbs_qp *qp);
void misuse_modify_qp(const struct verbs_qp *qp, const struct ibv_qp_attr *attr, int mask);

/* Checks the address vector in a call's arguments; object: the number of the call's object. */
void misuse_address(const struct context_object *context, const char *call, uint32_t object,
		    const struct ibv_ah_attr *attr);

/* Before the object is destroyed. */
void misuse_destroy_qp(const struct verbs_qp *qp);
void misuse_deregister(const struct context_object *context, const struct region *region);
void misuse_destroy_ah(const struct context_object *context, const struct ah *ah);
void misuse_close(struct context_object *context);

/* An event that the adapter raises, and an event that is dropped unread. The context's event queue
 * may be locked. */
void misuse_event(const struct hca_event *event);
void misuse_event_unread(const struct ibv_async_event *event, const void *element);

/* The call fails with EBUSY because other objects use this one. Any lock may be held. */
void misuse_busy(const char *call, uint32_t handle, uint32_t user_count, const char *users);

/* The program is about to wait for an event of this channel. Called without the adapter's lock. */
void misuse_wait_event(struct verbs_channel *channel);

/* The call is about to wait until the program acknowledges its events. Called without the adapter's
 * lock. */
void misuse_wait_acknowledged(const char *call, uint32_t handle, uint32_t completed,
			      uint32_t handed_out);

#endif
