/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of an XRC target that moves from one process to another: all that its responder needs
 * to continue (vol 1, annex A14; transport 5.7).
 *
 * The XRC SRQs of a shared domain are in several processes. softibd leases a target to the process
 * whose XRC SRQ the next request names.
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

/* The target is between messages and has no response due. */
bool target_is_idle(const struct qp *qp);

/* Gives up the message in progress: the peer sends it again, or a receive request is lost with it.
 */
void target_state_take(struct qp *qp, struct target_state *ret_state);

/* The target continues from this state. -EINVAL changes nothing: the state comes from another
 * process, and no queue pair can have such a state; -ENOMEM. */
MUST_USE int target_state_install(struct qp *qp, const struct qp_ports *ports,
				  const struct target_state *state);

/* The state is unknown: the target goes to Error. */
void target_state_lose(struct qp *qp);

#endif
