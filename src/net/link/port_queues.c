/* SPDX-License-Identifier: Apache-2.0 */
/* A port's outputs: queues, credits, arbitration and lifetimes (vol 1, chapter 7). */
#include "net/link/port_queues.h"

#include <errno.h>
#include <stdlib.h>
#include "net/link/frame.h"

enum { CREDIT_MODULUS = 4096, CREDIT_WINDOW = 2048, HIGH_LIMIT_BYTES = 4096, HIGH_UNLIMITED = 255 };
enum { TABLE_LOW, TABLE_HIGH };

int port_queues_create(struct port *port)
{
	struct port_queues *queues = calloc(1, sizeof(*queues));

	if (!queues)
		return -ENOMEM;
	queues->port = port;
	for (unsigned vl = 0; vl < VL_COUNT; vl++)
		list_init(&queues->vls[vl].frames);
	list_init(&queues->arrivals);
	list_init(&queues->management_arrivals);
	port->queues = queues;
	return 0;
}

void port_queues_destroy(struct port *port)
{
	free(port->queues);
	port->queues = NULL;
}

unsigned port_data_vl_count(const struct port *port)
{
	static const uint8_t counts[16] = {1, 1, 2, 4, 8, 15, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

	return counts[port->info.operational_vls & 15];
}

/* --- credits: chapter 7, flow control --- */

static uint16_t credit_limit(const struct vl_queue *receiver)
{
	return (uint16_t)((receiver->abr + (VL_BUFFER_BLOCKS - receiver->buffer_blocks)) %
			  CREDIT_MODULUS);
}

void port_credits_init(struct port *port)
{
	for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++) {
		struct vl_queue *sender = &port->queues->vls[vl];
		struct vl_queue *receiver = &port->peer->queues->vls[vl];

		/* What is still in the peer's buffer from before stays there and counts. */
		sender->fctbs = 0;
		receiver->abr = 0;
		sender->fccl = credit_limit(receiver);
		sender->lifetime_discards = 0;
		sender->stalled_until = 0;
	}
}

static bool may_send(const struct vl_queue *queue, uint32_t blocks)
{
	uint32_t room = (uint32_t)(queue->fccl - (queue->fctbs + blocks)) % CREDIT_MODULUS;

	return room <= CREDIT_WINDOW;
}

void port_buffer_take(struct port *port, struct frame *frame)
{
	struct vl_queue *queue = &port->queues->vls[frame->vl];

	frame->input_vl = frame->vl;
	frame->credit_blocks = (uint16_t)frame_credit_blocks(frame->byte_count);
	queue->abr = (uint16_t)((queue->abr + frame->credit_blocks) % CREDIT_MODULUS);
	queue->buffer_blocks = (uint16_t)(queue->buffer_blocks + frame->credit_blocks);
	debug_assert(queue->buffer_blocks <= VL_BUFFER_BLOCKS);
}

void port_credits_refresh(struct port *port, unsigned vl)
{
	struct vl_queue *receiver = &port->queues->vls[vl];
	struct vl_queue *sender = &port->peer->queues->vls[vl];

	receiver->abr = sender->fctbs;
	sender->fccl = credit_limit(receiver);
}

bool port_buffer_release(struct port *port, unsigned input_vl, unsigned credit_blocks)
{
	struct vl_queue *queue = &port->queues->vls[input_vl];

	debug_assert(queue->buffer_blocks >= credit_blocks);
	queue->buffer_blocks = (uint16_t)(queue->buffer_blocks - credit_blocks);
	if (!port->peer)
		return false;
	port_credits_refresh(port, input_vl);
	return port->peer->queues->vls[input_vl].frame_count != 0;
}

/* --- queues --- */

static struct frame *first_frame(const struct vl_queue *queue)
{
	return container_of(queue->frames.next, struct frame, link);
}

static struct frame *take_first(struct port *port, unsigned vl, time_ns now)
{
	struct vl_queue *queue = &port->queues->vls[vl];
	struct frame *frame = first_frame(queue);

	list_remove(&frame->link);
	queue->block_count -= frame_credit_blocks(frame->byte_count);
	if (--queue->frame_count == 0)
		port->queues->pending &= (uint16_t) ~(1u << vl);
	else
		first_frame(queue)->queued_at = now;
	return frame;
}

enum drop_reason port_enqueue(struct port *port, struct frame *frame, time_ns now)
{
	struct port_queues *queues = port->queues;
	struct vl_queue *queue = &queues->vls[frame->vl];

	if (frame->vl == VL_MANAGEMENT && queue->frame_count >= VL15_FRAMES_MAX)
		return DROP_VL15;
	if (unlikely(queue->stalled_until > now))
		return DROP_LIFETIME;
	frame->queued_at = now;
	list_append(&queue->frames, &frame->link);
	queue->frame_count++;
	queue->block_count += frame_credit_blocks(frame->byte_count);
	queues->pending |= (uint16_t)(1u << frame->vl);
	return DROP_NONE;
}

/* --- arbitration: chapter 7, VL arbitration and prioritization --- */

static bool can_go(const struct port *port, unsigned vl)
{
	const struct port_queues *queues = port->queues;

	if (!(queues->pending & (1u << vl)))
		return false;
	return may_send(&queues->vls[vl],
			frame_credit_blocks(first_frame(&queues->vls[vl])->byte_count));
}

