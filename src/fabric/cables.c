/* SPDX-License-Identifier: Apache-2.0 */
/* Cables that take time. */
#include "fabric/cables.h"

#include "fabric/fetch_ahead.h"
#include "fabric/movement.h"
#include "net/link/pacing.h"
#include "net/link/port_queues.h"

static struct frame *take_from_cable(struct port *output)
{
	struct port_pacer *pacer = &output->queues->pacer;
	struct frame *frame = pacer->cable_first;

	pacer->cable_first = frame->next;
	port_cable_release(output, frame);
	return frame;
}

static void put_on_cable(struct port *output, struct frame *frame)
{
	struct port_pacer *pacer = &output->queues->pacer;

	frame->next = NULL;
	if (pacer->cable_first)
		pacer->cable_last->next = frame;
	else
		pacer->cable_first = frame;
	pacer->cable_last = frame;
	port_cable_take(output, frame);
}

/* One timer for both: the wire is wanted and becomes free, and a frame arrives. */
static void watch(struct fabric *fabric, struct port *output, time_ns now)
{
	struct port_queues *queues = output->queues;
	struct port_pacer *pacer = &queues->pacer;
	time_ns next = TIME_NEVER;

	if (pacer->cable_first)
		next = pacer->cable_first->arrives_at;
	/* A wire that is free already needs no timer: its port was woken. */
	if (queues->pending && pacer->free_at > now)
		next = time_earlier(next, pacer->free_at);
	if (next == TIME_NEVER)
		event_wheel_cancel(&fabric->cables, &pacer->wire);
	else if (!wheel_event_is_armed(&pacer->wire) || pacer->wire.at != next)
		event_wheel_arm(&fabric->cables, &pacer->wire, next);
}

bool cable_is_free(struct fabric *fabric, struct port *output, time_ns now)
{
	struct port_pacer *pacer = &output->queues->pacer;

	if (pacer->free_at <= now)
		return true;
	if (!wheel_event_is_armed(&pacer->wire) || pacer->wire.at > pacer->free_at)
		watch(fabric, output, now);
	return false;
}

void cable_launch(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now)
{
	time_ns left_at = port_occupy_wire(output, frame_wire_bytes(frame->byte_count), now);

	frame->arrives_at = left_at + LINK_DELAY_NS;
	put_on_cable(output, frame);
	watch(fabric, output, now);
}

void cable_return_credits(struct fabric *fabric, struct port *input, time_ns now)
{
	struct port_pacer *pacer = &input->queues->pacer;

	/* The next ones leave when these are there. */
	if (!input->peer || !pacer->credits_due || wheel_event_is_armed(&pacer->credits))
		return;

	unsigned count = port_credits_depart(input);
	time_ns left_at = port_occupy_wire(input, count * FLOW_CONTROL_WIRE_BYTES, now);

	event_wheel_arm(&fabric->cables, &pacer->credits, left_at + LINK_DELAY_NS);
}

struct frame *cable_lose_next(struct fabric *fabric, struct port *output)
{
	struct port_pacer *pacer = &output->queues->pacer;

	if (pacer->cable_first)
		return take_from_cable(output);
	event_wheel_cancel(&fabric->cables, &pacer->wire);
	event_wheel_cancel(&fabric->cables, &pacer->credits);
	return NULL;
}

/* Frames that arrive at this instant, then the port's turn to send. */
static unsigned run_wire(struct fabric *fabric, struct port *output, time_ns now)
{
	struct port_pacer *pacer = &output->queues->pacer;
	unsigned count = 0;

	while (pacer->cable_first && pacer->cable_first->arrives_at <= now) {
		fabric_reach_other_end(fabric, output, take_from_cable(output), now);
		count++;
	}
	if (output->queues->pending && pacer->free_at <= now)
		fabric_wake(fabric, output);
	if (pacer->cable_first || output->queues->pending)
		watch(fabric, output, now);
	return count;
}

static void run_credits(struct fabric *fabric, struct port *input, time_ns now)
{
	if (input->peer && port_credits_arrive(input))
		fabric_wake(fabric, input->peer);
	cable_return_credits(fabric, input, now);
}

static struct port_queues *queues_of(struct wheel_event *event)
{
	struct port_pacer *pacer = event->kind == WHEEL_WIRE
					   ? container_of(event, struct port_pacer, wire)
					   : container_of(event, struct port_pacer, credits);

	return container_of(pacer, struct port_queues, pacer);
}

/* Events of one instant (fabric/fetch_ahead.h). */
static void fetch_events(struct wheel_event *const events[], unsigned event_count)
{
	struct hop_ahead hops[HOPS_AHEAD];
	unsigned hop_count = 0;

	/* An event of the wire lies in the line after the first of its queues. */
	for (unsigned i = 0; i < event_count; i++) {
		__builtin_prefetch(events[i]);
		__builtin_prefetch((const char *)events[i] - CACHE_LINE_BYTES);
	}
	for (unsigned i = 0; i < event_count; i++)
		__builtin_prefetch(queues_of(events[i])->port);
	for (unsigned i = 0; i < event_count; i++) {
		const struct port_queues *queues = queues_of(events[i]);

		/* Most often it is one or the other: the wire is free, or a frame arrives. */
		if (events[i]->kind == WHEEL_WIRE && queues->pacer.cable_first &&
		    queues->pacer.free_at != events[i]->at)
			hops[hop_count++] =
				(struct hop_ahead){queues->port, queues->pacer.cable_first};
	}
	fetch_hops(hops, hop_count);
}

unsigned cables_run(struct fabric *fabric, time_ns now)
{
	struct wheel_event *events[HOPS_AHEAD];
	unsigned event_count, arrivals = 0;

	do {
		event_count = event_wheel_take(&fabric->cables, now, HOPS_AHEAD, events);
		fetch_events(events, event_count);
		for (unsigned i = 0; i < event_count; i++) {
			struct port *port = queues_of(events[i])->port;

			if (events[i]->kind == WHEEL_WIRE)
				arrivals += run_wire(fabric, port, now);
			else
				run_credits(fabric, port, now);
		}
	} while (event_count == HOPS_AHEAD);
	return arrivals;
}

time_ns cables_deadline(const struct fabric *fabric)
{
	return fabric->is_paced ? event_wheel_deadline(&fabric->cables) : TIME_NEVER;
}
