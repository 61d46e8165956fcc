/* SPDX-License-Identifier: Apache-2.0 */
/* The step function: ports that have work send over their links and hand what arrived to their
 * endpoints. */
#include "fabric/fabric.h"

#include "base/bytes.h"
#include "fabric/movement.h"
#include "net/link/counters.h"
#include "net/link/port_queues.h"
#include "net/link/receive_checks.h"
#include "net/switch/forwarding.h"
#include "wire/packet.h"
#include "wire/pkey.h"

/* So that no port keeps the others waiting. */
enum { FRAMES_PER_TURN = 32 };

static uint16_t frame_dlid(const struct frame *frame)
{
	return get_be16(frame->bytes + 2);
}

static uint32_t frame_words(const struct frame *frame)
{
	return (frame->byte_count + ICRC_BYTES) / 4;
}

/* --- arriving --- */

static void receive_at_switch(struct fabric *fabric, struct port *input, struct frame *frame,
			      const struct lrh *lrh, time_ns now)
{
	struct node *node = input->node;

	if (lrh->vl == VL_MANAGEMENT &&
	    (lrh->dlid == LID_PERMISSIVE || port_owns_lid(&node->ports[0], lrh->dlid))) {
		/* A switch has no manager that could be full. */
		bool is_done = node_agents_smp(fabric, input, frame, now);

		assert(is_done);
		return;
	}
	fabric_forward(fabric, node, input->number, frame, now);
}

/* The first data packet shows an Armed port that its neighbour is Active. */
static void notice_active_neighbour(struct fabric *fabric, struct port *port)
{
	port->info.port_state = PORT_ACTIVE;
	port->state_changes++;
	fabric_note_state_change(fabric, port);
	if (fabric->owner.paths_changed)
		fabric->owner.paths_changed(fabric->owner.context);
}

static void receive(struct fabric *fabric, struct port *input, struct frame *frame, time_ns now)
{
	struct lrh lrh;

	frame->node_entered_at = now;
	frame->input_port = input->number;
	if (frame->vl != VL_MANAGEMENT)
		port_buffer_take(input, frame);

	enum drop_reason reason = port_check_received(input, frame, &lrh);

	if (reason != DROP_NONE) {
		fabric_drop(fabric, input, frame, reason);
		return;
	}
	port_count_receive(input, lrh.dlid, frame_words(frame));
	if (unlikely(lrh.vl != VL_MANAGEMENT && input->info.port_state == PORT_ARMED))
		notice_active_neighbour(fabric, input);
	if (input->kind == PORT_OF_SWITCH)
		receive_at_switch(fabric, input, frame, &lrh, now);
	else
		fabric_arrive(fabric, input, frame);
}

/* --- leaving --- */

static void duplicate(struct fabric *fabric, struct port *input, const struct frame *frame,
		      time_ns now)
{
	struct frame *copy = frame_take(&fabric->frames);

	if (!copy)
		return;

	void *source = copy->source;

	*copy = *frame;
	list_init(&copy->link);
	copy->source = source;
	copy->credit_blocks = 0;
	fabric->frames_inside++;
	/* It uses buffer that no credit was spent for, as a link that repeats itself would. */
	if (input->queues->vls[copy->vl].buffer_blocks + frame_credit_blocks(copy->byte_count) >
	    VL_BUFFER_BLOCKS) {
		input->counters.excessive_buffer_overruns++;
		fabric_drop(fabric, input, copy, DROP_MALFORMED);
		return;
	}
	receive(fabric, input, copy, now);
}

static void lose_on_link(struct fabric *fabric, struct port *output, struct frame *frame)
{
	if (frame->vl != VL_MANAGEMENT)
		port_credits_refresh(output->peer, frame->vl);
	if (frame->source && fabric->owner.gone)
		fabric->owner.gone(fabric->owner.context, frame, DROP_MALFORMED);
	fabric->frames_inside--;
	frame_give_back(&fabric->frames, frame);
}

