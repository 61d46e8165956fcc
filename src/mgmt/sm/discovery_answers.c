/* SPDX-License-Identifier: Apache-2.0 */
/* Responses of discovery: nodes, ports and links, and the next steps (management 3.2). */
#include "mgmt/sm/discovery.h"

#include <stdlib.h>
#include <string.h>
#include "mgmt/sm/mkeys.h"
#include "wire/smp.h"
#include "wire/smp_tables.h"

static void met(struct sm *sm, const struct node_info *info, struct subnet_node *node, bool is_new)
{
	struct subnet_port *guard = subnet_port_guard(&node->ports[info->local_port_number]);

	guard->mkey = mkey_of(sm, guard->guid);
	if (is_new && !node->description[0])
		discovery_push(sm, STEP_DESCRIPTION, node, 0);
	if (is_new && subnet_node_is_switch(node))
		discovery_push(sm, STEP_SWITCH_INFO, node, 0);
	else if (info->local_port_number &&
		 (!node->ports[info->local_port_number].is_known ||
		  node->ports[info->local_port_number].info.port_state < PORT_INIT))
		discovery_push(sm, STEP_PORT_INFO, node, info->local_port_number);
}

/* The node may also have been moved to another port; a sweep of everything finds out. */
static void report_duplicate(struct sm *sm, const struct node_info *info,
			     const struct subnet_port *via)
{
	if (sm->sweep.scope != SCOPE_ALL) {
		sweep_want(sm, SCOPE_ALL);
		return;
	}
	sm->counts.duplicates++;
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
	switch (subnet_add_node(&sm->subnet, &info, &route, via, &node)) {
	case SUBNET_NEW:
		met(sm, &info, node, true);
		break;
	case SUBNET_KNOWN:
		met(sm, &info, node, false);
		break;
	case SUBNET_DUPLICATE:
		report_duplicate(sm, &info, via);
		return;
	case SUBNET_INVALID:
		sm_note(sm, SM_EVENT_WARNING, "ignoring 0x%016llx: its NodeInfo is inconsistent",
			(unsigned long long)info.node_guid);
		return;
	case SUBNET_OUT_OF_MEMORY:
		sm->sweep.is_incomplete = true;
		return;
	}
	if (via)
		mkeys_save_link(sm, via, &node->ports[info.local_port_number]);
	else
		sm->own_port =
			&node->ports[subnet_node_is_switch(node) ? 0 : info.local_port_number];
}

static void switch_info_answered(struct sm *sm, struct subnet_node *node, enum step_kind kind,
				 const uint8_t *data)
{
	struct switch_info before = node->switch_info;

	switch_info_decode(data, &node->switch_info);
	before.port_state_change = node->switch_info.port_state_change;
	if (memcmp(&before, &node->switch_info, sizeof(before)) != 0)
		node->is_settled = false;
	/* Cleared once only: a switch that keeps changing is left to the next sweep. Only the
	 * master clears the bit, since it would not learn of the change otherwise. A new master
	 * reads the switch again. */
	node->is_changed = node->switch_info.port_state_change && sm->state != SM_MASTER;
	if (node->switch_info.port_state_change && kind == STEP_SWITCH_INFO && !node->is_changed) {
		discovery_push(sm, STEP_CLEAR_CHANGE, node, 0);
		return;
	}
	for (unsigned port_number = 0; port_number <= node->port_count; port_number++)
		discovery_push(sm, STEP_PORT_INFO, node, port_number);
}

/* A port without its LID was reset and lost its tables. A port with another MasterSMLID was written
 * by that master. */
static void notice_foreign(struct sm *sm, struct subnet_port *port, const struct port_info *info)
{
	bool is_ours =
		info->lid == port->lid && sm->own_port && info->master_sm_lid == sm->own_port->lid;

	if (is_ours || (subnet_node_is_switch(port->node) && port->number != 0))
		return;
	subnet_forget_tables(port->node);
	for (unsigned i = 0; i <= port->node->port_count; i++)
		port->node->ports[i].pkeys_present_count = 0;
	sm->multicast.all_changed = true;
}

/* The link went down, or was down in between: the node behind it must be probed. */
static void notice_lost_link(struct subnet_port *port, const struct port_info *info)
{
	if (!port->peer || port->number == 0)
		return;
	if (info->port_state >= PORT_INIT && info->port_state >= port->info.port_state)
		return;
	subnet_unlink(port);
}

