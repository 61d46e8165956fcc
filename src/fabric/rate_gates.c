/* SPDX-License-Identifier: Apache-2.0 */
/* Static rate control at source ports (vol 1, chapter 9). */
#include "fabric/rate_gates.h"

#include <stdlib.h>
#include "base/bytes.h"
#include "fabric/movement.h"
#include "net/link/congestion.h"
#include "net/link/pacing.h"
#include "net/link/port_queues.h"

enum { DLID_OFFSET = 2 };

/* A static rate holds for a DLID. With congestion control each SL has its own setting, so flows are
 * told apart by it too; or by it alone (DLID 0), where the manager wants that. */
struct flow_key {
	uint16_t dlid;
	uint8_t sl;
};

struct rate_gate {
	struct rate_gate *next; /* of the same port */
	struct port *port;
	struct flow_key key;
	bool has_queued;    /* one frame is in the port's queue and has not started */
	time_ns next_start; /* of the frame after it */
	struct list waiting;
	uint32_t block_count; /* of those that wait */
	struct ccti ccti;     /* how much congestion there was */
	struct timer timer;
};

static struct flow_key key_of(const struct port *port, uint16_t dlid, uint8_t sl)
{
	const struct congestion *congestion = port->congestion;

	return (struct flow_key){.dlid = congestion && congestion->reaction.is_per_sl ? 0 : dlid,
				 .sl = congestion ? sl : 0};
}

static uint8_t sl_of(const struct frame *frame)
{
	return frame->bytes[1] >> 4;
}

static struct flow_key key_of_frame(const struct port *port, const struct frame *frame)
{
	return key_of(port, get_be16(frame->bytes + DLID_OFFSET), sl_of(frame));
}

static struct rate_gate *find(const struct port *port, struct flow_key key)
{
	for (struct rate_gate *gate = port->queues->pacer.gates; gate; gate = gate->next)
		if (gate->key.dlid == key.dlid && gate->key.sl == key.sl)
			return gate;
	return NULL;
}

/* NULL without memory: then the frame goes at the link's rate. */
static struct rate_gate *make(struct fabric *fabric, struct port *port, struct flow_key key)
{
	if (timer_queue_reserve(&fabric->gates, fabric->gate_count + 1) != 0)
		return NULL;

	struct rate_gate *gate = calloc(1, sizeof(*gate));

	if (!gate)
		return NULL;
	gate->port = port;
	gate->key = key;
	list_init(&gate->waiting);
	gate->next = port->queues->pacer.gates;
	port->queues->pacer.gates = gate;
	fabric->gate_count++;
	return gate;
}

bool rate_gate_has_room(const struct port *port, uint16_t dlid, uint8_t sl, uint32_t byte_count)
{
	const struct rate_gate *gate = find(port, key_of(port, dlid, sl));

	return !gate || gate->block_count + frame_credit_blocks(byte_count) <= ADAPTER_QUEUE_BLOCKS;
}

bool rate_gate_holds(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	struct flow_key key = key_of_frame(port, frame);
	struct rate_gate *gate = find(port, key);

	if (!gate) {
		if (port_static_rate_ipd(port, frame->static_rate) == 0)
			return false;
		gate = make(fabric, port, key);
	}
	if (!gate)
		return false;
	if (!gate->has_queued && list_is_empty(&gate->waiting) && gate->next_start <= now) {
		gate->has_queued = true;
		return false;
	}
	list_append(&gate->waiting, &frame->link);
	gate->block_count += frame_credit_blocks(frame->byte_count);
	if (!gate->has_queued && !timer_is_armed(&gate->timer))
		timer_queue_arm(&fabric->gates, &gate->timer, gate->next_start);
	return true;
}

static struct frame *take_waiting(struct rate_gate *gate)
{
	struct list *link = list_pop(&gate->waiting);

	if (!link)
		return NULL;

	struct frame *frame = container_of(link, struct frame, link);

	gate->block_count -= frame_credit_blocks(frame->byte_count);
	return frame;
}

void rate_gate_started(struct fabric *fabric, struct port *port, const struct frame *frame,
		       time_ns now)
{
	struct rate_gate *gate = find(port, key_of_frame(port, frame));

	if (!gate)
		return;
	uint32_t wire_bytes = frame_wire_bytes(frame->byte_count);

	gate->has_queued = false;
	gate->next_start = now + port_static_rate_interval(port, frame->static_rate, wire_bytes);
	if (port->congestion)
		gate->next_start +=
			ccti_delay(&port->congestion->reaction, sl_of(frame), &gate->ccti,
				   port_static_rate_interval(port, 0, wire_bytes), now);
	if (!list_is_empty(&gate->waiting))
		timer_queue_arm(&fabric->gates, &gate->timer, gate->next_start);
}

bool rate_gate_slow_down(struct fabric *fabric, struct port *port, uint16_t dlid, uint8_t sl,
			 time_ns now)
{
	const struct congestion_reaction *reaction = &port->congestion->reaction;
	struct flow_key key = key_of(port, dlid, sl);
	struct rate_gate *gate;

	if (!fabric->is_paced || reaction->by_sl[sl].increase == 0)
		return false;
	gate = find(port, key);
	if (!gate)
		gate = make(fabric, port, key);
	return gate && ccti_raise(reaction, sl, &gate->ccti, now);
}

void rate_gates_restart(struct fabric *fabric, struct port *port, time_ns now)
{
	for (struct rate_gate *gate = port->queues->pacer.gates; gate; gate = gate->next) {
		struct frame *frame;

		gate->has_queued = false;
		timer_queue_cancel(&fabric->gates, &gate->timer);
		while ((frame = take_waiting(gate)))
			fabric_enqueue(fabric, port, frame, frame->vl, now);
	}
}

struct frame *rate_gates_lose_next(struct fabric *fabric, struct port *port)
{
	for (struct rate_gate *gate = port->queues->pacer.gates; gate; gate = gate->next) {
		struct frame *frame = take_waiting(gate);

		gate->has_queued = false;
		timer_queue_cancel(&fabric->gates, &gate->timer);
		if (frame)
			return frame;
	}
	return NULL;
}

void rate_gates_run(struct fabric *fabric, time_ns now)
{
	struct timer *timer;

	while ((timer = timer_queue_pop(&fabric->gates, now))) {
		struct rate_gate *gate = container_of(timer, struct rate_gate, timer);
		struct frame *frame = take_waiting(gate);

		if (!frame)
			continue;
		gate->has_queued = true;
		fabric_enqueue(fabric, gate->port, frame, frame->vl, now);
	}
}

void rate_gates_release(struct port *port)
{
	struct rate_gate *gate = port->queues->pacer.gates;

	while (gate) {
		struct rate_gate *next = gate->next;

		free(gate);
		gate = next;
	}
	port->queues->pacer.gates = NULL;
}