static void cross(struct fabric *fabric, struct port *output, struct frame *frame,
		  enum link_fault fault, time_ns now)
{
	struct port *input = output->peer;

	port_count_transmit(output, frame_dlid(frame), frame_words(frame));
	fabric_release_buffer(fabric, output->node, frame);
	if (unlikely(fault == LINK_FAULT_DROP)) {
		lose_on_link(fabric, output, frame);
		return;
	}
	if (unlikely(fault == LINK_FAULT_CORRUPT))
		frame->is_corrupt = true;
	if (unlikely(fault == LINK_FAULT_DUPLICATE))
		duplicate(fabric, input, frame, now);
	receive(fabric, input, frame, now);
}

/* LifeTimeValue of the switch: VL15 is exempt. */
static bool is_too_old(const struct port *output, const struct frame *frame, time_ns now)
{
	const struct switch_info *info = &output->node->switch_info;

	return output->kind == PORT_OF_SWITCH && frame->vl != VL_MANAGEMENT &&
	       info->life_time_value <= LIFETIME_CODE_MAX &&
	       now - frame->node_entered_at > time_from_code(info->life_time_value);
}

static enum link_fault judge(const struct fabric *fabric, const struct port *output,
			     const struct frame *frame)
{
	if (likely(!fabric->faults.judge) || frame->vl == VL_MANAGEMENT)
		return LINK_FAULT_NONE;
	return fabric->faults.judge(fabric->faults.context, output, frame);
}

static void send(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now)
{
	if (unlikely(is_too_old(output, frame, now))) {
		port_credits_refresh(output->peer, frame->vl);
		fabric_drop(fabric, output, frame, DROP_LIFETIME);
		return;
	}

	enum link_fault fault = judge(fabric, output, frame);

	if (unlikely(fault == LINK_FAULT_REORDER)) {
		struct frame *next = port_next_to_send(output, now);

		if (next)
			cross(fabric, output, next, LINK_FAULT_NONE, now);
	}
	cross(fabric, output, frame, fault, now);
}

/* Returns how many went. */
static unsigned transmit(struct fabric *fabric, struct port *port, time_ns now)
{
	unsigned count = 0;
	struct frame *frame;

	while (count < FRAMES_PER_TURN && (frame = port_next_to_send(port, now))) {
		send(fabric, port, frame, now);
		count++;
	}
	return count;
}

/* --- at an adapter --- */

/* Whether the frame is gone from the list: taken, answered or dropped. */
static bool hand_over(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	struct forwarding_header header;
	struct lrh lrh;

	if (!lrh_decode(frame->bytes, frame->byte_count, &lrh) ||
	    !forwarding_header_read(frame, &lrh, &header)) {
		fabric_drop(fabric, port, frame, DROP_MALFORMED);
		return true;
	}
	/* A process is no judge of its own partitions: the port is. */
	if (!header.is_raw && !port_pkey_matches(port, header.pkey)) {
		if (port->info.pkey_violations != UINT16_MAX)
			port->info.pkey_violations++;
		fabric_drop(fabric, port, frame, DROP_PKEY_INBOUND);
		return true;
	}
	if (node_agents_gmp(fabric, port, frame, now))
		return true;

	/* Once delivered, the frame is no longer ours to read. */
	unsigned credit_blocks = frame->credit_blocks;
	unsigned input_vl = frame->input_vl;

	if (!fabric->owner.deliver(fabric->owner.context, port, frame))
		return false;
	fabric->frames_inside--;
	if (credit_blocks && port_buffer_release(port, input_vl, credit_blocks))
		fabric_wake(fabric, port->peer);
	return true;
}

