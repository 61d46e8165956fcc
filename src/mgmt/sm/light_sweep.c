/* SPDX-License-Identifier: Apache-2.0 */
/* The light sweep: asks every switch for PortStateChange, and looks for another master (management
 * 3.2). More often, it asks the switches whose traps may be held back. */
#include "mgmt/sm/mkeys.h"

#include <string.h>

enum { LIGHT_SWEEPS_PER_LOOK = 32 };

#define LOOK_INTERVAL MILLISECONDS(10)

static int light_begin(struct sm *sm)
{
	sweep_cursor_reset(sm);
	if (sm->sweep.is_renewal)
		sm->schedule.next_renewal_at = sm->now + mkeys_renewal_interval(sm);
	return 0;
}

/* The attribute of a request: the lower bits of the purpose's detail. The port number is in the
 * upper bits. */
enum asked { ASKED_SWITCH_INFO, ASKED_PORT_INFO, ASKED_SM_INFO };
enum { ASKED_BITS = 8, ASKED_MASK = (1 << ASKED_BITS) - 1 };

/* Asks the manager's own port, ports with other managers and, when leases are renewed, every port:
 * any request with the right M_Key renews a lease (management 2.3). */
static bool ask_port(const struct sm *sm, const struct subnet_port *port,
		     struct mad_message *ret_request, uint32_t *ret_detail)
{
	bool is_leased = sm->sweep.is_renewal && subnet_port_is_end_port(port) && port->lid;
	enum asked asked = port == sm->own_port || is_leased ? ASKED_PORT_INFO : ASKED_SM_INFO;

	if (asked == ASKED_SM_INFO &&
	    (!port->is_known || !(port->info.capability_mask & CAPABILITY_IS_SM)))
		return false;
	*ret_detail = (uint32_t)port->number << ASKED_BITS | asked;
	if (asked == ASKED_PORT_INFO)
		sweep_port_request(sm, port, MAD_GET, ATTRIBUTE_PORT_INFO, port->number,
				   ret_request);
	else
		sweep_port_request(sm, port, MAD_GET, ATTRIBUTE_SM_INFO, 0, ret_request);
	return true;
}

/* The next request to this node. The cursor's index is the port; 0 is the switch itself. false: no
 * more. */
static bool ask_node(struct sm *sm, struct subnet_node *node, struct mad_message *ret_request,
		     uint32_t *ret_detail)
{
	if (subnet_node_is_switch(node)) {
		if (sm->cursor.index++ == 0) {
			*ret_detail = ASKED_SWITCH_INFO;
			sweep_request(node, MAD_GET, ATTRIBUTE_SWITCH_INFO, 0, ret_request);
			return true;
		}
		return sm->cursor.index == 2 && !sm->sweep.is_look &&
		       ask_port(sm, &node->ports[0], ret_request, ret_detail);
	}
	while (sm->cursor.index < node->port_count) {
		if (ask_port(sm, &node->ports[++sm->cursor.index], ret_request, ret_detail))
			return true;
	}
	return false;
}

/* Traps of a port are SubnetTimeOut apart. Without polling the switch, a link that returns sooner
 * would stay unused for that long, which exceeds the retries of most connections. */
void light_watch(struct sm *sm, struct subnet_node *node)
{
	time_ns distance = time_from_code(node->ports[0].info.subnet_timeout);

	/* One poll more than the time without traps. */
	node->mute_until = sm->now + distance + 2 * LOOK_INTERVAL;
	sm->schedule.next_look_at =
		time_earlier(sm->schedule.next_look_at, sm->now + LOOK_INTERVAL);
}

static bool is_mute(const struct sm *sm, const struct subnet_node *node)
{
	return node->mute_until > sm->now;
}

static bool light_next(struct sm *sm, struct mad_message *ret_request,
		       struct mad_purpose *ret_purpose)
{
	while (sm->cursor.node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor.node);

		*ret_purpose = (struct mad_purpose){.subject = node};
		if ((!sm->sweep.is_look || is_mute(sm, node)) &&
		    ask_node(sm, node, ret_request, &ret_purpose->detail))
			return true;
		sm->cursor.node = sm->cursor.node->next;
		sm->cursor.index = 0;
	}
	return false;
}

