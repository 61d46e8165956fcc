/* SPDX-License-Identifier: Apache-2.0 */
/* The step function: ports with work send over their links and hand arrived frames to their
 * endpoints. */
#include "fabric/fabric.h"

#include "base/bytes.h"
#include "fabric/cables.h"
#include "fabric/congestion_control.h"
#include "fabric/link_faults.h"
#include "fabric/fetch_ahead.h"
#include "fabric/movement.h"
#include "fabric/node_agents.h"
#include "fabric/rate_gates.h"
#include "fabric/tap.h"
#include "net/link/counters.h"
#include "net/link/lane_credits.h"
#include "net/link/port_queues.h"
#include "net/switch/forwarding.h"
#include "wire/packet.h"
#include "wire/pkey.h"

/* A bound per turn, so that no port keeps the others waiting. */
enum { FRAMES_PER_TURN = 32 };

static uint16_t frame_dlid(const struct frame *frame)
{
	return get_be16(frame->bytes + 2);
}

static void depart(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now)
{
	port_count_transmit(output, frame_dlid(frame), frame->bytes[1] >> 4, frame->vl,
			    frame_words(frame));
	if (unlikely(frame->static_rate || output->congestion)) {
		if (fabric->is_paced && output->kind == PORT_OF_ADAPTER)
			rate_gate_started(fabric, output, frame, now);
		if (output->congestion && output->kind == PORT_OF_SWITCH &&
		    frame->vl != VL_MANAGEMENT)
			congestion_mark(fabric, output, frame, now);
		/* Only the source applies the static rate. */
		frame->static_rate = 0;
	}
	fabric_tap_see(fabric, TAP_SENT, output, frame, DROP_NONE);
	if (fabric->is_paced)
		cable_launch(fabric, output, frame, now);
	else
		fabric_cross_cable(fabric, output, frame, now);
}

/* LifeTimeValue of a switch (transport 8.7); TIME_NEVER at other nodes. */
static time_ns switch_life(const struct port *port)
{
	const struct switch_info *info = &port->node->switch_info;

	if (port->kind != PORT_OF_SWITCH || info->life_time_value > LIFETIME_CODE_MAX)
		return TIME_NEVER;
	return time_from_code(info->life_time_value);
}

/* VL15 is exempt (transport 8.7). */
static bool is_too_old(const struct port *output, const struct frame *frame, time_ns now)
{
	time_ns life = switch_life(output);

	return frame->vl != VL_MANAGEMENT && life != TIME_NEVER &&
	       now > frame->node_entered_at + life;
}

static void send(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now)
{
	if (unlikely(is_too_old(output, frame, now))) {
		port_credits_refresh(output->peer, frame->vl);
		fabric_drop(fabric, output, frame, DROP_LIFETIME);
		return;
	}
	if (unlikely(!port_has_lane(output, frame->vl))) {
		port_credits_refresh(output->peer, frame->vl);
		fabric_drop(fabric, output, frame, DROP_VL_MAPPING);
		return;
	}
	depart(fabric, output, frame, now);
}

/* Starts one frame, if the wire is free. */
static unsigned transmit_paced(struct fabric *fabric, struct port *port, time_ns now)
{
	if (!port->queues->pending || !cable_is_free(fabric, port, now))
		return 0;

	struct frame *frame = port_next_to_send(port, now);

	if (!frame)
		return 0;
	send(fabric, port, frame, now);
	/* The frame was too old and dropped, so the wire is free for the next. */
	if (port->queues->pending && cable_is_free(fabric, port, now))
		fabric_wake(fabric, port);
	return 1;
}

/* Returns the number of frames sent. */
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

bool fabric_deliver_to_endpoint(struct fabric *fabric, struct port *port, struct frame *frame)
{
	/* After deliver() the frame belongs to the owner. */
	unsigned credit_blocks = frame->credit_blocks;
	unsigned input_vl = frame->input_vl;

	if (!fabric->owner.deliver(fabric->owner.context, port, frame))
		return false;
	fabric->frames_inside--;
	fabric_return_buffer(fabric, port, input_vl, credit_blocks);
	return true;
}

