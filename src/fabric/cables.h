/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cables that take time: what a paced fabric adds to one whose links are as fast as the machine.
 *
 * A port sends one frame at a time, at the data rate of its active width and speed. A frame has
 * arrived when its last byte has (nodes store and forward), LINK_DELAY_NS after that byte left.
 * Until then it occupies the receive buffer of the node it comes from, so that the credits for it
 * are with the sender before one link delay after the buffer is empty: that is when the flow
 * control packet would be there. Where a frame ends (an adapter's endpoint, an agent, a drop), flow
 * control packets are sent for it, one per lane at a time, and use the wire.
 */
#ifndef SOFTIB_FABRIC_CABLES_H
#define SOFTIB_FABRIC_CABLES_H

#include <stdbool.h>
#include "base/time.h"

struct fabric;
struct frame;
struct port;

/* Whether the port can start a frame now; if not, it is woken when it can. */
bool cable_is_free(struct fabric *fabric, struct port *output, time_ns now);

/* The first byte leaves now. */
void cable_launch(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now);

/* Room in the receive buffer of a port is to be told to its peer. */
void cable_return_credits(struct fabric *fabric, struct port *input, time_ns now);

/* The link is down: takes out any frame that was on this port's cable; NULL: there is none. */
struct frame *cable_lose_next(struct fabric *fabric, struct port *output);

/* Everything on cables and wires that is due at this instant; due arrivals go to
 * fabric_reach_other_end. Returns how many frames arrived. */
unsigned cables_run(struct fabric *fabric, time_ns now);
time_ns cables_deadline(const struct fabric *fabric);

#endif
