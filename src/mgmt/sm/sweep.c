/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of a sweep, one after the other (vol 1, chapter 14). */
#include "mgmt/sm/sweep.h"

static const struct phase_operations *const phases[PHASE_COUNT] = {
	[PHASE_IDLE] = NULL,
	[PHASE_LIGHT] = &sweep_light,
	[PHASE_DISCOVER] = &sweep_discover,
	[PHASE_SWITCHES] = &sweep_switches,
	[PHASE_FORWARDING] = &sweep_forwarding,
	[PHASE_PORTS] = &sweep_ports,
	[PHASE_ARM] = &sweep_arm,
	[PHASE_ACTIVATE] = &sweep_activate,
};

void sweep_cursor_reset(struct sm *sm)
{
	sm->cursor_node = sm->subnet.nodes.next;
	sm->cursor_index = 0;
}

struct subnet_port *sweep_next_port(struct sm *sm)
{
	while (sm->cursor_node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor_node);

		if (sm->cursor_index <= node->port_count)
			return &node->ports[sm->cursor_index++];
		sm->cursor_node = sm->cursor_node->next;
		sm->cursor_index = 0;
	}
	return NULL;
}

static bool every_link_is_active(struct sm *sm)
{
	struct subnet_port *port;

	sweep_cursor_reset(sm);
	while ((port = sweep_next_port(sm))) {
		if (port->is_known && port->peer && port->info.port_state != PORT_ACTIVE)
			return false;
	}
	return true;
}

/* Says what the finished sweep was worth, and when the next one is due. */
static void finish(struct sm *sm, enum sweep_phase last_phase, time_ns now)
{
	sm->discovery_count = 0;
	if (last_phase != PHASE_LIGHT) {
		sm->sweep_count++;
		sm->is_up =
			sm->state == SM_MASTER && !sm->is_incomplete && every_link_is_active(sm);
		if (last_phase == PHASE_ACTIVATE)
			sm->reregister_all = false;
	}
	sm->next_sweep_at =
		sm->options.sweep_interval ? now + sm->options.sweep_interval : TIME_NEVER;
}

static void enter(struct sm *sm, enum sweep_phase phase, time_ns now)
{
	enum sweep_phase last_phase = sm->phase;

	sm->phase = phase;
	if (phase == PHASE_IDLE) {
		finish(sm, last_phase, now);
		return;
	}
	/* Out of memory: what was reached stays, and the next sweep tries again. */
	if (phases[phase]->begin(sm) != 0) {
		sm->is_incomplete = true;
		sm->phase = PHASE_IDLE;
		finish(sm, phase, now);
	}
}

/* What to do when idle; PHASE_IDLE: nothing yet. */
static enum sweep_phase due_phase(const struct sm *sm, time_ns now)
{
	bool is_time = sm->next_sweep_at <= now;

	if (sm->heavy_is_wanted)
		return PHASE_DISCOVER;
	/* A subnet that did not come up whole, or that is another's, is looked at anew. */
	if (is_time && (sm->state != SM_MASTER || sm->is_incomplete || !sm->is_up))
		return PHASE_DISCOVER;
	return is_time ? PHASE_LIGHT : PHASE_IDLE;
}

static bool ask(struct sm *sm)
{
	struct mad_message request;
	struct mad_purpose purpose;
	bool has_asked = false;

	while (mad_transactions_has_room(&sm->transactions) &&
	       phases[sm->phase]->next(sm, &request, &purpose)) {
		mad_transactions_send(&sm->transactions, &request, purpose);
		has_asked = true;
	}
	return has_asked;
}

static void tell_failures(struct sm *sm)
{
	struct mad_purpose purpose;
	struct mad_message request;

	while (mad_transactions_take_failed(&sm->transactions, &purpose, &request)) {
		sm->silent_count++;
		phases[sm->phase]->failed(sm, purpose);
	}
}

void sweep_advance(struct sm *sm, time_ns now)
{
	/* Every turn but the last enters another phase, and a sweep has each phase once. */
	for (unsigned turn = 0; turn <= 2 * PHASE_COUNT; turn++) {
		tell_failures(sm);
		if (sm->phase == PHASE_IDLE) {
			enum sweep_phase phase = due_phase(sm, now);

			if (phase == PHASE_IDLE)
				return;
			enter(sm, phase, now);
			continue;
		}
		if (ask(sm) || !mad_transactions_is_idle(&sm->transactions))
			return;
		enter(sm, phases[sm->phase]->following(sm), now);
	}
}

void sweep_answered(struct sm *sm, struct mad_purpose purpose, const struct mad_header *header,
		    const uint8_t *data)
{
	assert(phases[sm->phase]);
	if (header->status == MAD_STATUS_OK) {
		phases[sm->phase]->answered(sm, purpose, data);
		return;
	}
	sm->silent_count++;
	phases[sm->phase]->failed(sm, purpose);
}
