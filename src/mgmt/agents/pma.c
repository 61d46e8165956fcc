/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The performance agent: ClassPortInfo and the attributes that show counters (management 6.1).
 *
 * A port has one set of 64-bit counters. Each attribute shows some of them, with its own width,
 * stuck at its maximum. A Set of any attribute writes these counters, so resetting one attribute
 * resets the others.
 */
#include "mgmt/agents/gs_agent.h"

#include <string.h>
#include "wire/performance.h"
#include "wire/smp.h"

enum { SELECT2_FIRST = 16 };

/* One counter of an attribute: its offset in struct link_counters and in the attribute's struct. */
struct shown_counter {
	uint16_t kept_at; /* in struct link_counters */
	uint16_t at;
	uint8_t bit_count;
	uint8_t select; /* bit of CounterSelect; from SELECT2_FIRST on, of CounterSelect2 */
};

/* Offsets of the fields that are not counters. */
struct counter_attribute {
	const struct attribute_layout *layout;
	uint16_t port_select_at;
	uint16_t select_at;
	uint16_t select2_at; /* 0: has none */
	uint8_t select2_bits;
	const struct shown_counter *counters;
	size_t counter_count;
};

#define KEPT(field)	    offsetof(struct link_counters, field)
#define BASIC(field)	    offsetof(struct port_counters, field)
#define EXTENDED(field)	    offsetof(struct port_counters_extended, field)
#define RCV_ERROR(field)    offsetof(struct port_rcv_error_details, field)
#define XMIT_DISCARD(field) offsetof(struct port_xmit_discard_details, field)
#define BY_SL(field)	    offsetof(struct port_data_by_sl, field)

/* clang-format off */
static const struct shown_counter basic_counters[] = {
	{KEPT(symbol_errors),                  BASIC(symbol_error),                    16, 0},
	{KEPT(link_error_recovery),            BASIC(link_error_recovery),              8, 1},
	{KEPT(link_downed),                    BASIC(link_downed),                      8, 2},
	{KEPT(receive_errors),                 BASIC(rcv_errors),                      16, 3},
	{KEPT(receive_remote_physical_errors), BASIC(rcv_remote_physical_errors),      16, 4},
	{KEPT(receive_switch_relay_errors),    BASIC(rcv_switch_relay_errors),         16, 5},
	{KEPT(transmit_discards),              BASIC(xmit_discards),                   16, 6},
	{KEPT(transmit_constraint_errors),     BASIC(xmit_constraint_errors),           8, 7},
	{KEPT(receive_constraint_errors),      BASIC(rcv_constraint_errors),            8, 8},
	{KEPT(local_link_integrity_errors),    BASIC(local_link_integrity_errors),      4, 9},
	{KEPT(excessive_buffer_overruns),      BASIC(excessive_buffer_overrun_errors),  4, 10},
	{KEPT(vl15_dropped),                   BASIC(vl15_dropped),                    16, 11},
	{KEPT(transmit_words),                 BASIC(xmit_data),                       32, 12},
	{KEPT(receive_words),                  BASIC(rcv_data),                        32, 13},
	{KEPT(transmit_packets),               BASIC(xmit_packets),                    32, 14},
	{KEPT(receive_packets),                BASIC(rcv_packets),                     32, 15},
	{KEPT(transmit_wait),                  BASIC(xmit_wait),                       32, 16},
	{KEPT(qp1_dropped),                    BASIC(qp1_dropped),                     16, 17},
};

