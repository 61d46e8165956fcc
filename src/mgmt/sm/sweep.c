/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of a sweep, and the schedule of sweeps (management 3.2). */
#include "mgmt/sm/sweep.h"

enum {
	GAP_DOUBLINGS_MAX = 4,
	INSISTENT_SWEEPS = 4,
	GAPS_MAX_WITHOUT_TIMER =
		16, /* without a timer, incomplete sweeps are repeated only this often */
};

#define GAP_PAUSE	   MILLISECONDS(50)
#define OTHER_MASTER_PAUSE SECONDS(1)

static const struct phase_operations *const phases[PHASE_COUNT] = {
	[PHASE_IDLE] = NULL,
	[PHASE_LIGHT] = &sweep_light,
	[PHASE_DISCOVER] = &sweep_discover,
	[PHASE_HANDOVER] = &sweep_handover,
	[PHASE_SWITCHES] = &sweep_switches,
	[PHASE_PARTITIONS] = &sweep_partitions,
	[PHASE_FORWARDING] = &sweep_forwarding,
	[PHASE_LANES] = &sweep_lanes,
	[PHASE_MULTICAST] = &sweep_multicast,
	[PHASE_PORTS] = &sweep_ports,
	[PHASE_ACTIVATE] = &sweep_activate,
	[PHASE_REREGISTER] = &sweep_reregister,
};

void sweep_cursor_reset(struct sm *sm)
{
	sm->cursor.node = sm->subnet.nodes.next;
	sm->cursor.index = 0;
	sm->cursor.part = 0;
}

struct subnet_port *sweep_next_port(struct sm *sm)
{
	while (sm->cursor.node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor.node);

		if (sm->cursor.index <= node->port_count)
			return &node->ports[sm->cursor.index++];
		sm->cursor.node = sm->cursor.node->next;
		sm->cursor.index = 0;
	}
	return NULL;
}

struct subnet_port *sweep_next_unsettled_port(struct sm *sm)
{
	while (sm->cursor.node != &sm->subnet.nodes && sweep_node(sm->cursor.node)->is_settled) {
		sm->cursor.node = sm->cursor.node->next;
		sm->cursor.index = 0;
	}
	return sm->cursor.node == &sm->subnet.nodes ? NULL : sweep_next_port(sm);
}

void sweep_port_request(const struct sm *sm, const struct subnet_port *port, enum mad_method method,
			uint16_t attribute_id, uint32_t attribute_modifier,
			struct mad_message *ret_request)
{
	const struct smp_request request = {
		.method = method,
		.attribute_id = attribute_id,
		.attribute_modifier = attribute_modifier,
		.mkey = subnet_node_is_switch(port->node) ? port->node->ports[0].mkey : port->mkey};
	struct directed_route route;

	if (port != sm->own_port && !subnet_node_is_switch(port->node) && port->peer &&
	    directed_route_extend(&port->peer->node->route, port->peer->number, &route))
		smp_request_make(&request, &route, ret_request);
	else
		smp_request_make(&request, &port->node->route, ret_request);
}

void sweep_want(struct sm *sm, enum sweep_scope scope)
{
	if (sm->schedule.wanted_scope == SCOPE_NOTHING || sm->schedule.wanted_at)
		sm->schedule.wanted_since = sm->now;
	if (scope > sm->schedule.wanted_scope)
		sm->schedule.wanted_scope = scope;
	sm->schedule.wanted_at = 0;
}

void sweep_abandon(struct sm *sm)
{
	mad_transactions_cancel_all(&sm->transactions);
	sm->phase = PHASE_IDLE;
	sm->schedule.wanted_scope = SCOPE_NOTHING;
	sm->schedule.reacts_since = TIME_NEVER;
}

void sweep_mark_incomplete(struct sm *sm, struct mad_purpose purpose)
{
	struct subnet_node *node = purpose.subject;

	node->has_failed = true;
	sm->sweep.is_incomplete = true;
	/* The port may have an unknown M_Key. When its lease expires, PortInfo shows the key
	 * (management 3.7). */
	for (unsigned i = 0; i <= node->port_count; i++) {
		if (subnet_port_is_end_port(&node->ports[i]))
			discovery_want_port(sm, &node->ports[i]);
	}
}

