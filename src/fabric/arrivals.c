/* SPDX-License-Identifier: Apache-2.0 */
/* Frames at the far end of a cable: lost, duplicated or received; then on through a switch or a
 * router, or to an adapter. Implements part of fabric/movement.h. */
#include "fabric/movement.h"

#include "fabric/congestion_control.h"
#include "fabric/link_faults.h"
#include "fabric/node_agents.h"
#include "fabric/routers.h"
#include "fabric/tap.h"
#include "net/link/counters.h"
#include "net/link/detail_counters.h"
#include "net/link/lane_credits.h"
#include "net/link/receive_checks.h"
#include "wire/packet.h"
#include "wire/pkey.h"

static void receive_at_switch(struct fabric *fabric, struct port *input, struct frame *frame,
			      time_ns now)
{
	struct node *node = input->node;
	uint16_t dlid = frame->header.dlid;

	if (unlikely(frame->header.is_management) &&
	    (dlid == LID_PERMISSIVE || port_owns_lid(&node->ports[0], dlid))) {
		/* The manager at port 0 takes every SMP, so the frame never has to wait. */
		bool is_done = node_agents_smp(fabric, input, frame, now);

		assert(is_done);
		return;
	}
	fabric_forward_read(fabric, node, input->number, frame, now);
}

/* The first data packet tells an Armed port that its neighbour is Active (transport 8.3). */
static void notice_active_neighbour(struct fabric *fabric, struct port *port)
{
	port->info.port_state = PORT_ACTIVE;
	port->state_changes++;
	fabric_note_state_change(fabric, port);
	fabric_note_paths_changed(fabric);
}

/* Whether a router forwards or drops the frame, so that it does not end here. */
static bool is_routed(struct fabric *fabric, struct port *input, struct frame *frame, time_ns now)
{
	struct lrh lrh;

	return !frame->header.is_management && lrh_decode(frame->bytes, frame->byte_count, &lrh) &&
	       routers_take(fabric, input, frame, &lrh, now);
}

void fabric_receive(struct fabric *fabric, struct port *input, struct frame *frame, time_ns now)
{
	frame->node_entered_at = now;
	frame->input_port = input->number;
	if (frame->vl != VL_MANAGEMENT)
		port_buffer_take(input, frame);
	if (unlikely(frame->fault_actions & FAULT_CREDIT_LOSS))
		faults_keep_credits(input, frame);

	enum drop_reason reason = port_check_received(input, frame);

	if (reason != DROP_NONE) {
		fabric_drop(fabric, input, frame, reason);
		if (reason == DROP_VCRC)
			fabric_link_error(fabric, input, port_note_bad_packet(input));
		return;
	}
	if (unlikely(link_errors_linger(&input->errors)))
		port_note_good_packet(input);
	port_count_receive(input, frame->header.dlid, frame->header.sl, frame->vl,
			   frame_words(frame));
	if (unlikely(input->counts_opcode))
		port_see_opcode(input, frame);
	if (unlikely(fabric->has_marks || input->congestion))
		congestion_count_marks(input, frame);
	fabric_tap_see(fabric, TAP_RECEIVED, input, frame, DROP_NONE);
	if (unlikely(!frame->header.is_management && input->info.port_state == PORT_ARMED))
		notice_active_neighbour(fabric, input);
	if (input->kind == PORT_OF_SWITCH)
		receive_at_switch(fabric, input, frame, now);
	else if (likely(!node_is_router(input->node)) || !is_routed(fabric, input, frame, now))
		fabric_arrive(fabric, input, frame);
}

void fabric_duplicate(struct fabric *fabric, struct port *input, const struct frame *frame,
		      time_ns now)
{
	struct frame *copy = frame_take_for(&fabric->frames, frame_stored_bytes(frame));

	if (!copy)
		return;
	frame_copy(copy, frame);
	copy->credit_blocks = 0;
	fabric->frames_inside++;
	/* The sender spent no credit for the copy, as with a link that repeats a packet. */
	if (port_arrival_lane(input, copy->vl)->peer_buffer_blocks +
		    frame_credit_blocks(copy->byte_count) >
	    VL_BUFFER_BLOCKS) {
		fabric_drop(fabric, input, copy, DROP_OVERRUN);
		fabric_link_error(fabric, input, port_note_overrun(input));
		return;
	}
	fabric_receive(fabric, input, copy, now);
}

void fabric_lose_on_link(struct fabric *fabric, struct port *output, struct frame *frame)
{
	if (frame->vl != VL_MANAGEMENT)
		port_credits_refresh(output->peer, frame->vl);
	if (frame->source && fabric->owner.gone)
		fabric->owner.gone(fabric->owner.context, frame, DROP_FAULT);
	fabric->frames_inside--;
	frame_give_back(&fabric->frames, frame);
}

void fabric_cross_cable(struct fabric *fabric, struct port *output, struct frame *frame,
			time_ns now)
{
	fabric_release_buffer(fabric, frame);
	if (unlikely(output->faults))
		faults_carry(fabric, output, frame, now);
	else
		fabric_receive(fabric, output->peer, frame, now);
}
