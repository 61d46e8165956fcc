/* SPDX-License-Identifier: Apache-2.0 */
/* Finding everything by directed routes, breadth first (vol 1, chapter 14); and the light sweep
 * that looks for changes. */
#include "mgmt/sm/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wire/smp.h"

enum { DISCOVERIES_MAX = 2 };

/* What a step asks. */
enum step_kind {
	STEP_PROBE, /* who is behind this port? */
	STEP_DESCRIPTION,
	STEP_SWITCH_INFO,
	STEP_CLEAR_CHANGE, /* before its ports are read, so that a change after that is seen by the
			      next sweep */
	STEP_PORT_INFO,
	STEP_SM_INFO,
};

static void push(struct sm *sm, enum step_kind kind, struct subnet_node *node, unsigned port_number)
{
	struct discovery_queue *queue = &sm->discovery;

	if (queue->first + queue->count == queue->capacity && queue->first > queue->count) {
		memmove(queue->steps, queue->steps + queue->first,
			queue->count * sizeof(*queue->steps));
		queue->first = 0;
	}
	if (queue->first + queue->count == queue->capacity) {
		size_t capacity = queue->capacity ? queue->capacity * 2 : 256;
		struct discovery_step *steps = realloc(queue->steps, capacity * sizeof(*steps));

		if (!steps) {
			sm->is_incomplete = true;
			return;
		}
		queue->steps = steps;
		queue->capacity = capacity;
	}
	queue->steps[queue->first + queue->count++] = (struct discovery_step){
		.node = node, .kind = (uint8_t)kind, .port_number = (uint8_t)port_number};
}

static int discover_begin(struct sm *sm)
{
	mad_transactions_cancel_all(&sm->transactions);
	sm->discovery.first = 0;
	sm->discovery.count = 0;
	sm->heavy_is_wanted = false;
	sm->better_sm_found = false;
	sm->is_incomplete = false;
	sm->duplicate_count = 0;
	sm->silent_count = 0;
	sm->own_port = NULL;
	subnet_begin_sweep(&sm->subnet);
	push(sm, STEP_PROBE, NULL, 0);
	return sm->is_incomplete ? -ENOMEM : 0;
}

static void make_probe(const struct directed_route *route, struct mad_message *ret_request)
{
	const struct smp_request request = {.method = MAD_GET, .attribute_id = ATTRIBUTE_NODE_INFO};

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
		make_probe(&route, ret_request);
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
	case STEP_SM_INFO:
		sweep_request(node, MAD_GET, ATTRIBUTE_SM_INFO, 0, ret_request);
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
	if (is_new && !node->description[0])
		push(sm, STEP_DESCRIPTION, node, 0);
	if (subnet_node_is_switch(node)) {
		if (is_new)
			push(sm, STEP_SWITCH_INFO, node, 0);
	} else if (!node->ports[info->local_port_number].is_known) {
		push(sm, STEP_PORT_INFO, node, info->local_port_number);
	}
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
		sm->duplicate_count++;
		return;
	case SUBNET_NONSENSE:
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

/* A switch that lost its LID was reset, and its table with it. */
static void notice_reset(const struct subnet_port *port, const struct port_info *info)
{
	if (port->number == 0 && subnet_node_is_switch(port->node) && info->lid != port->lid)
		memset(port->node->table_blocks_known, 0, sizeof(port->node->table_blocks_known));
}

static void port_info_answered(struct sm *sm, struct subnet_port *port, const uint8_t *data)
{
	struct port_info info;
	struct subnet_node *node = port->node;

	port_info_decode(data, &info);
	notice_reset(port, &info);
	port->info = info;
	port->is_known = true;
	if ((info.capability_mask & CAPABILITY_IS_SM) && port != sm->own_port)
		push(sm, STEP_SM_INFO, node, port->number);
	if (port->number == 0 || info.port_state < PORT_INIT || port->peer)
		return;
	/* Only switches lead on, and the manager's own port out. */
	if (subnet_node_is_switch(node) || port == sm->own_port)
		push(sm, STEP_PROBE, node, port->number);
}

static bool is_better(const struct sm_info *other, const struct sm_info *own)
{
	return other->priority != own->priority ? other->priority > own->priority
						: other->guid < own->guid;
}

static void sm_info_answered(struct sm *sm, const uint8_t *data)
{
	struct sm_info other;
	struct sm_info own;

	sm_info_decode(data, &other);
	sm_info_now(sm, &own);
	if (other.guid == own.guid || other.sm_state == SM_NOT_ACTIVE)
		return;
	if (is_better(&other, &own) || (other.sm_state == SM_MASTER && sm->state != SM_MASTER))
		sm->better_sm_found = true;
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
	case STEP_SM_INFO:
		sm_info_answered(sm, data);
		break;
	}
}

