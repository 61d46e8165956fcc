/* SPDX-License-Identifier: Apache-2.0 */
/* SOFTIB-IB-MIB (mibs/SOFTIB-IB-MIB.txt): the node, its ports, counters, links and partitions. */
#include "daemon/snmpd/mib_table.h"

#include <string.h>
#include "base/bytes.h"
#include "wire/mtu.h"
#include "wire/rate.h"

#define NODE_NUMBER(name, expression)                                                              \
	static void name(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value) \
	{                                                                                          \
		const struct node_info *info = &node->state->info;                                 \
                                                                                                   \
		(void)row;                                                                         \
		ret_value->number = (expression);                                                  \
	}

#define PORT_NUMBER(name, expression)                                                              \
	static void name(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value) \
	{                                                                                          \
		const struct snmp_port_state *port = &node->ports[row];                            \
                                                                                                   \
		ret_value->number = (expression);                                                  \
	}

static void show_guid(uint64_t guid, struct mib_value *ret_value)
{
	put_be64(ret_value->own, guid);
	ret_value->bytes = ret_value->own;
	ret_value->byte_count = sizeof(guid);
}

static void show_text(const char *text, struct mib_value *ret_value)
{
	ret_value->bytes = text;
	ret_value->byte_count = strlen(text);
}

static void node_guid(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	(void)row;
	show_guid(node->state->info.node_guid, ret_value);
}

static void system_image_guid(const struct snmpd_node *node, unsigned row,
			      struct mib_value *ret_value)
{
	(void)row;
	show_guid(node->state->info.system_image_guid, ret_value);
}

static void node_description(const struct snmpd_node *node, unsigned row,
			     struct mib_value *ret_value)
{
	(void)row;
	show_text(node->state->description, ret_value);
}

NODE_NUMBER(node_type, info->node_type)
NODE_NUMBER(port_count, info->port_count)
NODE_NUMBER(vendor_id, info->vendor_id)
NODE_NUMBER(device_id, info->device_id)
NODE_NUMBER(revision, info->revision)

static const struct mib_column node_columns[] = {
	{1, ASN_OCTET_STR, node_guid, NULL, NULL},
	{2, ASN_OCTET_STR, system_image_guid, NULL, NULL},
	{3, ASN_INTEGER, node_type, NULL, NULL},
	{4, ASN_OCTET_STR, node_description, NULL, NULL},
	{5, ASN_GAUGE, port_count, NULL, NULL},
	{6, ASN_GAUGE, vendor_id, NULL, NULL},
	{7, ASN_GAUGE, device_id, NULL, NULL},
	{8, ASN_GAUGE, revision, NULL, NULL},
};

static void port_guid(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	show_guid(node->ports[row].guid, ret_value);
}

static void gid_prefix(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	show_guid(node->ports[row].info.gid_prefix, ret_value);
}

PORT_NUMBER(lid, port->info.lid)
PORT_NUMBER(lmc, port->info.lmc)
PORT_NUMBER(sm_lid, port->info.master_sm_lid)
PORT_NUMBER(sm_sl, port->info.master_sm_sl)
PORT_NUMBER(state, port->info.port_state)
PORT_NUMBER(physical_state, port->info.physical_state)
PORT_NUMBER(lanes, port->rate_mbps ? link_lanes(port->info.link_width_active) : 0)
PORT_NUMBER(rate, port->rate_mbps)
PORT_NUMBER(mtu_cap, mtu_bytes(port->info.mtu_cap))
PORT_NUMBER(neighbor_mtu, mtu_bytes(port->info.neighbor_mtu))
PORT_NUMBER(vl_cap, port->info.vl_cap)
PORT_NUMBER(operational_vls, port->info.operational_vls)
PORT_NUMBER(capability_mask, port->info.capability_mask)
PORT_NUMBER(mkey_violations, port->info.mkey_violations)
PORT_NUMBER(pkey_violations, port->info.pkey_violations)
PORT_NUMBER(qkey_violations, port->info.qkey_violations)

