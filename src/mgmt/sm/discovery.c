/* SPDX-License-Identifier: Apache-2.0 */
/* Finding everything by directed routes, breadth first (vol 1, chapter 14): all of it, or only what
 * changed since. */
#include "mgmt/sm/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wire/smp.h"
#include "wire/smp_tables.h"

/* What a step asks. */
enum step_kind {
	STEP_PROBE, /* who is behind this port? */
	STEP_DESCRIPTION,
	STEP_SWITCH_INFO,
	STEP_CLEAR_CHANGE, /* before its ports are read, so that a change after that is seen by the
			      next sweep */
	STEP_PORT_INFO,
	STEP_PKEYS,
	STEP_SM_INFO,
};

void discovery_release(struct sm *sm)
{
	free(sm->discovery.steps);
	free(sm->unanswered.steps);
}

static void push(struct sm *sm, enum step_kind kind, struct subnet_node *node, unsigned port_number)
{
	const struct discovery_step step = {
		.node = node, .kind = (uint8_t)kind, .port_number = (uint8_t)port_number};

	if (!discovery_queue_add(&sm->discovery, &step))
		sm->is_incomplete = true;
}

void discovery_want_switch(struct sm *sm, struct subnet_node *node)
{
	node->is_changed = true;
	sweep_want(sm, SCOPE_CHANGES);
}

void discovery_want_port(struct sm *sm, struct subnet_port *port)
{
	const struct discovery_step step = {
		.node = port->node, .kind = STEP_PORT_INFO, .port_number = port->number};

	(void)!discovery_queue_add(&sm->unanswered, &step);
}

void discovery_want_description(struct sm *sm, struct subnet_node *node)
{
	const struct discovery_step step = {.node = node, .kind = STEP_DESCRIPTION};

	/* A sweep of everything asks for it where there is none, and may yet find that the node is
	 * gone. */
	node->description[0] = '\0';
	if (node->seen_in_sweep != sm->subnet.sweep)
		return;
	if (discovery_queue_add(&sm->unanswered, &step))
		sweep_want(sm, SCOPE_CHANGES);
}

static void begin_everything(struct sm *sm)
{
	discovery_queue_clear(&sm->unanswered);
	sm->duplicate_count = 0;
	sm->own_port = NULL;
	subnet_begin_sweep(&sm->subnet);
	push(sm, STEP_PROBE, NULL, 0);
}

/* What did not answer in the last sweep, and switches that saw something. */
static void begin_changes(struct sm *sm)
{
	for (size_t i = 0; i < sm->unanswered.count; i++)
		if (!discovery_queue_add(&sm->discovery,
					 &sm->unanswered.steps[sm->unanswered.first + i]))
			sm->is_incomplete = true;
	discovery_queue_clear(&sm->unanswered);
	list_for_each (link, &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(link);

		if (node->is_changed)
			push(sm, STEP_SWITCH_INFO, node, 0);
		node->is_changed = false;
	}
}

/* Where things stay undone, somebody may be slower than we wait: every eighth sweep waits longer.
 */
static time_ns patience(const struct sm *sm)
{
	enum { EVERY = 8, TIMES = 8 };

	return sm->gap_count % EVERY == EVERY - 1 ? TIMES * sm->timeout : sm->timeout;
}

static int discover_begin(struct sm *sm)
{
	mad_transactions_cancel_all(&sm->transactions);
	sm->transactions.options.timeout = patience(sm);
	discovery_queue_clear(&sm->discovery);
	sm->is_incomplete = false;
	sm->silent_count = 0;
	sm->peer_count = 0;
	if (sm->scope == SCOPE_ALL)
		begin_everything(sm);
	else
		begin_changes(sm);
	return sm->is_incomplete ? -ENOMEM : 0;
}

static void make_probe(const struct sm *sm, const struct directed_route *route,
		       struct mad_message *ret_request)
{
	const struct smp_request request = {
		.method = MAD_GET, .attribute_id = ATTRIBUTE_NODE_INFO, .mkey = sm->options.mkey};

	smp_request_make(&request, route, ret_request);
}

static void make_clear_change(const struct subnet_node *node, struct mad_message *ret_request)
{
	struct switch_info info = node->switch_info;

	info.port_state_change = 1;
	sweep_request(node, MAD_SET, ATTRIBUTE_SWITCH_INFO, 0, ret_request);
	switch_info_encode(&info, smp_data(ret_request->bytes));
}

/* false: the step asks nothing after all. */
static bool make_request(struct sm *sm, const struct discovery_step *step,
			 struct mad_message *ret_request)
{
	struct directed_route route = {0};
	struct subnet_node *node = step->node;

