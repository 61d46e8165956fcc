/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An XRC target as it goes from one process to another: all that its responder must know to go on
 * (vol 1, annex A14).
 *
 * A domain that processes share has its queues in several of them; a target is lent to the one
 * whose queue the next request names.
 */
#ifndef SOFTIB_NET_TRANSPORT_TARGET_STATE_H
#define SOFTIB_NET_TRANSPORT_TARGET_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/transport/qp_state.h"

enum { TARGET_SAVED_MAX = 16 };

struct target_state {
	struct qp_attributes attributes;
	struct saved_request saved[TARGET_SAVED_MAX]; /* oldest first */
	struct psn expected_psn;
	uint32_t msn;
	uint8_t state; /* enum qp_state */
	uint8_t saved_count;
	bool has_alternate;
	bool nak_was_sent;
	bool is_established;
	bool has_refused_migration;
};

/* Between messages, and with nothing left to answer. */
bool target_is_idle(const struct qp *qp);

/* What is under way is given up: the peer repeats it, or a receive request is lost with its
 * message. */
void target_state_take(struct qp *qp, struct target_state *ret_state);

/* The target goes on from there. -EINVAL changes nothing: no queue pair is ever so (the state comes
 * from another process); -ENOMEM. */
MUST_USE int target_state_install(struct qp *qp, const struct qp_ports *ports,
				  const struct target_state *state);

/* Nobody knows how far it was: it is in Error. */
void target_state_lose(struct qp *qp);

#endif
