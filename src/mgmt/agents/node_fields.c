/* SPDX-License-Identifier: Apache-2.0 */
/* A node's attributes and counters by name, from the field tables. */
#include "mgmt/agents/node_fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/agents/agents.h"
#include "mgmt/agents/gs_agent.h"
#include "mgmt/agents/node_field_limits.h"
#include "mgmt/agents/redirects.h"
#include "net/link/lane_tables.h"
#include "net/node/node.h"
#include "wire/notice.h"
#include "wire/performance.h"
#include "wire/pkey.h"

enum { NAME_BYTES = 64, NUMBER_AUTOMATIC_BASE = 0, GSI_RATE_MAX = 1000000 };

const struct node_attribute node_attributes[] = {
	{"node_info", &node_info_layout, false},
	{"switch_info", &switch_info_layout, false},
	{"port_info", &port_info_layout, false},
	{"port_info_extended", &port_info_extended_layout, false},
	{"counters", &port_counters_extended_layout, true},
	{NULL, NULL, false},
};

const struct node_attribute *node_attribute_find(const char *name)
{
	for (const struct node_attribute *row = node_attributes; row->name; row++) {
		if (strcmp(row->name, name) == 0)
			return row;
	}
	return NULL;
}

bool node_attribute_exists(const struct node_attribute *attribute, const struct port *port)
{
	return attribute->layout != &switch_info_layout || node_is_switch(port->node);
}

struct port *node_field_port(struct node *node, int number)
{
	int lowest = node_is_switch(node) ? 0 : 1;

	if (number < 0)
		number = lowest;
	if (number < lowest || number > (int)node->port_count)
		return NULL;
	return &node->ports[number];
}

/* The struct that holds the attribute's fields. Counters are kept separately. */
static void *struct_of(const struct node_attribute *attribute, struct port *port)
{
	if (attribute->layout == &node_info_layout)
		return &port->node->info;
	if (attribute->layout == &switch_info_layout)
		return &port->node->switch_info;
	if (attribute->layout == &port_info_extended_layout)
		return &port->extended;
	return &port->info;
}

bool node_field_is_shown(const struct node_attribute *attribute,
			 const struct attribute_field *field, const struct port *port)
{
	return !attribute->is_counters || pma_counter((struct port *)port, field->struct_offset);
}

uint64_t node_field_value(const struct node_attribute *attribute,
			  const struct attribute_field *field, const struct port *port)
{
	if (attribute->is_counters) {
		const uint64_t *counter = pma_counter((struct port *)port, field->struct_offset);

		return counter ? *counter : 0;
	}
	return attribute_field_value(field, struct_of(attribute, (struct port *)port));
}

static void tell_changed(const struct agent_environment *environment, struct port *port)
{
	port->state_changes++;
	if (environment->port_changed)
		environment->port_changed(environment->context, port);
	if (environment->paths_changed)
		environment->paths_changed(environment->context);
}

/* Raises the trap that the architecture defines for a local change of this field (management 5.2).
 */
static void tell_manager(const struct agent_environment *environment, struct port *port,
			 time_ns now, const struct attribute_layout *layout, uint16_t offset)
{
	struct agent_memory *memory = environment->memory;

	if (!memory)
		return;
	if (layout == &node_info_layout && offset == offsetof(struct node_info, system_image_guid))
		agent_system_image_changed(memory, port->node, now);
	if (layout != &port_info_layout)
		return;
	if (offset == offsetof(struct port_info, capability_mask))
		agent_capability_changed(memory, port, now);
	if (offset == offsetof(struct port_info, capability_mask2))
		agent_local_change(memory, port, now, CHANGE_CAPABILITY_MASK2);
	if (offset == offsetof(struct port_info, link_width_enabled))
		agent_local_change(memory, port, now, CHANGE_LINK_WIDTH_ENABLED);
	if (offset == offsetof(struct port_info, link_speed_enabled))
		agent_local_change(memory, port, now, CHANGE_LINK_SPEED_ENABLED);
}