/* A node that does not answer is left out, and looked for again in the next sweep. */
static void discover_failed(struct sm *sm, struct mad_purpose purpose)
{
	switch ((enum step_kind)(purpose.detail >> 8)) {
	case STEP_PROBE:
	case STEP_SWITCH_INFO:
	case STEP_CLEAR_CHANGE:
	case STEP_PORT_INFO:
		sm->is_incomplete = true;
		break;
	case STEP_DESCRIPTION:
	case STEP_SM_INFO: /* a manager that does not answer is none */
		break;
	}
}

static enum sweep_phase discover_following(struct sm *sm)
{
	/* An SMP that got lost three times is no reason to cut off whoever is behind it. */
	if (sm->is_incomplete && ++sm->discovery_count < DISCOVERIES_MAX)
		return PHASE_DISCOVER;
	subnet_drop_unseen(&sm->subnet);
	/* Without its own port it reaches nobody; what it knows of the subnet is worth nothing
	 * then. */
	if (!sm->own_port || !sm->own_port->is_known) {
		sm->is_incomplete = true;
		return PHASE_IDLE;
	}
	if (sm->better_sm_found) {
		sm->state = SM_STANDBY;
		return PHASE_IDLE;
	}
	if (sm->state != SM_MASTER) {
		sm->state = SM_MASTER;
		sm->reregister_all = true;
	}
	if (subnet_assign_lids(&sm->subnet))
		sm->is_incomplete = true;
	return PHASE_SWITCHES;
}

const struct phase_operations sweep_discover = {
	.name = "discover",
	.begin = discover_begin,
	.next = discover_next,
	.answered = discover_answered,
	.failed = discover_failed,
	.following = discover_following,
};

static int light_begin(struct sm *sm)
{
	sweep_cursor_reset(sm);
	return 0;
}

/* The manager's own port and every switch. */
static bool light_next(struct sm *sm, struct mad_message *ret_request,
		       struct mad_purpose *ret_purpose)
{
	while (sm->cursor_node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor_node);

		sm->cursor_node = sm->cursor_node->next;
		*ret_purpose = (struct mad_purpose){.subject = node};
		if (subnet_node_is_switch(node)) {
			sweep_request(node, MAD_GET, ATTRIBUTE_SWITCH_INFO, 0, ret_request);
			return true;
		}
		if (node == sm->own_port->node) {
			sweep_request(node, MAD_GET, ATTRIBUTE_PORT_INFO, sm->own_port->number,
				      ret_request);
			return true;
		}
	}
	return false;
}

static void light_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;
	struct switch_info switch_info;
	struct port_info info;

	if (subnet_node_is_switch(node)) {
		switch_info_decode(data, &switch_info);
		if (switch_info.port_state_change ||
		    switch_info.linear_fdb_top != node->switch_info.linear_fdb_top)
			sm->heavy_is_wanted = true;
		return;
	}
	port_info_decode(data, &info);
	if (info.port_state != sm->own_port->info.port_state || info.lid != sm->own_port->lid)
		sm->heavy_is_wanted = true;
}

static void light_failed(struct sm *sm, struct mad_purpose purpose)
{
	(void)purpose;
	sm->heavy_is_wanted = true;
}

static enum sweep_phase light_following(struct sm *sm)
{
	return sm->heavy_is_wanted ? PHASE_DISCOVER : PHASE_IDLE;
}

const struct phase_operations sweep_light = {
	.name = "light",
	.begin = light_begin,
	.next = light_next,
	.answered = light_answered,
	.failed = light_failed,
	.following = light_following,
};
