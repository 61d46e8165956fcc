/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attribute of performance management that shows counters of ports (management 6.1): which
 * counters of a port it shows, with which width, and by which bit of CounterSelect a Set writes
 * them.
 */
#ifndef SOFTIB_MGMT_AGENTS_COUNTER_ATTRIBUTE_H
#define SOFTIB_MGMT_AGENTS_COUNTER_ATTRIBUTE_H

#include "mgmt/agents/gs_agent.h"
#include "net/link/detail_counters.h"
#include "wire/attribute.h"

enum { SELECT2_FIRST = 16 };

/* Where a port keeps a counter. */
enum counter_home {
	IN_LINK_COUNTERS,
	IN_DETAIL_COUNTERS,
};

/* One counter of an attribute. */
struct shown_counter {
	enum counter_home home;
	uint16_t kept_at; /* offset in that struct */
	uint16_t at;	  /* offset in the attribute's struct */
	uint8_t bit_count;
	uint8_t select; /* bit of CounterSelect; from SELECT2_FIRST on, of CounterSelect2 if there
			   is one */
};

/* Offsets of the fields that are not counters. */
struct counter_attribute {
	const struct attribute_layout *layout;
	uint16_t port_select_at;
	uint16_t select_at;
	uint8_t select_bits; /* 16 or 64 */
	uint16_t select2_at; /* 0: has none */
	uint8_t select2_bits;
	bool has_op_code; /* in its first member: the opcode that the port counts */
	const struct shown_counter *counters;
	size_t counter_count;
};

#define LINK_COUNTER(field)   IN_LINK_COUNTERS, offsetof(struct link_counters, field)
#define DETAIL_COUNTER(field) IN_DETAIL_COUNTERS, offsetof(struct detail_counters, field)

/* Sixteen rows for the members name0 .. name15 of an attribute, which show kept[0] .. kept[15]. */
#define COUNTER_ROWS_16(KEPT, type, name, bits)                                                    \
	{KEPT(0), offsetof(struct type, name##0), bits, 0},                                        \
		{KEPT(1), offsetof(struct type, name##1), bits, 1},                                \
		{KEPT(2), offsetof(struct type, name##2), bits, 2},                                \
		{KEPT(3), offsetof(struct type, name##3), bits, 3},                                \
		{KEPT(4), offsetof(struct type, name##4), bits, 4},                                \
		{KEPT(5), offsetof(struct type, name##5), bits, 5},                                \
		{KEPT(6), offsetof(struct type, name##6), bits, 6},                                \
		{KEPT(7), offsetof(struct type, name##7), bits, 7},                                \
		{KEPT(8), offsetof(struct type, name##8), bits, 8},                                \
		{KEPT(9), offsetof(struct type, name##9), bits, 9},                                \
		{KEPT(10), offsetof(struct type, name##10), bits, 10},                             \
		{KEPT(11), offsetof(struct type, name##11), bits, 11},                             \
		{KEPT(12), offsetof(struct type, name##12), bits, 12},                             \
		{KEPT(13), offsetof(struct type, name##13), bits, 13},                             \
		{KEPT(14), offsetof(struct type, name##14), bits, 14},                             \
		{KEPT(15), offsetof(struct type, name##15), bits, 15},

/* An attribute without CounterSelect2. */
#define COUNTER_ATTRIBUTE(type, rows)                                                              \
	.layout = &type##_layout, .port_select_at = offsetof(struct type, port_select),            \
	.select_at = offsetof(struct type, counter_select),                                        \
	.select_bits = 8 * sizeof(((struct type *)0)->counter_select), .counters = rows,           \
	.counter_count = ARRAY_COUNT(rows)

#define COUNTER_HANDLER(name)                                                                      \
	enum mad_status name(const struct gs_request *request, uint8_t *ret_data)                  \
	{                                                                                          \
		return counter_attribute_serve(request, &name##_attribute, ret_data);              \
	}

/* Whether the node has a port of this number that can be asked about. */
bool counter_port_exists(const struct node *node, unsigned port_number);

/* NULL: the port keeps no details yet, and the counter is zero. */
uint64_t *counter_in_port(struct port *port, const struct shown_counter *counter);

/* Counts what has happened at these ports of the node up to now: offloaded packets, waits that
 * last. */
void counters_refresh(const struct agent_environment *environment, struct node *node,
		      unsigned first_port, unsigned last_port, time_ns now);

/* The port counts arriving packets of this opcode from now on (-ENOMEM), or of none. */
MUST_USE int counter_choose_opcode(const struct agent_environment *environment, struct port *port,
				   uint8_t opcode);
void counter_stop_opcode(const struct agent_environment *environment, struct port *port);

/* Get or Set of the ports that PortSelect names; 0xff: of all, as a sum. */
enum mad_status counter_attribute_serve(const struct gs_request *request,
					const struct counter_attribute *attribute,
					uint8_t *ret_data);

#endif
