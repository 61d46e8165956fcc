/* SPDX-License-Identifier: Apache-2.0 */
/* MIB-II's interfaces group of a node, ifTable and ifXTable (RFC 2863): a row for each port. */
#include "daemon/snmpd/mib_table.h"

#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "wire/mtu.h"

enum {
	IF_TYPE_INFINIBAND = 199,
	IF_UP = 1,
	IF_DOWN = 2,
	IF_DORMANT = 5, /* the link is up, and no manager has made the port Active */
	WORD_BYTES = 4,
	TRUTH_TRUE = 1,
	TRUTH_FALSE = 2,
	TICKS_PER_SECOND = 100,
};

#define IF_NUMBER(name, expression)                                                                \
	static void name(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value) \
	{                                                                                          \
		const struct snmp_port_state *port = snmpd_node_interface(node, row);              \
                                                                                                   \
		ret_value->number = (uint64_t)(expression);                                        \
	}

#define IF_CONSTANT(name, value)                                                                   \
	static void name(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value) \
	{                                                                                          \
		(void)node;                                                                        \
		(void)row;                                                                         \
		ret_value->number = (value);                                                       \
	}

static uint64_t bounded(uint64_t value)
{
	return value < UINT32_MAX ? value : UINT32_MAX;
}

static unsigned oper_status(const struct snmp_port_state *port)
{
	if (port->info.port_state == PORT_ACTIVE)
		return IF_UP;
	return port->info.port_state == PORT_DOWN ? IF_DOWN : IF_DORMANT;
}

static unsigned mtu_of(const struct snmp_port_state *port)
{
	return mtu_bytes(port->info.neighbor_mtu ? port->info.neighbor_mtu : port->info.mtu_cap);
}

IF_NUMBER(if_index, snmpd_node_if_index(node, port->number))
IF_CONSTANT(if_type, IF_TYPE_INFINIBAND)
IF_NUMBER(if_mtu, mtu_of(port))
IF_NUMBER(if_speed, bounded((uint64_t)port->rate_mbps * 1000000))
IF_NUMBER(if_admin_status, port->info.physical_state == PHYSICAL_DISABLED ? IF_DOWN : IF_UP)
IF_NUMBER(if_oper_status, oper_status(port))
IF_NUMBER(if_last_change, port->last_change_ns / (1000000000 / TICKS_PER_SECOND))
IF_NUMBER(if_in_octets, port->receive_words *WORD_BYTES)
IF_NUMBER(if_in_ucast, port->unicast_receive_packets)
IF_NUMBER(if_in_nucast, port->multicast_receive_packets)
IF_NUMBER(if_in_discards, port->vl15_dropped)
IF_NUMBER(if_in_errors, port->receive_errors)
IF_NUMBER(if_out_octets, port->transmit_words *WORD_BYTES)
IF_NUMBER(if_out_ucast, port->unicast_transmit_packets)
IF_NUMBER(if_out_nucast, port->multicast_transmit_packets)
IF_NUMBER(if_out_discards, port->transmit_discards)
IF_NUMBER(if_out_errors, port->transmit_constraint_errors)
IF_NUMBER(if_high_speed, port->rate_mbps)
IF_CONSTANT(if_promiscuous, TRUTH_FALSE)
IF_NUMBER(if_connector, port->number ? TRUTH_TRUE : TRUTH_FALSE)
IF_CONSTANT(if_trap_enable, 1)

static void if_number(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	(void)row;
	ret_value->number = node->state->port_count;
}

static void if_descr(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	static char text[SNMP_TEXT_BYTES];

	snprintf(text, sizeof(text), "InfiniBand port %u", snmpd_node_interface(node, row)->number);
	ret_value->bytes = text;
	ret_value->byte_count = strlen(text);
}

/* As softib's commands name a port. */
static void if_name(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	static char text[SNMP_TEXT_BYTES + 8];

	snprintf(text, sizeof(text), "%s:%u", node->state->texts[SNMP_TEXT_NAME],
		 snmpd_node_interface(node, row)->number);
	ret_value->bytes = text;
	ret_value->byte_count = strlen(text) < SNMP_TEXT_BYTES ? strlen(text) : SNMP_TEXT_BYTES - 1;
}

