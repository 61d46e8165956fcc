/* SPDX-License-Identifier: Apache-2.0 */
/* Links of a paced fabric: wires that are busy, frames in flight, flow control packets. */
#include "fabric/cables.h"

#include "fabric/fetch_ahead.h"
#include "fabric/movement.h"
#include "net/link/lane_credits.h"
#include "net/link/link_rate.h"
#include "net/link/port_queues.h"

/* Wakes the port when its wire is free. */
static void watch(struct fabric *fabric, struct port_pacer *pacer)
{
	if (!wheel_event_is_armed(&pacer->wire) || wheel_event_at(&pacer->wire) != pacer->free_at)
		event_wheel_arm(&fabric->pacing.cables, &pacer->wire, pacer->free_at);
}

bool cable_is_free(struct fabric *fabric, struct port *output, time_ns now)
{
	struct port_pacer *pacer = &output->queues->pacer;

	if (pacer->free_at <= now)
		return true;
	watch(fabric, pacer);
	return false;
}

void cable_launch(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now)
{
	time_ns left_at = port_occupy_wire(output, frame_wire_bytes(frame->byte_count), now);

	frame->output = output;
	if (unlikely(!event_wheel_launch(&fabric->pacing.cables, &frame->flight, WHEEL_ARRIVAL,
					 left_at + LINK_DELAY_NS))) {
		if (frame->vl != VL_MANAGEMENT)
			port_credits_refresh(output->peer, frame->vl);
		fabric_drop(fabric, output, frame, DROP_NO_FRAME);
		return;
	}
	port_cable_take(output, frame);
}

void cable_return_credits(struct fabric *fabric, struct port *input, time_ns now)
{
	struct port_pacer *pacer = &input->queues->pacer;

	/* The next flow control packets leave when these have arrived. */
	if (!input->peer || !pacer->credits_due || wheel_event_is_armed(&pacer->credits))
		return;

	unsigned count = port_credits_depart(input);
	time_ns left_at = port_occupy_wire(input, count * FLOW_CONTROL_WIRE_BYTES, now);

	event_wheel_arm(&fabric->pacing.cables, &pacer->credits, left_at + LINK_DELAY_NS);
}

static struct frame *frame_of(struct timer *timer)
{
	return container_of(timer, struct frame, flight);
}

static bool left_by(const struct timer *timer, const void *output)
{
	return container_of(timer, struct frame, flight)->output == output;
}

/* The next frame on this port's cable; NULL: there is none. */
static struct timer *call_back(struct fabric *fabric, const struct port *output)
{
	if (port_cable_is_empty(output))
		return NULL;
	/* A link may fall while other events of the same instant wait to be handled. */
	for (struct wheel_due *due = fabric->pacing.due; due < fabric->pacing.due_end; due++) {
		struct timer *timer = due->timer;

		if (due->kind != WHEEL_ARRIVAL || !timer || !left_by(timer, output))
			continue;
		due->timer = NULL;
		return timer;
	}
	return event_wheel_take_launched(&fabric->pacing.cables, left_by, output);
}

struct frame *cable_lose_next(struct fabric *fabric, struct port *output)
{
	struct port_pacer *pacer = &output->queues->pacer;
	struct timer *timer = call_back(fabric, output);

	if (timer) {
		port_cable_release(output, frame_of(timer));
		return frame_of(timer);
	}
	event_wheel_cancel(&fabric->pacing.cables, &pacer->wire);
	event_wheel_cancel(&fabric->pacing.cables, &pacer->credits);
	return NULL;
}

static void run_arrival(struct fabric *fabric, struct frame *frame, time_ns now)
{
	struct port *output = frame->output;

	port_cable_release(output, frame);
	fabric_cross_cable(fabric, output, frame, now);
}

/* Flow control packets may have taken the wire since the event was armed. */
static void run_wire(struct fabric *fabric, struct port_queues *queues, time_ns now)
{
	if (!queues->pending)
		return;
	if (queues->pacer.free_at <= now)
		fabric_wake(fabric, queues->port);
	else
		watch(fabric, &queues->pacer);
}

