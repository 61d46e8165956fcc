/* SPDX-License-Identifier: Apache-2.0 */
/* Congestion control, the core state (vol 1, annex A10). */
#include "net/link/congestion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "net/link/port_queues.h"

enum { SHIFT_BIT = 14, MULTIPLIER_MASK = 0x3fff, TIMER_UNIT_NS = 1024 };

static int obtain(struct port *port)
{
	if (!port->congestion)
		port->congestion = calloc(1, sizeof(*port->congestion));
	return port->congestion ? 0 : -ENOMEM;
}

int port_set_marking(struct port *port, const struct congestion_marking *marking)
{
	int error = obtain(port);

	if (!error)
		port->congestion->marking = *marking;
	return error;
}

int port_set_reaction(struct port *port, const struct congestion_reaction *reaction)
{
	int error = obtain(port);

	if (!error)
		port->congestion->reaction = *reaction;
	return error;
}

/* Threshold 15 is a sixteenth of a receive buffer waiting, 1 is nearly all of one. */
static bool is_congested(const struct port *port, unsigned vl)
{
	const struct congestion_marking *marking = &port->congestion->marking;
	const struct vl_queue *queue = &port->queues->vls[vl];
	uint32_t blocks_max = VL_BUFFER_BLOCKS / (CONGESTION_THRESHOLD_MAX + 1) *
			      (CONGESTION_THRESHOLD_MAX + 1u - marking->threshold);

	if (marking->threshold == 0 || queue->block_count < blocks_max)
		return false;
	/* Who waits for credits only suffers from what is congested elsewhere. */
	return marking->marks_victims || port_lane_has_credits(port, vl);
}

bool port_marks_congestion(struct port *port, unsigned vl, uint32_t packet_blocks)
{
	struct congestion *congestion = port->congestion;

	if (!is_congested(port, vl) || packet_blocks < congestion->marking.packet_blocks_min)
		return false;
	if (congestion->unmarked++ < congestion->marking.marking_rate)
		return false;
	congestion->unmarked = 0;
	return true;
}

/* One step down per timer; the rest of the last one counts on. */
static void forget(const struct congestion_reaction *reaction, struct ccti *ccti, time_ns now)
{
	time_ns period = (time_ns)reaction->ccti_timer * TIMER_UNIT_NS;

	if (period == 0 || ccti->index <= reaction->ccti_min || now < ccti->since)
		return;

	time_ns steps = (now - ccti->since) / period;
	time_ns most = (time_ns)ccti->index - reaction->ccti_min;

	ccti->since += steps * period;
	ccti->index = (uint16_t)(ccti->index - (steps < most ? steps : most));
}

void ccti_raise(const struct congestion_reaction *reaction, struct ccti *ccti, time_ns now)
{
	unsigned limit = reaction->ccti_limit < CONGESTION_TABLE_ENTRIES
				 ? reaction->ccti_limit
				 : CONGESTION_TABLE_ENTRIES - 1;
	unsigned raised;

	forget(reaction, ccti, now);
	if (ccti->index <= reaction->ccti_min)
		ccti->since = now;
	raised = ccti->index + (unsigned)reaction->ccti_increase;
	ccti->index = (uint16_t)(raised < limit ? raised : limit);
}

time_ns ccti_delay(const struct congestion_reaction *reaction, struct ccti *ccti, time_ns packet_ns,
		   time_ns now)
{
	forget(reaction, ccti, now);

	unsigned index = ccti->index > reaction->ccti_min ? ccti->index : reaction->ccti_min;
	uint16_t entry = reaction->table[index % CONGESTION_TABLE_ENTRIES];

	return (packet_ns >> (entry >> SHIFT_BIT)) * (entry & MULTIPLIER_MASK);
}

void congestion_owe_becn(struct congestion *congestion, uint16_t lid)
{
	for (unsigned index = 0; index < congestion->becn_count; index++)
		if (congestion->becn_lids[index] == lid)
			return;
	if (congestion->becn_count == CONGESTION_BECNS_MAX) {
		congestion->becn_count--;
		memmove(congestion->becn_lids, congestion->becn_lids + 1,
			congestion->becn_count * sizeof(congestion->becn_lids[0]));
	}
	congestion->becn_lids[congestion->becn_count++] = lid;
}

bool congestion_pay_becn(struct congestion *congestion, uint16_t lid)
{
	for (unsigned index = 0; index < congestion->becn_count; index++) {
		if (congestion->becn_lids[index] != lid)
			continue;
		congestion->becn_count--;
		memmove(congestion->becn_lids + index, congestion->becn_lids + index + 1,
			(congestion->becn_count - index) * sizeof(congestion->becn_lids[0]));
		return true;
	}
	return false;
}
