/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static rate control at the source port of a paced fabric (vol 1, chapter 9; transport 8.8):
 * frames to one DLID start no closer together than their static rate allows.
 *
 * There is a gate per (source port, DLID), and per queue pair where congestion control is on. A
 * gate lets one frame at a time into the port's queue and holds the others, so that they do not
 * delay other flows.
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

/* A frame with a static rate, or of a port that reacts to congestion, is about to enter the queue
 * of its VL (frame->vl). True: the gate holds it and queues it itself later. */
MUST_USE bool rate_gate_holds(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now);

/* A frame of a gate starts to leave. */
void rate_gate_started(struct fabric *fabric, struct port *port, const struct frame *frame,
		       time_ns now);

/* Packets of this queue pair (0: not known) to this DLID met congestion: the gate keeps them
 * further apart for a while. True: the flow's index has reached the trigger of its SL. */
MUST_USE bool rate_gate_slow_down(struct fabric *fabric, struct port *port, uint16_t dlid,
				  uint32_t qpn, uint8_t sl, time_ns now);

/* The rules that make a flow at this port may have changed: waiting frames leave at once. */
void rate_gates_restart(struct fabric *fabric, struct port *port, time_ns now);

/* The link is down and its queues are empty: takes out one frame that a gate held; NULL: there is
 * none. */
struct frame *rate_gates_lose_next(struct fabric *fabric, struct port *port);

/* Queues the frames that are due. */
void rate_gates_run(struct fabric *fabric, time_ns now);

void rate_gates_release(struct port *port);

#endif