static const struct shown_counter extended_counters[] = {
	{KEPT(transmit_words),                 EXTENDED(xmit_data),                       64, 0},
	{KEPT(receive_words),                  EXTENDED(rcv_data),                        64, 1},
	{KEPT(transmit_packets),               EXTENDED(xmit_packets),                    64, 2},
	{KEPT(receive_packets),                EXTENDED(rcv_packets),                     64, 3},
	{KEPT(unicast_transmit_packets),       EXTENDED(unicast_xmit_packets),            64, 4},
	{KEPT(unicast_receive_packets),        EXTENDED(unicast_rcv_packets),             64, 5},
	{KEPT(multicast_transmit_packets),     EXTENDED(multicast_xmit_packets),          64, 6},
	{KEPT(multicast_receive_packets),      EXTENDED(multicast_rcv_packets),           64, 7},
	{KEPT(symbol_errors),                  EXTENDED(symbol_error),                    64, 16},
	{KEPT(link_error_recovery),            EXTENDED(link_error_recovery),             64, 17},
	{KEPT(link_downed),                    EXTENDED(link_downed),                     64, 18},
	{KEPT(receive_errors),                 EXTENDED(rcv_errors),                      64, 19},
	{KEPT(receive_remote_physical_errors), EXTENDED(rcv_remote_physical_errors),      64, 20},
	{KEPT(receive_switch_relay_errors),    EXTENDED(rcv_switch_relay_errors),         64, 21},
	{KEPT(transmit_discards),              EXTENDED(xmit_discards),                   64, 22},
	{KEPT(transmit_constraint_errors),     EXTENDED(xmit_constraint_errors),          64, 23},
	{KEPT(receive_constraint_errors),      EXTENDED(rcv_constraint_errors),           64, 24},
	{KEPT(local_link_integrity_errors),    EXTENDED(local_link_integrity_errors),     64, 25},
	{KEPT(excessive_buffer_overruns),      EXTENDED(excessive_buffer_overrun_errors), 64, 26},
	{KEPT(vl15_dropped),                   EXTENDED(vl15_dropped),                    64, 27},
	{KEPT(transmit_wait),                  EXTENDED(xmit_wait),                       64, 28},
	{KEPT(qp1_dropped),                    EXTENDED(qp1_dropped),                     64, 29},
};

static const struct shown_counter rcv_error_counters[] = {
	{KEPT(drops[DROP_VCRC]),         RCV_ERROR(local_physical_errors),   16, 0},
	{KEPT(drops[DROP_MALFORMED]),    RCV_ERROR(malformed_packet_errors), 16, 1},
	{KEPT(excessive_buffer_overruns), RCV_ERROR(buffer_overrun_errors),  16, 2},
	{KEPT(drops[DROP_NO_ROUTE]),     RCV_ERROR(dlid_mapping_errors),     16, 3},
	{KEPT(drops[DROP_VL_MAPPING]),   RCV_ERROR(vl_mapping_errors),       16, 4},
	{KEPT(drops[DROP_LOOPING]),      RCV_ERROR(looping_errors),          16, 5},
};

static const struct shown_counter xmit_discard_counters[] = {
	{KEPT(drops[DROP_PORT_INACTIVE]), XMIT_DISCARD(inactive_discards),        16, 0},
	{KEPT(drops[DROP_MTU]),           XMIT_DISCARD(neighbor_mtu_discards),    16, 1},
	{KEPT(drops[DROP_LIFETIME]),      XMIT_DISCARD(switch_lifetime_discards), 16, 2},
	{KEPT(drops[DROP_HEAD_OF_QUEUE]), XMIT_DISCARD(switch_hoq_discards),      16, 3},
};

#define SL_ROWS(kept)                                                                        \
	{KEPT(kept[0]),  BY_SL(sl0),  32, 0},  {KEPT(kept[1]),  BY_SL(sl1),  32, 1},         \
	{KEPT(kept[2]),  BY_SL(sl2),  32, 2},  {KEPT(kept[3]),  BY_SL(sl3),  32, 3},         \
	{KEPT(kept[4]),  BY_SL(sl4),  32, 4},  {KEPT(kept[5]),  BY_SL(sl5),  32, 5},         \
	{KEPT(kept[6]),  BY_SL(sl6),  32, 6},  {KEPT(kept[7]),  BY_SL(sl7),  32, 7},         \
	{KEPT(kept[8]),  BY_SL(sl8),  32, 8},  {KEPT(kept[9]),  BY_SL(sl9),  32, 9},         \
	{KEPT(kept[10]), BY_SL(sl10), 32, 10}, {KEPT(kept[11]), BY_SL(sl11), 32, 11},        \
	{KEPT(kept[12]), BY_SL(sl12), 32, 12}, {KEPT(kept[13]), BY_SL(sl13), 32, 13},        \
	{KEPT(kept[14]), BY_SL(sl14), 32, 14}, {KEPT(kept[15]), BY_SL(sl15), 32, 15},

