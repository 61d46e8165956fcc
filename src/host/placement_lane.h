/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commonest of the requests that go past the packets, in as few steps as they need: WRITEs and
 * READs of one run of bytes, not too long.
 *
 * There are no rules here: what does not answer all questions in the usual way is left, with
 * nothing changed, to host/placement.c. SOFTIB_FAST=0 closes this lane as well.
 */
#ifndef SOFTIB_HOST_PLACEMENT_LANE_H
#define SOFTIB_HOST_PLACEMENT_LANE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

struct flow;
struct placement;
struct qp;
struct send_request;

/* Returns how many bytes the requests had that it carried out; 0: there were none. They may have
 * ended the queue pair, and the placement. */
uint32_t placement_lane_run(struct placement *placement, struct qp *qp, struct flow *flow,
			    time_ns now);

/* Carries out a request instead of posting it. Of many queue pairs the send queues are more memory
 * than the processor's caches hold, and what never waits needs none of it. false: nothing was done. */
MUST_USE bool placement_lane_post(struct placement *placement, struct qp *qp, struct flow *flow,
				  const struct send_request *request, time_ns now);

#endif