bool fabric_deliver_data(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	if (!frame_read_header(frame)) {
		fabric_drop(fabric, port, frame, DROP_MALFORMED);
		return true;
	}
	/* The port checks the P_Key, because programs cannot be trusted to. */
	if (!frame->header.is_raw && !port_pkey_matches(port, frame->header.pkey) &&
	    !node_agents_is_own_gmp(port, frame)) {
		fabric_drop(fabric, port, frame, DROP_PKEY_INBOUND);
		return true;
	}
	if (unlikely(port->congestion || fabric->has_marks) &&
	    congestion_receive(fabric, port, frame, now))
		return true;
	if (node_agents_gmp(fabric, port, frame, now))
		return true;
	if (!node_is_adapter(port->node) && !port->endpoint) {
		fabric_drop(fabric, port, frame, DROP_NO_LISTENER);
		return true;
	}
	return fabric_deliver_to_endpoint(fabric, port, frame);
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
		if (!fabric_deliver_data(fabric, port, frame, now)) {
			list_prepend(&queues->arrivals, &frame->link);
			queues->arrival_count++;
			queues->endpoint_is_full = true;
			break;
		}
		count++;
	}
	return count;
}

/* Both life limits of a switch port's frames (transport 8.7), in one number that is not 0. */
static uint16_t lives_of(const struct port *port)
{
	return (uint16_t)(0x8000 | port->info.hoq_life << 8 |
			  port->node->switch_info.life_time_value);
}

/* A port whose frames wait for credits runs again when credits come or when its frames are too old.
 * An armed timer comes soon enough for frames that were queued later, too: it is armed anew when it
 * fires. */
static void watch_lifetime(struct fabric *fabric, struct port *port)
{
	uint16_t lives = lives_of(port);

	if (port->kind != PORT_OF_SWITCH || port->queues->watched_lives == lives)
		return;

	time_ns deadline = port_lifetime_deadline(port, switch_life(port));

	if (deadline == TIME_NEVER)
		return;
	timer_queue_arm(&fabric->lifetimes, &port->queues->lifetime, deadline);
	port->queues->watched_lives = lives;
}

/* Cancels the timers of ports whose frames are gone, so that nobody wakes up for them. */
static void forget_lifetimes(struct fabric *fabric)
{
	while (fabric->lifetimes.count) {
		struct timer *timer = fabric->lifetimes.heap[1];
		struct port_queues *queues = container_of(timer, struct port_queues, lifetime);

		if (queues->pending)
			return;
		timer_queue_cancel(&fabric->lifetimes, timer);
		queues->watched_lives = 0;
	}
}

static void tell_of_room(struct fabric *fabric, struct port *port)
{
	port->queues->has_waiter = false;
	if (fabric->owner.port_has_room)
		fabric->owner.port_has_room(fabric->owner.context, port);
}

static unsigned take_turn(struct fabric *fabric, struct port *port, time_ns now)
{
	unsigned sent =
		fabric->is_paced ? transmit_paced(fabric, port, now) : transmit(fabric, port, now);
	unsigned managed = 0;
	unsigned delivered = 0;

	if (port->kind != PORT_OF_SWITCH) {
		managed = deliver_management(fabric, port, now);
		delivered = deliver_data(fabric, port, now);
		if (unlikely(port->queues->has_waiter))
			tell_of_room(fabric, port);
	}
	if (sent == FRAMES_PER_TURN || managed == FRAMES_PER_TURN || delivered == FRAMES_PER_TURN)
		fabric_wake(fabric, port);
	if (port->queues->pending)
		watch_lifetime(fabric, port);
	return sent + managed + delivered;
}

static void expire(struct fabric *fabric, time_ns now)
{
	struct timer *timer;

	while ((timer = timer_queue_pop(&fabric->lifetimes, now))) {
		struct port_queues *queues = container_of(timer, struct port_queues, lifetime);
		struct port *port = queues->port;
		enum drop_reason reason;
		struct frame *frame;

		queues->watched_lives = 0;
		while ((frame = port_next_expired(port, switch_life(port), now, &reason)))
			fabric_drop(fabric, port, frame, reason);
		fabric_wake(fabric, port);
	}
}

static unsigned run_paced(struct fabric *fabric, time_ns now)
{
	if (timer_queue_deadline(&fabric->pacing.gates) <= now)
		rate_gates_run(fabric, now);
	return cables_run(fabric, now);
}