/* Port states can't be stored directly: Down and the physical states are requested of the link. */
static enum node_set_result set_physical_state(const struct agent_environment *environment,
					       struct port *port, enum physical_state physical)
{
	if (port->kind == PORT_OF_MANAGEMENT)
		return NODE_SET_FIXED;
	if (environment->set_link)
		environment->set_link(environment->context, port, physical);
	return NODE_SET_OK;
}

static enum node_set_result set_port_state(const struct agent_environment *environment,
					   struct port *port, time_ns now, uint64_t value)
{
	if (value == PORT_DOWN)
		return set_physical_state(environment, port, PHYSICAL_POLLING);
	if (port->info.physical_state != PHYSICAL_LINK_UP)
		return NODE_SET_LINK_IS_DOWN;
	port->info.port_state = (uint8_t)value;
	if (environment->memory)
		agent_link_changed(environment->memory, port->node, now);
	tell_changed(environment, port);
	return NODE_SET_OK;
}

/* A port whose number of VLs changes retrains, so that both ends agree. */
static enum node_set_result set_vl_cap(const struct agent_environment *environment,
				       struct port *port, uint64_t value)
{
	if (port->kind == PORT_OF_MANAGEMENT)
		return NODE_SET_FIXED;
	port_set_vl_cap(port, (uint8_t)value);
	if (port->info.physical_state == PHYSICAL_LINK_UP && environment->set_link)
		environment->set_link(environment->context, port, PHYSICAL_POLLING);
	tell_changed(environment, port);
	return NODE_SET_OK;
}

static enum node_set_result set_field(const struct agent_environment *environment,
				      struct port *port, time_ns now,
				      const struct node_attribute *attribute,
				      const struct attribute_field *field, uint64_t value,
				      uint64_t *ret_max)
{
	enum node_set_result result = node_field_check_limit(attribute, field, value, ret_max);

	if (result != NODE_SET_OK)
		return result;
	if (attribute->is_counters) {
		uint64_t *counter = pma_counter(port, field->struct_offset);

		if (!counter)
			return NODE_SET_NO_SUCH_FIELD;
		*counter = value;
		return NODE_SET_OK;
	}
	if (attribute->layout == &port_info_layout &&
	    field->struct_offset == offsetof(struct port_info, physical_state))
		return set_physical_state(environment, port, (enum physical_state)value);
	if (attribute->layout == &port_info_layout &&
	    field->struct_offset == offsetof(struct port_info, port_state))
		return set_port_state(environment, port, now, value);
	if (attribute->layout == &port_info_layout &&
	    field->struct_offset == offsetof(struct port_info, vl_cap))
		return set_vl_cap(environment, port, value);
	attribute_field_set(field, value, struct_of(attribute, port));
	tell_changed(environment, port);
	tell_manager(environment, port, now, attribute->layout, field->struct_offset);
	return NODE_SET_OK;
}

static const struct attribute_field *find_field(const struct node_attribute *attribute,
						const char *name)
{
	for (size_t i = 0; i < attribute->layout->field_count; i++) {
		if (strcmp(attribute->layout->fields[i].name, name) == 0)
			return &attribute->layout->fields[i];
	}
	return NULL;
}

/* "port_info.lid", or only "lid": then PortInfo is searched first, then the others in their order.
 */
static const struct attribute_field *resolve(const struct port *port, const char *name,
					     const struct node_attribute **ret_attribute)
{
	const char *dot = strchr(name, '.');
	const struct attribute_field *found = NULL;

	for (const struct node_attribute *row = node_attributes; row->name; row++) {
		size_t length = strlen(row->name);
		const struct attribute_field *field = NULL;

		if (!node_attribute_exists(row, port))
			continue;
		if (!dot)
			field = find_field(row, name);
		else if ((size_t)(dot - name) == length && memcmp(name, row->name, length) == 0)
			field = find_field(row, dot + 1);
		if (!field || (found && row->layout != &port_info_layout))
			continue;
		found = field;
		*ret_attribute = row;
	}
	return found;
}

static bool parse_number(const char *text, uint64_t *ret_number)
{
	char *end;

	if (!*text || *text == '-')
		return false;
	errno = 0;

	unsigned long long number = strtoull(text, &end, NUMBER_AUTOMATIC_BASE);

	if (*end || errno)
		return false;
	*ret_number = number;
	return true;
}

