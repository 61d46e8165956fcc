/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and groups of objects as a handler of net-snmp's agent. */
#include "daemon/snmpd/mib_table.h"

#include <string.h>

/* A request keeps the value before a SET by this name. */
static const char kept_value[] = "softib kept value";

struct cell {
	size_t column;
	unsigned row;
};

static unsigned row_count(const struct mib_table *table, const struct snmpd_node *node)
{
	return table->row_count ? table->row_count(node) : 1;
}

static size_t index_length(const struct mib_table *table)
{
	return table->row_count ? table->index_length : 1;
}

static void index_of(const struct mib_table *table, const struct snmpd_node *node, unsigned row,
		     oid ret_index[])
{
	if (table->row_count)
		table->index(node, row, ret_index);
	else
		ret_index[0] = 0;
}

/* The first row whose index is not before this one (strictly: behind it). */
static unsigned search_row(const struct mib_table *table, const struct snmpd_node *node,
			   const oid *wanted, size_t wanted_length, bool is_strict)
{
	unsigned low = 0, high = row_count(table, node);

	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		oid index[MIB_INDEX_MAX];
		int order;

		index_of(table, node, middle, index);
		order = snmp_oid_compare(index, index_length(table), wanted, wanted_length);
		if (order < 0 || (is_strict && order == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool find(const struct mib_table *table, const struct snmpd_node *node,
		 const netsnmp_variable_list *variable, struct cell *ret_cell)
{
	const oid *suffix = variable->name + table->root_length;
	oid index[MIB_INDEX_MAX];

	if (variable->name_length != table->root_length + 1 + index_length(table) ||
	    snmp_oid_ncompare(variable->name, variable->name_length, table->root,
			      table->root_length, table->root_length) != 0)
		return false;
	for (size_t column = 0; column < table->column_count; column++) {
		if (table->columns[column].number != suffix[0])
			continue;

		unsigned row = search_row(table, node, suffix + 1, index_length(table), false);

		if (row == row_count(table, node))
			return false;
		index_of(table, node, row, index);
		*ret_cell = (struct cell){column, row};
		return snmp_oid_compare(index, index_length(table), suffix + 1,
					index_length(table)) == 0;
	}
	return false;
}

static bool find_next(const struct mib_table *table, const struct snmpd_node *node,
		      const netsnmp_variable_list *variable, struct cell *ret_cell)
{
	const oid *suffix = variable->name + table->root_length;
	struct cell cell = {0, 0};
	int order = snmp_oid_ncompare(variable->name, variable->name_length, table->root,
				      table->root_length, table->root_length);

	if (order > 0 || row_count(table, node) == 0)
		return false;
	if (order == 0 && variable->name_length > table->root_length) {
		size_t given = variable->name_length - table->root_length - 1;

		while (cell.column < table->column_count &&
		       table->columns[cell.column].number < suffix[0])
			cell.column++;
		if (cell.column < table->column_count &&
		    table->columns[cell.column].number == suffix[0])
			cell.row = search_row(table, node, suffix + 1, given, true);
		if (cell.row == row_count(table, node))
			cell = (struct cell){cell.column + 1, 0};
	}
	*ret_cell = cell;
	return cell.column < table->column_count;
}

static void show(const struct mib_table *table, const struct snmpd_node *node,
		 const struct cell *cell, netsnmp_variable_list *variable)
{
	const struct mib_column *column = &table->columns[cell->column];
	struct mib_value value = {0};
	struct counter64 wide;
	long narrow;

	column->get(node, cell->row, &value);
	switch (column->type) {
	case ASN_OCTET_STR:
	case ASN_OBJECT_ID:
		snmp_set_var_typed_value(variable, column->type, value.bytes, value.byte_count);
		break;
	case ASN_COUNTER64:
		wide = (struct counter64){.high = value.number >> 32,
					  .low = value.number & UINT32_MAX};
		snmp_set_var_typed_value(variable, column->type, &wide, sizeof(wide));
		break;
	default:
		/* Counter32 and TimeTicks wrap; a Gauge32 was bounded by its function. */
		narrow = column->type == ASN_INTEGER ? (long)(int32_t)value.number
						     : (long)(uint32_t)value.number;
		snmp_set_var_typed_value(variable, column->type, &narrow, sizeof(narrow));
	}
}

static void show_next(const struct mib_table *table, const struct snmpd_node *node,
		      netsnmp_variable_list *variable)
{
	oid name[MIB_ROOT_MAX + 1 + MIB_INDEX_MAX];
	struct cell cell;

	/* Without a value net-snmp goes on to the next table. */
	if (!find_next(table, node, variable, &cell))
		return;
	memcpy(name, table->root, table->root_length * sizeof(oid));
	name[table->root_length] = table->columns[cell.column].number;
	index_of(table, node, cell.row, name + table->root_length + 1);
	snmp_set_var_objid(variable, name, table->root_length + 1 + index_length(table));
	show(table, node, &cell, variable);
}

/* The first pass of a SET: whether each variable could be written (RFC 3416 4.2.5). */
static int check_value(const struct mib_table *table, struct snmpd_node *node,
		       const netsnmp_request_info *request)
{
	const struct mib_column *column;
	struct cell cell;

	if (!find(table, node, request->requestvb, &cell))
		return SNMP_ERR_NOCREATION;
	column = &table->columns[cell.column];
	if (!column->set)
		return SNMP_ERR_NOTWRITABLE;
	if (request->requestvb->type != column->type)
		return SNMP_ERR_WRONGTYPE;
	return column->check(node, request->requestvb);
}

static void free_kept(void *value)
{
	snmp_free_varbind(value);
}

/* Keeps the present value with the request, to be written back if the SET fails. */
static bool keep_value(const struct mib_table *table, const struct snmpd_node *node,
		       const struct cell *cell, netsnmp_request_info *request)
{
	netsnmp_variable_list *kept = SNMP_MALLOC_TYPEDEF(netsnmp_variable_list);

	if (!kept)
		return false;
	show(table, node, cell, kept);
	netsnmp_request_add_list_data(request,
				      netsnmp_create_data_list(kept_value, kept, free_kept));
	return true;
}

static bool write_value(const struct mib_table *table, struct snmpd_node *node,
			netsnmp_request_info *request)
{
	struct cell cell;

	return find(table, node, request->requestvb, &cell) &&
	       keep_value(table, node, &cell, request) &&
	       table->columns[cell.column].set(node, request->requestvb) == SNMP_ERR_NOERROR;
}

/* The second pass. net-snmp has all values written back when one could not be written. */
static void write_values(const struct mib_table *table, struct snmpd_node *node,
			 netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	for (netsnmp_request_info *request = requests; request; request = request->next)
		if (!write_value(table, node, request)) {
			netsnmp_set_request_error(info, request, SNMP_ERR_COMMITFAILED);
			return;
		}
}

static bool undo(const struct mib_table *table, struct snmpd_node *node,
		 netsnmp_request_info *request)
{
	const netsnmp_variable_list *kept = netsnmp_request_get_list_data(request, kept_value);
	struct cell cell;

	return !kept || (snmpd_node_refresh(node) && find(table, node, request->requestvb, &cell) &&
			 table->columns[cell.column].set(node, kept) == SNMP_ERR_NOERROR);
}

/* The last one first: a SET may name a variable twice. */
static void undo_values(const struct mib_table *table, struct snmpd_node *node,
			netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	netsnmp_request_info *request = requests;

	while (request->next)
		request = request->next;
	for (; request; request = request == requests ? NULL : request->prev)
		if (!undo(table, node, request))
			netsnmp_set_request_error(info, request, SNMP_ERR_UNDOFAILED);
}

static void check_values(const struct mib_table *table, struct snmpd_node *node,
			 netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	for (netsnmp_request_info *request = requests; request; request = request->next) {
		int error = check_value(table, node, request);

		if (error != SNMP_ERR_NOERROR)
			netsnmp_set_request_error(info, request, error);
	}
}

static void read_value(const struct mib_table *table, const struct snmpd_node *node,
		       netsnmp_agent_request_info *info, netsnmp_request_info *request)
{
	struct cell cell;

	if (info->mode == MODE_GETNEXT)
		show_next(table, node, request->requestvb);
	else if (find(table, node, request->requestvb, &cell))
		show(table, node, &cell, request->requestvb);
	else
		netsnmp_set_request_error(info, request, SNMP_NOSUCHINSTANCE);
}

static int handle(netsnmp_mib_handler *handler, netsnmp_handler_registration *registration,
		  netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	const struct mib_table *table = handler->myvoid;
	struct snmpd_node *node = snmpd_current_node;

	(void)registration;
	if (!node || (info->mode != MODE_SET_UNDO && !snmpd_node_refresh(node)))
		return SNMP_ERR_GENERR;
	switch (info->mode) {
	case MODE_GET:
	case MODE_GETNEXT:
		for (netsnmp_request_info *request = requests; request; request = request->next)
			if (!request->processed)
				read_value(table, node, info, request);
		break;
	case MODE_SET_RESERVE1:
		check_values(table, node, info, requests);
		break;
	case MODE_SET_ACTION:
		write_values(table, node, info, requests);
		break;
	case MODE_SET_UNDO:
		undo_values(table, node, info, requests);
		break;
	default:
		break;
	}
	return SNMP_ERR_NOERROR;
}

bool mib_table_register(const struct mib_table *table)
{
	netsnmp_handler_registration *registration = netsnmp_create_handler_registration(
		table->name, handle, table->root, table->root_length, HANDLER_CAN_RWRITE);

	if (!registration)
		return false;
	/* net-snmp copies a handler when it splits a subtree, and with it this pointer. */
	registration->handler->myvoid = (void *)(uintptr_t)table;
	return netsnmp_register_handler(registration) == MIB_REGISTERED_OK;
}
