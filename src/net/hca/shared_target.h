/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XRC targets of a domain that processes share (vol 1, annex A14).
 *
 * Somebody outside, softibd, keeps such a target and lends it, with all that its responder knows,
 * to the process whose XRC SRQ the next packets name. While it is here it is a queue pair like any
 * other. It goes back when it has nothing left to do, so that the death of a process takes along no
 * more than what it was doing.
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

/* One that is elsewhere, or about to come. A target that no consumer of this process has opened has
 * no context and does not keep its domain in use. -EEXIST, -ENOMEM. */
MUST_USE int shared_target_add(struct xrcd *xrcd, uint32_t qpn, struct qp_object **ret_object);
/* A consumer opens one that was here without. */
void shared_target_adopt(struct qp_object *object, void *context);
/* A target of a domain that only this process had is shared from now on; it is still here. */
void shared_target_begin(struct qp_object *object);

/* It comes. A state that no target can have counts as lost, and so does a NULL one: then it is in
 * Error. */
void shared_target_install(struct qp_object *object, const struct target_state *state);
/* A packet that was sent after it: it has not been given back, whatever this side said, since
 * somebody else still counted on it. */
void shared_target_receive(struct qp_object *object, time_ns now, uint8_t port_number,
			   const struct packet *packet);

/* Whether it can go: nothing left to do, or told to. */
bool shared_target_may_go(const struct qp_object *object);
struct target_parting {
	uint32_t taken_count; /* packets since it came */
	uint32_t events;      /* bits of enum qp_event that it raised */
	struct target_state state;
};
void shared_target_part(struct qp_object *object, struct target_parting *ret_parting);

/* The domain is closed here: those that no consumer has opened go. */
void shared_targets_forget(struct xrcd *xrcd);

#endif