static void run_credits(struct fabric *fabric, struct port *input, time_ns now)
{
	if (input->peer && port_credits_arrive(input))
		fabric_wake(fabric, input->peer);
	cable_return_credits(fabric, input, now);
}

static struct port_queues *queues_of(const struct wheel_due *due)
{
	struct wheel_event *event = container_of(due->timer, struct wheel_event, timer);
	struct port_pacer *pacer = due->kind == WHEEL_WIRE
					   ? container_of(event, struct port_pacer, wire)
					   : container_of(event, struct port_pacer, credits);

	return container_of(pacer, struct port_queues, pacer);
}

static void note_ahead(struct ahead *ahead, const struct wheel_due *due)
{
	const struct port_queues *queues;

	if (due->kind == WHEEL_ARRIVAL) {
		struct hop_ahead *hop = &ahead->hops[ahead->hop_count++];

		hop->frame = frame_of(due->timer);
		fetch_frame(hop->frame);
		return;
	}
	queues = queues_of(due);
	fetch_queues(queues);
	if (due->kind == WHEEL_WIRE)
		ahead->turns[ahead->turn_count++] = queues;
	else
		ahead->credits[ahead->credit_count++] = queues;
}

/* Prefetches the memory of the next events, also of later instants: when few events share an
 * instant, the ones after them are fetched meanwhile. Returns the number of events. */
static unsigned fetch_events(const struct fabric *fabric)
{
	struct wheel_due next[HOPS_AHEAD];
	unsigned count = event_wheel_peek(&fabric->pacing.cables, HOPS_AHEAD, next);
	struct ahead ahead;

	ahead.hop_count = ahead.turn_count = ahead.credit_count = 0;
	for (unsigned i = 0; i < count; i++)
		note_ahead(&ahead, &next[i]);
	for (unsigned i = 0; i < ahead.hop_count; i++) {
		ahead.hops[i].output = ahead.hops[i].frame->output;
		__builtin_prefetch(ahead.hops[i].output);
	}
	fetch_ahead(&ahead);
	return count;
}

/* Takes events of one instant, no more than were prefetched; 0: none is due. */
static unsigned take_events(struct fabric *fabric, time_ns now, struct wheel_due ret_due[])
{
	unsigned count, count_max;

	if (fabric->pacing.fetched_count == 0)
		fabric->pacing.fetched_count = fetch_events(fabric);
	/* Events that come out of the wheel's heap could not be peeked at. */
	count_max = fabric->pacing.fetched_count ? fabric->pacing.fetched_count : 1;
	count = event_wheel_take(&fabric->pacing.cables, now, count_max, ret_due);
	fabric->pacing.fetched_count -=
		count < fabric->pacing.fetched_count ? count : fabric->pacing.fetched_count;
	return count;
}

unsigned cables_run(struct fabric *fabric, time_ns now)
{
	struct wheel_due events[HOPS_AHEAD];
	unsigned event_count, arrivals = 0;

	while ((event_count = take_events(fabric, now, events))) {
		fabric->pacing.due = events;
		fabric->pacing.due_end = events + event_count;
		while (fabric->pacing.due < fabric->pacing.due_end) {
			const struct wheel_due *due = fabric->pacing.due++;

			if (due->kind == WHEEL_WIRE) {
				run_wire(fabric, queues_of(due), now);
			} else if (due->kind == WHEEL_CREDITS) {
				run_credits(fabric, queues_of(due)->port, now);
			} else if (due->timer) {
				run_arrival(fabric, frame_of(due->timer), now);
				arrivals++;
			}
		}
	}
	fabric->pacing.due = fabric->pacing.due_end = NULL;
	return arrivals;
}

time_ns cables_deadline(const struct fabric *fabric)
{
	return fabric->is_paced ? event_wheel_deadline(&fabric->pacing.cables) : TIME_NEVER;
}
