/* SPDX-License-Identifier: Apache-2.0 */
/* Static rate control at source ports (vol 1, chapter 9; transport 8.8). */
#include "fabric/rate_gates.h"

#include <stdlib.h>
#include "base/bytes.h"
#include "fabric/movement.h"
#include "net/link/congestion_state.h"
#include "net/link/lane_credits.h"
#include "net/link/link_rate.h"
#include "net/link/port_queues.h"
#include "wire/opcode.h"
#include "wire/packet.h"

/* A static rate holds for a DLID. With congestion control each SL has its own setting, so a flow
 * also has an SL and a queue pair; or an SL alone, if the manager asks for that (PortControl bit
 * 0). */
struct flow_key {
	uint16_t dlid;
	uint8_t sl;
	uint32_t qpn;
};

struct rate_gate {
	struct rate_gate *next; /* of the same port */
	struct port *port;
	struct flow_key key;
	bool has_queued;      /* one frame is in the port's queue and has not started */
	time_ns next_start;   /* when the next frame may start */
	time_ns static_start; /* when the next frame of any flow to this DLID may start */
	struct list waiting;
	uint32_t block_count; /* of the waiting frames */
	struct ccti ccti;     /* how much congestion the flow met */
	struct timer timer;
};

static struct flow_key key_of(const struct port *port, uint16_t dlid, uint32_t qpn, uint8_t sl)
{
	const struct congestion *congestion = port->congestion;

	if (!congestion)
		return (struct flow_key){.dlid = dlid};
	if (congestion->reaction.is_per_sl)
		return (struct flow_key){.sl = sl};
	return (struct flow_key){.dlid = dlid, .sl = sl, .qpn = qpn};
}

static uint8_t sl_of(const struct frame *frame)
{
	return frame->bytes[1] >> 4;
}

/* A BECN names the queue pair, except for unreliable connections. */
static uint32_t qpn_of(const struct frame *frame)
{
	unsigned lnh = frame->bytes[1] & 3;

	if (lnh < LNH_LOCAL)
		return 0;

	uint8_t opcode = frame->bytes[LRH_BYTES + (lnh == LNH_GLOBAL ? GRH_BYTES : 0)];

	return opcode_transport(opcode) == TRANSPORT_UC ? 0 : frame->source_qpn;
}

static uint16_t dlid_of(const struct frame *frame)
{
	return get_be16(frame->bytes + LRH_DLID_OFFSET);
}

static struct flow_key key_of_frame(const struct port *port, const struct frame *frame)
{
	return key_of(port, dlid_of(frame), qpn_of(frame), sl_of(frame));
}

static struct rate_gate *find(const struct port *port, struct flow_key key)
{
	for (struct rate_gate *gate = port->queues->pacer.gates; gate; gate = gate->next)
		if (gate->key.dlid == key.dlid && gate->key.sl == key.sl &&
		    gate->key.qpn == key.qpn)
			return gate;
	return NULL;
}

/* NULL without memory: the frame then leaves at the link's rate. */
static struct rate_gate *make(struct fabric *fabric, struct port *port, struct flow_key key)
{
	if (timer_queue_reserve(&fabric->pacing.gates, fabric->pacing.gate_count + 1) != 0)
		return NULL;

	struct rate_gate *gate = calloc(1, sizeof(*gate));

	if (!gate)
		return NULL;
	gate->port = port;
	gate->key = key;
	list_init(&gate->waiting);
	for (const struct rate_gate *other = port->queues->pacer.gates; other; other = other->next)
		if (other->key.dlid == key.dlid && other->static_start > gate->next_start)
			gate->next_start = gate->static_start = other->static_start;
	gate->next = port->queues->pacer.gates;
	port->queues->pacer.gates = gate;
	fabric->pacing.gate_count++;
	return gate;
}

