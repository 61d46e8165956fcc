/* SPDX-License-Identifier: Apache-2.0 */
/* Links that fail on purpose: how fault decisions change packets, cables and credits. */
#include "fabric/link_faults.h"

#include <errno.h>
#include <stdlib.h>
#include "fabric/fabric.h"
#include "fabric/flow_watchdog.h"
#include "fabric/movement.h"
#include "fabric/tap.h"
#include "net/link/detail_counters.h"
#include "net/link/frame_crc.h"
#include "net/link/lane_credits.h"

/* A packet that should be overtaken leaves after this time even if no other packet comes. */
#define OVERTAKEN_TIMEOUT MICROSECONDS(200)

enum { BITS_PER_BYTE = 8 };

static void arrive(struct fabric *fabric, struct link_faults *faults, struct frame *frame,
		   time_ns now)
{
	unsigned actions = frame->fault_actions;
	struct port *input = faults->output->peer;

	frame->fault_actions = 0;
	if (actions & FAULT_DUPLICATE)
		fabric_duplicate(fabric, input, frame, now);
	frame->fault_actions = (uint8_t)(actions & FAULT_CREDIT_LOSS);
	fabric_receive(fabric, input, frame, now);
}

static struct frame *first_held(const struct link_faults *faults)
{
	return container_of(faults->held.next, struct frame, link);
}

static void watch(struct fabric *fabric, struct link_faults *faults)
{
	time_ns next = faults->overtaken ? faults->overtaken_until : TIME_NEVER;

	if (!list_is_empty(&faults->held))
		next = time_earlier(next, first_held(faults)->flight.deadline);
	if (next == TIME_NEVER)
		timer_queue_cancel(&fabric->faults.arrivals, &faults->arrivals);
	else
		timer_queue_arm(&fabric->faults.arrivals, &faults->arrivals, next);
}

/* When the frame arrives: behind all frames that left before it. */
static time_ns arrival_time(struct link_faults *faults, const struct frame *frame, time_ns now)
{
	const struct fault_settings *settings = &faults->judge.settings;
	time_ns time = now;

	if (settings->bits_per_second) {
		enum { LINK_OVERHEAD_BYTES = 6 };
		uint64_t bits = BITS_PER_BYTE * (uint64_t)(frame->byte_count + LINK_OVERHEAD_BYTES);
		time_ns start = faults->busy_until > now ? faults->busy_until : now;

		faults->busy_until = start + bits * SECONDS(1) / settings->bits_per_second;
		time = faults->busy_until;
	}
	time += settings->delay + frame->flight.deadline;
	if (!list_is_empty(&faults->held)) {
		time_ns last =
			container_of(faults->held.previous, struct frame, link)->flight.deadline;

		if (time < last)
			time = last;
	}
	return time;
}

/* frame->flight.deadline is the delay of this packet alone. */
static void go_on(struct fabric *fabric, struct link_faults *faults, struct frame *frame,
		  time_ns now)
{
	frame->flight.deadline = arrival_time(faults, frame, now);
	if (frame->flight.deadline <= now && list_is_empty(&faults->held)) {
		arrive(fabric, faults, frame, now);
		return;
	}
	port_cable_take(faults->output, frame);
	list_append(&faults->held, &frame->link);
	if (!timer_is_armed(&faults->arrivals) || first_held(faults) == frame)
		watch(fabric, faults);
}

/* Sends the overtaken packet on, behind the packet that passed it. */
static void end_overtaking(struct fabric *fabric, struct link_faults *faults, time_ns now)
{
	struct frame *frame = faults->overtaken;

	faults->overtaken = NULL;
	port_cable_release(faults->output, frame);
	frame->flight.deadline = 0;
	go_on(fabric, faults, frame, now);
}

static void count(struct fault_counts *counts, unsigned actions)
{
	counts->packets++;
	if (likely(!actions))
		return;
	counts->dropped += (actions & FAULT_DROP) != 0;
	if (actions & FAULT_DROP)
		return;
	counts->corrupted += (actions & (FAULT_CORRUPT | FAULT_CORRUPT_INSIDE)) != 0;
	counts->duplicated += (actions & FAULT_DUPLICATE) != 0;
	counts->reordered += (actions & FAULT_REORDER) != 0;
	counts->delayed += (actions & FAULT_DELAY) != 0;
	counts->credits_lost += (actions & FAULT_CREDIT_LOSS) != 0;
}

static struct fault_decision judge(struct fabric *fabric, struct link_faults *faults)
{
	struct fault_decision decision = fault_judge_next(&faults->judge);

