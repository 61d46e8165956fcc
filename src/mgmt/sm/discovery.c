/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery by directed routes, breadth-first: of everything, or only of what changed (management
 * 3.2). */
#include "mgmt/sm/discovery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/sm/mkeys.h"
#include "wire/smp.h"
#include "wire/smp_tables.h"

void discovery_release(struct sm *sm)
{
	free(sm->discovery.steps);
	free(sm->unanswered.steps);
}

void discovery_push(struct sm *sm, enum step_kind kind, struct subnet_node *node,
		    unsigned port_number)
{
	const struct discovery_step step = {
		.node = node, .kind = (uint8_t)kind, .port_number = (uint8_t)port_number};

	if (!discovery_queue_add(&sm->discovery, &step))
		sm->sweep.is_incomplete = true;
}

static uint8_t *wanted_steps(const struct discovery_step *step)
{
	return &step->node->ports[step->port_number].wanted_steps;
}

bool discovery_ask_again(struct sm *sm, const struct discovery_step *step)
{
	uint8_t bit = (uint8_t)(1u << step->kind);

	if (*wanted_steps(step) & bit)
		return true;
	if (!discovery_queue_add(&sm->unanswered, step))
		return false;
	*wanted_steps(step) |= bit;
	return true;
}

/* The unanswered steps are either part of this sweep or dropped. */
static void clear_unanswered(struct sm *sm)
{
	for (size_t i = 0; i < sm->unanswered.count; i++)
		*wanted_steps(&sm->unanswered.steps[sm->unanswered.first + i]) = 0;
	discovery_queue_clear(&sm->unanswered);
}

void discovery_want_switch(struct sm *sm, struct subnet_node *node)
{
	/* Both ends of a link report the change: reading one end covers the other. */
	if (sm->phase == PHASE_DISCOVER && sm->sweep.scope == SCOPE_CHANGES) {
		discovery_push(sm, STEP_SWITCH_INFO, node, 0);
		return;
	}
	node->is_changed = true;
	sweep_want(sm, SCOPE_CHANGES);
}

void discovery_want_port(struct sm *sm, struct subnet_port *port)
{
	const struct discovery_step step = {
		.node = port->node, .kind = STEP_PORT_INFO, .port_number = port->number};

	(void)!discovery_ask_again(sm, &step);
}

void discovery_want_description(struct sm *sm, struct subnet_node *node)
{
	const struct discovery_step step = {.node = node, .kind = STEP_DESCRIPTION};

	/* A sweep of everything reads missing descriptions, and may find that the node is gone. */
	node->description[0] = '\0';
	if (node->seen_in_sweep != sm->subnet.sweep)
		return;
	if (discovery_ask_again(sm, &step))
		sweep_want(sm, SCOPE_CHANGES);
}

static void begin_everything(struct sm *sm)
{
	clear_unanswered(sm);
	sm->counts.duplicates = 0;
	sm->own_port = NULL;
	subnet_begin_sweep(&sm->subnet);
	discovery_push(sm, STEP_PROBE, NULL, 0);
}

/* Repeats the steps that got no response in the last sweep, and reads the switches that reported a
 * change. */
static void begin_changes(struct sm *sm)
{
	for (size_t i = 0; i < sm->unanswered.count; i++)
		if (!discovery_queue_add(&sm->discovery,
					 &sm->unanswered.steps[sm->unanswered.first + i]))
			sm->sweep.is_incomplete = true;
	clear_unanswered(sm);
	list_for_each (link, &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(link);

		if (node->is_changed)
			discovery_push(sm, STEP_SWITCH_INFO, node, 0);
		node->is_changed = false;
	}
}

/*
 * If sweeps stay incomplete, the path may lose most SMPs: then only frequent repetition helps. A
 * node that did not answer that for some sweeps is tried that way only now and then. Or a node
 * answers more slowly than we wait: every eighth sweep has a longer timeout, unless frequent
 * repetition yields responses.
 */
