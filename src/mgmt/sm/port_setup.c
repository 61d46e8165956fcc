/* SPDX-License-Identifier: Apache-2.0 */
/* Sets PortInfo of all ports: LIDs, keys, link parameters and Init to Armed, then Armed to Active,
 * then ClientReregister where it is still due (management 3.2). */
#include "mgmt/sm/mkeys.h"

#include "wire/smp.h"

enum {
	SUBNET_TIMEOUT = 18, /* 1.07 s */
	COUNTER_UNTOUCHED = 0xffff,
	HOQ_LIFE_CORE = 0x12, /* 1.07 s, towards a switch */
	HOQ_LIFE_LEAF = 0x10, /* 268 ms, towards an adapter */
	VL_STALL_COUNT = 7,
	ERROR_THRESHOLD = 8,
};

static uint8_t lesser(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* PortInfo as it is, with the "no change" value in every field that has one. */
static struct port_info unchanged(const struct subnet_port *port)
{
	struct port_info info = port->info;

	info.port_state = PORT_NO_CHANGE;
	info.physical_state = PHYSICAL_NO_CHANGE;
	info.link_down_default_state = 0;
	info.link_width_enabled = 0;
	info.link_speed_enabled = 0;
	info.link_speed_ext_enabled = 0;
	info.link_speed_ext2_enabled = 0;
	/* Writing 0 would clear violations that were counted since we read it. */
	info.mkey_violations = COUNTER_UNTOUCHED;
	info.pkey_violations = COUNTER_UNTOUCHED;
	info.qkey_violations = COUNTER_UNTOUCHED;
	info.client_reregister = 0;
	return info;
}

static void make_set(const struct sm *sm, struct subnet_port *port, const struct port_info *info,
		     struct mad_message *ret_request, struct mad_purpose *ret_purpose)
{
	sweep_port_request(sm, port, MAD_SET, ATTRIBUTE_PORT_INFO, port->number, ret_request);
	port_info_encode(info, smp_data(ret_request->bytes));
	*ret_purpose = (struct mad_purpose){.subject = port->node, .detail = port->number};
	port->reregister_is_sent = info->client_reregister;
}

/* Writes a field and notes whether that changes it. */
#define WANT(info, field, value, is_changed)                                                       \
	do {                                                                                       \
		(is_changed) |= (info)->field != (value);                                          \
		(info)->field = (value);                                                           \
	} while (0)

static bool want_end_port(const struct sm *sm, const struct subnet_port *port,
			  struct port_info *info)
{
	bool is_moved = info->lid != port->lid || info->master_sm_lid != sm->own_port->lid;
	bool is_changed = is_moved;

	info->lid = port->lid;
	info->master_sm_lid = sm->own_port->lid;
	WANT(info, lmc, port->lmc, is_changed);
	WANT(info, master_sm_sl, 0, is_changed);
	WANT(info, subnet_timeout, SUBNET_TIMEOUT, is_changed);
	WANT(info, gid_prefix, sm->subnet.gid_prefix, is_changed);
	/* C14-22: one Set writes the M_Key, the lease period and the protect bits. C14-62.1.1.13:
	 * the protect bits follow the policy in the options. */
	WANT(info, mkey, mkey_of(sm, port->guid), is_changed);
	WANT(info, mkey_lease_period, sm->options.mkey_lease_period, is_changed);
	WANT(info, mkey_protect_bits, sm->options.mkey_protect_bits, is_changed);
	/* Multicast packets of a limited member always violate the P_Key of other limited members.
	 */
	if ((info->capability_mask & CAPABILITY_MULTICAST_PKEY_TRAP_SUPPRESSION) &&
	    !partitions_are_trivial(&sm->subnet.partitions))
		WANT(info, multicast_pkey_trap_suppression, 1, is_changed);
	if ((info->capability_mask & CAPABILITY_CLIENT_REREGISTRATION) &&
	    (is_moved || port->needs_reregister)) {
		info->client_reregister = 1;
		is_changed = true;
	}
	return is_changed;
}

struct enforcement {
	bool inbound, outbound;
};

/* At switch ports that face an end port, and at routers. Other ports do not have the fields. */
static struct enforcement wanted_enforcement(const struct sm *sm, const struct subnet_port *port)
{
	const struct switch_info *switch_info = &port->node->switch_info;
	bool is_switch = subnet_node_is_switch(port->node);
	bool is_meant = is_switch ? port->peer && !subnet_node_is_switch(port->peer->node)
				  : port->node->info.node_type == NODE_ROUTER;
	enum part_enforce enforce = (enum part_enforce)sm->options.part_enforce;

	if (!is_meant || !port->pkey_count || !port->pkeys || enforce == PART_ENFORCE_OFF ||
	    partitions_are_trivial(&sm->subnet.partitions))
		return (struct enforcement){0};
	return (struct enforcement){.inbound = enforce != PART_ENFORCE_OUT &&
					       (!is_switch || switch_info->inbound_enforcement_cap),
				    .outbound =
					    enforce != PART_ENFORCE_IN &&
					    (!is_switch || switch_info->outbound_enforcement_cap)};
}

static uint8_t enforcement_code(struct enforcement enforcement)
{
	return (uint8_t)(1 + enforcement.inbound + 2 * enforcement.outbound);
}

/* Written once to a port that is up, so that an operator's later change stays. */
static bool want_enforcement(const struct sm *sm, const struct subnet_port *port,
			     struct port_info *info)
{
	struct enforcement wanted = wanted_enforcement(sm, port);
	bool is_changed = false;

	if (port->enforcement_written == enforcement_code(wanted) &&
	    port->info.port_state != PORT_INIT)
		return false;
	WANT(info, partition_enforcement_inbound, wanted.inbound, is_changed);
	WANT(info, partition_enforcement_outbound, wanted.outbound, is_changed);
	return is_changed;
}

static void note_enforcement(const struct sm *sm, struct subnet_port *port)
{
	port->enforcement_written = enforcement_code(wanted_enforcement(sm, port));
}

static bool want_switch_port(const struct sm *sm, const struct subnet_port *port,
			     struct port_info *info)
{
	bool faces_end = !subnet_node_is_switch(port->peer->node);
	bool is_changed = want_enforcement(sm, port, info);

	WANT(info, hoq_life, faces_end ? HOQ_LIFE_LEAF : HOQ_LIFE_CORE, is_changed);
	WANT(info, vl_stall_count, VL_STALL_COUNT, is_changed);
	return is_changed;
}

static bool want_link(const struct sm *sm, const struct subnet_port *port, struct port_info *info)
{
	uint8_t mtu = lesser(port->info.mtu_cap, port->peer->info.mtu_cap);
	uint8_t vls = lesser(port->info.vl_cap, port->peer->info.vl_cap);
	bool is_changed = false;

	WANT(info, neighbor_mtu, mtu, is_changed);
	WANT(info, operational_vls, vls, is_changed);
	WANT(info, local_phy_errors, ERROR_THRESHOLD, is_changed);
	WANT(info, overrun_errors, ERROR_THRESHOLD, is_changed);
	if (sm->qos.sets_lanes)
		WANT(info, vl_high_limit, sm->qos.high_limit, is_changed);
	if (subnet_node_is_switch(port->node))
		is_changed |= want_switch_port(sm, port, info);
	if (port->node->info.node_type == NODE_ROUTER)
		is_changed |= want_enforcement(sm, port, info);
	/* A port in Init becomes Armed together with its parameters. */
	if (port->info.port_state == PORT_INIT && port->peer->info.port_state >= PORT_INIT) {
		info->port_state = PORT_ARMED;
		is_changed = true;
	}
	return is_changed;
}

/* Whether the port needs a Set, and the PortInfo to write. */
static bool wanted_info(const struct sm *sm, const struct subnet_port *port,
			struct port_info *ret_info)
{
	struct port_info info = unchanged(port);
	bool is_changed = false;

	if (subnet_port_is_end_port(port) && port->lid)
		is_changed = want_end_port(sm, port, &info);
	if (port->peer && port->peer->is_known)
		is_changed |= want_link(sm, port, &info);
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

	while ((port = sweep_next_unsettled_port(sm))) {
		if (!port->is_known)
			continue;
		if (!wanted_info(sm, port, &info)) {
			note_enforcement(sm, port);
			continue;
		}
		make_set(sm, port, &info, ret_request, ret_purpose);
		return true;
	}
	return false;
}

/* If this Set had ClientReregister, the port's clients know now. */
static void tell_reregistration(struct sm *sm, struct subnet_port *port)
{
	const struct sm_owner *owner = &sm->options.owner;

	if (!port->reregister_is_sent)
		return;
	port->reregister_is_sent = false;
	port->needs_reregister = false;
	if (owner->reregistration_asked)
		owner->reregistration_asked(owner->context, sm->now, port);
}

static void set_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;
	struct subnet_port *port = &node->ports[purpose.detail];
	bool is_key_holder = !subnet_node_is_switch(node) || port->number == 0;

	port_info_decode(data, &port->info);
	tell_reregistration(sm, port);
	/* The response does not show the new key, since the request had the old one. */
	if (is_key_holder && port->lid)
		port->mkey = port->info.mkey = mkey_of(sm, port->guid);
	/* A port that does not take its LID would be asked for ever. */
	if (is_key_holder && port->lid && port->info.lid != port->lid)
		sweep_mark_incomplete(sm, purpose);
}