bool rate_gate_has_room(const struct port *port, const struct frame *frame)
{
	const struct rate_gate *gate = find(port, key_of_frame(port, frame));

	return !gate ||
	       gate->block_count + frame_credit_blocks(frame->byte_count) <= ADAPTER_QUEUE_BLOCKS;
}

/* All queue pairs that send to a DLID share its static rate. */
static bool is_anothers_turn(const struct rate_gate *gate, const struct frame *frame)
{
	const struct port *port = gate->port;

	if (!port->congestion || port_static_rate_ipd(port, frame->static_rate) == 0)
		return false;
	for (const struct rate_gate *other = port->queues->pacer.gates; other; other = other->next)
		if (other != gate && other->key.dlid == gate->key.dlid && other->has_queued)
			return true;
	return false;
}

/* A frame with a static rate has started: no frame to its DLID starts before this time. */
static void share_static_rate(struct fabric *fabric, struct port *port, uint16_t dlid,
			      time_ns next_start)
{
	for (struct rate_gate *gate = port->queues->pacer.gates; gate; gate = gate->next) {
		if (gate->key.dlid != dlid)
			continue;
		gate->static_start = next_start;
		if (gate->next_start < next_start)
			gate->next_start = next_start;
		if (!gate->has_queued && !list_is_empty(&gate->waiting))
			timer_queue_arm(&fabric->pacing.gates, &gate->timer, gate->next_start);
	}
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
	bool is_blocked = is_anothers_turn(gate, frame);

	if (!gate->has_queued && list_is_empty(&gate->waiting) && gate->next_start <= now &&
	    !is_blocked) {
		gate->has_queued = true;
		return false;
	}
	list_append(&gate->waiting, &frame->link);
	gate->block_count += frame_credit_blocks(frame->byte_count);
	/* The flow that has its turn wakes the others when its frame starts. */
	if (!gate->has_queued && !is_blocked && !timer_is_armed(&gate->timer))
		timer_queue_arm(&fabric->pacing.gates, &gate->timer, gate->next_start);
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
	if (port->congestion && port_static_rate_ipd(port, frame->static_rate))
		share_static_rate(
			fabric, port, dlid_of(frame),
			now + port_static_rate_interval(port, frame->static_rate, wire_bytes));
	if (!list_is_empty(&gate->waiting))
		timer_queue_arm(&fabric->pacing.gates, &gate->timer, gate->next_start);
}

bool rate_gate_slow_down(struct fabric *fabric, struct port *port, uint16_t dlid, uint32_t qpn,
			 uint8_t sl, time_ns now)
{
	const struct congestion_reaction *reaction = &port->congestion->reaction;
	struct flow_key key = key_of(port, dlid, qpn, sl);
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
		timer_queue_cancel(&fabric->pacing.gates, &gate->timer);
		while ((frame = take_waiting(gate)))
			fabric_enqueue(fabric, port, frame, frame->vl, now);
	}
}

struct frame *rate_gates_lose_next(struct fabric *fabric, struct port *port)
{
	for (struct rate_gate *gate = port->queues->pacer.gates; gate; gate = gate->next) {
		struct frame *frame = take_waiting(gate);

		gate->has_queued = false;
		timer_queue_cancel(&fabric->pacing.gates, &gate->timer);
		if (frame)
			return frame;
	}
	return NULL;
}

void rate_gates_run(struct fabric *fabric, time_ns now)
{
	struct timer *timer;

	while ((timer = timer_queue_pop(&fabric->pacing.gates, now))) {
		struct rate_gate *gate = container_of(timer, struct rate_gate, timer);

		/* A packet of another queue pair went to the same DLID meanwhile. */
		if (gate->next_start > now) {
			timer_queue_arm(&fabric->pacing.gates, &gate->timer, gate->next_start);
			continue;
		}

		struct list *first = list_first(&gate->waiting);

		if (!first || is_anothers_turn(gate, container_of(first, struct frame, link)))
			continue;

		struct frame *frame = take_waiting(gate);

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
