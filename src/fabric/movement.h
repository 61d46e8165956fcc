/* SPDX-License-Identifier: Apache-2.0 */
/* How frames move inside the fabric: shared by the files of this folder. movement.c implements what
 * is inside a node, arrivals.c the far end of a cable, step.c the way to an endpoint, fabric.c
 * state changes and link errors. */
#ifndef SOFTIB_FABRIC_MOVEMENT_H
#define SOFTIB_FABRIC_MOVEMENT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "fabric/fabric_state.h"

/* The port has a frame to send or to deliver. */
void fabric_wake(struct fabric *fabric, struct port *port);

/* The frame leaves the receive buffer that it occupies. */
void fabric_release_buffer(struct fabric *fabric, struct frame *frame);

/* The receive buffer of a frame that ends here: in a paced fabric its credits take a link delay to
 * get back. */
void fabric_return_buffer(struct fabric *fabric, struct port *input, unsigned input_vl,
			  unsigned credit_blocks);

/* Something changed that may alter where packets go. */
void fabric_note_paths_changed(struct fabric *fabric);

/* Offers a data frame at this CA port to the agents and the endpoint. False: the endpoint has no
 * room; offer it again. fabric_deliver_to_endpoint() is the last part, for a frame that is not for
 * an agent (step.c). */
MUST_USE bool fabric_deliver_data(struct fabric *fabric, struct port *port, struct frame *frame,
				  time_ns now);
MUST_USE bool fabric_deliver_to_endpoint(struct fabric *fabric, struct port *port,
					 struct frame *frame);

/* The frame crosses this port's cable, unless a fault loses it (arrivals.c). */
void fabric_cross_cable(struct fabric *fabric, struct port *output, struct frame *frame,
			time_ns now);

/* The frame arrives at this port, the end of a cable (arrivals.c). */
void fabric_receive(struct fabric *fabric, struct port *input, struct frame *frame, time_ns now);
/* A copy of the frame arrives at this port, too. */
void fabric_duplicate(struct fabric *fabric, struct port *input, const struct frame *frame,
		      time_ns now);
/* Ends a frame on the cable of this port; no port counts it. */
void fabric_lose_on_link(struct fabric *fabric, struct port *output, struct frame *frame);

/* Ends a frame at this port's node, counted at this port. */
void fabric_drop(struct fabric *fabric, struct port *port, struct frame *frame,
		 enum drop_reason reason);
/* A copy that occupies no receive buffer and has no source; NULL when the pool is empty. */
struct frame *fabric_copy_frame(struct fabric *fabric, const struct frame *frame);

/* Ends a frame that an agent consumed, without a drop. */
void fabric_consume(struct fabric *fabric, struct node *node, struct frame *frame);

/* Queues the frame on an output of its present node. */
void fabric_enqueue(struct fabric *fabric, struct port *output, struct frame *frame, uint8_t vl,
		    time_ns now);

/* A frame for the agents or the endpoint of this CA port. */
void fabric_arrive(struct fabric *fabric, struct port *port, struct frame *frame);

/* From a CA port outwards, or back to itself if the DLID is its own. The frame has been checked. */
void fabric_send_from_adapter(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now);
/* From a switch's port 0, by the switch's tables. */
void fabric_send_from_port_0(struct fabric *fabric, struct port *port, struct frame *frame,
			     time_ns now);
/* Forwards by the switch's tables; input_port 0: from its management port. */
void fabric_forward(struct fabric *fabric, struct node *node, unsigned input_port,
		    struct frame *frame, time_ns now);
/* fabric_forward() for a frame whose header was read. */
void fabric_forward_read(struct fabric *fabric, struct node *node, unsigned input_port,
			 struct frame *frame, time_ns now);

/* The link errors of this port call for this action. */
void fabric_link_error(struct fabric *fabric, struct port *port, enum link_error_action action);

/* The port's state changed without a Set on it. */
void fabric_note_state_change(struct fabric *fabric, struct port *port);

#endif
