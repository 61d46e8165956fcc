/* SPDX-License-Identifier: Apache-2.0 */
/* PortInfo: which fields can be read and set, and the effect of a Set on the port's state
 * (management 2.5, 2.7). */
#include "mgmt/agents/sma.h"

#include <string.h>
#include "mgmt/agents/mkey.h"
#include "wire/pkey.h"

/* The columns of the specification's table. */
enum column {
	COLUMN_ADAPTER,
	COLUMN_BASE_PORT_0,
	COLUMN_ENHANCED_PORT_0,
	COLUMN_EXTERNAL,
	COLUMN_COUNT,
	COLUMN_ROUTER = COLUMN_COUNT, /* as an adapter, but with HOQLife */
};

enum access {
	N, /* not used: reads 0 */
	R,
	W, /* read and write */
};

/* The effect of writing a field. */
enum effect {
	PLAIN,
	NONZERO, /* 0: no change */
	CLEARS,	 /* writing 0 clears, other values are ignored */
	SPECIAL, /* has its own function below */
};

struct port_info_rule {
	uint16_t offset;
	uint8_t byte_count;
	enum access access[COLUMN_COUNT];
	enum effect effect;
};

#define RULE(field, adapter, base, enhanced, external, effect)                                     \
	{                                                                                          \
		offsetof(struct port_info, field), sizeof(((struct port_info *)0)->field),         \
			{adapter, base, enhanced, external}, effect                                \
	}

/* In the order of the attribute. Columns: adapter or router port, base switch port 0, enhanced
 * switch port 0, external port (management 2.5). */
/* clang-format off */
static const struct port_info_rule rules[] = {
	RULE(mkey,                            W, W, W, N, PLAIN),
	RULE(gid_prefix,                      W, W, W, N, PLAIN),
	RULE(lid,                             W, W, W, N, PLAIN),
	RULE(master_sm_lid,                   W, W, W, N, PLAIN),
	RULE(capability_mask,                 R, R, R, N, PLAIN),
	RULE(diag_code,                       R, R, R, R, PLAIN),
	RULE(mkey_lease_period,               W, W, W, N, PLAIN),
	RULE(link_width_enabled,              W, N, W, W, SPECIAL),
	RULE(link_width_supported,            R, N, R, R, PLAIN),
	RULE(link_width_active,               R, N, R, R, PLAIN),
	RULE(link_speed_supported,            R, N, R, R, PLAIN),
	RULE(port_state,                      W, R, W, W, SPECIAL),
	RULE(physical_state,                  W, R, R, W, SPECIAL),
	RULE(link_down_default_state,         W, N, W, W, NONZERO),
	RULE(mkey_protect_bits,               W, W, W, N, PLAIN),
	RULE(lmc,                             W, R, W, N, PLAIN),
	RULE(link_speed_active,               R, N, R, R, PLAIN),
	RULE(link_speed_enabled,              W, N, W, W, SPECIAL),
	RULE(neighbor_mtu,                    W, N, W, W, PLAIN),
	RULE(master_sm_sl,                    W, W, W, N, PLAIN),
	RULE(vl_cap,                          R, N, R, R, PLAIN),
	RULE(init_type,                       R, N, R, N, PLAIN),
	RULE(vl_high_limit,                   W, N, W, W, PLAIN),
	RULE(vl_arbitration_high_cap,         R, N, R, R, PLAIN),
	RULE(vl_arbitration_low_cap,          R, N, R, R, PLAIN),
	RULE(init_type_reply,                 W, N, W, N, PLAIN),
	RULE(mtu_cap,                         R, R, R, R, PLAIN),
	RULE(vl_stall_count,                  N, N, N, W, PLAIN),
	RULE(hoq_life,                        N, N, N, W, PLAIN),
	RULE(operational_vls,                 W, N, W, W, NONZERO),
	RULE(partition_enforcement_inbound,   N, N, N, W, PLAIN),
	RULE(partition_enforcement_outbound,  N, N, N, W, PLAIN),
	RULE(filter_raw_inbound,              N, N, N, W, PLAIN),
	RULE(filter_raw_outbound,             N, N, N, W, PLAIN),
	RULE(mkey_violations,                 W, W, W, N, CLEARS),
	RULE(pkey_violations,                 W, W, W, N, CLEARS),
	RULE(qkey_violations,                 W, W, W, N, CLEARS),
	RULE(guid_cap,                        R, R, R, N, PLAIN),
	RULE(client_reregister,               W, W, W, N, SPECIAL),
	RULE(multicast_pkey_trap_suppression, W, W, W, N, PLAIN),
	RULE(subnet_timeout,                  W, W, W, N, PLAIN),
	RULE(resp_time_value,                 R, R, R, N, PLAIN),
	RULE(local_phy_errors,                W, N, W, W, PLAIN),
	RULE(overrun_errors,                  W, N, W, W, PLAIN),
	RULE(max_credit_hint,                 W, N, W, W, PLAIN),
	RULE(link_round_trip_latency,         W, N, W, W, PLAIN),
	RULE(capability_mask2,                R, R, R, N, PLAIN),
	RULE(link_speed_ext_active,           R, N, N, R, PLAIN),
	RULE(link_speed_ext_supported,        R, N, N, R, PLAIN),
	RULE(link_speed_ext_enabled,          W, N, N, W, SPECIAL),
	RULE(link_speed_ext2_active,          R, N, N, R, PLAIN),
	RULE(link_speed_ext2_supported,       R, N, N, R, PLAIN),
	RULE(link_speed_ext2_enabled,         W, N, N, W, SPECIAL),
};
/* clang-format on */

