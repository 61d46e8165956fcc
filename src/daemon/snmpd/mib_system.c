/* SPDX-License-Identifier: Apache-2.0 */
/* MIB-II's system group of a node (RFC 3418). Contact, name and location are kept by softibd for
 * the life of the fabric. */
#include "daemon/snmpd/mib_table.h"

#include <stdio.h>
#include <string.h>

static const char *type_name(const struct snmpd_node *node)
{
	static const char *const names[] = {"node", "channel adapter", "switch", "router"};
	unsigned type = node->state->info.node_type;

	return names[type < ARRAY_COUNT(names) ? type : 0];
}

static void sys_descr(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	static char text[SNMP_TEXT_BYTES];

	(void)row;
	snprintf(text, sizeof(text), "softib InfiniBand %s: %s", type_name(node),
		 node->state->description);
	ret_value->bytes = text;
	ret_value->byte_count = strlen(text);
}

/* softibProducts and the node type. */
static void sys_object_id(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	static oid product[] = {SOFTIB_MIB, 3, 0};

	(void)row;
	product[ARRAY_COUNT(product) - 1] = node->state->info.node_type;
	ret_value->bytes = product;
	ret_value->byte_count = sizeof(product);
}

static void sys_up_time(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	(void)row;
	(void)node;
	ret_value->number = netsnmp_get_agent_uptime();
}

static void show_text(const struct snmpd_node *node, enum snmp_text text,
		      struct mib_value *ret_value)
{
	ret_value->bytes = node->state->texts[text];
	ret_value->byte_count = strlen(node->state->texts[text]);
}

static void sys_contact(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	(void)row;
	show_text(node, SNMP_TEXT_CONTACT, ret_value);
}

static void sys_name(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	(void)row;
	show_text(node, SNMP_TEXT_NAME, ret_value);
}

static void sys_location(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	(void)row;
	show_text(node, SNMP_TEXT_LOCATION, ret_value);
}

/* The sum of 2^(layer - 1): a switch relays packets, a router routes them, a host has programs. */
static void sys_services(const struct snmpd_node *node, unsigned row, struct mib_value *ret_value)
{
	static const uint8_t services[] = {0, 72, 2, 6};
	unsigned type = node->state->info.node_type;

	(void)row;
	ret_value->number = services[type < ARRAY_COUNT(services) ? type : 0];
}

static int check_text(struct snmpd_node *node, const netsnmp_variable_list *value)
{
	(void)node;
	if (value->val_len >= SNMP_TEXT_BYTES)
		return SNMP_ERR_WRONGLENGTH;
	for (size_t i = 0; i < value->val_len; i++)
		if (value->val.string[i] == 0 || value->val.string[i] > 0x7f)
			return SNMP_ERR_WRONGVALUE;
	return SNMP_ERR_NOERROR;
}

static int set_text(struct snmpd_node *node, enum snmp_text text,
		    const netsnmp_variable_list *value)
{
	return snmpd_node_set_text(node, text, (const char *)value->val.string, value->val_len)
		       ? SNMP_ERR_NOERROR
		       : SNMP_ERR_RESOURCEUNAVAILABLE;
}

static int set_contact(struct snmpd_node *node, const netsnmp_variable_list *value)
{
	return set_text(node, SNMP_TEXT_CONTACT, value);
}

static int set_name(struct snmpd_node *node, const netsnmp_variable_list *value)
{
	return set_text(node, SNMP_TEXT_NAME, value);
}

static int set_location(struct snmpd_node *node, const netsnmp_variable_list *value)
{
	return set_text(node, SNMP_TEXT_LOCATION, value);
}

static const struct mib_column system_columns[] = {
	{1, ASN_OCTET_STR, sys_descr, NULL, NULL},
	{2, ASN_OBJECT_ID, sys_object_id, NULL, NULL},
	{3, ASN_TIMETICKS, sys_up_time, NULL, NULL},
	{4, ASN_OCTET_STR, sys_contact, check_text, set_contact},
	{5, ASN_OCTET_STR, sys_name, check_text, set_name},
	{6, ASN_OCTET_STR, sys_location, check_text, set_location},
	{7, ASN_INTEGER, sys_services, NULL, NULL},
};

const struct mib_table mib_system_tables[] = {
	{.name = "system",
	 .root = {1, 3, 6, 1, 2, 1, 1},
	 .root_length = 7,
	 .columns = system_columns,
	 .column_count = ARRAY_COUNT(system_columns)},
	{.name = NULL},
};