static unsigned deliver_management(struct fabric *fabric, struct port *port, time_ns now)
{
	struct port_queues *queues = port->queues;
	unsigned count = 0;

	while (count < FRAMES_PER_TURN && !list_is_empty(&queues->management_arrivals)) {
		struct frame *frame =
			container_of(list_pop(&queues->management_arrivals), struct frame, link);

		queues->management_arrival_count--;
		if (!node_agents_smp(fabric, port, frame, now)) {
			list_prepend(&queues->management_arrivals, &frame->link);
			queues->management_arrival_count++;
			queues->endpoint_is_full = true;
			break;
		}
		count++;
	}
	return count;
}

static unsigned deliver_data(struct fabric *fabric, struct port *port, time_ns now)
{
	struct port_queues *queues = port->queues;
	unsigned count = 0;

	while (count < FRAMES_PER_TURN && !queues->endpoint_is_full &&
	       !list_is_empty(&queues->arrivals)) {
		struct frame *frame = container_of(list_pop(&queues->arrivals), struct frame, link);

		queues->arrival_count--;
		if (!hand_over(fabric, port, frame, now)) {
			list_prepend(&queues->arrivals, &frame->link);
			queues->arrival_count++;
			queues->endpoint_is_full = true;
			break;
		}
		count++;
	}
	return count;
}

/* --- turns --- */

/* A port whose frames wait for credits is looked at again when credits come, or when its frames are
 * too old. */
static void watch_lifetime(struct fabric *fabric, struct port *port)
{
	time_ns deadline = port_lifetime_deadline(port);

	if (deadline == TIME_NEVER)
		timer_queue_cancel(&fabric->lifetimes, &port->queues->lifetime);
	else
		timer_queue_arm(&fabric->lifetimes, &port->queues->lifetime, deadline);
}

static unsigned take_turn(struct fabric *fabric, struct port *port, time_ns now)
{
	unsigned sent = transmit(fabric, port, now);
	unsigned managed = 0;
	unsigned delivered = 0;

	if (port->kind == PORT_OF_ADAPTER) {
		managed = deliver_management(fabric, port, now);
		delivered = deliver_data(fabric, port, now);
	}
	if (sent == FRAMES_PER_TURN || managed == FRAMES_PER_TURN || delivered == FRAMES_PER_TURN)
		fabric_wake(fabric, port);
	if (port->queues->pending || timer_is_armed(&port->queues->lifetime))
		watch_lifetime(fabric, port);
	return sent + managed + delivered;
}

static void expire(struct fabric *fabric, time_ns now)
{
	struct timer *timer;

	while ((timer = timer_queue_pop(&fabric->lifetimes, now))) {
		struct port *port = container_of(timer, struct port_queues, lifetime)->port;
		struct frame *frame;

		while ((frame = port_next_expired(port, now)))
			fabric_drop(fabric, port, frame, DROP_LIFETIME);
		fabric_wake(fabric, port);
	}
}

bool fabric_step(struct fabric *fabric, time_ns now, unsigned frame_budget)
{
	unsigned moved = 0;

	fabric->now = now;
	if (agent_traps_deadline(&fabric->agent_memory) <= now)
		node_agents_send_traps(fabric, now);
	if (timer_queue_deadline(&fabric->lifetimes) <= now)
		expire(fabric, now);
	while (moved < frame_budget && !list_is_empty(&fabric->work)) {
		struct port *port = container_of(list_pop(&fabric->work), struct port, work_link);

		moved += take_turn(fabric, port, now);
	}
	return !list_is_empty(&fabric->work);
}

time_ns fabric_deadline(const struct fabric *fabric)
{
	return time_earlier(timer_queue_deadline(&fabric->lifetimes),
			    agent_traps_deadline(&fabric->agent_memory));
}

void fabric_endpoint_ready(struct fabric *fabric, struct port *port)
{
	port->queues->endpoint_is_full = false;
	if (port->queues->arrival_count || port->queues->management_arrival_count)
		fabric_wake(fabric, port);
}

bool fabric_is_idle(const struct fabric *fabric)
{
	return fabric->frames_inside == 0;
}
