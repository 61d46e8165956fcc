/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XRC targets of a domain that several processes share (vol 1, annex A14; transport 5.7).
 *
 * softibd keeps such a target. It leases the target, with its responder's state, to the process
 * whose XRC SRQ the next packets name. During the lease the target works as any other queue pair.
 * It is returned as soon as it has nothing left to do, so that a process that dies loses only the
 * message in progress.
 */
#ifndef SOFTIB_NET_HCA_SHARED_TARGET_H
#define SOFTIB_NET_HCA_SHARED_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/transport/target_state.h"

struct hca;
struct packet;
struct qp_object;
struct xrcd;

/* Adds a target that another process has, or that is about to be leased to this one. A target that
 * no consumer of this process has opened has no context and does not keep its domain in use.
 * -EEXIST, -ENOMEM. */
MUST_USE int shared_target_add(struct xrcd *xrcd, uint32_t qpn, struct qp_object **ret_object);
/* A consumer opens a target that was here without a consumer. */
void shared_target_adopt(struct qp_object *object, void *context);
/* The target of a domain that only this process had becomes shared; this process has the lease. */
void shared_target_begin(struct qp_object *object);

/* The lease begins. An invalid or NULL state counts as lost: then the target is in Error. */
void shared_target_install(struct qp_object *object, const struct target_state *state);
/* A packet that softibd sent after the lease. If this process has already returned the target,
 * softibd has not accepted the return, since this packet was still on its way: the lease continues.
 */
void shared_target_receive(struct qp_object *object, time_ns now, uint8_t port_number,
			   const struct packet *packet);

/* Whether the target can be returned: it has nothing left to do, or softibd wants it back. */
bool shared_target_may_go(const struct qp_object *object);
struct target_parting {
	uint32_t taken_count; /* packets received in this lease */
	uint32_t events;      /* bits of enum qp_event that were raised */
	struct target_state state;
};
void shared_target_part(struct qp_object *object, struct target_parting *ret_parting);

/* The domain is closed here: removes the targets that no consumer has opened. */
void shared_targets_forget(struct xrcd *xrcd);

#endif
