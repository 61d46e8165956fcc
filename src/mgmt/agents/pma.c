/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The performance agent: ClassPortInfo, PortCounters and PortCountersExtended (vol 1, chapter 16).
 *
 * A port has one set of 64-bit counters. PortCounters shows them narrowed and stuck at its maximum,
 * and a Set of either attribute writes them, so that resetting one resets the other.
 */
#include "mgmt/agents/agents.h"

#include <string.h>
#include "wire/performance.h"
#include "mgmt/mad/smp_request.h"
#include "net/node/node.h"
#include "wire/smp.h"

enum { SELECT_NONE = 0xff };

/* One counter: where it is kept, and where the two attributes have it. */
struct counter_row {
	uint16_t kept_at;  /* in struct link_counters */
	uint16_t basic_at; /* in PortCounters; 0: not there */
	uint8_t basic_bits;
	uint8_t basic_select;	 /* bit of CounterSelect; from 16 on, of CounterSelect2 */
	uint16_t extended_at;	 /* in PortCountersExtended */
	uint8_t extended_select; /* bit of CounterSelect; from 16 on, of CounterSelect2 */
};

#define KEPT(field)	offsetof(struct link_counters, field)
#define BASIC(field)	offsetof(struct port_counters, field)
#define EXTENDED(field) offsetof(struct port_counters_extended, field)

static const struct counter_row counter_rows[] = {
	{KEPT(symbol_errors), BASIC(symbol_error), 16, 0, EXTENDED(symbol_error), 16},
	{KEPT(link_error_recovery), BASIC(link_error_recovery), 8, 1, EXTENDED(link_error_recovery),
	 17},
	{KEPT(link_downed), BASIC(link_downed), 8, 2, EXTENDED(link_downed), 18},
	{KEPT(receive_errors), BASIC(rcv_errors), 16, 3, EXTENDED(rcv_errors), 19},
	{KEPT(receive_remote_physical_errors), BASIC(rcv_remote_physical_errors), 16, 4,
	 EXTENDED(rcv_remote_physical_errors), 20},
	{KEPT(receive_switch_relay_errors), BASIC(rcv_switch_relay_errors), 16, 5,
	 EXTENDED(rcv_switch_relay_errors), 21},
	{KEPT(transmit_discards), BASIC(xmit_discards), 16, 6, EXTENDED(xmit_discards), 22},
	{KEPT(transmit_constraint_errors), BASIC(xmit_constraint_errors), 8, 7,
	 EXTENDED(xmit_constraint_errors), 23},
	{KEPT(receive_constraint_errors), BASIC(rcv_constraint_errors), 8, 8,
	 EXTENDED(rcv_constraint_errors), 24},
	{KEPT(local_link_integrity_errors), BASIC(local_link_integrity_errors), 4, 9,
	 EXTENDED(local_link_integrity_errors), 25},
	{KEPT(excessive_buffer_overruns), BASIC(excessive_buffer_overrun_errors), 4, 10,
	 EXTENDED(excessive_buffer_overrun_errors), 26},
	{KEPT(vl15_dropped), BASIC(vl15_dropped), 16, 11, EXTENDED(vl15_dropped), 27},
	{KEPT(transmit_words), BASIC(xmit_data), 32, 12, EXTENDED(xmit_data), 0},
	{KEPT(receive_words), BASIC(rcv_data), 32, 13, EXTENDED(rcv_data), 1},
	{KEPT(transmit_packets), BASIC(xmit_packets), 32, 14, EXTENDED(xmit_packets), 2},
	{KEPT(receive_packets), BASIC(rcv_packets), 32, 15, EXTENDED(rcv_packets), 3},
	{KEPT(transmit_wait), BASIC(xmit_wait), 32, 16, EXTENDED(xmit_wait), 28},
	{KEPT(qp1_dropped), BASIC(qp1_dropped), 16, 17, EXTENDED(qp1_dropped), 29},
	{KEPT(unicast_transmit_packets), 0, 0, SELECT_NONE, EXTENDED(unicast_xmit_packets), 4},
	{KEPT(unicast_receive_packets), 0, 0, SELECT_NONE, EXTENDED(unicast_rcv_packets), 5},
	{KEPT(multicast_transmit_packets), 0, 0, SELECT_NONE, EXTENDED(multicast_xmit_packets), 6},
	{KEPT(multicast_receive_packets), 0, 0, SELECT_NONE, EXTENDED(multicast_rcv_packets), 7},
};

/* The ports that PortSelect names; none when it names nothing. */
struct port_range {
	unsigned first, last;
};

static struct port_range selected_ports(const struct node *node, uint8_t port_select)
{
	unsigned lowest = node_is_switch(node) ? 0 : 1;

	if (port_select == PORT_SELECT_ALL)
		return (struct port_range){.first = 1, .last = node->port_count};
	if (port_select < lowest || port_select > node->port_count)
		return (struct port_range){.first = 1, .last = 0};
	return (struct port_range){.first = port_select, .last = port_select};
}

static uint64_t *kept_counter(struct port *port, const struct counter_row *row)
{
	return (uint64_t *)((char *)&port->counters + row->kept_at);
}

static uint64_t sum(struct node *node, struct port_range ports, const struct counter_row *row)
{
	uint64_t total = 0;

	for (unsigned port_number = ports.first; port_number <= ports.last; port_number++)
		total += *kept_counter(&node->ports[port_number], row);
	return total;
}

