/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commonest of the requests that go past the packets, in as few steps as it needs: a WRITE of
 * one packet's length at most to memory that the peer shares.
 *
 * There are no rules here: what does not answer all questions in the usual way is left, with
 * nothing changed, to host/placement.c. SOFTIB_FAST=0 closes this lane as well.
 */
#ifndef SOFTIB_HOST_PLACEMENT_LANE_H
#define SOFTIB_HOST_PLACEMENT_LANE_H

#include "base/time.h"

struct flow;
struct placement;
struct qp;

/* Returns how many requests it carried out. They may have ended the queue pair, and the placement.
 */
unsigned placement_lane_run(struct placement *placement, struct qp *qp, struct flow *flow,
			    time_ns now);

#endif
