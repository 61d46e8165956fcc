/* SPDX-License-Identifier: Apache-2.0 */
/* The state of congestion control at a port (vol 1, annex A10; transport 8.13). */
#include "net/link/congestion_state.h"
#include "net/link/detail_counters.h"
#include "net/link/lane_credits.h"
#include "net/link/port_queues.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SHIFT_BIT = 14, MULTIPLIER_MASK = 0x3fff, TIMER_UNIT_NS = 1024 };

int port_obtain_congestion(struct port *port)
{
	if (!port->congestion)
		port->congestion = calloc(1, sizeof(*port->congestion));
	return port->congestion ? 0 : -ENOMEM;
}

int port_set_marking(struct port *port, const struct congestion_marking *marking)
{
	int error = port_obtain_congestion(port);

	if (!error)
		port->congestion->marking = *marking;
	return error;
}

int port_set_reaction(struct port *port, const struct congestion_reaction *reaction)
{
	int error = port_obtain_congestion(port);

	if (!error)
		port->congestion->reaction = *reaction;
	return error;
}

void port_release_congestion(struct port *port)
{
	if (port->congestion)
		free(port->congestion->log);
	free(port->congestion);
	port->congestion = NULL;
}

/* At threshold 15 a sixteenth of a receive buffer is waiting, at 1 nearly a whole one. */
static bool is_congested(const struct port *port, unsigned vl)
{
	const struct congestion_marking *marking = &port->congestion->marking;
	const struct vl_queue *queue = &port->queues->vls[vl];
	uint32_t blocks_max = VL_BUFFER_BLOCKS / (CONGESTION_THRESHOLD_MAX + 1) *
			      (CONGESTION_THRESHOLD_MAX + 1u - marking->threshold);

	if (marking->threshold == 0 || queue->block_count < blocks_max)
		return false;
	/* A lane that only waits for credits is a victim of congestion elsewhere. */
	return marking->marks_victims || port_lane_has_credits(port, vl);
}

bool port_marks_congestion(struct port *port, unsigned vl, uint32_t packet_blocks, time_ns now)
{
	struct congestion *congestion = port->congestion;
	bool congested = is_congested(port, vl);

	port_note_congested_lane(port, vl, congested, now);
	if (!congested || packet_blocks < congestion->marking.packet_blocks_min)
		return false;
	if (congestion->unmarked++ < congestion->marking.marking_rate)
		return false;
	congestion->unmarked = 0;
	return true;
}

void port_review_congestion(struct port *port, time_ns now)
{
	if (!port->congestion || !port->details)
		return;
	for (unsigned left = port->details->congested_lanes; left; left &= left - 1) {
		unsigned vl = (unsigned)__builtin_ctz(left);

		port_note_congested_lane(port, vl, is_congested(port, vl), now);
	}
}

bool port_controls_congestion(const struct port *port)
{
	const struct congestion *congestion = port->congestion;

	if (!congestion)
		return false;
	for (unsigned sl = 0; sl < SL_COUNT; sl++)
		if (congestion->reaction.by_sl[sl].increase)
			return true;
	return congestion->marking.threshold != 0;
}

/* The index goes down by one per timer period; the rest of the last period counts on. */
static void forget(const struct congestion_reaction *reaction, unsigned sl, struct ccti *ccti,
		   time_ns now)
{
	time_ns period = (time_ns)reaction->by_sl[sl].timer * TIMER_UNIT_NS;
	uint16_t index_min = reaction->by_sl[sl].index_min;

	if (period == 0 || ccti->index <= index_min || now < ccti->since)
		return;

	time_ns steps = (now - ccti->since) / period;
	time_ns most = (time_ns)ccti->index - index_min;

	ccti->since += steps * period;
	ccti->index = (uint16_t)(ccti->index - (steps < most ? steps : most));
}

bool ccti_raise(const struct congestion_reaction *reaction, unsigned sl, struct ccti *ccti,
		time_ns now)
{
	unsigned limit = reaction->ccti_limit < CONGESTION_TABLE_ENTRIES
				 ? reaction->ccti_limit
				 : CONGESTION_TABLE_ENTRIES - 1;
	unsigned trigger = reaction->by_sl[sl].trigger;
	unsigned before;
	unsigned raised;

	forget(reaction, sl, ccti, now);
	if (ccti->index <= reaction->by_sl[sl].index_min)
		ccti->since = now;
	before = ccti->index;
	raised = before + reaction->by_sl[sl].increase;
	ccti->index = (uint16_t)(raised < limit ? raised : limit);
	return trigger && before < trigger && ccti->index >= trigger;
}

time_ns ccti_delay(const struct congestion_reaction *reaction, unsigned sl, struct ccti *ccti,
		   time_ns packet_ns, time_ns now)
{
	unsigned index_min = reaction->by_sl[sl].index_min;

	forget(reaction, sl, ccti, now);

	unsigned index = ccti->index > index_min ? ccti->index : index_min;
	uint16_t entry = reaction->table[index % CONGESTION_TABLE_ENTRIES];

	return (packet_ns >> (entry >> SHIFT_BIT)) * (entry & MULTIPLIER_MASK);
}

static bool is_same_flow(const struct congestion_event *a, const struct congestion_event *b)
{
	return a->slid == b->slid && a->dlid == b->dlid && a->sl == b->sl &&
	       a->local_qpn == b->local_qpn && a->remote_qpn == b->remote_qpn;
}

void port_log_congestion(struct port *port, const struct congestion_event *event)
{
	struct congestion_log *log = port->congestion->log;
	unsigned place = 0;

	if (!log)
		log = port->congestion->log = calloc(1, sizeof(*log));
	if (!log)
		return;
	if (log->event_count < UINT16_MAX)
		log->event_count++;
	log->sls |= (uint16_t)(1u << event->sl);
	while (place < log->kept && !is_same_flow(&log->events[place], event))
		place++;
	if (place == log->kept && log->kept < CONGESTION_EVENTS_MAX)
		log->kept++;
	if (place == CONGESTION_EVENTS_MAX)
		place--;
	memmove(log->events + 1, log->events, place * sizeof(log->events[0]));
	log->events[0] = *event;
}

/* Index in the list; becn_count: not found. */
static unsigned find_becn(const struct congestion *congestion, uint16_t lid, uint32_t qpn)
{
	unsigned index = 0;

	while (index < congestion->becn_count &&
	       (congestion->becns[index].lid != lid || congestion->becns[index].qpn != qpn))
		index++;
	return index;
}

static void remove_debt(struct congestion *congestion, unsigned index)
{
	congestion->becn_count--;
	memmove(congestion->becns + index, congestion->becns + index + 1,
		(congestion->becn_count - index) * sizeof(congestion->becns[0]));
}

void congestion_queue_becn(struct congestion *congestion, uint16_t lid, uint32_t qpn)
{
	if (find_becn(congestion, lid, qpn) < congestion->becn_count)
		return;
	if (congestion->becn_count == CONGESTION_BECNS_MAX)
		remove_debt(congestion, 0);
	congestion->becns[congestion->becn_count++] =
		(struct congestion_becn){.lid = lid, .qpn = qpn};
}

bool congestion_take_becn(struct congestion *congestion, uint16_t lid, uint32_t qpn)
{
	unsigned index = find_becn(congestion, lid, qpn);

	if (index == congestion->becn_count)
		return false;
	remove_debt(congestion, index);
	return true;
}
