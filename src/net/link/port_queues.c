/* SPDX-License-Identifier: Apache-2.0 */
/* A port's outputs: queues, arbitration and lifetimes (vol 1, chapter 7; transport 8.2, 8.7). */
#include "net/link/port_queues.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "net/link/detail_counters.h"
#include "net/link/lane_credits.h"
#include "net/link/frame.h"
#include "net/link/link_rate.h"

enum { STALL_LIVES = 8 };

int port_queues_create(struct port *port)
{
	struct port_queues *queues = aligned_alloc(CACHE_LINE_BYTES, sizeof(*queues));

	if (!queues)
		return -ENOMEM;
	memset(queues, 0, sizeof(*queues));
	queues->port = port;
	list_init(&queues->arrivals);
	list_init(&queues->management_arrivals);
	wheel_event_init(&queues->pacer.wire, WHEEL_WIRE);
	wheel_event_init(&queues->pacer.credits, WHEEL_CREDITS);
	for (unsigned vl = 0; vl < VL_COUNT; vl++)
		queues->vls[vl].queues = queues;
	port->queues = queues;
	port_pacer_init(port);
	return 0;
}

void port_queues_destroy(struct port *port)
{
	free(port->queues);
	port->queues = NULL;
}

static struct frame *take_first(struct port *port, unsigned vl, time_ns now)
{
	struct vl_queue *queue = &port->queues->vls[vl];
	struct frame *frame = queue->first;

	queue->first = frame->next;
	queue->first_since = now;
	__builtin_prefetch(frame->next);
	queue->block_count -= frame_credit_blocks(frame->byte_count);
	if (--queue->frame_count == 0)
		port->queues->pending &= (uint16_t) ~(1u << vl);
	return frame;
}

enum drop_reason port_enqueue(struct port *port, struct frame *frame, time_ns now)
{
	struct port_queues *queues = port->queues;
	struct vl_queue *queue = &queues->vls[frame->vl];

	if (frame->vl == VL_MANAGEMENT && queue->frame_count >= VL15_FRAMES_MAX)
		return DROP_VL15;
	if (unlikely(queue->stalled_until > now))
		return DROP_HEAD_OF_QUEUE;
	frame->next = NULL;
	if (queue->frame_count++) {
		queue->last->next = frame;
	} else {
		queue->first = frame;
		queue->first_since = now;
	}
	queue->last = frame;
	queue->block_count += frame_credit_blocks(frame->byte_count);
	/* The frames that the port waited with may have been discarded. */
	if (!queues->pending)
		queues->is_waiting = false;
	queues->pending |= (uint16_t)(1u << frame->vl);
	return DROP_NONE;
}

/* A bit per data VL that has a frame and the credits for it. */
static uint16_t ready_lanes(const struct port *port)
{
	const struct port_queues *queues = port->queues;
	unsigned ready = 0;

	for (unsigned pending = queues->pending; pending; pending &= pending - 1) {
		unsigned vl = (unsigned)__builtin_ctz(pending);
		const struct vl_queue *queue = &queues->vls[vl];

		if (lane_may_send(queue, frame_credit_blocks(queue->first->byte_count)))
			ready |= 1u << vl;
	}
	return (uint16_t)ready;
}

static struct frame *take_arbitrated(struct port *port, uint16_t ready, time_ns now)
{
	unsigned lane_count = port_data_vl_count(port);
	unsigned lost = (unsigned)ready >> lane_count;

	if (!ready)
		return NULL;
	/* A manager disabled VLs while packets waited on them, and no table serves those. */
	if (unlikely(lost))
		return take_first(port, lane_count + (unsigned)__builtin_ctz(lost), now);
	/* Ports with one data VL need no tables. */
	if (lane_count == 1)
		return take_first(port, 0, now);

	struct arbitration chosen = port_arbitrate(port, ready);

	if (chosen.vl < 0)
		return NULL;

	struct frame *frame = take_first(port, (unsigned)chosen.vl, now);

	port_arbitration_charge(port, chosen.table, frame_credit_blocks(frame->byte_count));
	return frame;
}

static void settle_stop(struct port *port, time_ns now)
{
	struct port_queues *queues = port->queues;

	if (!queues->is_stopped || now <= queues->stopped_since)
		return;
	queues->wait_ns += now - queues->stopped_since;
	queues->stopped_since = now;
	port->counters.transmit_wait += queues->wait_ns / XMIT_WAIT_TICK;
	queues->wait_ns %= XMIT_WAIT_TICK;
}

/* The frames that the port waited with were discarded. */
static void forget_waits(struct port *port)
{
	port->queues->is_stopped = false;
	if (port->details)
		port->details->waiting_lanes = 0;
}

/* PortXmitWait counts the ticks in which there were data to send but no credits, and
 * PortVLXmitWait those of each VL (management 6.1). */
static void note_waiting(struct port *port, const struct frame *frame, uint16_t waiting,
			 time_ns now)
{
	struct port_queues *queues = port->queues;

	if (!queues->is_waiting)
		forget_waits(port);
	settle_stop(port, now);
	if (!frame && !queues->is_stopped)
		queues->stopped_since = now;
	queues->is_stopped = !frame;
	port_note_waiting_lanes(port, waiting, now);
	queues->is_waiting = waiting || !frame;
}

