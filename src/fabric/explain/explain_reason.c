/* SPDX-License-Identifier: Apache-2.0 */
/* Why a packet is dropped, in words. */
#include "fabric/explain/explain_reason.h"

#include <inttypes.h>
#include <stdio.h>
#include "net/node/node.h"
#include "wire/gid.h"
#include "wire/mtu.h"
#include "wire/pkey.h"

static const char *const state_names[] = {"in no state", "Down", "Init", "Armed", "Active"};

static const char *state_name(const struct port *port)
{
	return state_names[port->info.port_state % ARRAY_COUNT(state_names)];
}

static void no_route_text(const struct port *port, const struct explain_packet *packet,
			  char *ret_text)
{
	uint16_t dlid = packet->dlid;
	const struct node *node = port->node;

	if (node_is_router(node) && lid_is_multicast(dlid))
		snprintf(ret_text, EXPLAIN_TEXT_BYTES,
			 "the router forwards this group to no other subnet");
	else if (node_is_router(node))
		snprintf(ret_text, EXPLAIN_TEXT_BYTES,
			 "the router has no route to prefix 0x%016" PRIx64 ", or no port there has "
			 "the GUID 0x%016" PRIx64,
			 gid_prefix(&packet->dgid), gid_guid(&packet->dgid));
	else if (packet->has_grh && !node_is_switch(node))
		snprintf(ret_text, EXPLAIN_TEXT_BYTES,
			 "no router has a route to prefix 0x%016" PRIx64,
			 gid_prefix(&packet->dgid));
	else if (!node_is_switch(node))
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "LID %u is not a unicast LID", dlid);
	else if (lid_is_multicast(dlid))
		snprintf(ret_text, EXPLAIN_TEXT_BYTES,
			 "no other port is in the entry of MLID 0x%04x", dlid);
	else if (dlid > node->switch_info.linear_fdb_top ||
		 dlid >= node->switch_info.linear_fdb_cap)
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "LID %u is above LinearFDBTop %u", dlid,
			 node->switch_info.linear_fdb_top);
	else
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "LFT[%u] = %u, which is not a port", dlid,
			 node->lft[dlid]);
}

static void looping_text(const struct port *port, const struct explain_packet *packet,
			 char *ret_text)
{
	uint16_t dlid = packet->dlid;
	const struct node *node = port->node;

	if (node_is_switch(node) && !lid_is_multicast(dlid) && node->lft[dlid] == port->number)
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "LFT[%u] = %u, the input port", dlid,
			 port->number);
	else
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "the tables form a loop");
}

static void malformed_text(const struct port *port, const struct explain_packet *packet,
			   char *ret_text)
{
	uint16_t dlid = packet->dlid;

	if (!port_owns_lid(port, dlid))
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "LID %u is not this port's, which has %u",
			 dlid, port->info.lid);
	else
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "the port is %s", state_name(port));
}

static void inactive_text(const struct port *port, const struct explain_packet *packet,
			  char *ret_text)
{
	(void)packet;
	snprintf(ret_text, EXPLAIN_TEXT_BYTES, "port %u is %s", port->number, state_name(port));
}

static void mapping_text(const struct port *port, const struct explain_packet *packet,
			 char *ret_text)
{
	(void)port;
	snprintf(ret_text, EXPLAIN_TEXT_BYTES, "SL %u has no data VL in the SL-to-VL table",
		 packet->sl);
}

static void pkey_text(const struct port *port, const struct explain_packet *packet, char *ret_text)
{
	const struct port_info *info = &port->info;

	snprintf(ret_text, EXPLAIN_TEXT_BYTES, "%sits table has no P_Key that matches 0x%04x",
		 info->partition_enforcement_inbound || info->partition_enforcement_outbound
			 ? "the port enforces partitions, and "
			 : "",
		 packet->pkey);
}

static void hop_limit_text(const struct port *port, const struct explain_packet *packet,
			   char *ret_text)
{
	(void)port;
	snprintf(ret_text, EXPLAIN_TEXT_BYTES, "the hop limit is %u", packet->hop_limit);
}

static void mtu_text(const struct port *port, const struct explain_packet *packet, char *ret_text)
{
	snprintf(ret_text, EXPLAIN_TEXT_BYTES, "%u bytes of payload are more than the MTU of %u",
		 packet->payload_bytes, mtu_bytes(port->info.neighbor_mtu));
}

/* The reasons that follow from a table entry. */
static void (*const reason_texts[DROP_REASON_COUNT])(const struct port *port,
						     const struct explain_packet *packet,
						     char *ret_text) = {
	[DROP_NO_ROUTE] = no_route_text,
	[DROP_LOOPING] = looping_text,
	[DROP_MALFORMED] = malformed_text,
	[DROP_PORT_INACTIVE] = inactive_text,
	[DROP_VL_MAPPING] = mapping_text,
	[DROP_PKEY_INBOUND] = pkey_text,
	[DROP_PKEY_OUTBOUND] = pkey_text,
	[DROP_HOP_LIMIT] = hop_limit_text,
	[DROP_MTU] = mtu_text,
};

void explain_reason(enum drop_reason reason, const struct port *port,
		    const struct explain_packet *packet, char ret_text[static EXPLAIN_TEXT_BYTES])
{
	if (reason_texts[reason])
		reason_texts[reason](port, packet, ret_text);
	else
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "%s", drop_reason_name(reason));
}
