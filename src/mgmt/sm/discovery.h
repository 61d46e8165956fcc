/* SPDX-License-Identifier: Apache-2.0 */
/* Inside discovery: its questions, and what becomes of their answers. */
#ifndef SOFTIB_MGMT_SM_DISCOVERY_H
#define SOFTIB_MGMT_SM_DISCOVERY_H

#include "mgmt/sm/sweep.h"

/* What a step asks. */
enum step_kind {
	STEP_PROBE, /* who is behind this port? */
	STEP_DESCRIPTION,
	STEP_SWITCH_INFO,
	STEP_CLEAR_CHANGE, /* before its ports are read, so that a change after that is seen by the
			      next sweep */
	STEP_PORT_INFO,
	STEP_PKEYS,
	STEP_SM_INFO,
};

/* One more question of the present sweep. */
void discovery_push(struct sm *sm, enum step_kind kind, struct subnet_node *node,
		    unsigned port_number);

/* A question of the next sweep; once, however often it is wanted. False: no memory. */
MUST_USE bool discovery_ask_again(struct sm *sm, const struct discovery_step *step);

void discovery_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data);
/* Refused, or no answer: asked again by the next sweep where that makes sense. */
void discovery_failed(struct sm *sm, struct mad_purpose purpose);

#endif
