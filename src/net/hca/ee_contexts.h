/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EE contexts and RD queue pairs as an adapter's objects, and the functions that their engines call
 * (vol 1, chapters 9 and 10; transport 9.1).
 *
 * An EE context is a struct qp_object of type QP_EEC. Its number comes from the same blocks as
 * QPNs, so that packets for it reach the process that owns it.
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

/* -EAGAIN as with queue pairs; an EE context is modified and destroyed as a queue pair. */
MUST_USE int eec_create(struct rdd *rdd, void *context, struct qp_object **ret_object);

/* Puts a new queue pair or EE context into a domain. */
void eec_enter_domain(struct qp_object *object, struct rdd *rdd);
void eec_leave_domain(struct qp_object *object);

/* For struct qp_environment. */
struct qp *eec_find_qp(const struct qp *qp, uint32_t qpn);
void eec_ready(struct qp *qp);

/* A message that came by this EE context is received: completes it at the destination queue pair.
 */
bool eec_complete(struct qp *channel, const struct completion *completion);
/* Whether the request that the message in progress took came from a shared receive queue. */
bool eec_takes_from_srq(const struct qp *channel);

#endif