static void ports_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;

	note_enforcement(sm, &node->ports[purpose.detail]);
	set_answered(sm, purpose, data);
}

/* C14-44: an M_Key that the manager does not know is reported to its owner. */
static void set_failed(struct sm *sm, struct mad_purpose purpose)
{
	const struct subnet_node *node = purpose.subject;

	if (!sm->sweep.is_incomplete)
		sm_note(sm, SM_EVENT_WARNING,
			"Set(PortInfo) of port %u of 0x%016llx failed: lost, or it has another M_Key",
			purpose.detail, (unsigned long long)node->info.node_guid);
	sweep_mark_incomplete(sm, purpose);
}

const struct phase_operations sweep_ports = {
	.name = "ports",
	.begin = ports_begin,
	.next = ports_next,
	.answered = ports_answered,
	.failed = set_failed,
	.following = PHASE_ACTIVATE,
};

/* Never before the neighbor is Armed, since it would drop data packets (management 3.2). */
static bool activate_next(struct sm *sm, struct mad_message *ret_request,
			  struct mad_purpose *ret_purpose)
{
	struct subnet_port *port;

	while ((port = sweep_next_unsettled_port(sm))) {
		const struct subnet_port *peer = port->peer;

		if (!port->is_known || port->info.port_state != PORT_ARMED)
			continue;
		if (!peer || !peer->is_known || peer->info.port_state < PORT_ARMED)
			continue;

		struct port_info info = unchanged(port);

		info.port_state = PORT_ACTIVE;
		make_set(sm, port, &info, ret_request, ret_purpose);
		return true;
	}
	return false;
}

const struct phase_operations sweep_activate = {
	.name = "activate",
	.begin = ports_begin,
	.next = activate_next,
	.answered = set_answered,
	.failed = set_failed,
	.following = PHASE_REREGISTER,
};

/* Ports that needed another Set got ClientReregister with it. */
static bool reregister_next(struct sm *sm, struct mad_message *ret_request,
			    struct mad_purpose *ret_purpose)
{
	struct subnet_port *port;

	while (sm->has_reregistrations && (port = sweep_next_port(sm))) {
		if (!port->needs_reregister || !subnet_port_is_end_port(port) || !port->lid ||
		    port->info.lid != port->lid ||
		    !(port->info.capability_mask & CAPABILITY_CLIENT_REREGISTRATION))
			continue;

		struct port_info info = unchanged(port);

		info.client_reregister = 1;
		make_set(sm, port, &info, ret_request, ret_purpose);
		return true;
	}
	sm->has_reregistrations = false;
	return false;
}

const struct phase_operations sweep_reregister = {
	.name = "reregister",
	.begin = ports_begin,
	.next = reregister_next,
	.answered = set_answered,
	.failed = set_failed,
	.following = PHASE_IDLE,
};