static void choose_pace(struct sm *sm)
{
	enum { SLOW_EVERY = 8, SLOW_TIMEOUTS = 8, SLOW_EVERY_INSISTENT = 32, INSISTENT_EVERY = 4 };
	unsigned slow_every = sm->schedule.insistent_count ? SLOW_EVERY_INSISTENT : SLOW_EVERY;
	bool is_slow = sm->schedule.gap_count % slow_every == slow_every - 1;
	bool is_insistent = sm->schedule.gap_count &&
			    (sm->schedule.insistent_count ||
			     sm->schedule.gap_count % INSISTENT_EVERY == INSISTENT_EVERY - 1);

	sm->transactions.options.timeout = is_slow ? SLOW_TIMEOUTS * sm->timeout : sm->timeout;
	sm->transactions.pace = is_slow	       ? MAD_PACE_STEADY
				: is_insistent ? MAD_PACE_INSISTENT
					       : MAD_PACE_EAGER;
	if (sm->schedule.insistent_count)
		sm->schedule.insistent_count--;
	sm->sweep.repeated_answers_before = sm->transactions.repeated_answer_count;
}

static int discover_begin(struct sm *sm)
{
	mad_transactions_cancel_all(&sm->transactions);
	choose_pace(sm);
	discovery_queue_clear(&sm->discovery);
	sm->sweep.is_incomplete = false;
	sm->counts.silent = 0;
	sm->election.peer_count = 0;
	if (sm->sweep.scope == SCOPE_ALL)
		begin_everything(sm);
	else
		begin_changes(sm);
	return sm->sweep.is_incomplete ? -ENOMEM : 0;
}

/* near: the port that leads there; NULL: the manager's own node. */
static void make_probe(const struct sm *sm, struct subnet_port *near,
		       const struct directed_route *route, struct mad_message *ret_request)
{
	const struct smp_request request = {.method = MAD_GET,
					    .attribute_id = ATTRIBUTE_NODE_INFO,
					    .mkey = mkey_for_probe(sm, near)};

	smp_request_make(&request, route, ret_request);
}

static void make_clear_change(const struct subnet_node *node, struct mad_message *ret_request)
{
	struct switch_info info = node->switch_info;

	info.port_state_change = 1;
	sweep_request(node, MAD_SET, ATTRIBUTE_SWITCH_INFO, 0, ret_request);
	switch_info_encode(&info, smp_data(ret_request->bytes));
}

/* false: the step needs no request. */
static bool make_request(struct sm *sm, const struct discovery_step *step,
			 struct mad_message *ret_request)
{
	struct directed_route route = {0};
	struct subnet_node *node = step->node;

	switch ((enum step_kind)step->kind) {
	case STEP_PROBE:
		/* The other end of the link may have been probed first. */
		if (node && node->ports[step->port_number].peer)
			return false;
		if (node && !directed_route_extend(&node->route, step->port_number, &route)) {
			sm->sweep.is_incomplete = true;
			return false;
		}
		make_probe(sm, node ? &node->ports[step->port_number] : NULL, &route, ret_request);
		return true;
	case STEP_DESCRIPTION:
		sweep_request(node, MAD_GET, ATTRIBUTE_NODE_DESCRIPTION, 0, ret_request);
		return true;
	case STEP_SWITCH_INFO:
		sweep_request(node, MAD_GET, ATTRIBUTE_SWITCH_INFO, 0, ret_request);
		return true;
	case STEP_CLEAR_CHANGE:
		make_clear_change(node, ret_request);
		return true;
	case STEP_PORT_INFO:
		sweep_port_request(sm, &node->ports[step->port_number], MAD_GET,
				   ATTRIBUTE_PORT_INFO, step->port_number, ret_request);
		return true;
	case STEP_PKEYS:
		sweep_port_request(sm, &node->ports[step->port_number], MAD_GET,
				   ATTRIBUTE_PKEY_TABLE, 0, ret_request);
		return true;
	case STEP_SM_INFO:
		sweep_port_request(sm, &node->ports[step->port_number], MAD_GET, ATTRIBUTE_SM_INFO,
				   0, ret_request);
		return true;
	}
	return false;
}

static bool discover_next(struct sm *sm, struct mad_message *ret_request,
			  struct mad_purpose *ret_purpose)
{
	struct discovery_queue *queue = &sm->discovery;

	while (queue->count) {
		struct discovery_step step = queue->steps[queue->first++];

		queue->count--;
		if (!make_request(sm, &step, ret_request))
			continue;
		ret_purpose->subject = step.node;
		ret_purpose->detail = (uint32_t)step.kind << 8 | step.port_number;
		return true;
	}
	return false;
}

const struct phase_operations sweep_discover = {
	.name = "discover",
	.begin = discover_begin,
	.next = discover_next,
	.answered = discovery_answered,
	.failed = discovery_failed,
	.choose_following = findings_settle,
};
