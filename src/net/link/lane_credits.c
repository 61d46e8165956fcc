/* SPDX-License-Identifier: Apache-2.0 */
/* Link-level flow control by credits (vol 1, chapter 7; transport 8.5). */
#include "net/link/lane_credits.h"

#include "net/link/frame.h"

/* FCCL of a flow control packet from the receiver. */
static uint16_t credit_limit(const struct vl_queue *lane)
{
	return (uint16_t)((lane->peer_abr + (VL_BUFFER_BLOCKS - lane->peer_buffer_blocks)) %
			  CREDIT_MODULUS);
}

/* FCTBS of a flow control packet from the sender, which does not overtake the data before it. */
static uint16_t blocks_arrived(const struct vl_queue *lane)
{
	return (uint16_t)((unsigned)(lane->fctbs - lane->cable_blocks) % CREDIT_MODULUS);
}

void port_credits_init(struct port *port)
{
	for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++) {
		struct vl_queue *lane = &port->queues->vls[vl];

		/* Frames that are still in the peer's buffer from before stay there and count. */
		lane->fctbs = 0;
		lane->cable_blocks = 0;
		lane->peer_abr = 0;
		lane->fccl = credit_limit(lane);
		lane->lifetime_discards = 0;
		lane->stalled_until = 0;
	}
	/* Flow control packets with Op = init, one for each VL in each direction. */
	port->counters.transmit_flow_packets += port_data_vl_count(port);
	port->counters.receive_flow_packets += port_data_vl_count(port);
	port->queues->pacer.credits_due = 0;
	port->queues->pacer.credits_flying = 0;
	port->had_faults = port->faults != NULL;
}

bool port_lane_has_credits(const struct port *port, unsigned vl)
{
	return lane_may_send(&port->queues->vls[vl], frame_credit_blocks(PACKET_BYTES_MAX));
}

void port_buffer_take(struct port *port, struct frame *frame)
{
	struct vl_queue *lane = port_arrival_lane(port, frame->vl);
	unsigned blocks = frame_credit_blocks(frame->byte_count);

	frame->lane = lane;
	frame->input_vl = frame->vl;
	frame->credit_blocks = (uint16_t)blocks;
	lane->peer_abr = (uint16_t)((lane->peer_abr + blocks) % CREDIT_MODULUS);
	/* A link that duplicates may exceed the buffer: port_check_received() then drops the
	 * frame. */
	lane->peer_buffer_blocks = (uint16_t)(lane->peer_buffer_blocks + blocks);
}

/* The sender's FCTBS corrects ABR for packets that the link lost or duplicated (transport 8.5). */
static uint16_t renewed_limit(struct vl_queue *lane)
{
	lane->peer_abr = blocks_arrived(lane);
	return credit_limit(lane);
}

static void refresh(struct vl_queue *lane)
{
	if (likely(!lane->credits_are_lost))
		lane->fccl = renewed_limit(lane);
}

void port_credits_refresh(struct port *port, unsigned vl)
{
	refresh(port_arrival_lane(port, vl));
}

bool port_credits_renew(struct port *port)
{
	for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++) {
		struct vl_queue *lane = port_arrival_lane(port, vl);

		lane->fccl = renewed_limit(lane);
	}
	port->counters.transmit_flow_packets += port_data_vl_count(port);
	port->peer->counters.receive_flow_packets += port_data_vl_count(port);
	return port->peer->queues->pending != 0;
}

static void set_loss(struct port *port, bool is_lost)
{
	port->flow_control_is_lost = is_lost;
	for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++)
		port_arrival_lane(port, vl)->credits_are_lost = is_lost;
}

void port_flow_control_lose(struct port *port)
{
	set_loss(port, true);
}

void port_flow_control_find(struct port *port)
{
	set_loss(port, false);
}

bool lane_buffer_release(struct vl_queue *lane, unsigned credit_blocks)
{
	debug_assert(lane->peer_buffer_blocks >= credit_blocks);
	lane->peer_buffer_blocks = (uint16_t)(lane->peer_buffer_blocks - credit_blocks);
	refresh(lane);
	return lane->frame_count != 0;
}

void port_buffer_release_paced(struct port *port, unsigned input_vl, unsigned credit_blocks)
{
	struct vl_queue *lane = port_arrival_lane(port, input_vl);

	debug_assert(lane->peer_buffer_blocks >= credit_blocks);
	lane->peer_buffer_blocks = (uint16_t)(lane->peer_buffer_blocks - credit_blocks);
	port->queues->pacer.credits_due |= (uint16_t)(1u << input_vl);
}

unsigned port_credits_depart(struct port *port)
{
	struct port_pacer *pacer = &port->queues->pacer;
	unsigned count = 0;

	for (unsigned due = pacer->credits_due; due; due &= due - 1) {
		struct vl_queue *lane = port_arrival_lane(port, (unsigned)__builtin_ctz(due));

		lane->flying_fccl = renewed_limit(lane);
		count++;
	}
	pacer->credits_flying = port->flow_control_is_lost ? 0 : pacer->credits_due;
	pacer->credits_due = 0;
	port->counters.transmit_flow_packets += count;
	return count;
}

bool port_credits_arrive(struct port *port)
{
	struct port_pacer *pacer = &port->queues->pacer;
	bool can_go_on = false;

	for (unsigned flying = pacer->credits_flying; flying; flying &= flying - 1) {
		struct vl_queue *lane = port_arrival_lane(port, (unsigned)__builtin_ctz(flying));
		unsigned ahead = (unsigned)(lane->flying_fccl - lane->fccl) % CREDIT_MODULUS;

		port->peer->counters.receive_flow_packets++;
		/* Frames that left meanwhile have brought a later limit. */
		if (ahead > CREDIT_WINDOW)
			continue;
		lane->fccl = lane->flying_fccl;
		can_go_on |= lane->frame_count != 0;
	}
	pacer->credits_flying = 0;
	return can_go_on;
}

bool port_cable_is_empty(const struct port *output)
{
	for (unsigned vl = 0; vl < VL_COUNT; vl++)
		if (output->queues->vls[vl].cable_blocks)
			return false;
	return true;
}

void port_cable_take(struct port *output, const struct frame *frame)
{
	struct vl_queue *queue = &output->queues->vls[frame->vl];

	queue->cable_blocks =
		(uint16_t)(queue->cable_blocks + frame_credit_blocks(frame->byte_count));
}

void port_cable_release(struct port *output, const struct frame *frame)
{
	struct vl_queue *queue = &output->queues->vls[frame->vl];

	queue->cable_blocks =
		(uint16_t)(queue->cable_blocks - frame_credit_blocks(frame->byte_count));
}