static const struct shown_counter xmit_sl_counters[] = {SL_ROWS(transmit_words_by_sl)};
static const struct shown_counter rcv_sl_counters[] = {SL_ROWS(receive_words_by_sl)};
/* clang-format on */

#define COUNTERS_WITHOUT_SELECT2(type, rows)                                                       \
	{                                                                                          \
		.layout = &type##_layout, .port_select_at = offsetof(struct type, port_select),    \
		.select_at = offsetof(struct type, counter_select), .counters = rows,              \
		.counter_count = ARRAY_COUNT(rows)                                                 \
	}

static const struct counter_attribute basic_attribute = {
	.layout = &port_counters_layout,
	.port_select_at = BASIC(port_select),
	.select_at = BASIC(counter_select),
	.select2_at = BASIC(counter_select2),
	.select2_bits = 8,
	.counters = basic_counters,
	.counter_count = ARRAY_COUNT(basic_counters),
};

static const struct counter_attribute extended_attribute = {
	.layout = &port_counters_extended_layout,
	.port_select_at = EXTENDED(port_select),
	.select_at = EXTENDED(counter_select),
	.select2_at = EXTENDED(counter_select2),
	.select2_bits = 32,
	.counters = extended_counters,
	.counter_count = ARRAY_COUNT(extended_counters),
};

static const struct counter_attribute rcv_error_attribute =
	COUNTERS_WITHOUT_SELECT2(port_rcv_error_details, rcv_error_counters);
static const struct counter_attribute xmit_discard_attribute =
	COUNTERS_WITHOUT_SELECT2(port_xmit_discard_details, xmit_discard_counters);
static const struct counter_attribute xmit_sl_attribute =
	COUNTERS_WITHOUT_SELECT2(port_data_by_sl, xmit_sl_counters);
static const struct counter_attribute rcv_sl_attribute =
	COUNTERS_WITHOUT_SELECT2(port_data_by_sl, rcv_sl_counters);

/* Any of the attributes in host order. */
union counter_values {
	struct port_counters basic;
	struct port_counters_extended extended;
	struct port_rcv_error_details rcv_error;
	struct port_xmit_discard_details xmit_discard;
	struct port_data_by_sl by_sl;
};

/* The ports that PortSelect names. Empty: PortSelect names none. */
struct port_range {
	unsigned first, last;
};

static struct port_range selected_ports(const struct node *node, uint64_t port_select)
{
	unsigned lowest = node_is_switch(node) ? 0 : 1;

	if (port_select == PORT_SELECT_ALL)
		return (struct port_range){.first = 1, .last = node->port_count};
	if (port_select < lowest || port_select > node->port_count)
		return (struct port_range){.first = 1, .last = 0};
	return (struct port_range){.first = (unsigned)port_select, .last = (unsigned)port_select};
}

static uint64_t *kept_counter(struct port *port, const struct shown_counter *counter)
{
	return (uint64_t *)((char *)&port->counters + counter->kept_at);
}

uint64_t *pma_counter(struct port *port, uint16_t extended_offset)
{
	for (size_t i = 0; i < ARRAY_COUNT(extended_counters); i++) {
		if (extended_counters[i].at == extended_offset)
			return kept_counter(port, &extended_counters[i]);
	}
	return NULL;
}

static uint64_t sum(struct node *node, struct port_range ports, const struct shown_counter *counter)
{
	uint64_t total = 0;

	for (unsigned port_number = ports.first; port_number <= ports.last; port_number++)
		total += *kept_counter(&node->ports[port_number], counter);
	return total;
}

