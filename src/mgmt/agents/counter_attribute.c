/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of performance management that show counters of ports (management 6.1).
 *
 * A port has one set of 64-bit counters. Each attribute shows some of them, with its own width,
 * stuck at its maximum. A Set of any attribute writes these counters, so resetting one attribute
 * resets the others.
 */
#include "mgmt/agents/counter_attribute.h"

#include <string.h>
#include "net/link/congestion_state.h"
#include "net/link/port_queues.h"
#include "wire/performance.h"

/* Any of the attributes in host order. */
union counter_values {
	struct port_counters basic;
	struct port_counters_extended extended;
	struct port_vl_counters_32 by_vl;
	struct port_extended_speeds speeds;
	struct port_extended_speeds_rsfec speeds_rsfec;
	uint8_t op_code; /* the first member of the attributes that have one */
};

/* The ports that PortSelect names. Empty: PortSelect names none. */
struct port_range {
	unsigned first, last;
};

bool counter_port_exists(const struct node *node, unsigned port_number)
{
	return port_number >= (node_is_switch(node) ? 0 : 1) && port_number <= node->port_count;
}

static struct port_range selected_ports(const struct node *node, uint64_t port_select)
{
	if (port_select == PORT_SELECT_ALL)
		return (struct port_range){.first = 1, .last = node->port_count};
	if (!counter_port_exists(node, (unsigned)port_select))
		return (struct port_range){.first = 1, .last = 0};
	return (struct port_range){.first = (unsigned)port_select, .last = (unsigned)port_select};
}

uint64_t *counter_in_port(struct port *port, const struct shown_counter *counter)
{
	switch (counter->home) {
	case IN_LINK_COUNTERS:
		return (uint64_t *)((char *)&port->counters + counter->kept_at);
	case IN_DETAIL_COUNTERS:
		break;
	}
	return port->details ? (uint64_t *)((char *)port->details + counter->kept_at) : NULL;
}

static uint64_t sum(struct node *node, struct port_range ports, const struct shown_counter *counter)
{
	uint64_t total = 0;

	for (unsigned port_number = ports.first; port_number <= ports.last; port_number++) {
		const uint64_t *kept = counter_in_port(&node->ports[port_number], counter);

		total += kept ? *kept : 0;
	}
	return total;
}

/* Without memory for its details, a port's detail counters stay zero. */
static void write_all(struct node *node, struct port_range ports,
		      const struct shown_counter *counter, uint64_t value)
{
	for (unsigned port_number = ports.first; port_number <= ports.last; port_number++) {
		struct port *port = &node->ports[port_number];

		if (value && counter->home == IN_DETAIL_COUNTERS && !port_obtain_details(port))
			continue;

		uint64_t *kept = counter_in_port(port, counter);

		if (kept)
			*kept = value;
	}
}

/* A member of an attribute's struct, of any width. */
static struct attribute_field member(uint16_t struct_offset, unsigned bit_count)
{
	uint8_t byte_count = bit_count <= 8 ? 1 : bit_count <= 16 ? 2 : bit_count <= 32 ? 4 : 8;

	return (struct attribute_field){.struct_offset = struct_offset, .struct_bytes = byte_count};
}

static uint64_t member_value(uint16_t struct_offset, unsigned bit_count,
			     const union counter_values *values)
{
	struct attribute_field field = member(struct_offset, bit_count);

	return attribute_field_value(&field, values);
}

static uint64_t narrowed(uint64_t value, unsigned bit_count)
{
	uint64_t maximum = bit_count < 64 ? (1ull << bit_count) - 1 : UINT64_MAX;

	return value < maximum ? value : maximum;
}

void counters_refresh(const struct agent_environment *environment, struct node *node,
		      unsigned first_port, unsigned last_port, time_ns now)
{
	if (environment->refresh_counters)
		environment->refresh_counters(environment->context, node);
	for (unsigned port_number = first_port; port_number <= last_port; port_number++) {
		struct port *port = &node->ports[port_number];

		port_review_congestion(port, now);
		port_settle_waits(port, now);
	}
}

static void paths_changed(const struct agent_environment *environment)
{
	if (environment->paths_changed)
		environment->paths_changed(environment->context);
}

/* While a port counts an opcode, its packets come through the fabric, which alone sees their
 * headers. */
int counter_choose_opcode(const struct agent_environment *environment, struct port *port,
			  uint8_t opcode)
{
	bool was_counted = port->counts_opcode;
	int error = port_count_opcode(port, opcode);

	if (!error && !was_counted)
		paths_changed(environment);
	return error;
}

void counter_stop_opcode(const struct agent_environment *environment, struct port *port)
{
	bool was_counted = port->counts_opcode;

	port_stop_opcode(port);
	if (was_counted)
		paths_changed(environment);
}

/* OpCode of a Set is the opcode that the ports count from now on; CounterSelect 0 ends the
 * counting. */
static enum mad_status choose_opcode(const struct gs_request *request, struct port_range ports,
				     uint8_t opcode, bool is_counted)
{
	for (unsigned port_number = ports.first; port_number <= ports.last; port_number++) {
		struct port *port = &request->node->ports[port_number];

		if (!is_counted)
			counter_stop_opcode(request->environment, port);
		else if (counter_choose_opcode(request->environment, port, opcode) != 0)
			return MAD_STATUS_BUSY;
	}
	return MAD_STATUS_OK;
}

/* The opcode that the ports count. Several ports may count different ones: the first is shown. */
static uint8_t chosen_opcode(const struct node *node, struct port_range ports)
{
	const struct port *port = &node->ports[ports.first];

	return port->counts_opcode ? port->details->opcode.opcode : 0;
}

static uint64_t selected_counters(const struct counter_attribute *attribute,
				  const union counter_values *values)
{
	uint64_t select = member_value(attribute->select_at, attribute->select_bits, values);

	if (attribute->select2_at)
		select |= member_value(attribute->select2_at, attribute->select2_bits, values)
			  << SELECT2_FIRST;
	return select;
}

enum mad_status counter_attribute_serve(const struct gs_request *request,
					const struct counter_attribute *attribute,
					uint8_t *ret_data)
{
	union counter_values values;

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	attribute_decode(attribute->layout, request->data, &values);

	struct port_range ports =
		selected_ports(request->node, member_value(attribute->port_select_at, 8, &values));
	uint64_t select =
		request->header.method == MAD_SET ? selected_counters(attribute, &values) : 0;
	enum mad_status status = MAD_STATUS_OK;

	if (ports.first > ports.last)
		return MAD_STATUS_BAD_FIELD;
	if (attribute->has_op_code && request->header.method == MAD_SET)
		status = choose_opcode(request, ports, values.op_code, select != 0);
	if (status != MAD_STATUS_OK)
		return status;
	counters_refresh(request->environment, request->node, ports.first, ports.last,
			 request->now);
	for (size_t i = 0; i < attribute->counter_count; i++) {
		const struct shown_counter *counter = &attribute->counters[i];
		struct attribute_field field = member(counter->at, counter->bit_count);

		if (select >> counter->select & 1)
			write_all(request->node, ports, counter,
				  attribute_field_value(&field, &values));
		attribute_field_set(
			&field, narrowed(sum(request->node, ports, counter), counter->bit_count),
			&values);
	}
	if (attribute->has_op_code)
		values.op_code = chosen_opcode(request->node, ports);
	attribute_encode(attribute->layout, &values, ret_data);
	return MAD_STATUS_OK;
}