void port_settle_waits(struct port *port, time_ns now)
{
	if (!port->queues->is_waiting || !port->queues->pending)
		forget_waits(port);
	settle_stop(port, now);
	port_settle_details(port, now);
}

struct frame *port_next_to_send(struct port *port, time_ns now)
{
	struct port_queues *queues = port->queues;

	if (!queues->pending || !port_carries_management(port) || !port->peer)
		return NULL;
	if (queues->pending & (1u << VL_MANAGEMENT))
		return take_first(port, VL_MANAGEMENT, now);

	uint16_t pending = queues->pending;
	uint16_t ready = ready_lanes(port);
	struct frame *frame = take_arbitrated(port, ready, now);

	if (unlikely(!frame || pending != ready || queues->is_waiting))
		note_waiting(port, frame, (uint16_t)(pending & ~ready), now);
	if (frame) {
		struct vl_queue *queue = &queues->vls[frame->vl];

		queue->fctbs = (uint16_t)((queue->fctbs + frame_credit_blocks(frame->byte_count)) %
					  CREDIT_MODULUS);
		queue->lifetime_discards = 0;
	}
	return frame;
}

bool port_may_pass(struct port *port, unsigned vl, uint32_t blocks, time_ns now,
		   enum arbitration_table *ret_table)
{
	const struct port_queues *queues = port->queues;
	const struct vl_queue *queue = &queues->vls[vl];

	if (queues->pending || queue->stalled_until > now || !lane_may_send(queue, blocks))
		return false;
	*ret_table = TABLE_LOW;
	if (port_data_vl_count(port) == 1)
		return vl == 0;

	struct arbitration chosen = port_arbitrate(port, (uint16_t)(1u << vl));

	*ret_table = chosen.table;
	return chosen.vl >= 0;
}

void port_pass(struct port *port, unsigned vl, uint32_t blocks, enum arbitration_table table)
{
	struct vl_queue *queue = &port->queues->vls[vl];

	if (port_data_vl_count(port) > 1)
		port_arbitration_charge(port, table, blocks);
	/* The frames that the port waited with may have been discarded. */
	port->queues->is_waiting = false;
	queue->fctbs = (uint16_t)((queue->fctbs + blocks) % CREDIT_MODULUS);
	queue->lifetime_discards = 0;
}

/* TIME_NEVER: none. */
static time_ns head_of_queue_life(const struct port *port)
{
	return port->info.hoq_life <= LIFETIME_CODE_MAX ? time_from_code(port->info.hoq_life)
							: TIME_NEVER;
}

static time_ns later(time_ns start, time_ns life)
{
	return life == TIME_NEVER ? TIME_NEVER : start + life;
}

/* When the first frame of this queue exceeds one of its two life limits (transport 8.7). */
static time_ns first_expires(const struct port *port, const struct vl_queue *queue,
			     time_ns switch_life)
{
	return time_earlier(later(queue->first_since, head_of_queue_life(port)),
			    later(queue->first->node_entered_at, switch_life));
}

time_ns port_lifetime_deadline(const struct port *port, time_ns switch_life)
{
	time_ns earliest = TIME_NEVER;

	if (port->kind != PORT_OF_SWITCH)
		return earliest;
	for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++)
		if (port->queues->pending & (1u << vl))
			earliest = time_earlier(
				earliest, first_expires(port, &port->queues->vls[vl], switch_life));
	return earliest;
}

/* VLStallCount: after this many head-of-queue discards in a row, the VL discards at once for a
 * while (transport 8.7). */
static void count_discard(const struct port *port, struct vl_queue *queue, time_ns now)
{
	if (!port->info.vl_stall_count || ++queue->lifetime_discards < port->info.vl_stall_count)
		return;
	queue->stalled_until = now + STALL_LIVES * head_of_queue_life(port);
	queue->lifetime_discards = 0;
}

static void end_waits(struct port *port, time_ns now)
{
	settle_stop(port, now);
	port_note_waiting_lanes(port, 0, now);
	port->queues->is_waiting = false;
}

struct frame *port_next_expired(struct port *port, time_ns switch_life, time_ns now,
				enum drop_reason *ret_reason)
{
	time_ns life = head_of_queue_life(port);

	if (port->kind != PORT_OF_SWITCH)
		return NULL;
	for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++) {
		struct vl_queue *queue = &port->queues->vls[vl];

		if (!(port->queues->pending & (1u << vl)))
			continue;

		bool is_stalled = queue->stalled_until > now;
		bool waited = later(queue->first_since, life) <= now;

		if (!is_stalled && first_expires(port, queue, switch_life) > now)
			continue;
		if (!is_stalled && waited)
			count_discard(port, queue, now);
		*ret_reason = is_stalled || waited ? DROP_HEAD_OF_QUEUE : DROP_LIFETIME;

		struct frame *frame = take_first(port, vl, now);

		/* Nothing is left that could wait. */
		if (!port->queues->pending && port->queues->is_waiting)
			end_waits(port, now);
		return frame;
	}
	return NULL;
}

struct frame *port_flush_next(struct port *port)
{
	for (unsigned vl = 0; vl < VL_COUNT; vl++)
		if (port->queues->pending & (1u << vl))
			return take_first(port, vl, 0);
	return NULL;
}
