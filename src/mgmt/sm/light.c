/* SPDX-License-Identifier: Apache-2.0 */
/* The light sweep: has any switch seen a port change since the last look, and has another manager
 * become master? And, more often, looks at the switches that may not tell. (vol 1, chapter 14) */
#include "mgmt/sm/sweep.h"

#include <string.h>

enum { LIGHT_SWEEPS_PER_LOOK = 32 };

#define LOOK_INTERVAL MILLISECONDS(10)

static int light_begin(struct sm *sm)
{
	sweep_cursor_reset(sm);
	return 0;
}

/* What is asked, besides SwitchInfo of switches: the detail of a purpose. */
enum { ASKED_PORT_INFO, ASKED_SM_INFO };

static bool ask_switch(struct sm *sm, struct subnet_node *node, struct mad_message *ret_request)
{
	sm->cursor_node = sm->cursor_node->next;
	sm->cursor_index = 0;
	sweep_request(node, MAD_GET, ATTRIBUTE_SWITCH_INFO, 0, ret_request);
	return true;
}

/* The manager's own port, and ports on which others run. */
static bool ask_adapter(struct sm *sm, struct subnet_node *node, struct mad_message *ret_request,
			uint32_t *ret_asked)
{
	while (sm->cursor_index < node->port_count) {
		const struct subnet_port *port = &node->ports[++sm->cursor_index];

		if (port == sm->own_port) {
			*ret_asked = ASKED_PORT_INFO;
			sweep_request(node, MAD_GET, ATTRIBUTE_PORT_INFO, port->number,
				      ret_request);
			return true;
		}
		if (port->is_known && (port->info.capability_mask & CAPABILITY_IS_SM)) {
			*ret_asked = ASKED_SM_INFO;
			sweep_port_request(sm, port, MAD_GET, ATTRIBUTE_SM_INFO, 0, ret_request);
			return true;
		}
	}
	sm->cursor_node = sm->cursor_node->next;
	sm->cursor_index = 0;
	return false;
}

/* Traps of a port are SubnetTimeOut apart, so a link that is back sooner would stay out of use for
 * that long: more than the retries of most connections. */
void light_watch(struct sm *sm, struct subnet_node *node)
{
	time_ns distance = time_from_code(node->ports[0].info.subnet_timeout);

	/* One look more than it has to be mute. */
	node->mute_until = sm->now + distance + 2 * LOOK_INTERVAL;
	sm->next_look_at = time_earlier(sm->next_look_at, sm->now + LOOK_INTERVAL);
}

static bool is_mute(const struct sm *sm, const struct subnet_node *node)
{
	return node->mute_until > sm->now;
}

static bool light_next(struct sm *sm, struct mad_message *ret_request,
		       struct mad_purpose *ret_purpose)
{
	while (sm->cursor_node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor_node);

		if (sm->is_look && !is_mute(sm, node)) {
			sm->cursor_node = sm->cursor_node->next;
			continue;
		}
		*ret_purpose = (struct mad_purpose){.subject = node};
		if (subnet_node_is_switch(node)
			    ? ask_switch(sm, node, ret_request)
			    : ask_adapter(sm, node, ret_request, &ret_purpose->detail))
			return true;
	}
	return false;
}

/* Two that are both master hear of nothing, if each takes what was meant for the other: the traps,
 * and the switches' marks. */
static void sm_info_answered(struct sm *sm, const uint8_t *data)
{
	struct sm_info info;

	sm_info_decode(data, &info);
	if (info.sm_state == SM_MASTER && info.guid != sm->options.port_guid)
		sweep_want(sm, SCOPE_ALL);
}

static void light_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;
	struct switch_info switch_info;
	struct port_info info;

	if (subnet_node_is_switch(node)) {
		switch_info_decode(data, &switch_info);
		if (switch_info.port_state_change)
			discovery_want_switch(sm, node);
		/* Somebody else, or a reset, wrote there: nothing is known of the tables. */
		if (switch_info.linear_fdb_top != node->switch_info.linear_fdb_top) {
			memset(node->table_blocks_known, 0, sizeof(node->table_blocks_known));
			sweep_want(sm, SCOPE_ALL);
		}
		return;
	}
	if (purpose.detail == ASKED_SM_INFO) {
		sm_info_answered(sm, data);
		return;
	}
	port_info_decode(data, &info);
	/* Another's MasterSMLID here is how one learns of another master. */
	if (info.port_state != sm->own_port->info.port_state || info.lid != sm->own_port->lid ||
	    info.master_sm_lid != sm->own_port->lid)
		sweep_want(sm, SCOPE_ALL);
}

/* One that is silent is asked more in the next sweep. */
static void light_failed(struct sm *sm, struct mad_purpose purpose)
{
	struct subnet_node *node = purpose.subject;

	/* A manager that went is no concern of ours; its port is the switch's. */
	if (subnet_node_is_switch(node))
		discovery_want_switch(sm, node);
	else if (purpose.detail == ASKED_PORT_INFO)
		sweep_want(sm, SCOPE_ALL);
}

/* Whoever else was master for a while, and is gone, may have taken a change for itself that nobody
 * will tell again: so now and then every port of every switch is looked at. */
static void look_everywhere(struct sm *sm)
{
	if (++sm->light_count % LIGHT_SWEEPS_PER_LOOK)
		return;
	list_for_each (link, &sm->subnet.nodes) {
		if (subnet_node_is_switch(sweep_node(link)))
			discovery_want_switch(sm, sweep_node(link));
	}
}

static enum sweep_phase light_following(struct sm *sm)
{
	sm->next_look_at = TIME_NEVER;
	list_for_each (link, &sm->subnet.nodes) {
		if (is_mute(sm, sweep_node(link)))
			sm->next_look_at = sm->now + LOOK_INTERVAL;
	}
	if (!sm->is_look)
		look_everywhere(sm);
	return PHASE_IDLE;
}

const struct phase_operations sweep_light = {
	.name = "light",
	.begin = light_begin,
	.next = light_next,
	.answered = light_answered,
	.failed = light_failed,
	.following = light_following,
};