/* Links that are not active are read again. */
static bool every_link_is_active(struct sm *sm)
{
	struct subnet_port *port;
	bool all_are = true;

	sweep_cursor_reset(sm);
	while ((port = sweep_next_unsettled_port(sm))) {
		if (!port->is_known || !port->peer || port->info.port_state == PORT_ACTIVE)
			continue;
		all_are = false;
		port->node->has_failed = true;
		discovery_want_port(sm, port);
		discovery_want_port(sm, port->peer);
	}
	return all_are;
}

static void settle(struct sm *sm)
{
	list_for_each (link, &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(link);

		node->is_settled = !node->has_failed;
		node->has_failed = false;
	}
}

static void tell_new_ports(struct sm *sm)
{
	const struct sm_owner *owner = &sm->options.owner;

	for (unsigned lid = 1; lid <= sm->subnet.lid_max; lid++) {
		struct subnet_port *port = sm->subnet.by_lid[lid];

		if (!port || port->is_in_service || port->info.port_state != PORT_ACTIVE)
			continue;
		port->is_in_service = true;
		if (owner->port_came)
			owner->port_came(owner->context, sm->now, port);
	}
}

/* An incomplete sweep is repeated soon, then less and less often; but soon each time while
 * responses come to repeated requests. */
static void plan_repetition(struct sm *sm, enum sweep_scope scope)
{
	bool loses = sm->transactions.repeated_answer_count != sm->sweep.repeated_answers_before;
	unsigned doublings = sm->schedule.gap_count < GAP_DOUBLINGS_MAX ? sm->schedule.gap_count
									: GAP_DOUBLINGS_MAX;

	if (loses || sm->schedule.gap_count == 0) {
		sm->schedule.insistent_count = INSISTENT_SWEEPS;
		doublings = 0;
	}
	sm->schedule.gap_count++;
	if (!sm->options.sweep_interval && sm->schedule.gap_count > GAPS_MAX_WITHOUT_TIMER)
		return;
	/* A change that was reported meanwhile does not wait. */
	if (sm->schedule.wanted_scope == SCOPE_NOTHING || sm->schedule.wanted_at)
		sm->schedule.wanted_since = sm->schedule.wanted_at =
			sm->now + (GAP_PAUSE << doublings);
	if (scope > sm->schedule.wanted_scope)
		sm->schedule.wanted_scope = scope;
}

static void note_result(struct sm *sm, bool was_up)
{
	if (sm->is_up && !was_up)
		sm_note(sm, SM_EVENT_NOTE, "subnet up: %u nodes, %u switches, routed by %s",
			sm->subnet.node_count, sm->subnet.switch_count, sm->engine->name);
	else if (!sm->is_up && sm->schedule.gap_count == 1)
		sm_note(sm, SM_EVENT_WARNING,
			"the sweep is incomplete: %u requests got no response or an error",
			sm->counts.silent);
}

/* Reports the result of the sweep and schedules the next one. */
static void finish(struct sm *sm, enum sweep_phase last_phase)
{
	bool was_up = sm->is_up;

	sm->sweep.discovery_count = 0;
	if (sm->state == SM_STANDBY || sm->state == SM_NOT_ACTIVE)
		return;
	sm->counts.sweeps += sm->sweep.scope != SCOPE_TREES;
	sm->counts.changes += sm->sweep.scope != SCOPE_TREES && !sm->sweep.is_nothing_new;
	if (sm->state == SM_DISCOVERING) {
		plan_repetition(sm, SCOPE_ALL);
		return;
	}
	sm->is_up = every_link_is_active(sm) && !sm->sweep.is_incomplete;
	if (last_phase == PHASE_REREGISTER && sm->sweep.scope != SCOPE_TREES)
		settle(sm);
	if (sm->is_up)
		sm->schedule.gap_count = 0;
	else
		plan_repetition(sm, SCOPE_CHANGES);
	if (sm->election.other_master_is_here && sm->schedule.wanted_scope == SCOPE_NOTHING) {
		sm->schedule.wanted_scope = SCOPE_ALL;
		sm->schedule.wanted_since = sm->schedule.wanted_at = sm->now + OTHER_MASTER_PAUSE;
	}
	note_result(sm, was_up);
	tell_new_ports(sm);
	if (sm->options.owner.sweep_finished && sm->sweep.scope != SCOPE_TREES &&
	    !sm->sweep.is_nothing_new)
		sm->options.owner.sweep_finished(sm->options.owner.context, sm->now);
}