static const struct mib_column port_columns[] = {
	{2, ASN_OCTET_STR, port_guid, NULL, NULL},
	{3, ASN_OCTET_STR, gid_prefix, NULL, NULL},
	{4, ASN_GAUGE, lid, NULL, NULL},
	{5, ASN_GAUGE, lmc, NULL, NULL},
	{6, ASN_GAUGE, sm_lid, NULL, NULL},
	{7, ASN_GAUGE, sm_sl, NULL, NULL},
	{8, ASN_INTEGER, state, NULL, NULL},
	{9, ASN_INTEGER, physical_state, NULL, NULL},
	{10, ASN_GAUGE, lanes, NULL, NULL},
	{11, ASN_GAUGE, rate, NULL, NULL},
	{12, ASN_GAUGE, mtu_cap, NULL, NULL},
	{13, ASN_GAUGE, neighbor_mtu, NULL, NULL},
	{14, ASN_GAUGE, vl_cap, NULL, NULL},
	{15, ASN_GAUGE, operational_vls, NULL, NULL},
	{16, ASN_GAUGE, capability_mask, NULL, NULL},
	{17, ASN_GAUGE, mkey_violations, NULL, NULL},
	{18, ASN_GAUGE, pkey_violations, NULL, NULL},
	{19, ASN_GAUGE, qkey_violations, NULL, NULL},
};

PORT_NUMBER(transmit_words, port->transmit_words)
PORT_NUMBER(receive_words, port->receive_words)
PORT_NUMBER(transmit_packets, port->transmit_packets)
PORT_NUMBER(receive_packets, port->receive_packets)
PORT_NUMBER(unicast_transmit, port->unicast_transmit_packets)
PORT_NUMBER(unicast_receive, port->unicast_receive_packets)
PORT_NUMBER(multicast_transmit, port->multicast_transmit_packets)
PORT_NUMBER(multicast_receive, port->multicast_receive_packets)
PORT_NUMBER(symbol_errors, port->symbol_errors)
PORT_NUMBER(link_error_recovery, port->link_error_recovery)
PORT_NUMBER(link_downed, port->link_downed)
PORT_NUMBER(receive_errors, port->receive_errors)
PORT_NUMBER(receive_remote_physical, port->receive_remote_physical_errors)
PORT_NUMBER(receive_switch_relay, port->receive_switch_relay_errors)
PORT_NUMBER(transmit_discards, port->transmit_discards)
PORT_NUMBER(transmit_constraint, port->transmit_constraint_errors)
PORT_NUMBER(receive_constraint, port->receive_constraint_errors)
PORT_NUMBER(local_link_integrity, port->local_link_integrity_errors)
PORT_NUMBER(excessive_overruns, port->excessive_buffer_overruns)
PORT_NUMBER(vl15_dropped, port->vl15_dropped)
PORT_NUMBER(transmit_wait, port->transmit_wait)

static const struct mib_column counter_columns[] = {
	{1, ASN_COUNTER64, transmit_words, NULL, NULL},
	{2, ASN_COUNTER64, receive_words, NULL, NULL},
	{3, ASN_COUNTER64, transmit_packets, NULL, NULL},
	{4, ASN_COUNTER64, receive_packets, NULL, NULL},
	{5, ASN_COUNTER64, unicast_transmit, NULL, NULL},
	{6, ASN_COUNTER64, unicast_receive, NULL, NULL},
	{7, ASN_COUNTER64, multicast_transmit, NULL, NULL},
	{8, ASN_COUNTER64, multicast_receive, NULL, NULL},
	{9, ASN_COUNTER64, symbol_errors, NULL, NULL},
	{10, ASN_COUNTER64, link_error_recovery, NULL, NULL},
	{11, ASN_COUNTER64, link_downed, NULL, NULL},
	{12, ASN_COUNTER64, receive_errors, NULL, NULL},
	{13, ASN_COUNTER64, receive_remote_physical, NULL, NULL},
	{14, ASN_COUNTER64, receive_switch_relay, NULL, NULL},
	{15, ASN_COUNTER64, transmit_discards, NULL, NULL},
	{16, ASN_COUNTER64, transmit_constraint, NULL, NULL},
	{17, ASN_COUNTER64, receive_constraint, NULL, NULL},
	{18, ASN_COUNTER64, local_link_integrity, NULL, NULL},
	{19, ASN_COUNTER64, excessive_overruns, NULL, NULL},
	{20, ASN_COUNTER64, vl15_dropped, NULL, NULL},
	{21, ASN_COUNTER64, transmit_wait, NULL, NULL},
};