	count(&faults->counts, decision.actions);
	if (decision.actions && fabric->faults.observer.decided)
		fabric->faults.observer.decided(fabric->faults.observer.context, faults, &decision);
	return decision;
}

void faults_carry(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now)
{
	struct link_faults *faults = output->faults;

	if (frame->vl == VL_MANAGEMENT && !faults->judge.settings.includes_mads) {
		fabric_receive(fabric, output->peer, frame, now);
		return;
	}

	struct fault_decision decision = judge(fabric, faults);

	if (decision.actions & FAULT_DROP) {
		fabric_tap_see(fabric, TAP_DROPPED, output, frame, DROP_FAULT);
		fabric_lose_on_link(fabric, output, frame);
		return;
	}
	if (decision.actions & FAULT_CORRUPT_INSIDE)
		frame_break_inside(frame, decision.bit);
	if (decision.actions & FAULT_CORRUPT)
		port_count_broken_byte(output->peer, frame_break_on_wire(frame, decision.bit));
	frame->fault_actions = (uint8_t)(decision.actions & (FAULT_DUPLICATE | FAULT_CREDIT_LOSS));
	frame->flight.deadline = decision.jitter;
	if ((decision.actions & FAULT_REORDER) && !faults->overtaken) {
		faults->overtaken = frame;
		faults->overtaken_until = now + OVERTAKEN_TIMEOUT;
		port_cable_take(output, frame);
		watch(fabric, faults);
		return;
	}
	go_on(fabric, faults, frame, now);
	if (faults->overtaken)
		end_overtaking(fabric, faults, now);
}

void faults_keep_credits(struct port *input, struct frame *frame)
{
	struct link_faults *faults = input->peer->faults;

	frame->fault_actions = 0;
	/* VL15 has no credits to lose. A link whose faults were cleared keeps none. */
	if (!faults || !frame->credit_blocks)
		return;
	faults->lost_blocks[frame->input_vl] =
		(uint16_t)(faults->lost_blocks[frame->input_vl] + frame->credit_blocks);
	frame->credit_blocks = 0;
}

/* Returns whether the sender may send. */
static bool find_credits(struct link_faults *faults)
{
	struct port *input = faults->output->peer;
	bool can_go_on = false;

	for (unsigned vl = 0; vl < VL_MANAGEMENT; vl++) {
		unsigned blocks = faults->lost_blocks[vl];

		faults->lost_blocks[vl] = 0;
		if (blocks && lane_buffer_release(port_arrival_lane(input, vl), blocks))
			can_go_on = true;
	}
	return can_go_on;
}

static void run_arrivals(struct fabric *fabric, struct link_faults *faults, time_ns now)
{
	while (!list_is_empty(&faults->held) && first_held(faults)->flight.deadline <= now) {
		struct frame *frame = first_held(faults);

		list_remove(&frame->link);
		port_cable_release(faults->output, frame);
		arrive(fabric, faults, frame, now);
	}
	if (faults->overtaken && faults->overtaken_until <= now)
		end_overtaking(fabric, faults, now);
	watch(fabric, faults);
}

static void watch_flap(struct fabric *fabric, struct link_faults *faults, time_ns now)
{
	const struct fault_settings *settings = &faults->judge.settings;

	if (!settings->flap_up || !settings->flap_down)
		timer_queue_cancel(&fabric->faults.flaps, &faults->flap);
	else
		timer_queue_arm(
			&fabric->faults.flaps, &faults->flap,
			now + (faults->flap_is_down ? settings->flap_down : settings->flap_up));
}

static void run_flap(struct fabric *fabric, struct link_faults *faults, time_ns now)
{
	faults->flap_is_down = !faults->flap_is_down;
	faults->counts.flaps += faults->flap_is_down;
	watch_flap(fabric, faults, now);
	fabric_set_cable(fabric, faults->output, !faults->flap_is_down, now);
}

void faults_run(struct fabric *fabric, time_ns now)
{
	struct timer *timer;

	while ((timer = timer_queue_pop(&fabric->faults.flaps, now)))
		run_flap(fabric, container_of(timer, struct link_faults, flap), now);
	flow_watchdogs_run(fabric, now);
	while ((timer = timer_queue_pop(&fabric->faults.arrivals, now)))
		run_arrivals(fabric, container_of(timer, struct link_faults, arrivals), now);
}

/* The next frame that the link holds back; the overtaken one is the last. */
static struct frame *take_held(struct link_faults *faults)
{
	struct list *link = list_pop(&faults->held);
	struct frame *overtaken = faults->overtaken;