static enum node_set_result set_entry(const struct agent_environment *environment,
				      struct port *port, const char *name, const char *bracket,
				      uint64_t value, uint64_t *ret_max)
{
	char table_name[NAME_BYTES] = "", index_text[NAME_BYTES] = "";
	size_t length = strlen(bracket + 1);
	uint64_t index;

	if ((size_t)(bracket - name) >= sizeof(table_name) || length < 2 ||
	    length >= sizeof(index_text) || bracket[length] != ']')
		return NODE_SET_NO_SUCH_FIELD;
	memcpy(table_name, name, (size_t)(bracket - name));
	memcpy(index_text, bracket + 1, length - 1);

	const struct node_table *table = node_table_find(table_name);

	if (!table || !parse_number(index_text, &index) || index >= table->entry_count(port))
		return NODE_SET_NO_SUCH_FIELD;
	if (index < table->first_writable)
		return NODE_SET_FIXED;
	if (value > table->value_max) {
		*ret_max = table->value_max;
		return NODE_SET_OUT_OF_RANGE;
	}
	table->set(port, (uint32_t)index, value);
	tell_changed(environment, port);
	return NODE_SET_OK;
}

static enum node_set_result set_description(const struct agent_environment *environment,
					    struct port *port, time_ns now, const char *text,
					    uint64_t *ret_max)
{
	struct node *node = port->node;

	if (strlen(text) > NODE_DESCRIPTION_BYTES) {
		*ret_max = NODE_DESCRIPTION_BYTES;
		return NODE_SET_OUT_OF_RANGE;
	}
	memset(node->description, 0, sizeof(node->description));
	memcpy(node->description, text, strlen(text));
	tell_changed(environment, port);
	if (environment->memory)
		agent_description_changed(environment->memory, node, now);
	return NODE_SET_OK;
}

/* Requests per second that the GSI of the port takes; 0: any number. */
static enum node_set_result set_gsi_rate(const struct agent_environment *environment,
					 const struct port *port, const char *value,
					 uint64_t *ret_max)
{
	uint64_t requests_per_s;

	*ret_max = GSI_RATE_MAX;
	if (!parse_number(value, &requests_per_s))
		return NODE_SET_NOT_A_NUMBER;
	if (requests_per_s > GSI_RATE_MAX)
		return NODE_SET_OUT_OF_RANGE;
	if (!environment->memory ||
	    gsi_rate_set(environment->memory, port, (uint32_t)requests_per_s) != 0)
		return NODE_SET_FIXED;
	return NODE_SET_OK;
}

/* 1: configures congestion control as a manager would; 0: turns it off. */
static enum node_set_result set_congestion(const struct agent_environment *environment,
					   const struct port *port, const char *value,
					   uint64_t *ret_max)
{
	uint64_t to;

	*ret_max = CONGESTION_CONTROL_ON;
	if (!parse_number(value, &to))
		return NODE_SET_NOT_A_NUMBER;
	if (to > CONGESTION_CONTROL_ON)
		return NODE_SET_OUT_OF_RANGE;
	return agent_control_congestion(environment, port->node, (enum congestion_switch)to)
		       ? NODE_SET_FIXED
		       : NODE_SET_OK;
}

enum node_set_result node_field_set(const struct agent_environment *environment, struct port *port,
				    time_ns now, const char *name, const char *value,
				    uint64_t *ret_max)
{
	const struct node_attribute *attribute = NULL;
	const char *bracket = strchr(name, '[');
	uint64_t number;

	if (strcmp(name, "description") == 0)
		return set_description(environment, port, now, value, ret_max);

	if (strcmp(name, "congestion") == 0)
		return set_congestion(environment, port, value, ret_max);

	if (strcmp(name, "gsi_rate") == 0)
		return set_gsi_rate(environment, port, value, ret_max);

	const struct attribute_field *field = bracket ? NULL : resolve(port, name, &attribute);

	if (!field && !bracket)
		return NODE_SET_NO_SUCH_FIELD;
	if (!parse_number(value, &number))
		return NODE_SET_NOT_A_NUMBER;
	if (bracket)
		return set_entry(environment, port, name, bracket, number, ret_max);
	return set_field(environment, port, now, attribute, field, number, ret_max);
}