static unsigned port_rows(const struct snmpd_node *node)
{
	return node->state->port_count;
}

static void port_index(const struct snmpd_node *node, unsigned row, oid ret_index[])
{
	ret_index[0] = node->ports[row].number;
}

/* The port of the link with this row: ports without a neighbour have none. */
static const struct snmp_port_state *link_port(const struct snmpd_node *node, unsigned row)
{
	for (unsigned i = 0; i < node->state->port_count; i++)
		if (node->ports[i].has_neighbor && row-- == 0)
			return &node->ports[i];
	return &node->ports[0];
}

static unsigned link_rows(const struct snmpd_node *node)
{
	unsigned count = 0;

	for (unsigned i = 0; i < node->state->port_count; i++)
		count += node->ports[i].has_neighbor;
	return count;
}

static void link_index(const struct snmpd_node *node, unsigned row, oid ret_index[])
{
	ret_index[0] = link_port(node, row)->number;
}

static void neighbor_guid(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	show_guid(link_port(node, row)->neighbor_guid, ret_value);
}

static void neighbor_port(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	ret_value->number = link_port(node, row)->neighbor_port;
}

static void neighbor_description(const struct snmpd_node *node, unsigned row,
				 struct mib_value *ret_value)
{
	show_text(link_port(node, row)->neighbor_description, ret_value);
}

static const struct mib_column link_columns[] = {
	{1, ASN_OCTET_STR, neighbor_guid, NULL, NULL},
	{2, ASN_GAUGE, neighbor_port, NULL, NULL},
	{3, ASN_OCTET_STR, neighbor_description, NULL, NULL},
};

static unsigned pkey_rows(const struct snmpd_node *node)
{
	return node->state->pkey_count;
}

static void pkey_index(const struct snmpd_node *node, unsigned row, oid ret_index[])
{
	ret_index[0] = node->pkeys[row].port_number;
	ret_index[1] = node->pkeys[row].index;
}

static void pkey(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	ret_value->number = node->pkeys[row].pkey;
}

static const struct mib_column pkey_columns[] = {
	{2, ASN_GAUGE, pkey, NULL, NULL},
};

#define IB_TABLE(label, number, rows, columns_of, length, index_of)                                \
	{                                                                                          \
		.name = label, .root = {SOFTIB_MIB, 1, number, 1}, .root_length = 13,              \
		.columns = columns_of, .column_count = ARRAY_COUNT(columns_of), .row_count = rows, \
		.index_length = length, .index = index_of                                          \
	}

const struct mib_table mib_infiniband_tables[] = {
	{.name = "softibNode",
	 .root = {SOFTIB_MIB, 1, 1},
	 .root_length = 12,
	 .columns = node_columns,
	 .column_count = ARRAY_COUNT(node_columns)},
	IB_TABLE("softibPortTable", 2, port_rows, port_columns, 1, port_index),
	IB_TABLE("softibCounterTable", 3, port_rows, counter_columns, 1, port_index),
	IB_TABLE("softibLinkTable", 4, link_rows, link_columns, 1, link_index),
	IB_TABLE("softibPKeyTable", 5, pkey_rows, pkey_columns, 2, pkey_index),
	{.name = NULL},
};