static unsigned table_entries(const struct port *port, unsigned table)
{
	unsigned cap = table == TABLE_HIGH ? port->info.vl_arbitration_high_cap
					   : port->info.vl_arbitration_low_cap;

	return cap < VL_ARBITRATION_ENTRIES ? cap : VL_ARBITRATION_ENTRIES;
}

/* The VL of the first entry, from the present one on, whose lane can send; -1: none. */
static int pick(struct port *port, unsigned table)
{
	struct vl_arbiter *arbiter = &port->queues->arbiter;
	unsigned entry_count = table_entries(port, table);

	/* The present entry comes up twice: with what it has left, and last with its full weight.
	 */
	for (unsigned tried = 0; tried <= entry_count && entry_count; tried++) {
		unsigned entry = (arbiter->entry[table] + tried) % entry_count;
		const uint8_t *row = port->vl_arbitration[table][entry];

		if (row[1] == 0 || (tried == 0 && arbiter->left[table] <= 0) ||
		    row[0] >= VL_MANAGEMENT)
			continue;
		if (!can_go(port, row[0]))
			continue;
		if (tried != 0) {
			arbiter->entry[table] = (uint8_t)entry;
			arbiter->left[table] = row[1] * CREDIT_BLOCK_BYTES;
		}
		return row[0];
	}
	return -1;
}

static int32_t high_limit(const struct port *port)
{
	return port->info.vl_high_limit * HIGH_LIMIT_BYTES;
}

static struct frame *take_arbitrated(struct port *port, unsigned table, unsigned vl, time_ns now)
{
	struct vl_arbiter *arbiter = &port->queues->arbiter;
	struct frame *frame = take_first(port, vl, now);
	int32_t bytes = (int32_t)frame_credit_blocks(frame->byte_count) * CREDIT_BLOCK_BYTES;

	/* An entry may overdraw by part of one packet. */
	arbiter->left[table] -= bytes;
	if (table == TABLE_LOW)
		arbiter->high_left = high_limit(port);
	else if (port->info.vl_high_limit != HIGH_UNLIMITED)
		arbiter->high_left -= bytes;
	return frame;
}

static struct frame *arbitrate(struct port *port, time_ns now)
{
	struct vl_arbiter *arbiter = &port->queues->arbiter;

	/* Tables are for ports with more than one data lane. */
	if (port_data_vl_count(port) == 1)
		return can_go(port, 0) ? take_first(port, 0, now) : NULL;

	bool low_is_due = port->info.vl_high_limit != HIGH_UNLIMITED && arbiter->high_left <= 0;
	int vl;

	if (low_is_due) {
		vl = pick(port, TABLE_LOW);
		if (vl >= 0)
			return take_arbitrated(port, TABLE_LOW, (unsigned)vl, now);
		arbiter->high_left = high_limit(port);
	}
	vl = pick(port, TABLE_HIGH);
	if (vl >= 0)
		return take_arbitrated(port, TABLE_HIGH, (unsigned)vl, now);
	vl = pick(port, TABLE_LOW);
	return vl >= 0 ? take_arbitrated(port, TABLE_LOW, (unsigned)vl, now) : NULL;
}

struct frame *port_next_to_send(struct port *port, time_ns now)
{
	struct port_queues *queues = port->queues;

	if (!queues->pending || !port_carries_management(port) || !port->peer)
		return NULL;
	if (queues->pending & (1u << VL_MANAGEMENT))
		return take_first(port, VL_MANAGEMENT, now);

	struct frame *frame = arbitrate(port, now);

	if (frame) {
		struct vl_queue *queue = &queues->vls[frame->vl];

		queue->fctbs = (uint16_t)((queue->fctbs + frame_credit_blocks(frame->byte_count)) %
					  CREDIT_MODULUS);
		queue->lifetime_discards = 0;
	}
	return frame;
}

/* --- lifetimes: head of queue, and VLs that stall --- */

static bool has_lifetime(const struct port *port)
{
	return port->kind == PORT_OF_SWITCH && port->info.hoq_life <= LIFETIME_CODE_MAX;
}

time_ns port_lifetime_deadline(const struct port *port)
{
	time_ns earliest = TIME_NEVER;

	if (!has_lifetime(port))
		return earliest;
	for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++)
		if (port->queues->pending & (1u << vl))
			earliest = time_earlier(earliest,
						first_frame(&port->queues->vls[vl])->queued_at);
	return earliest == TIME_NEVER ? earliest : earliest + time_from_code(port->info.hoq_life);
}

struct frame *port_next_expired(struct port *port, time_ns now)
{
	if (!has_lifetime(port))
		return NULL;

	time_ns life = time_from_code(port->info.hoq_life);

	for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++) {
		struct vl_queue *queue = &port->queues->vls[vl];

		if (!(port->queues->pending & (1u << vl)) ||
		    first_frame(queue)->queued_at + life > now)
			continue;
		if (port->info.vl_stall_count &&
		    ++queue->lifetime_discards >= port->info.vl_stall_count) {
			queue->stalled_until = now + 8 * life;
			queue->lifetime_discards = 0;
		}
		return take_first(port, vl, now);
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
