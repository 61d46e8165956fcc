/* SPDX-License-Identifier: Apache-2.0 */
/* Inside discovery: its steps, and how their responses are handled. discovery.c sends the requests,
 * discovery_answers.c takes the responses. */
#ifndef SOFTIB_MGMT_SM_DISCOVERY_H
#define SOFTIB_MGMT_SM_DISCOVERY_H

#include "mgmt/sm/sweep.h"

/* What a step requests. */
enum step_kind {
	STEP_PROBE, /* NodeInfo of the node behind this port */
	STEP_DESCRIPTION,
	STEP_SWITCH_INFO,
	STEP_CLEAR_CHANGE, /* before its ports are read, so that the next sweep sees a later change
			    */
	STEP_PORT_INFO,
	STEP_PKEYS,
	STEP_SM_INFO,
};

/* Adds a step to the present sweep. */
void discovery_push(struct sm *sm, enum step_kind kind, struct subnet_node *node,
		    unsigned port_number);

/* Adds a step to the next sweep, once. false: no memory. */
MUST_USE bool discovery_ask_again(struct sm *sm, const struct discovery_step *step);

void discovery_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data);
/* A request was refused or got no response. The next sweep repeats it where that makes sense. */
void discovery_failed(struct sm *sm, struct mad_purpose purpose);

#endif
