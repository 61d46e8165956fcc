/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that take time, in a paced fabric.
 *
 * A port sends one frame at a time, at the data rate of its active width and speed (transport 8.9).
 * Nodes store and forward: a frame has arrived LINK_DELAY_NS after its last byte left. Until then
 * the frame occupies the receive buffer of the node that it leaves. So the sender has its credits
 * again one link delay after the buffer is empty, which is when a flow control packet would arrive.
 * Where a frame ends (an adapter's endpoint, an agent, a drop), flow control packets return its
 * credits, one per virtual lane at a time, and use the wire.
 */
#ifndef SOFTIB_FABRIC_CABLES_H
#define SOFTIB_FABRIC_CABLES_H

#include <stdbool.h>
#include "base/time.h"

struct fabric;
struct frame;
struct port;

/* Whether the port can start a frame now; if not, the port is woken when it can. */
bool cable_is_free(struct fabric *fabric, struct port *output, time_ns now);

/* The first byte of the frame leaves now. */
void cable_launch(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now);

/* The receive buffer of this port has room: sends flow control packets to its peer. */
void cable_return_credits(struct fabric *fabric, struct port *input, time_ns now);

/* The link is down: takes out one frame that was on this port's cable; NULL: there is none. */
struct frame *cable_lose_next(struct fabric *fabric, struct port *output);

/* Handles every event on cables and wires that is due now; frames that arrive go to
 * fabric_cross_cable(). Returns the number of frames that arrived. */
unsigned cables_run(struct fabric *fabric, time_ns now);
time_ns cables_deadline(const struct fabric *fabric);

#endif
