/* SPDX-License-Identifier: Apache-2.0 */
/* How frames move inside a node of the fabric: queues, buffers, drops, and the way to an output. */
#include "fabric/movement.h"

#include "base/bytes.h"
#include "fabric/cables.h"
#include "fabric/node_agents.h"
#include "fabric/rate_gates.h"
#include "fabric/tap.h"
#include "net/link/detail_counters.h"
#include "net/link/frame_crc.h"
#include "net/link/lane_credits.h"
#include "net/link/port_queues.h"
#include "net/switch/forwarding.h"
#include "wire/pkey.h"

void fabric_wake(struct fabric *fabric, struct port *port)
{
	if (port->queues->is_awake)
		return;
	port->queues->is_awake = true;
	fabric->work.ports[fabric->work.tail++ & fabric->work.mask] = port;
}

void fabric_note_paths_changed(struct fabric *fabric)
{
	fabric->path_changes++;
	if (fabric->owner.paths_changed)
		fabric->owner.paths_changed(fabric->owner.context);
}

void fabric_release_buffer(struct fabric *fabric, struct frame *frame)
{
	unsigned credit_blocks = frame->credit_blocks;

	if (credit_blocks == 0)
		return;
	frame->credit_blocks = 0;
	if (!lane_buffer_release(frame->lane, credit_blocks))
		return;

	const struct port_queues *sender = frame->lane->queues;

	/* A sender that waits for its wire is woken when the wire is free. */
	if (!wheel_event_is_armed(&sender->pacer.wire))
		fabric_wake(fabric, sender->port);
}

void fabric_return_buffer(struct fabric *fabric, struct port *input, unsigned input_vl,
			  unsigned credit_blocks)
{
	if (credit_blocks == 0)
		return;
	if (fabric->is_paced) {
		port_buffer_release_paced(input, input_vl, credit_blocks);
		cable_return_credits(fabric, input, fabric->now);
	} else if (lane_buffer_release(port_arrival_lane(input, input_vl), credit_blocks)) {
		fabric_wake(fabric, input->peer);
	}
}

static void end_frame(struct fabric *fabric, struct node *node, struct frame *frame,
		      enum drop_reason reason)
{
	fabric_return_buffer(fabric, &node->ports[frame->input_port], frame->input_vl,
			     frame->credit_blocks);
	if (frame->source && fabric->owner.gone)
		fabric->owner.gone(fabric->owner.context, frame, reason);
	fabric->frames_inside--;
	frame_give_back(&fabric->frames, frame);
}

void fabric_drop(struct fabric *fabric, struct port *port, struct frame *frame,
		 enum drop_reason reason)
{
	port_count_drop(port, reason);
	if (reason == DROP_LIFETIME || reason == DROP_HEAD_OF_QUEUE)
		port_count_congestion(port, frame->vl);
	/* An adapter refuses its own program's packet: that is no violation to count or to trap. */
	if (unlikely(reason == DROP_PKEY_INBOUND) ||
	    (reason == DROP_PKEY_OUTBOUND && !node_is_adapter(port->node)))
		node_agents_pkey_violation(fabric, port, frame);
	fabric_tap_see(fabric, TAP_DROPPED, port, frame, reason);
	end_frame(fabric, port->node, frame, reason);
}

void fabric_consume(struct fabric *fabric, struct node *node, struct frame *frame)
{
	end_frame(fabric, node, frame, DROP_NONE);
}

void fabric_enqueue(struct fabric *fabric, struct port *output, struct frame *frame, uint8_t vl,
		    time_ns now)
{
	frame->vl = vl;
	frame->bytes[0] = (uint8_t)(vl << 4 | (frame->bytes[0] & 0xf));
	if (unlikely(frame->has_crcs))
		frame_renew_vcrc(frame);

	bool was_pending = output->queues->pending != 0;
	enum drop_reason reason = port_enqueue(output, frame, now);

	if (unlikely(reason != DROP_NONE)) {
		fabric_drop(fabric, output, frame, reason);
		return;
	}
	/* A port with waiting frames and a busy wire is woken when the wire is free. */
	if (was_pending && fabric->is_paced && output->kind == PORT_OF_SWITCH &&
	    output->queues->pacer.free_at > now)
		return;
	fabric_wake(fabric, output);
}

void fabric_arrive(struct fabric *fabric, struct port *port, struct frame *frame)
{
	struct port_queues *queues = port->queues;

	if (frame->vl == VL_MANAGEMENT) {
		if (queues->management_arrival_count >= VL15_FRAMES_MAX) {
			fabric_drop(fabric, port, frame, DROP_VL15);
			return;
		}
		queues->management_arrival_count++;
		list_append(&queues->management_arrivals, &frame->link);
	} else {
		queues->arrival_count++;
		list_append(&queues->arrivals, &frame->link);
	}
	fabric_wake(fabric, port);
}

struct frame *fabric_copy_frame(struct fabric *fabric, const struct frame *frame)
{
	struct frame *copy = frame_take_for(&fabric->frames, frame_stored_bytes(frame));

	if (!copy)
		return NULL;
	frame_copy(copy, frame);
	copy->credit_blocks = 0;
	fabric->frames_inside++;
	return copy;
}

/* Multicast also goes to the other receivers at the sender's own port; no switch sends it back. */
static void loop_multicast(struct fabric *fabric, struct port *port, struct frame *frame)
{
	struct frame *copy = fabric_copy_frame(fabric, frame);

	if (copy)
		fabric_arrive(fabric, port, copy);
	else
		port_count_drop(port, DROP_NO_FRAME);
}