static enum column column_of(const struct port *port)
{
	if (port->node->info.node_type == NODE_ROUTER)
		return COLUMN_ROUTER;
	if (!node_is_switch(port->node))
		return COLUMN_ADAPTER;
	if (port->number)
		return COLUMN_EXTERNAL;
	return port->node->switch_info.enhanced_port_0 ? COLUMN_ENHANCED_PORT_0
						       : COLUMN_BASE_PORT_0;
}

/* Fields of a router's port that an adapter's port does not have. */
static const size_t fields_of_routers[] = {
	offsetof(struct port_info, hoq_life),
	offsetof(struct port_info, partition_enforcement_inbound),
	offsetof(struct port_info, partition_enforcement_outbound),
	offsetof(struct port_info, filter_raw_inbound),
	offsetof(struct port_info, filter_raw_outbound),
};

static enum access access_of(const struct port_info_rule *rule, enum column column)
{
	if (column != COLUMN_ROUTER)
		return rule->access[column];
	for (unsigned i = 0; i < ARRAY_COUNT(fields_of_routers); i++)
		if (rule->offset == fields_of_routers[i])
			return W;
	return rule->access[COLUMN_ADAPTER];
}

struct port *sma_port_info_port(const struct sma_request *request)
{
	/* Bit 31 says that the requester understands extended speeds. softib shows them to every
	 * requester. */
	uint32_t number = request->header.attribute_modifier & 0x7fffffff;

	if (!node_is_switch(request->node) && number == 0)
		return request->arrival;
	return number <= request->node->port_count ? &request->node->ports[number] : NULL;
}

static void show(const struct sma_request *request, const struct port *port,
		 uint8_t client_reregister, uint8_t *ret_data)
{
	enum column column = column_of(port);
	struct port_info shown = {0};

	for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
		const struct port_info_rule *rule = &rules[i];

		if (access_of(rule, column) != N)
			memcpy((char *)&shown + rule->offset,
			       (const char *)&port->info + rule->offset, rule->byte_count);
	}
	shown.local_port_number = request->arrival->number;
	shown.client_reregister = client_reregister;
	if (!mkey_is_visible(request, port))
		shown.mkey = 0;
	port_info_encode(&shown, ret_data);
}

enum mad_status sma_port_info_get(const struct sma_request *request, uint8_t *ret_data)
{
	struct port *port = sma_port_info_port(request);

	if (!port)
		return MAD_STATUS_BAD_FIELD;
	show(request, port, 0, ret_data);
	return MAD_STATUS_OK;
}

/* The mask that results from writing an "enabled" field. -1: not a subset of the supported values.
 */
static int enabled_mask(uint8_t written, uint8_t all, uint8_t present, uint8_t supported)
{
	if (written == 0)
		return present;
	if (written == all)
		return supported;
	return (written & ~supported) ? -1 : written;
}