static void enter(struct sm *sm, enum sweep_phase phase, time_ns now)
{
	enum sweep_phase last_phase = sm->phase;

	sm->phase = phase;
	if (phase == PHASE_IDLE) {
		/* Polling a few switches does not delay the next light sweep of all. */
		if (last_phase != PHASE_LIGHT || !sm->sweep.is_look)
			sm->schedule.next_sweep_at = sm->options.sweep_interval
							     ? now + sm->options.sweep_interval
							     : TIME_NEVER;
		if (last_phase != PHASE_LIGHT)
			finish(sm, last_phase);
		if (sm->schedule.wanted_scope == SCOPE_NOTHING || sm->schedule.wanted_at)
			sm->schedule.reacts_since = TIME_NEVER;
		return;
	}
	/* No memory: completed phases stay, and the next sweep tries again. */
	if (phases[phase]->begin(sm) != 0) {
		sm->sweep.is_incomplete = true;
		enter(sm, PHASE_IDLE, now);
	}
}

/* The phase to begin when idle. PHASE_IDLE: none yet. */
static enum sweep_phase due_phase(struct sm *sm, time_ns now)
{
	if (sm->state == SM_STANDBY || sm->state == SM_NOT_ACTIVE)
		return PHASE_IDLE;
	if (sm->schedule.wanted_scope != SCOPE_NOTHING && sm->schedule.wanted_at <= now) {
		sm->sweep.scope = sm->state == SM_MASTER ? sm->schedule.wanted_scope : SCOPE_ALL;
		if (sm->schedule.reacts_since == TIME_NEVER)
			sm->schedule.reacts_since =
				sm->schedule.wanted_since ? sm->schedule.wanted_since : now;
		sm->schedule.wanted_scope = SCOPE_NOTHING;
		sm->schedule.wanted_at = 0;
		if (sm->sweep.scope != SCOPE_TREES)
			return PHASE_DISCOVER;
		sm->sweep.is_incomplete = !sm->is_up;
		return PHASE_MULTICAST;
	}
	if (sm->state != SM_MASTER)
		return PHASE_IDLE;
	sm->sweep.is_renewal = sm->schedule.next_renewal_at <= now;
	sm->sweep.is_look = sm->schedule.next_sweep_at > now && !sm->sweep.is_renewal;
	if (sm->sweep.is_renewal)
		return PHASE_LIGHT;
	return time_earlier(sm->schedule.next_sweep_at, sm->schedule.next_look_at) <= now
		       ? PHASE_LIGHT
		       : PHASE_IDLE;
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

	while (sm->phase != PHASE_IDLE &&
	       mad_transactions_take_failed(&sm->transactions, &purpose, &request)) {
		sm->counts.silent++;
		phases[sm->phase]->failed(sm, purpose);
	}
}

/* Polls of single switches are so frequent that nothing waits for them: a switch may not answer. */
static bool look_is_in_the_way(const struct sm *sm, time_ns now)
{
	return sm->phase == PHASE_LIGHT && sm->sweep.is_look &&
	       sm->schedule.wanted_scope != SCOPE_NOTHING && sm->schedule.wanted_at <= now;
}

static enum sweep_phase following_phase(struct sm *sm)
{
	const struct phase_operations *phase = phases[sm->phase];

	return phase->choose_following ? phase->choose_following(sm) : phase->following;
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
		if (look_is_in_the_way(sm, now))
			mad_transactions_cancel_all(&sm->transactions);
		else if (ask(sm) || !mad_transactions_is_idle(&sm->transactions))
			return;
		enter(sm, following_phase(sm), now);
	}
}

void sweep_answered(struct sm *sm, struct mad_purpose purpose, const struct mad_header *header,
		    const uint8_t *data)
{
	/* The sweep was abandoned between request and response. */
	if (sm->phase == PHASE_IDLE)
		return;
	if (header->status == MAD_STATUS_OK) {
		if (phases[sm->phase]->answered)
			phases[sm->phase]->answered(sm, purpose, data);
		return;
	}
	sm->counts.silent++;
	sm->sweep.is_refusal = true;
	phases[sm->phase]->failed(sm, purpose);
	sm->sweep.is_refusal = false;
}