	switch ((enum step_kind)step->kind) {
	case STEP_PROBE:
		/* The other end of the cable may have been asked first. */
		if (node && node->ports[step->port_number].peer)
			return false;
		if (node && !directed_route_extend(&node->route, step->port_number, &route)) {
			sm->is_incomplete = true;
			return false;
		}
		make_probe(sm, &route, ret_request);
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
		sweep_request(node, MAD_GET, ATTRIBUTE_PORT_INFO, step->port_number, ret_request);
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

static void met(struct sm *sm, const struct node_info *info, struct subnet_node *node, bool is_new)
{
	if (is_new) {
		node->mkey = sm->options.mkey;
		if (!node->description[0])
			push(sm, STEP_DESCRIPTION, node, 0);
	}
	if (is_new && subnet_node_is_switch(node))
		push(sm, STEP_SWITCH_INFO, node, 0);
	else if (info->local_port_number &&
		 (!node->ports[info->local_port_number].is_known ||
		  node->ports[info->local_port_number].info.port_state < PORT_INIT))
		push(sm, STEP_PORT_INFO, node, info->local_port_number);
}

/* Or one whose cable was moved: a look at everything tells. */
static void complain_of_duplicate(struct sm *sm, const struct node_info *info,
				  const struct subnet_port *via)
{
	if (sm->scope != SCOPE_ALL) {
		sweep_want(sm, SCOPE_ALL);
		return;
	}
	sm->duplicate_count++;
	sm_note(sm, SM_EVENT_WARNING,
		"two nodes have the GUID 0x%016llx; the one behind port %u of 0x%016llx is left "
		"out",
		(unsigned long long)info->node_guid, via ? via->number : 0,
		via ? (unsigned long long)via->node->info.node_guid : 0);
}

static void probe_answered(struct sm *sm, struct subnet_node *near_node, unsigned near_port,
			   const uint8_t *data)
{
	struct subnet_port *via = near_node ? &near_node->ports[near_port] : NULL;
	struct directed_route route = {0};
	struct subnet_node *node;
	struct node_info info;

	node_info_decode(data, &info);
	if (near_node && !directed_route_extend(&near_node->route, (uint8_t)near_port, &route))
		return;
	switch (subnet_meet(&sm->subnet, &info, &route, via, &node)) {
	case SUBNET_NEW:
		met(sm, &info, node, true);
		break;
	case SUBNET_KNOWN:
		met(sm, &info, node, false);
		break;
	case SUBNET_DUPLICATE:
		complain_of_duplicate(sm, &info, via);
		return;
	case SUBNET_NONSENSE:
		sm_note(sm, SM_EVENT_WARNING, "NodeInfo of 0x%016llx makes no sense; left out",
			(unsigned long long)info.node_guid);
		return;
	case SUBNET_OUT_OF_MEMORY:
		sm->is_incomplete = true;
		return;
	}
	if (!near_node)
		sm->own_port =
			&node->ports[subnet_node_is_switch(node) ? 0 : info.local_port_number];
}

static void switch_info_answered(struct sm *sm, struct subnet_node *node, enum step_kind kind,
				 const uint8_t *data)
{
	switch_info_decode(data, &node->switch_info);
	/* Cleared once only: a switch that goes on changing is the next sweep's. */
	if (node->switch_info.port_state_change && kind == STEP_SWITCH_INFO) {
		push(sm, STEP_CLEAR_CHANGE, node, 0);
		return;
	}
	for (unsigned port_number = 0; port_number <= node->port_count; port_number++)
		push(sm, STEP_PORT_INFO, node, port_number);
}

/* Whoever lost its LID was reset, and its tables with it; whoever has another master was written to
 * by that one. */
static void notice_foreign(struct sm *sm, struct subnet_port *port, const struct port_info *info)
{
	bool is_ours =
		info->lid == port->lid && sm->own_port && info->master_sm_lid == sm->own_port->lid;

	if (is_ours || (subnet_node_is_switch(port->node) && port->number != 0))
		return;
	subnet_forget_tables(port->node);
	for (unsigned i = 0; i <= port->node->port_count; i++)
		port->node->ports[i].pkeys_present_count = 0;
	sm->all_mlids_changed = true;
}

/* A link that went down, or that was down in between: who is there now is to be asked. */
static void notice_lost_link(struct subnet_port *port, const struct port_info *info)
{
	bool was_up = port->info.port_state > PORT_INIT;

	if (!port->peer || port->number == 0)
		return;
	if (info->port_state >= PORT_INIT && !(was_up && info->port_state == PORT_INIT))
		return;
	subnet_unlink(port);
}

static void remember_mkey(struct sm *sm, struct subnet_port *port, const struct port_info *info)
{
	if (!subnet_node_is_switch(port->node) || port->number == 0)
		port->node->mkey = info->mkey ? info->mkey : sm->options.mkey;
}

static void port_info_answered(struct sm *sm, struct subnet_port *port, const uint8_t *data)
{
	struct port_info info;
	struct subnet_node *node = port->node;

	port_info_decode(data, &info);
	notice_foreign(sm, port, &info);
	if (sm->scope != SCOPE_ALL)
		notice_lost_link(port, &info);
	remember_mkey(sm, port, &info);
	port->info = info;
	port->is_known = true;
	if ((info.capability_mask & CAPABILITY_IS_SM) && port != sm->own_port)
		push(sm, STEP_SM_INFO, node, port->number);
	if (subnet_port_is_end_port(port) && !port->pkeys_present_count)
		push(sm, STEP_PKEYS, node, port->number);
	if (port->number == 0 || info.port_state < PORT_INIT || port->peer)
		return;
	/* Only switches lead on, and the manager's own port out. */
	if (subnet_node_is_switch(node) || port == sm->own_port)
		push(sm, STEP_PROBE, node, port->number);
}

static void pkeys_answered(struct subnet_port *port, const uint8_t *data)
{
	uint16_t *present = realloc(port->pkeys_present, PKEYS_PER_BLOCK * sizeof(*present));

	/* Without memory the table is unknown, and will be written whole. */
	if (!present)
		return;
	pkey_block_decode(data, present);
	port->pkeys_present = present;
	port->pkeys_present_count = PKEYS_PER_BLOCK;
}

static void sm_info_answered(struct sm *sm, const struct subnet_port *port, const uint8_t *data)
{
	struct sm_info info;

	sm_info_decode(data, &info);
	election_meet(sm, &info, port);
}

static void discover_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;
	unsigned port_number = purpose.detail & 0xff;
	enum step_kind kind = (enum step_kind)(purpose.detail >> 8);

	switch (kind) {
	case STEP_PROBE:
		probe_answered(sm, node, port_number, data);
		break;
	case STEP_DESCRIPTION:
		memcpy(node->description, data, NODE_DESCRIPTION_BYTES);
		break;
	case STEP_SWITCH_INFO:
	case STEP_CLEAR_CHANGE:
		switch_info_answered(sm, node, kind, data);
		break;
	case STEP_PORT_INFO:
		port_info_answered(sm, &node->ports[port_number], data);
		break;
	case STEP_PKEYS:
		pkeys_answered(&node->ports[port_number], data);
		break;
	case STEP_SM_INFO:
		sm_info_answered(sm, &node->ports[port_number], data);
		break;
	}
}

static void complain_of_refusal(struct sm *sm, const struct discovery_step *step)
{
	const struct subnet_node *node = step->node;

	if (step->kind == STEP_PORT_INFO)
		sm_note(sm, SM_EVENT_WARNING,
			"0x%016llx says that it has %u ports, and has no port %u",
			(unsigned long long)node->info.node_guid, node->port_count,
			step->port_number);
	else if (step->kind == STEP_SWITCH_INFO || step->kind == STEP_CLEAR_CHANGE)
		sm_note(sm, SM_EVENT_WARNING, "0x%016llx is a switch without SwitchInfo",
			(unsigned long long)node->info.node_guid);
}

/* Asked again by the next sweep, until there is an answer or the link goes down. */
static void discover_failed(struct sm *sm, struct mad_purpose purpose)
{
	const struct discovery_step step = {.node = purpose.subject,
					    .kind = (uint8_t)(purpose.detail >> 8),
					    .port_number = (uint8_t)purpose.detail};

	/* An answer, if a bad one: asking again would not change it. */
	if (sm->is_refusal && step.node) {
		complain_of_refusal(sm, &step);
		return;
	}
	switch ((enum step_kind)step.kind) {
	case STEP_PROBE:
	case STEP_SWITCH_INFO:
	case STEP_CLEAR_CHANGE:
	case STEP_PORT_INFO:
		sm->is_incomplete = true;
		if (step.node)
			(void)!discovery_queue_add(&sm->unanswered, &step);
		break;
	case STEP_DESCRIPTION:
		(void)!discovery_queue_add(&sm->unanswered, &step);
		break;
	case STEP_PKEYS:   /* unknown, so it will be written */
	case STEP_SM_INFO: /* a manager that does not answer is none */
		break;
	}
}

const struct phase_operations sweep_discover = {
	.name = "discover",
	.begin = discover_begin,
	.next = discover_next,
	.answered = discover_answered,
	.failed = discover_failed,
	.following = findings_settle,
};