/* With two masters, each may take traps and PortStateChange bits that were meant for the other, so
 * neither learns of changes. A manager without the M_Key can't take them. */
static void sm_info_answered(struct sm *sm, const struct subnet_port *port, const uint8_t *data)
{
	struct sm_info info;

	sm_info_decode(data, &info);
	if (info.sm_state == SM_MASTER && info.guid != sm->options.port_guid &&
	    (election_is_entitled(sm, &info, port) || !port->is_reported))
		sweep_want(sm, SCOPE_ALL);
}

static void switch_info_answered(struct sm *sm, struct subnet_node *node, const uint8_t *data)
{
	struct switch_info info;

	switch_info_decode(data, &info);
	if (info.port_state_change)
		discovery_want_switch(sm, node);
	/* Another manager or a reset changed it: the contents of the tables are unknown. */
	if (info.linear_fdb_top != node->switch_info.linear_fdb_top) {
		memset(node->table_blocks_known, 0, sizeof(node->table_blocks_known));
		sweep_want(sm, SCOPE_ALL);
	}
}

static void look_again_at_port(struct sm *sm, struct subnet_port *port)
{
	discovery_want_port(sm, port);
	sweep_want(sm, SCOPE_CHANGES);
}

static void port_info_answered(struct sm *sm, struct subnet_port *port, const uint8_t *data)
{
	struct port_info info;

	port_info_decode(data, &info);
	/* A foreign MasterSMLID at our own port reveals another master. */
	if (port == sm->own_port && (info.port_state != port->info.port_state ||
				     info.lid != port->lid || info.master_sm_lid != port->lid))
		sweep_want(sm, SCOPE_ALL);
	/* The lease expired nevertheless, or the port was reset. */
	else if (sm->sweep.is_renewal && !mkey_is_as_wanted(sm, port, &info))
		look_again_at_port(sm, port);
}

static void light_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;
	struct subnet_port *port = &node->ports[purpose.detail >> ASKED_BITS];

	switch ((enum asked)(purpose.detail & ASKED_MASK)) {
	case ASKED_SWITCH_INFO:
		switch_info_answered(sm, node, data);
		break;
	case ASKED_PORT_INFO:
		port_info_answered(sm, port, data);
		break;
	case ASKED_SM_INFO:
		sm_info_answered(sm, port, data);
		break;
	}
}

/* The next sweep asks a node without a response for more. */
static void light_failed(struct sm *sm, struct mad_purpose purpose)
{
	struct subnet_node *node = purpose.subject;
	struct subnet_port *port = &node->ports[purpose.detail >> ASKED_BITS];

	switch ((enum asked)(purpose.detail & ASKED_MASK)) {
	case ASKED_SWITCH_INFO:
		discovery_want_switch(sm, node);
		break;
	case ASKED_PORT_INFO:
		if (port == sm->own_port)
			sweep_want(sm, SCOPE_ALL);
		else
			look_again_at_port(sm, port);
		break;
	case ASKED_SM_INFO: /* a manager that ended does not matter; the switch reports its port */
		break;
	}
}

/* Another master that has ended may have cleared a PortStateChange, which is not reported again. So
 * now and then the sweep reads every port of every switch. */
static void look_everywhere(struct sm *sm)
{
	if (++sm->schedule.light_count % LIGHT_SWEEPS_PER_LOOK)
		return;
	list_for_each (link, &sm->subnet.nodes) {
		if (subnet_node_is_switch(sweep_node(link)))
			discovery_want_switch(sm, sweep_node(link));
	}
}

static enum sweep_phase light_following(struct sm *sm)
{
	sm->schedule.next_look_at = TIME_NEVER;
	list_for_each (link, &sm->subnet.nodes) {
		if (is_mute(sm, sweep_node(link)))
			sm->schedule.next_look_at = sm->now + LOOK_INTERVAL;
	}
	if (!sm->sweep.is_look)
		look_everywhere(sm);
	return PHASE_IDLE;
}

const struct phase_operations sweep_light = {
	.name = "light",
	.begin = light_begin,
	.next = light_next,
	.answered = light_answered,
	.failed = light_failed,
	.choose_following = light_following,
};