static void write_all(struct node *node, struct port_range ports,
		      const struct shown_counter *counter, uint64_t value)
{
	for (unsigned port_number = ports.first; port_number <= ports.last; port_number++)
		*kept_counter(&node->ports[port_number], counter) = value;
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

static enum mad_status serve_counters(const struct gs_request *request,
				      const struct counter_attribute *attribute, uint8_t *ret_data)
{
	const struct agent_environment *environment = request->environment;
	union counter_values values;

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	attribute_decode(attribute->layout, request->data, &values);

	struct port_range ports =
		selected_ports(request->node, member_value(attribute->port_select_at, 8, &values));
	uint64_t select = member_value(attribute->select_at, SELECT2_FIRST, &values);

	if (attribute->select2_at)
		select |= member_value(attribute->select2_at, attribute->select2_bits, &values)
			  << SELECT2_FIRST;
	if (ports.first > ports.last)
		return MAD_STATUS_BAD_FIELD;
	if (environment->refresh_counters)
		environment->refresh_counters(environment->context, request->node);
	for (size_t i = 0; i < attribute->counter_count; i++) {
		const struct shown_counter *counter = &attribute->counters[i];
		struct attribute_field field = member(counter->at, counter->bit_count);

		if (request->header.method == MAD_SET && (select >> counter->select & 1))
			write_all(request->node, ports, counter,
				  attribute_field_value(&field, &values));
		attribute_field_set(
			&field, narrowed(sum(request->node, ports, counter), counter->bit_count),
			&values);
	}
	attribute_encode(attribute->layout, &values, ret_data);
	return MAD_STATUS_OK;
}

#define COUNTER_HANDLER(name)                                                                      \
	static enum mad_status name(const struct gs_request *request, uint8_t *ret_data)           \
	{                                                                                          \
		return serve_counters(request, &name##_attribute, ret_data);                       \
	}

COUNTER_HANDLER(basic)
COUNTER_HANDLER(extended)
COUNTER_HANDLER(rcv_error)
COUNTER_HANDLER(xmit_discard)
COUNTER_HANDLER(xmit_sl)
COUNTER_HANDLER(rcv_sl)

/* No field is writable: this class sends no traps. */
static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	const struct class_port_info info = {
		.base_version = MAD_BASE_VERSION,
		.class_version = PERFORMANCE_CLASS_VERSION,
		.capability_mask = PERFORMANCE_ALL_PORT_SELECT | PERFORMANCE_EXTENDED_WIDTH |
				   PERFORMANCE_XMIT_WAIT | PERFORMANCE_QP1_DROPPED,
		.capability_mask2 = PERFORMANCE_ADDITIONAL_EXTENDED,
		.resp_time_value = CLASS_PORT_INFO_RESP_TIME_USUAL,
	};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	class_port_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

static const struct gs_attribute rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, NULL},
	{ATTRIBUTE_PORT_SAMPLES_CONTROL, pma_samples_control_get, pma_samples_control_set},
	{ATTRIBUTE_PORT_SAMPLES_RESULT, pma_samples_result_get, NULL},
	{ATTRIBUTE_PORT_COUNTERS, basic, basic},
	{ATTRIBUTE_PORT_RCV_ERROR_DETAILS, rcv_error, rcv_error},
	{ATTRIBUTE_PORT_XMIT_DISCARD_DETAILS, xmit_discard, xmit_discard},
	{ATTRIBUTE_PORT_COUNTERS_EXTENDED, extended, extended},
	{ATTRIBUTE_PORT_SAMPLES_RESULT_EXTENDED, pma_samples_result_extended_get, NULL},
	{ATTRIBUTE_PORT_XMIT_DATA_SL, xmit_sl, xmit_sl},
	{ATTRIBUTE_PORT_RCV_DATA_SL, rcv_sl, rcv_sl},
};
const struct gs_attributes pma_attributes = {rows, ARRAY_COUNT(rows)};