static enum mad_status set_enabled_masks(const struct port_info *written, struct port_info *info)
{
	enum {
		ALL_WIDTHS = 255,
		ALL_SPEEDS = 15,
		NO_EXTENDED_SPEED = 30,
		ALL_EXTENDED_SPEEDS = 31,
		/* The field has three bits. Its special values are taken by analogy with
		 * LinkSpeedExtEnabled. */
		NO_SECOND_EXTENDED_SPEED = 6,
		ALL_SECOND_EXTENDED_SPEEDS = 7,
	};
	int width = enabled_mask(written->link_width_enabled, ALL_WIDTHS, info->link_width_enabled,
				 info->link_width_supported);
	int speed = enabled_mask(written->link_speed_enabled, ALL_SPEEDS, info->link_speed_enabled,
				 info->link_speed_supported);
	int extended = written->link_speed_ext_enabled == NO_EXTENDED_SPEED
			       ? 0
			       : enabled_mask(written->link_speed_ext_enabled, ALL_EXTENDED_SPEEDS,
					      info->link_speed_ext_enabled,
					      info->link_speed_ext_supported);

	int second =
		written->link_speed_ext2_enabled == NO_SECOND_EXTENDED_SPEED
			? 0
			: enabled_mask(written->link_speed_ext2_enabled, ALL_SECOND_EXTENDED_SPEEDS,
				       info->link_speed_ext2_enabled,
				       info->link_speed_ext2_supported);

	if (width < 0 || speed < 0 || extended < 0 || second < 0)
		return MAD_STATUS_BAD_FIELD;
	info->link_width_enabled = (uint8_t)width;
	info->link_speed_enabled = (uint8_t)speed;
	info->link_speed_ext_enabled = (uint8_t)extended;
	info->link_speed_ext2_enabled = (uint8_t)second;
	return MAD_STATUS_OK;
}

static bool lid_is_acceptable(uint16_t written, uint16_t present, uint8_t lmc)
{
	if (written == present && lmc == 0)
		return true;
	return lid_is_unicast(written) && (written & ((1u << lmc) - 1)) == 0;
}

static enum mad_status check_fields(const struct port_info *written,
				    const struct port_info *present, enum column column)
{
	if (column != COLUMN_EXTERNAL) {
		if (column == COLUMN_BASE_PORT_0 && written->lmc)
			return MAD_STATUS_BAD_FIELD;
		if (!lid_is_acceptable(written->lid, present->lid, written->lmc))
			return MAD_STATUS_BAD_FIELD;
		if (!lid_is_acceptable(written->master_sm_lid, present->master_sm_lid, 0))
			return MAD_STATUS_BAD_FIELD;
	}
	if (column == COLUMN_BASE_PORT_0)
		return MAD_STATUS_OK;
	if (written->neighbor_mtu != present->neighbor_mtu &&
	    (written->neighbor_mtu == 0 || written->neighbor_mtu > present->mtu_cap))
		return MAD_STATUS_BAD_FIELD;
	if (written->operational_vls > present->vl_cap ||
	    written->link_down_default_state > PHYSICAL_POLLING)
		return MAD_STATUS_BAD_FIELD;
	return MAD_STATUS_OK;
}

/* What happens to the link. */
enum link_action {
	LINK_KEEP,
	LINK_ARM,
	LINK_ACTIVATE,
	LINK_DEFAULT, /* down, to LinkDownDefaultState */
	LINK_WRITTEN, /* down, to the physical state written */
	LINK_INVALID,
};

enum { WRITTEN_STATES = 6, PHYSICAL_CLASSES = 3 };

/* PortState written (No change, Down, Init, Armed, Active, ActiveDefer) by PortPhysicalState
 * written (0, 1-3, 4-7) (management 2.7). */
/* clang-format off */
static const enum link_action link_actions[WRITTEN_STATES][PHYSICAL_CLASSES] = {
	{LINK_KEEP,     LINK_WRITTEN, LINK_INVALID},
	{LINK_DEFAULT,  LINK_WRITTEN, LINK_INVALID},
	{LINK_INVALID,  LINK_INVALID, LINK_INVALID},
	{LINK_ARM,      LINK_INVALID, LINK_INVALID},
	{LINK_ACTIVATE, LINK_INVALID, LINK_INVALID},
	{LINK_INVALID,  LINK_INVALID, LINK_INVALID},
};
/* clang-format on */