void fabric_send_from_adapter(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now)
{
	uint16_t dlid = get_be16(frame->bytes + 2);

	if (frame->vl == VL_MANAGEMENT) {
		if (port_owns_lid(port, dlid)) {
			fabric_tap_see(fabric, TAP_LOOPED, port, frame, DROP_NONE);
			fabric_arrive(fabric, port, frame);
		} else if (port_carries_management(port)) {
			fabric_enqueue(fabric, port, frame, VL_MANAGEMENT, now);
		} else {
			fabric_drop(fabric, port, frame, DROP_PORT_INACTIVE);
		}
		return;
	}

	uint8_t vl = port_output_vl(port, 0, frame->bytes[1] >> 4);

	if (vl == VL_MANAGEMENT) {
		fabric_drop(fabric, port, frame, DROP_VL_MAPPING);
		return;
	}
	frame->vl = vl;
	if (port_owns_lid(port, dlid)) {
		fabric_tap_see(fabric, TAP_LOOPED, port, frame, DROP_NONE);
		fabric_arrive(fabric, port, frame);
		return;
	}
	if (lid_is_multicast(dlid))
		loop_multicast(fabric, port, frame);
	if (unlikely((frame->static_rate || port->congestion) && fabric->is_paced) &&
	    rate_gate_holds(fabric, port, frame, now))
		return;
	fabric_enqueue(fabric, port, frame, vl, now);
}

/* A frame for the switch's own port 0. Data there is a GMP or dropped, unless an endpoint is
 * attached. */
static void arrive_at_switch(struct fabric *fabric, struct node *node, struct frame *frame,
			     time_ns now)
{
	struct port *port = &node->ports[0];

	if (port->endpoint) {
		fabric_return_buffer(fabric, &node->ports[frame->input_port], frame->input_vl,
				     frame->credit_blocks);
		frame->credit_blocks = 0;
		fabric_arrive(fabric, port, frame);
		return;
	}
	if (frame->vl == VL_MANAGEMENT || !node_agents_gmp(fabric, port, frame, now))
		fabric_drop(fabric, port, frame, DROP_NO_LISTENER);
}

static void send_decided(struct fabric *fabric, struct node *node, struct frame *frame,
			 const struct forwarding_decision *decision, time_ns now)
{
	if (decision->verdict != DROP_NONE)
		fabric_drop(fabric, &node->ports[decision->blamed_port], frame, decision->verdict);
	else if (decision->output_port == 0)
		arrive_at_switch(fabric, node, frame, now);
	else
		fabric_enqueue(fabric, &node->ports[decision->output_port], frame, decision->vl,
			       now);
}

/* The output with the longest queue. The frame itself goes there, with the receive buffer that it
 * occupies; the copies for the other outputs occupy none. So an output that does not move stops the
 * input, and there are never more blocks waiting without a buffer than with one. */
static unsigned longest_queue(const struct node *node, unsigned input_port,
			      const struct forwarding_header *header,
			      const struct port_set *outputs)
{
	unsigned longest = 0;
	int64_t most = -2;

	for (unsigned number = 0; number <= node->port_count; number++) {
		if (!port_set_has(outputs, number))
			continue;

		struct forwarding_decision decision =
			forwarding_output(node, input_port, number, header);
		int64_t blocks = -1;

		if (decision.verdict == DROP_NONE && number != 0)
			blocks = node->ports[number].queues->vls[decision.vl].block_count;
		if (blocks > most) {
			most = blocks;
			longest = number;
		}
	}
	return longest;
}

static void replicate(struct fabric *fabric, struct node *node, unsigned input_port,
		      struct frame *frame, const struct forwarding_header *header, time_ns now)
{
	struct port_set outputs;
	enum drop_reason reason = forwarding_multicast(node, input_port, header, &outputs);

	if (reason != DROP_NONE) {
		fabric_drop(fabric, &node->ports[input_port], frame, reason);
		return;
	}

	unsigned last = longest_queue(node, input_port, header, &outputs);

	for (unsigned number = 0; number <= node->port_count; number++) {
		if (!port_set_has(&outputs, number) || number == last)
			continue;

		struct forwarding_decision decision =
			forwarding_output(node, input_port, number, header);
		struct frame *copy = fabric_copy_frame(fabric, frame);

		if (copy)
			send_decided(fabric, node, copy, &decision, now);
		else
			port_count_drop(&node->ports[number], DROP_NO_FRAME);
	}

	struct forwarding_decision decision = forwarding_output(node, input_port, last, header);

	send_decided(fabric, node, frame, &decision, now);
}

void fabric_forward(struct fabric *fabric, struct node *node, unsigned input_port,
		    struct frame *frame, time_ns now)
{
	if (frame_read_header(frame))
		fabric_forward_read(fabric, node, input_port, frame, now);
	else
		fabric_drop(fabric, &node->ports[input_port], frame, DROP_MALFORMED);
}

void fabric_forward_read(struct fabric *fabric, struct node *node, unsigned input_port,
			 struct frame *frame, time_ns now)
{
	if (unlikely(lid_is_multicast(frame->header.dlid))) {
		const struct forwarding_header header = frame->header;

		replicate(fabric, node, input_port, frame, &header, now);
		return;
	}

	struct forwarding_decision decision = forwarding_unicast(node, input_port, &frame->header);

	send_decided(fabric, node, frame, &decision, now);
}

void fabric_send_from_port_0(struct fabric *fabric, struct port *port, struct frame *frame,
			     time_ns now)
{
	if (!port->endpoint || !port_owns_lid(port, get_be16(frame->bytes + LRH_DLID_OFFSET))) {
		fabric_forward(fabric, port->node, 0, frame, now);
		return;
	}
	fabric_tap_see(fabric, TAP_LOOPED, port, frame, DROP_NONE);
	fabric_arrive(fabric, port, frame);
}