/* The port's GUID; an external port of a switch has none of its own. */
static void if_phys_address(const struct snmpd_node *node, unsigned row,
			    struct mib_value *ret_value)
{
	const struct snmp_port_state *port = snmpd_node_interface(node, row);

	put_be64(ret_value->own, port->guid);
	ret_value->bytes = ret_value->own;
	ret_value->byte_count = port->guid ? sizeof(port->guid) : 0;
}

static const struct mib_column if_number_column[] = {
	{1, ASN_INTEGER, if_number, NULL, NULL},
};

static const struct mib_column if_columns[] = {
	{1, ASN_INTEGER, if_index, NULL, NULL},
	{2, ASN_OCTET_STR, if_descr, NULL, NULL},
	{3, ASN_INTEGER, if_type, NULL, NULL},
	{4, ASN_INTEGER, if_mtu, NULL, NULL},
	{5, ASN_GAUGE, if_speed, NULL, NULL},
	{6, ASN_OCTET_STR, if_phys_address, NULL, NULL},
	{7, ASN_INTEGER, if_admin_status, NULL, NULL},
	{8, ASN_INTEGER, if_oper_status, NULL, NULL},
	{9, ASN_TIMETICKS, if_last_change, NULL, NULL},
	{10, ASN_COUNTER, if_in_octets, NULL, NULL},
	{11, ASN_COUNTER, if_in_ucast, NULL, NULL},
	{12, ASN_COUNTER, if_in_nucast, NULL, NULL},
	{13, ASN_COUNTER, if_in_discards, NULL, NULL},
	{14, ASN_COUNTER, if_in_errors, NULL, NULL},
	{16, ASN_COUNTER, if_out_octets, NULL, NULL},
	{17, ASN_COUNTER, if_out_ucast, NULL, NULL},
	{18, ASN_COUNTER, if_out_nucast, NULL, NULL},
	{19, ASN_COUNTER, if_out_discards, NULL, NULL},
	{20, ASN_COUNTER, if_out_errors, NULL, NULL},
};

static const struct mib_column if_x_columns[] = {
	{1, ASN_OCTET_STR, if_name, NULL, NULL},
	{2, ASN_COUNTER, if_in_nucast, NULL, NULL},
	{4, ASN_COUNTER, if_out_nucast, NULL, NULL},
	{6, ASN_COUNTER64, if_in_octets, NULL, NULL},
	{7, ASN_COUNTER64, if_in_ucast, NULL, NULL},
	{8, ASN_COUNTER64, if_in_nucast, NULL, NULL},
	{10, ASN_COUNTER64, if_out_octets, NULL, NULL},
	{11, ASN_COUNTER64, if_out_ucast, NULL, NULL},
	{12, ASN_COUNTER64, if_out_nucast, NULL, NULL},
	{14, ASN_INTEGER, if_trap_enable, NULL, NULL},
	{15, ASN_GAUGE, if_high_speed, NULL, NULL},
	{16, ASN_INTEGER, if_promiscuous, NULL, NULL},
	{17, ASN_INTEGER, if_connector, NULL, NULL},
};

static unsigned port_rows(const struct snmpd_node *node)
{
	return node->state->port_count;
}

static void interface_index(const struct snmpd_node *node, unsigned row, oid ret_index[])
{
	ret_index[0] = snmpd_node_if_index(node, snmpd_node_interface(node, row)->number);
}

const struct mib_table mib_interface_tables[] = {
	{.name = "interfaces",
	 .root = {1, 3, 6, 1, 2, 1, 2},
	 .root_length = 7,
	 .columns = if_number_column,
	 .column_count = ARRAY_COUNT(if_number_column)},
	{.name = "ifTable",
	 .root = {1, 3, 6, 1, 2, 1, 2, 2, 1},
	 .root_length = 9,
	 .columns = if_columns,
	 .column_count = ARRAY_COUNT(if_columns),
	 .row_count = port_rows,
	 .index_length = 1,
	 .index = interface_index},
	{.name = "ifXTable",
	 .root = {1, 3, 6, 1, 2, 1, 31, 1, 1, 1},
	 .root_length = 10,
	 .columns = if_x_columns,
	 .column_count = ARRAY_COUNT(if_x_columns),
	 .row_count = port_rows,
	 .index_length = 1,
	 .index = interface_index},
	{.name = NULL},
};
