/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EE contexts and RD queue pairs as an adapter's objects: what their engines ask of it (vol 1,
 * chapters 9 and 10).
 *
 * An EE context is a struct qp_object of type QP_EEC. Its number comes from the same blocks as
 * QPNs, so that it names the process that packets for it go to.
 */
#ifndef SOFTIB_NET_HCA_EE_CONTEXTS_H
#define SOFTIB_NET_HCA_EE_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct completion;
struct hca;
struct packet;
struct qp;
struct qp_object;
struct rdd;

/* -EAGAIN as with queue pairs; it is modified and destroyed like one. */
MUST_USE int eec_create(struct rdd *rdd, void *context, struct qp_object **ret_object);

/* Of a new queue pair or context. */
void eec_enter_domain(struct qp_object *object, struct rdd *rdd);
void eec_leave_domain(struct qp_object *object);

/* For struct qp_environment. */
struct qp *eec_find_qp(const struct qp *qp, uint32_t qpn);
void eec_ready(struct qp *qp);

/* A message that came by this context is received, by the queue pair it is for. */
bool eec_complete(struct qp *channel, const struct completion *completion);
/* Whether a request that it took came from a queue that many share. */
bool eec_takes_from_srq(const struct qp *channel);

#endif
