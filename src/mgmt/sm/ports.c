/* SPDX-License-Identifier: Apache-2.0 */
/* LIDs and link parameters of all ports, then Init to Armed everywhere, then Armed to Active (vol
 * 1, chapter 14). */
#include "mgmt/sm/sweep.h"

#include "wire/smp.h"

enum { SUBNET_TIMEOUT = 18, COUNTER_UNTOUCHED = 0xffff };

static uint8_t lesser(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* PortInfo as it is, with every field that means "no change" saying so. */
static struct port_info unchanged(const struct subnet_port *port)
{
	struct port_info info = port->info;

	info.port_state = PORT_NO_CHANGE;
	info.physical_state = PHYSICAL_NO_CHANGE;
	info.link_down_default_state = 0;
	info.link_width_enabled = 0;
	info.link_speed_enabled = 0;
	info.link_speed_ext_enabled = 0;
	/* Writing 0 would clear what was counted since we read it. */
	info.mkey_violations = COUNTER_UNTOUCHED;
	info.pkey_violations = COUNTER_UNTOUCHED;
	info.qkey_violations = COUNTER_UNTOUCHED;
	info.client_reregister = 0;
	return info;
}

static void make_set(const struct subnet_port *port, const struct port_info *info,
		     struct mad_message *ret_request, struct mad_purpose *ret_purpose)
{
	sweep_request(port->node, MAD_SET, ATTRIBUTE_PORT_INFO, port->number, ret_request);
	port_info_encode(info, smp_data(ret_request->bytes));
	*ret_purpose = (struct mad_purpose){.subject = port->node, .detail = port->number};
}

/* Whether the port needs a Set, and which. */
static bool wanted_info(const struct sm *sm, const struct subnet_port *port,
			struct port_info *ret_info)
{
	struct port_info info = unchanged(port);
	bool is_changed = false;

	if (subnet_port_is_end_port(port) && port->lid) {
		is_changed = info.lid != port->lid || info.master_sm_lid != sm->own_port->lid;
		if (info.capability_mask & CAPABILITY_CLIENT_REREGISTRATION)
			info.client_reregister = is_changed || sm->reregister_all;
		is_changed |= info.client_reregister || info.master_sm_sl != 0 || info.lmc != 0 ||
			      info.subnet_timeout != SUBNET_TIMEOUT;
		info.lid = port->lid;
		info.lmc = 0;
		info.master_sm_lid = sm->own_port->lid;
		info.master_sm_sl = 0;
		info.subnet_timeout = SUBNET_TIMEOUT;
	}
	if (port->peer && port->peer->is_known) {
		uint8_t mtu = lesser(port->info.mtu_cap, port->peer->info.mtu_cap);
		uint8_t vls = lesser(port->info.vl_cap, port->peer->info.vl_cap);

		is_changed |= info.neighbor_mtu != mtu || info.operational_vls != vls;
		info.neighbor_mtu = mtu;
		info.operational_vls = vls;
	}
	if (is_changed)
		*ret_info = info;
	return is_changed;
}

static int ports_begin(struct sm *sm)
{
	sweep_cursor_reset(sm);
	return 0;
}

static bool ports_next(struct sm *sm, struct mad_message *ret_request,
		       struct mad_purpose *ret_purpose)
{
	struct subnet_port *port;
	struct port_info info;

	while ((port = sweep_next_port(sm))) {
		if (!port->is_known || !wanted_info(sm, port, &info))
			continue;
		make_set(port, &info, ret_request, ret_purpose);
		return true;
	}
	return false;
}

static void set_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;

	(void)sm;
	port_info_decode(data, &node->ports[purpose.detail].info);
}

static void set_failed(struct sm *sm, struct mad_purpose purpose)
{
	(void)purpose;
	sm->is_incomplete = true;
}

static enum sweep_phase ports_following(struct sm *sm)
{
	(void)sm;
	return PHASE_ARM;
}

const struct phase_operations sweep_ports = {
	.name = "ports",
	.begin = ports_begin,
	.next = ports_next,
	.answered = set_answered,
	.failed = set_failed,
	.following = ports_following,
};

/* Finds the next port in one state whose neighbour is at least in another, and sets its state. */
static bool next_transition(struct sm *sm, enum port_state from, enum port_state neighbor_at_least,
			    enum port_state to, struct mad_message *ret_request,
			    struct mad_purpose *ret_purpose)
{
	struct subnet_port *port;

	while ((port = sweep_next_port(sm))) {
		const struct subnet_port *peer = port->peer;

		if (!port->is_known || port->info.port_state != from)
			continue;
		if (!peer || !peer->is_known || peer->info.port_state < neighbor_at_least)
			continue;

		struct port_info info = unchanged(port);

		info.port_state = (uint8_t)to;
		make_set(port, &info, ret_request, ret_purpose);
		return true;
	}
	return false;
}

static bool arm_next(struct sm *sm, struct mad_message *ret_request,
		     struct mad_purpose *ret_purpose)
{
	return next_transition(sm, PORT_INIT, PORT_INIT, PORT_ARMED, ret_request, ret_purpose);
}

static enum sweep_phase arm_following(struct sm *sm)
{
	(void)sm;
	return PHASE_ACTIVATE;
}

const struct phase_operations sweep_arm = {
	.name = "arm",
	.begin = ports_begin,
	.next = arm_next,
	.answered = set_answered,
	.failed = set_failed,
	.following = arm_following,
};

/* Never before the neighbour is Armed, which would drop what is sent to it. */
static bool activate_next(struct sm *sm, struct mad_message *ret_request,
			  struct mad_purpose *ret_purpose)
{
	return next_transition(sm, PORT_ARMED, PORT_ARMED, PORT_ACTIVE, ret_request, ret_purpose);
}

static enum sweep_phase activate_following(struct sm *sm)
{
	(void)sm;
	return PHASE_IDLE;
}

const struct phase_operations sweep_activate = {
	.name = "activate",
	.begin = ports_begin,
	.next = activate_next,
	.answered = set_answered,
	.failed = set_failed,
	.following = activate_following,
};
