/* SPDX-License-Identifier: Apache-2.0 */
/* After discovery: drops lost nodes, decides who is master, then assigns LIDs and partitions
 * (management 3.2). */
#include "mgmt/sm/sweep.h"

enum { DISCOVERIES_MAX = 2 };

/* Drops steps about nodes that are about to be removed. */
static void forget_unseen(struct sm *sm)
{
	struct discovery_queue *queue = &sm->unanswered;
	size_t kept_count = 0;

	for (size_t i = 0; i < queue->count; i++) {
		struct discovery_step step = queue->steps[queue->first + i];

		if (step.node->seen_in_sweep == sm->subnet.sweep)
			queue->steps[queue->first + kept_count++] = step;
	}
	queue->count = kept_count;
}

static void tell_lost_ports(struct sm *sm)
{
	const struct sm_owner *owner = &sm->options.owner;

	list_for_each (link, &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(link);

		if (node->is_settled && node->seen_in_sweep == sm->subnet.sweep)
			continue;
		for (unsigned i = 0; i <= node->port_count; i++) {
			struct subnet_port *port = &node->ports[i];

			if (!port->is_in_service || (node->seen_in_sweep == sm->subnet.sweep &&
						     subnet_port_is_end_port(port)))
				continue;
			port->is_in_service = false;
			if (owner->port_went)
				owner->port_went(owner->context, sm->now, port);
		}
	}
}

static bool own_port_is_usable(const struct sm *sm)
{
	const struct subnet_port *port = sm->own_port;

	return port && port->is_known && (port->number == 0 || port->info.port_state >= PORT_INIT);
}

/* The first sweep as master sets ClientReregister everywhere, so that clients repeat joins,
 * services and subscriptions (management 3.3). */
static void reregister_all(struct sm *sm)
{
	struct subnet_port *port;

	sweep_cursor_reset(sm);
	while ((port = sweep_next_port(sm)))
		port->needs_reregister = true;
	subnet_unsettle(&sm->subnet);
	sm->sweep.reregister_all = false;
	sm->multicast.all_changed = true;
}

/* The next sweep reads switches whose change could not be cleared before their ports were read. */
static void look_again_at_changed(struct sm *sm)
{
	list_for_each (link, &sm->subnet.nodes) {
		if (sweep_node(link)->is_changed) {
			sweep_want(sm, SCOPE_CHANGES);
			return;
		}
	}
}

static void assign_lids(struct sm *sm)
{
	uint16_t own_lid = sm->own_port->lid;

	if (subnet_assign_lids(&sm->subnet))
		sm->sweep.is_incomplete = true;
	sm->subnet.prefers_present_lids = false;
	/* MasterSMLID of every port changes. */
	if (sm->own_port->lid != own_lid)
		subnet_unsettle(&sm->subnet);
}

/* Most often the change at the other end of a link was already handled. */
static bool is_nothing_new(const struct sm *sm)
{
	if (sm->sweep.scope != SCOPE_CHANGES || sm->sweep.is_incomplete ||
	    sm->election.peer_count || multicast_has_changes(sm) ||
	    sm->schedule.wanted_scope == SCOPE_ALL)
		return false;
	list_for_each (link, &sm->subnet.nodes) {
		if (!sweep_node(link)->is_settled)
			return false;
	}
	return true;
}

enum sweep_phase findings_settle(struct sm *sm)
{
	sm->sweep.is_nothing_new = is_nothing_new(sm);
	if (sm->sweep.is_nothing_new)
		return PHASE_IDLE;
	/* An SMP that was lost several times is no reason to drop the nodes behind it. */
	if (sm->sweep.scope == SCOPE_ALL && sm->sweep.is_incomplete &&
	    ++sm->sweep.discovery_count < DISCOVERIES_MAX)
		return PHASE_DISCOVER;
	if (sm->sweep.scope != SCOPE_ALL)
		subnet_begin_linked_sweep(&sm->subnet, sm->own_port);
	forget_unseen(sm);
	tell_lost_ports(sm);
	subnet_drop_unseen(&sm->subnet);
	/* Without its own port the manager reaches no node, and its model of the subnet is void. */
	if (!own_port_is_usable(sm)) {
		sm->sweep.is_incomplete = true;
		election_enter(sm, SM_DISCOVERING);
		return PHASE_IDLE;
	}

	enum sweep_phase phase = election_decide(sm);

	if (phase == PHASE_IDLE)
		return phase;
	if (sm->sweep.reregister_all)
		reregister_all(sm);
	look_again_at_changed(sm);
	assign_lids(sm);
	if (subnet_assign_pkeys(&sm->subnet, sm->own_port))
		sm_note(sm, SM_EVENT_WARNING, "a P_Key table is too small for its partitions");
	return phase;
}
