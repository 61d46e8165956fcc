/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Congestion control in the fabric (vol 1, annex A10; transport 8.13): switches mark packets
 * (FECN). The adapter that receives a marked packet tells its source with a BECN: in the next
 * packet of a reliable service, in a CNP otherwise. The source then keeps packets to that
 * destination further apart. Off unless ports were set (net/link/congestion_state.h); the delay
 * needs a paced fabric.
 */
#ifndef SOFTIB_FABRIC_CONGESTION_CONTROL_H
#define SOFTIB_FABRIC_CONGESTION_CONTROL_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/agents/agents.h"

struct fabric;
struct frame;
struct port;

/* Sets every node as agent_control_congestion() does. -ENOMEM. */
MUST_USE int congestion_control_set(struct fabric *fabric, enum congestion_switch to);

/* A data frame leaves a switch by a port that has congestion state: marks it where that is due. */
void congestion_mark(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now);
/* Counts the FECN and the BECN of a frame that a port received. */
void congestion_count_marks(struct port *port, struct frame *frame);
/* A data frame is injected at an adapter's port that has congestion state: sets BECN where one is
 * owed. */
void congestion_set_becn(struct port *port, struct frame *frame);
/* A data frame arrived at an adapter. The port has congestion state, or the fabric has marked
 * packets: every adapter answers a FECN. True: the frame was a CNP and is gone. */
MUST_USE bool congestion_receive(struct fabric *fabric, struct port *port, struct frame *frame,
				 time_ns now);

#endif
