/* SPDX-License-Identifier: Apache-2.0 */
/* A node and its defaults before a manager sees it (vol 1, chapter 14). */
#include "net/node/node.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "net/link/congestion_state.h"
#include "net/link/detail_counters.h"
#include "net/link/fec.h"
#include "net/link/lane_tables.h"
#include "net/link/port_queues.h"
#include "wire/gid.h"
#include "wire/mtu.h"
#include "wire/pkey.h"

enum {
	WIDTH_1X = 1,
	WIDTH_4X = 2,
	SPEED_SDR_DDR_QDR = 7,
	SPEED_FDR_EDR = 3,
	HOQ_LIFE_DEFAULT = 16,	  /* 268 ms */
	SWITCH_LIFE_DEFAULT = 18, /* 1.07 s */
	SUBNET_TIMEOUT_DEFAULT = 18,
	RESP_TIME_DEFAULT = 16,
	ERROR_THRESHOLD_DEFAULT = 8,
};

static void set_node_info(struct node *node, enum node_type type, uint64_t node_guid)
{
	static const uint16_t device_ids[] = {
		[NODE_CA] = NODE_DEVICE_CA,
		[NODE_SWITCH] = NODE_DEVICE_SWITCH,
		[NODE_ROUTER] = NODE_DEVICE_ROUTER,
	};

	node->info = (struct node_info){
		.base_version = 1,
		.class_version = 1,
		.node_type = (uint8_t)type,
		.port_count = (uint8_t)node->port_count,
		.system_image_guid = node_guid,
		.node_guid = node_guid,
		.port_guid = node_guid,
		.partition_cap = PKEYS_DEFAULT,
		.device_id = device_ids[type],
		.revision = 1,
		.vendor_id = NODE_VENDOR_ID,
	};
	if (type == NODE_SWITCH)
		node->switch_info = (struct switch_info){
			.linear_fdb_cap = LFT_ENTRIES,
			.multicast_fdb_cap = MFT_ENTRIES,
			.default_multicast_primary_port = LFT_NO_PORT,
			.default_multicast_not_primary_port = LFT_NO_PORT,
			.life_time_value = SWITCH_LIFE_DEFAULT,
			.optimized_sl_to_vl = 1,
			.partition_enforcement_cap = PKEYS_DEFAULT,
			.inbound_enforcement_cap = 1,
			.outbound_enforcement_cap = 1,
			.filter_raw_inbound_cap = 1,
			.filter_raw_outbound_cap = 1,
		};
}

/* Fields of every port that has a link: adapters' ports and switches' external ports. */
static void set_link_fields(struct port_info *info)
{
	info->link_width_supported = WIDTH_1X | WIDTH_4X;
	info->link_width_enabled = WIDTH_1X | WIDTH_4X;
	info->link_width_active = WIDTH_4X;
	info->link_speed_supported = SPEED_SDR_DDR_QDR;
	info->link_speed_enabled = SPEED_SDR_DDR_QDR;
	info->link_speed_active = 4;
	info->link_speed_ext_supported = SPEED_FDR_EDR;
	info->link_speed_ext_enabled = SPEED_FDR_EDR;
	info->link_speed_ext_active = 2;
	info->port_state = PORT_DOWN;
	info->physical_state = PHYSICAL_POLLING;
	info->link_down_default_state = PHYSICAL_POLLING;
	info->local_phy_errors = ERROR_THRESHOLD_DEFAULT;
	info->overrun_errors = ERROR_THRESHOLD_DEFAULT;
	info->link_round_trip_latency = 0xffffff;
}

/* Fields of every port that has a LID: adapters' ports and a switch's port 0. */
static void set_end_port_fields(struct port_info *info)
{
	info->gid_prefix = GID_PREFIX_LINK_LOCAL;
	info->capability_mask = CAPABILITY_NOTICE | CAPABILITY_TRAP | CAPABILITY_SL_MAPPING |
				CAPABILITY_LED_INFO | CAPABILITY_SYSTEM_IMAGE_GUID |
				CAPABILITY_EXTENDED_SPEEDS | CAPABILITY_VENDOR_CLASS |
				CAPABILITY_DR_NOTICE | CAPABILITY_MASK_NOTICE |
				CAPABILITY_CLIENT_REREGISTRATION | CAPABILITY_OTHER_CHANGES_NOTICE |
				CAPABILITY_MULTICAST_PKEY_TRAP_SUPPRESSION | CAPABILITY_MASK2;
	info->capability_mask2 = CAPABILITY2_PORT_INFO_EXTENDED;
	info->guid_cap = GUIDS_DEFAULT;
	info->subnet_timeout = SUBNET_TIMEOUT_DEFAULT;
	info->resp_time_value = RESP_TIME_DEFAULT;
}