static enum link_action link_action(const struct port_info *written,
				    const struct port_info *present, enum column column)
{
	unsigned physical_class = written->physical_state == PHYSICAL_NO_CHANGE	 ? 0
				  : written->physical_state <= PHYSICAL_DISABLED ? 1
										 : 2;
	enum link_action action = written->port_state < WRITTEN_STATES
					  ? link_actions[written->port_state][physical_class]
					  : LINK_INVALID;

	/* Port 0 has no link that could go down. Base port 0 has no writable state either. */
	if (column == COLUMN_BASE_PORT_0)
		return LINK_KEEP;
	if (column == COLUMN_ENHANCED_PORT_0 && (action == LINK_DEFAULT || action == LINK_WRITTEN))
		return LINK_INVALID;
	if (action == LINK_ARM && present->port_state != PORT_INIT &&
	    present->port_state != PORT_ARMED)
		return LINK_INVALID;
	if (action == LINK_ACTIVATE && present->port_state != PORT_ARMED &&
	    present->port_state != PORT_ACTIVE)
		return LINK_INVALID;
	return action;
}

static void copy_writable(const struct port_info *written, enum column column,
			  struct port_info *info)
{
	static const char zeros[8];

	for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
		const struct port_info_rule *rule = &rules[i];
		const char *value = (const char *)written + rule->offset;
		bool is_zero = memcmp(value, zeros, rule->byte_count) == 0;

		if (access_of(rule, column) != W || rule->effect == SPECIAL)
			continue;
		if ((rule->effect == NONZERO && is_zero) || (rule->effect == CLEARS && !is_zero))
			continue;
		memcpy((char *)info + rule->offset, value, rule->byte_count);
	}
}

static bool steers_packets(const struct port_info *a, const struct port_info *b)
{
	return a->lid != b->lid || a->lmc != b->lmc || a->port_state != b->port_state ||
	       a->gid_prefix != b->gid_prefix || a->neighbor_mtu != b->neighbor_mtu ||
	       a->operational_vls != b->operational_vls || a->vl_high_limit != b->vl_high_limit ||
	       a->hoq_life != b->hoq_life ||
	       a->partition_enforcement_inbound != b->partition_enforcement_inbound ||
	       a->partition_enforcement_outbound != b->partition_enforcement_outbound ||
	       a->filter_raw_inbound != b->filter_raw_inbound ||
	       a->filter_raw_outbound != b->filter_raw_outbound;
}

/* All checks have passed: stores the new PortInfo and reports the changes. */
static void commit(const struct sma_request *request, struct port *port,
		   const struct port_info *info, bool client_reregister, enum link_action action,
		   enum physical_state physical)
{
	const struct agent_environment *environment = request->environment;
	struct port_info before = port->info;

	port->info = *info;
	if (action == LINK_ARM)
		port->info.port_state = PORT_ARMED;
	if (action == LINK_ACTIVATE)
		port->info.port_state = PORT_ACTIVE;
	/* Stays set until the port's owner has passed it on. A Get never shows it. */
	port->info.client_reregister |= client_reregister;
	if (client_reregister || memcmp(&before, &port->info, sizeof(before)) != 0)
		sma_port_changed(request, port);
	if (steers_packets(&before, &port->info))
		sma_paths_changed(request);
	if ((action == LINK_DEFAULT || action == LINK_WRITTEN) && environment->set_link)
		environment->set_link(environment->context, port, physical);
}

enum mad_status sma_port_info_set(const struct sma_request *request, uint8_t *ret_data)
{
	struct port *port = sma_port_info_port(request);
	struct port_info written;

	if (!port)
		return MAD_STATUS_BAD_FIELD;
	port_info_decode(request->data, &written);

	enum column column = column_of(port);
	enum link_action action = link_action(&written, &port->info, column);
	struct port_info info = port->info;

	if (action == LINK_INVALID || check_fields(&written, &port->info, column) != MAD_STATUS_OK)
		return MAD_STATUS_BAD_FIELD;
	if (column != COLUMN_BASE_PORT_0 && set_enabled_masks(&written, &info) != MAD_STATUS_OK)
		return MAD_STATUS_BAD_FIELD;
	copy_writable(&written, column, &info);

	enum physical_state physical = (enum physical_state)written.physical_state;

	if (action == LINK_DEFAULT)
		physical = info.link_down_default_state
				   ? (enum physical_state)info.link_down_default_state
				   : PHYSICAL_POLLING;

	bool client_reregister = column != COLUMN_EXTERNAL && written.client_reregister;

	commit(request, port, &info, client_reregister, action, physical);
	show(request, port, client_reregister, ret_data);
	return MAD_STATUS_OK;
}