static void remember_mkey(struct sm *sm, struct subnet_port *port, const struct port_info *info)
{
	if (subnet_port_guard(port) == port)
		port->mkey = info->mkey ? info->mkey : mkey_of(sm, port->guid);
}

/* Whether the port changed. A port that is down and was not read since it lost its link counts as
 * unchanged. */
static bool is_news(const struct subnet_port *port, const struct port_info *info)
{
	struct port_info before = port->info;

	if (!port->is_known)
		return info->port_state >= PORT_INIT;
	/* The port of arrival, a request that was made once, and counters do not count as changes.
	 */
	before.local_port_number = info->local_port_number;
	before.client_reregister = info->client_reregister;
	before.mkey_violations = info->mkey_violations;
	before.pkey_violations = info->pkey_violations;
	before.qkey_violations = info->qkey_violations;
	return memcmp(info, &before, sizeof(before)) != 0;
}

static void port_info_answered(struct sm *sm, struct subnet_port *port, const uint8_t *data)
{
	struct port_info info = {0};
	struct subnet_node *node = port->node;

	port_info_decode(data, &info);
	if (is_news(port, &info)) {
		node->is_settled = false;
		if (port->peer)
			port->peer->node->is_settled = false;
	}
	notice_foreign(sm, port, &info);
	if (sm->sweep.scope != SCOPE_ALL)
		notice_lost_link(port, &info);
	remember_mkey(sm, port, &info);
	port->info = info;
	port->is_known = true;
	if (!(info.capability_mask & CAPABILITY_IS_SM))
		port->knows_mkey = port->is_reported = false;
	else if (port != sm->own_port)
		discovery_push(sm, STEP_SM_INFO, node, port->number);
	if (subnet_port_is_end_port(port) && !port->pkeys_present_count)
		discovery_push(sm, STEP_PKEYS, node, port->number);
	if (port->number == 0 || info.port_state < PORT_INIT || port->peer)
		return;
	/* Only switches and the manager's own port lead to further nodes. */
	if (subnet_node_is_switch(node) || port == sm->own_port)
		discovery_push(sm, STEP_PROBE, node, port->number);
}

static void pkeys_answered(struct subnet_port *port, const uint8_t *data)
{
	uint16_t *present = realloc(port->pkeys_present, PKEYS_PER_BLOCK * sizeof(*present));

	/* Without memory the table counts as unknown and is written whole. */
	if (!present)
		return;
	pkey_block_decode(data, present);
	port->pkeys_present = present;
	port->pkeys_present_count = PKEYS_PER_BLOCK;
}

static void sm_info_answered(struct sm *sm, struct subnet_port *port, const uint8_t *data)
{
	struct sm_info info;

	sm_info_decode(data, &info);
	election_add_peer(sm, &info, port);
}

void discovery_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
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
		node->is_settled = false;
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
		sm_note(sm, SM_EVENT_WARNING, "0x%016llx reports %u ports but has no port %u",
			(unsigned long long)node->info.node_guid, node->port_count,
			step->port_number);
	else if (step->kind == STEP_SWITCH_INFO || step->kind == STEP_CLEAR_CHANGE)
		sm_note(sm, SM_EVENT_WARNING, "0x%016llx is a switch without SwitchInfo",
			(unsigned long long)node->info.node_guid);
}

/* The next sweep repeats the step, until there is a response or the link goes down. */
void discovery_failed(struct sm *sm, struct mad_purpose purpose)
{
	const struct discovery_step step = {.node = purpose.subject,
					    .kind = (uint8_t)(purpose.detail >> 8),
					    .port_number = (uint8_t)purpose.detail};

	/* An error response: repeating the request would not change it. */
	if (sm->sweep.is_refusal && step.node) {
		complain_of_refusal(sm, &step);
		return;
	}
	switch ((enum step_kind)step.kind) {
	case STEP_PROBE:
	case STEP_SWITCH_INFO:
	case STEP_CLEAR_CHANGE:
	case STEP_PORT_INFO:
		sm->sweep.is_incomplete = true;
		if (step.node) {
			if (step.kind == STEP_PROBE)
				step.node->ports[step.port_number].probe_failures++;
			(void)!discovery_ask_again(sm, &step);
		}
		break;
	case STEP_DESCRIPTION:
		(void)!discovery_ask_again(sm, &step);
		break;
	case STEP_PKEYS:   /* unknown, so it will be written */
	case STEP_SM_INFO: /* a manager that does not answer does not take part */
		break;
	}
}