static void write_all(struct node *node, struct port_range ports, const struct counter_row *row,
		      uint64_t value)
{
	for (unsigned port_number = ports.first; port_number <= ports.last; port_number++)
		*kept_counter(&node->ports[port_number], row) = value;
}

/* A member of an attribute's struct, whatever its width. */
static struct attribute_field member(uint16_t struct_offset, unsigned bit_count)
{
	uint8_t byte_count = bit_count <= 8 ? 1 : bit_count <= 16 ? 2 : bit_count <= 32 ? 4 : 8;

	return (struct attribute_field){.struct_offset = struct_offset, .struct_bytes = byte_count};
}

static enum mad_status basic_counters(struct node *node, enum mad_method method,
				      const uint8_t *data, uint8_t *ret_data)
{
	struct port_counters counters;

	port_counters_decode(data, &counters);

	struct port_range ports = selected_ports(node, counters.port_select);
	uint32_t select = counters.counter_select | (uint32_t)counters.counter_select2 << 16;

	if (ports.first > ports.last)
		return MAD_STATUS_BAD_FIELD;
	for (size_t i = 0; i < ARRAY_COUNT(counter_rows); i++) {
		const struct counter_row *row = &counter_rows[i];

		if (row->basic_select == SELECT_NONE)
			continue;

		struct attribute_field field = member(row->basic_at, row->basic_bits);
		uint64_t maximum = (1ull << row->basic_bits) - 1;

		if (method == MAD_SET && (select >> row->basic_select & 1))
			write_all(node, ports, row, attribute_field_value(&field, &counters));

		uint64_t total = sum(node, ports, row);

		attribute_field_set(&field, total < maximum ? total : maximum, &counters);
	}
	port_counters_encode(&counters, ret_data);
	return MAD_STATUS_OK;
}

static enum mad_status extended_counters(struct node *node, enum mad_method method,
					 const uint8_t *data, uint8_t *ret_data)
{
	struct port_counters_extended counters;

	port_counters_extended_decode(data, &counters);

	struct port_range ports = selected_ports(node, counters.port_select);
	/* CounterSelect has eight bits in use, so the two fit side by side. */
	uint64_t select = counters.counter_select | (uint64_t)counters.counter_select2 << 16;

	if (ports.first > ports.last)
		return MAD_STATUS_BAD_FIELD;
	for (size_t i = 0; i < ARRAY_COUNT(counter_rows); i++) {
		const struct counter_row *row = &counter_rows[i];
		struct attribute_field field = member(row->extended_at, 64);

		if (method == MAD_SET && (select >> row->extended_select & 1))
			write_all(node, ports, row, attribute_field_value(&field, &counters));
		attribute_field_set(&field, sum(node, ports, row), &counters);
	}
	port_counters_extended_encode(&counters, ret_data);
	return MAD_STATUS_OK;
}

static enum mad_status class_port_info(enum mad_method method, uint8_t *ret_data)
{
	const struct class_port_info info = {
		.base_version = MAD_BASE_VERSION,
		.class_version = PERFORMANCE_CLASS_VERSION,
		.capability_mask = PERFORMANCE_ALL_PORT_SELECT | PERFORMANCE_EXTENDED_WIDTH |
				   PERFORMANCE_XMIT_WAIT | PERFORMANCE_QP1_DROPPED,
		.capability_mask2 = PERFORMANCE_ADDITIONAL_EXTENDED,
		.resp_time_value = CLASS_PORT_INFO_RESP_TIME_USUAL,
	};

	/* Nothing in it can be written: this class sends no traps. */
	if (method != MAD_GET)
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	class_port_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

static enum mad_status serve(const struct agent_environment *environment, struct node *node,
			     const struct mad_header *header, const uint8_t *data,
			     uint8_t *ret_data)
{
	enum mad_method method = (enum mad_method)header->method;

	if (header->base_version != MAD_BASE_VERSION ||
	    header->class_version != PERFORMANCE_CLASS_VERSION)
		return MAD_STATUS_BAD_VERSION;
	if (method != MAD_GET && method != MAD_SET)
		return MAD_STATUS_BAD_METHOD;
	if (header->attribute_id == ATTRIBUTE_CLASS_PORT_INFO)
		return class_port_info(method, ret_data);
	if (header->attribute_id != ATTRIBUTE_PORT_COUNTERS &&
	    header->attribute_id != ATTRIBUTE_PORT_COUNTERS_EXTENDED)
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (environment->refresh_counters)
		environment->refresh_counters(environment->context, node);
	if (header->attribute_id == ATTRIBUTE_PORT_COUNTERS)
		return basic_counters(node, method, data, ret_data);
	return extended_counters(node, method, data, ret_data);
}

enum agent_verdict pma_receive(const struct agent_environment *environment, struct node *node,
			       unsigned port_number, time_ns now, const struct mad_message *request,
			       struct mad_message *ret_answer)
{
	struct mad_header header;
	uint8_t data[PERFORMANCE_DATA_BYTES] = {0};

	(void)port_number;
	(void)now;
	if (!mad_header_decode(request->bytes, MAD_BYTES, &header))
		return AGENT_CONSUMED;
	if (header.method & MAD_RESPONSE)
		return AGENT_FOR_SM;

	enum mad_status status =
		serve(environment, node, &header, request->bytes + PERFORMANCE_DATA_OFFSET, data);

	smp_answer_make(request, (uint16_t)status, ret_answer);
	if (status == MAD_STATUS_OK)
		memcpy(ret_answer->bytes + PERFORMANCE_DATA_OFFSET, data, sizeof(data));
	return AGENT_ANSWERED;
}