static void set_port_info(struct port *port)
{
	struct port_info *info = &port->info;

	info->local_port_number = port->number;
	info->mtu_cap = MTU_4096;
	info->neighbor_mtu = MTU_4096;
	switch (port->kind) {
	case PORT_OF_ADAPTER:
		set_link_fields(info);
		set_end_port_fields(info);
		/* A router has no communication manager. */
		if (port->node->info.node_type == NODE_CA)
			info->capability_mask |= CAPABILITY_COMMUNICATION |
						 CAPABILITY_AUTOMATIC_MIGRATION |
						 CAPABILITY_OPTIONAL_IPD;
		break;
	case PORT_OF_SWITCH:
		set_link_fields(info);
		info->hoq_life = HOQ_LIFE_DEFAULT;
		break;
	case PORT_OF_MANAGEMENT:
		set_end_port_fields(info);
		info->capability_mask |= CAPABILITY_SWITCH_PKEY_TRAP | CAPABILITY_MULTICAST_FDB_TOP;
		info->port_state = PORT_ACTIVE;
		info->physical_state = PHYSICAL_LINK_UP;
		break;
	}
}

static enum port_kind kind_of(const struct node *node, unsigned port_number)
{
	if (!node_is_switch(node))
		return PORT_OF_ADAPTER;
	return port_number == 0 ? PORT_OF_MANAGEMENT : PORT_OF_SWITCH;
}

static int init_port(struct node *node, unsigned port_number)
{
	struct port *port = &node->ports[port_number];

	port->kind = kind_of(node, port_number);
	port->node = node;
	port->number = (uint8_t)port_number;
	port->guid = node->info.node_guid + (node_is_switch(node) ? 0 : port_number);
	port->pkey_count = PKEYS_DEFAULT;
	port->pkeys = calloc(port->pkey_count, sizeof(*port->pkeys));
	port->sl_to_vl_row_count = (uint16_t)(node_is_switch(node) ? node->port_count + 1 : 1);
	port->sl_to_vl = calloc(port->sl_to_vl_row_count, sizeof(*port->sl_to_vl));
	if (port->kind != PORT_OF_SWITCH)
		port->guids = calloc(GUIDS_DEFAULT, sizeof(*port->guids));
	if (!port->pkeys || !port->sl_to_vl || (port->kind != PORT_OF_SWITCH && !port->guids))
		return -ENOMEM;
	port->pkeys[0] = PKEY_DEFAULT_FULL;
	if (port->guids)
		port->guids[0] = port->guid;
	set_port_info(port);
	port_fec_refresh(port);
	if (port->kind != PORT_OF_MANAGEMENT)
		port_set_vl_cap(port, VL_CODE_8);
	return port_queues_create(port);
}

static int init_forwarding(struct node *node)
{
	node->lft = malloc(LFT_ENTRIES);
	node->mft = calloc(MFT_ENTRIES, sizeof(*node->mft));
	if (!node->lft || !node->mft)
		return -ENOMEM;
	memset(node->lft, LFT_NO_PORT, LFT_ENTRIES);
	return 0;
}

int node_init(struct node *node, enum node_type type, unsigned port_count, uint64_t node_guid,
	      const char *description)
{
	if (port_count < 1 || port_count > NODE_PORTS_MAX || node_guid == 0)
		return -EINVAL;
	*node = (struct node){.port_count = port_count};
	list_init(&node->link);
	set_node_info(node, type, node_guid);
	snprintf(node->description, sizeof(node->description), "%s", description);
	node->ports = aligned_alloc(CACHE_LINE_BYTES, (port_count + 1) * sizeof(*node->ports));
	if (!node->ports)
		return -ENOMEM;
	memset(node->ports, 0, (port_count + 1) * sizeof(*node->ports));

	int error = node_is_switch(node) ? init_forwarding(node) : 0;

	/* An adapter has no port 0; its slot holds a port that is down, so that loops over ports
	 * need no special case. */
	for (unsigned port_number = 0; port_number <= port_count && !error; port_number++)
		error = init_port(node, port_number);
	if (error)
		node_release(node);
	return error;
}

void node_make_target(struct node *node)
{
	assert(node_is_adapter(node));
	node->is_target = true;
	for (unsigned number = 1; number <= node->port_count; number++)
		node->ports[number].info.capability_mask |= CAPABILITY_DEVICE_MANAGEMENT;
}

void node_release(struct node *node)
{
	free(node->networks);
	for (unsigned port_number = 0; node->ports && port_number <= node->port_count;
	     port_number++) {
		struct port *port = &node->ports[port_number];

		free(port->guids);
		free(port->pkeys);
		free(port->sl_to_vl);
		port_release_congestion(port);
		port_release_details(port);
		free(port->congestion_agent);
		port_queues_destroy(port);
	}
	free(node->ports);
	free(node->lft);
	free(node->mft);
	*node = (struct node){0};
}
