/* SPDX-License-Identifier: Apache-2.0 */
/* How frames move inside the fabric: what the files of this layer share. */
#ifndef SOFTIB_FABRIC_MOVEMENT_H
#define SOFTIB_FABRIC_MOVEMENT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "fabric/fabric_state.h"

/* The port has something to do. */
void fabric_wake(struct fabric *fabric, struct port *port);

/* The frame no longer occupies the receive buffer it came in by. */
void fabric_release_buffer(struct fabric *fabric, struct frame *frame);

/* The same where the frame ends: in a paced fabric the credits take a link delay to get back. */
void fabric_return_buffer(struct fabric *fabric, struct port *input, unsigned input_vl,
			  unsigned credit_blocks);

/* Something changed that may alter where packets go. */
void fabric_note_paths_changed(struct fabric *fabric);

/* A data frame is at this CA port: whether it is gone (taken, answered or dropped) or must be
 * offered again; and the last part of that, for one that is surely for the endpoint
 * (fabric/step.c). */
MUST_USE bool fabric_hand_over(struct fabric *fabric, struct port *port, struct frame *frame,
			       time_ns now);
MUST_USE bool fabric_give(struct fabric *fabric, struct port *port, struct frame *frame);

/* The frame is at the far end of this port's cable, if it does not get
 * lost there (fabric/step.c). */
void fabric_reach_other_end(struct fabric *fabric, struct port *output, struct frame *frame,
			    time_ns now);

/* The frame is at this port, the end of a cable (fabric/step.c). */
void fabric_receive(struct fabric *fabric, struct port *input, struct frame *frame, time_ns now);
/* A copy arrives there, too. */
void fabric_duplicate(struct fabric *fabric, struct port *input, const struct frame *frame,
		      time_ns now);
/* Ends a frame that is on the cable of this port; no port counts it. */
void fabric_lose_on_link(struct fabric *fabric, struct port *output, struct frame *frame);

/* Ends a frame that is at this port's node, counted at this port. */
void fabric_drop(struct fabric *fabric, struct port *port, struct frame *frame,
		 enum drop_reason reason);
/* A copy of its own, which occupies no receive buffer and has no source; NULL when the pool is
 * empty. */
struct frame *fabric_copy_frame(struct fabric *fabric, const struct frame *frame);

/* Ends a frame that an agent read, without a drop. */
void fabric_consume(struct fabric *fabric, struct node *node, struct frame *frame);

/* Queues on an output of the node that the frame is in. */
void fabric_enqueue(struct fabric *fabric, struct port *output, struct frame *frame, uint8_t vl,
		    time_ns now);

/* A frame for whoever is at this CA port: agents or endpoint. */
void fabric_arrive(struct fabric *fabric, struct port *port, struct frame *frame);

/* From a CA port outwards, or back to itself if the DLID is its own. The frame has been checked. */
void fabric_send_from_adapter(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now);
/* The same from a switch's port 0, by the switch's tables. */
void fabric_send_from_port_0(struct fabric *fabric, struct port *port, struct frame *frame,
			     time_ns now);
/* By the switch's tables; input_port 0: from its management port. */
void fabric_forward(struct fabric *fabric, struct node *node, unsigned input_port,
		    struct frame *frame, time_ns now);
/* The same for one whose header was read. */
void fabric_forward_read(struct fabric *fabric, struct node *node, unsigned input_port,
			 struct frame *frame, time_ns now);

/* Errors of this port's link have come to what this says. */
void fabric_link_error(struct fabric *fabric, struct port *port, enum link_error_action action);

/* A port's state changed and not by a Set on it. */
void fabric_note_state_change(struct fabric *fabric, struct port *port);

#endif
