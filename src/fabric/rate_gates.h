/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static rate control at the source port of a paced fabric (vol 1, chapter 9): frames to one DLID
 * start no closer to each other than their static rate says.
 *
 * A gate per (source port, DLID), and where congestion is controlled per queue pair too, lets one
 * frame at a time into the port's queue and keeps the others, so that they hold up nobody else's.
 */
#ifndef SOFTIB_FABRIC_RATE_GATES_H
#define SOFTIB_FABRIC_RATE_GATES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

struct fabric;
struct frame;
struct port;

/* Whether another frame of this flow may be injected. */
bool rate_gate_has_room(const struct port *port, const struct frame *frame);

/* A frame with a static rate, or of a port that reacts to congestion, wants into the queue of its
 * lane (frame->vl). True: the gate keeps it for now, and queues it itself later. */
MUST_USE bool rate_gate_holds(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now);

/* Such a frame starts to leave. */
void rate_gate_started(struct fabric *fabric, struct port *port, const struct frame *frame,
		       time_ns now);

/* Packets of this queue pair (0: of those that can't be told of) to this DLID met congestion: they
 * are kept further apart for a while. True: the flow's index has reached the trigger of its SL. */
MUST_USE bool rate_gate_slow_down(struct fabric *fabric, struct port *port, uint16_t dlid,
				  uint32_t qpn, uint8_t sl, time_ns now);

/* What makes a flow at this port may have changed: what waits goes at once. */
void rate_gates_restart(struct fabric *fabric, struct port *port, time_ns now);

/* The link is down, the queues are empty: takes out any frame that was kept; NULL: there is none.
 */
struct frame *rate_gates_lose_next(struct fabric *fabric, struct port *port);

/* Queues the frames whose time has come. */
void rate_gates_run(struct fabric *fabric, time_ns now);

void rate_gates_release(struct port *port);

#endif