	if (link)
		return container_of(link, struct frame, link);
	faults->overtaken = NULL;
	return overtaken;
}

void faults_flush(struct fabric *fabric, struct port *output)
{
	struct link_faults *faults = output->faults;
	struct frame *frame;

	while ((frame = take_held(faults))) {
		port_cable_release(output, frame);
		fabric_drop(fabric, output, frame, DROP_PORT_INACTIVE);
	}
	timer_queue_cancel(&fabric->faults.arrivals, &faults->arrivals);
	faults->busy_until = 0;
	(void)find_credits(faults);
}

/* The faults of a port, made if there are none. */
static int obtain(struct fabric *fabric, struct port *output, struct link_faults **ret_faults)
{
	if (output->faults) {
		*ret_faults = output->faults;
		return 0;
	}

	struct link_faults *faults = calloc(1, sizeof(*faults));
	int error = faults ? 0 : -ENOMEM;

	if (!error)
		error = timer_queue_reserve(&fabric->faults.arrivals,
					    fabric->faults.link_count + 1);
	if (!error)
		error = timer_queue_reserve(&fabric->faults.flaps, fabric->faults.link_count + 1);
	if (!error)
		error = timer_queue_reserve(&fabric->faults.watchdogs,
					    fabric->faults.link_count + 1);
	if (error) {
		free(faults);
		return error;
	}
	faults->output = output;
	list_init(&faults->held);
	list_append(&fabric->faults.links, &faults->link);
	fabric->faults.link_count++;
	output->faults = faults;
	output->had_faults = true;
	*ret_faults = faults;
	fabric_note_paths_changed(fabric);
	return 0;
}

static void stop_flapping(struct fabric *fabric, struct link_faults *faults, time_ns now)
{
	timer_queue_cancel(&fabric->faults.flaps, &faults->flap);
	if (faults->flap_is_down) {
		faults->flap_is_down = false;
		fabric_set_cable(fabric, faults->output, true, now);
	}
}

int faults_set(struct fabric *fabric, struct port *output, const struct fault_settings *settings,
	       uint64_t seed, time_ns now)
{
	struct link_faults *faults;
	int error = obtain(fabric, output, &faults);

	if (error)
		return error;
	fault_judge_seed(&faults->judge, seed, output->node->info.node_guid, output->number);
	free(faults->script);
	faults->script = NULL;
	faults->judge.script = NULL;
	faults->judge.settings = *settings;
	stop_flapping(fabric, faults, now);
	watch_flap(fabric, faults, now);
	flow_watchdog_watch(fabric, faults, now);
	return 0;
}

int faults_replay(struct fabric *fabric, struct port *output, const struct fault_settings *settings,
		  struct fault_decision *script, size_t script_count, time_ns now)
{
	struct link_faults *faults;
	int error = faults_set(fabric, output, settings, 0, now);

	if (error)
		return error;
	faults = output->faults;
	faults->script = script;
	faults->judge.script = script;
	faults->judge.script_count = script_count;
	faults->judge.script_next = 0;
	faults->judge.sequence = 0;
	faults->counts = (struct fault_counts){0};
	return 0;
}

void faults_clear(struct fabric *fabric, struct port *output, time_ns now)
{
	struct link_faults *faults = output->faults;
	struct frame *frame;

	if (!faults)
		return;
	fabric->now = now;
	stop_flapping(fabric, faults, now);
	flow_watchdog_stop(fabric, faults);
	while ((frame = take_held(faults))) {
		port_cable_release(output, frame);
		frame->fault_actions = 0;
		fabric_receive(fabric, output->peer, frame, now);
	}
	timer_queue_cancel(&fabric->faults.arrivals, &faults->arrivals);
	if (find_credits(faults))
		fabric_wake(fabric, output);
	list_remove(&faults->link);
	fabric->faults.link_count--;
	output->faults = NULL;
	free(faults->script);
	free(faults);
	fabric_note_paths_changed(fabric);
}

void faults_release(struct fabric *fabric)
{
	struct list *link;

	while ((link = list_pop(&fabric->faults.links))) {
		struct link_faults *faults = container_of(link, struct link_faults, link);

		faults->output->faults = NULL;
		free(faults->script);
		free(faults);
	}
	timer_queue_release(&fabric->faults.arrivals);
	timer_queue_release(&fabric->faults.flaps);
	timer_queue_release(&fabric->faults.watchdogs);
}
