/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's attributes and counters by name, from the same field tables as the MADs: to print them,
 * and to give a node any value that a test of a manager needs.
 *
 * A set by this interface is a local change of the node. Read-only fields can be written, and
 * changes of capability, description or system image raise the trap that the architecture defines
 * for them.
 */
#ifndef SOFTIB_MGMT_AGENTS_NODE_FIELDS_H
#define SOFTIB_MGMT_AGENTS_NODE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/attribute.h"

struct agent_environment;
struct node;
struct port;

/* An attribute that is a struct of fields. */
struct node_attribute {
	const char *name;
	const struct attribute_layout *layout;
	bool is_counters;
};

/* node_info, switch_info, port_info, counters; ends with a NULL name. */
extern const struct node_attribute node_attributes[];

/* NULL: no such attribute. */
const struct node_attribute *node_attribute_find(const char *name);
/* For example, an adapter has no SwitchInfo. */
bool node_attribute_exists(const struct node_attribute *attribute, const struct port *port);
/* CounterSelect fields are not shown. */
bool node_field_is_shown(const struct node_attribute *attribute,
			 const struct attribute_field *field, const struct port *port);
/* The caller has added offloaded traffic to the counters. */
uint64_t node_field_value(const struct node_attribute *attribute,
			  const struct attribute_field *field, const struct port *port);
/* The port with this number. -1: the management port, which is port 0 of a switch and port 1 of
 * other nodes. NULL: the node has no such port. */
struct port *node_field_port(struct node *node, int number);

/* An attribute that is a table of numbers: pkeys, guids, sl_to_vl, vl_low, vl_high, lft, mft. */
struct node_table {
	const char *name;
	uint32_t (*entry_count)(const struct port *port); /* 0: the port has no such table */
	uint64_t (*get)(const struct port *port, uint32_t index);
	void (*set)(struct port *port, uint32_t index, uint64_t value);
	uint64_t value_max;
	uint32_t first_writable;
	bool is_hexadecimal;
};

extern const struct node_table node_tables[];
const struct node_table *node_table_find(const char *name);

enum node_set_result {
	NODE_SET_OK,
	NODE_SET_NO_SUCH_FIELD,
	NODE_SET_NOT_A_NUMBER,
	NODE_SET_OUT_OF_RANGE, /* ret_max is the greatest legal value */
	NODE_SET_FIXED,	       /* the node can't change it */
	NODE_SET_LINK_IS_DOWN, /* this state needs a link */
};

/* The name is FIELD, ATTRIBUTE.FIELD, TABLE[INDEX], "description", "congestion" (1: congestion
 * control is on at the node, 0: off) or "gsi_rate" (requests per second that the port's GSI takes,
 * 0: any number). The value is a number as in C, or the text of a description. */
MUST_USE enum node_set_result node_field_set(const struct agent_environment *environment,
					     struct port *port, time_ns now, const char *name,
					     const char *value, uint64_t *ret_max);

#endif