/* Prefetches the ports of the next turns and the first frame of each (fabric/fetch_ahead.h). In a
 * paced fabric they were fetched with the events that woke them. */
static void fetch_turns(const struct fabric *fabric)
{
	uint32_t count = fabric->work.tail - fabric->work.head;
	struct port *ports[HOPS_AHEAD];
	struct ahead ahead;

	ahead.hop_count = ahead.turn_count = ahead.credit_count = 0;
	count = count < HOPS_AHEAD ? count : HOPS_AHEAD;
	for (uint32_t i = 0; i < count; i++) {
		ports[i] = fabric->work.ports[(fabric->work.head + i) & fabric->work.mask];
		fetch_port(ports[i]);
	}
	for (uint32_t i = 0; i < count; i++) {
		fetch_queues(ports[i]->queues);
		__builtin_prefetch(&ports[i]->queues->vls[0]);
		__builtin_prefetch(&ports[i]->counters.transmit_words);
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct frame *frame = port_first_frame(ports[i]);

		if (!frame || !ports[i]->peer)
			continue;
		fetch_frame(frame);
		ahead.hops[ahead.hop_count++] = (struct hop_ahead){ports[i], frame};
	}
	/* In a paced fabric these frames only start to cross. */
	if (!fabric->is_paced)
		fetch_ahead(&ahead);
}

static struct port *next_port(struct fabric *fabric)
{
	if (fabric->work.head % HOPS_AHEAD == 0)
		fetch_turns(fabric);

	struct port *port = fabric->work.ports[fabric->work.head++ & fabric->work.mask];

	port->queues->is_awake = false;
	return port;
}

/* Does all work of one instant, within the budget. Returns how much of the budget it used. */
static unsigned work_at(struct fabric *fabric, time_ns instant, unsigned frame_budget)
{
	unsigned moved = 0;

	fabric->now = instant;
	if (timer_queue_deadline(&fabric->lifetimes) <= instant)
		expire(fabric, instant);
	if (unlikely(fabric->faults.link_count))
		faults_run(fabric, instant);
	if (fabric->is_paced)
		moved += run_paced(fabric, instant);
	/* Traps come after the events that may cause them. */
	if (agent_deadline(&fabric->agent_memory) <= instant)
		node_agents_send_traps(fabric, instant);
	while (moved < frame_budget && fabric_has_work(fabric)) {
		struct port *port = next_port(fabric);

		moved += take_turn(fabric, port, instant);
	}
	/* Lifetimes that end after the next cable event can wait until then. */
	if (timer_queue_deadline(&fabric->lifetimes) < cables_deadline(fabric))
		forget_lifetimes(fabric);
	return moved;
}

/* A caller that comes late finds several instants past. Each is worked at in turn, because rates
 * hold only then. */
static bool step_by_instants(struct fabric *fabric, time_ns now, unsigned frame_budget)
{
	unsigned moved = 0;

	while (moved < frame_budget) {
		time_ns instant = time_earlier(now, fabric_deadline(fabric));

		if (fabric->is_paced && now - instant > fabric->late_ns_max)
			fabric->late_ns_max = now - instant;
		moved += work_at(fabric, instant, frame_budget - moved) + 1;
		if (!fabric_has_work(fabric) && fabric_deadline(fabric) > now)
			return false;
	}
	return true;
}

bool fabric_step(struct fabric *fabric, time_ns now, unsigned frame_budget)
{
	/* A faulty link may have a rate and a delay of its own. */
	if (fabric->is_paced || unlikely(fabric->faults.link_count))
		return step_by_instants(fabric, now, frame_budget);
	(void)work_at(fabric, now, frame_budget);
	return fabric_has_work(fabric);
}

time_ns fabric_deadline(const struct fabric *fabric)
{
	time_ns deadline = time_earlier(timer_queue_deadline(&fabric->lifetimes),
					agent_deadline(&fabric->agent_memory));

	deadline = time_earlier(deadline, timer_queue_deadline(&fabric->faults.arrivals));
	deadline = time_earlier(deadline, timer_queue_deadline(&fabric->faults.flaps));
	deadline = time_earlier(deadline, timer_queue_deadline(&fabric->faults.watchdogs));
	deadline = time_earlier(deadline, timer_queue_deadline(&fabric->pacing.gates));
	return time_earlier(deadline, cables_deadline(fabric));
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
