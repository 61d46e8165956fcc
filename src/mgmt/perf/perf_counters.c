/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of a port in PortCounters and PortCountersExtended (management 6.1). */
#include "mgmt/perf/perf_counters.h"

#include <string.h>
#include "wire/performance.h"

enum {
	NOT_IN_BASIC = 0xff,
	SELECT2_FIRST = 16, /* bits from here on are in CounterSelect2 */
};

/* One row per counter: its place in both attributes, and its bit of CounterSelect. */
static const struct perf_counter_row {
	const char *name;
	uint16_t extended_at;
	uint16_t basic_at;
	uint8_t extended_select;
	uint8_t basic_select;
	uint8_t basic_bits;
} rows[PERF_COUNTER_COUNT] = {
#define BOTH(field, extended_bit, basic_bit, bits)                                                 \
	{                                                                                          \
#field, offsetof(struct port_counters_extended, field),                            \
			offsetof(struct port_counters, field), extended_bit, basic_bit, bits       \
	}
#define EXTENDED_ONLY(field, extended_bit)                                                         \
	{                                                                                          \
#field, offsetof(struct port_counters_extended, field), 0, extended_bit,           \
			NOT_IN_BASIC, 0                                                            \
	}
	/* clang-format off */
	[PERF_XMIT_DATA]                  = BOTH(xmit_data, 0, 12, 32),
	[PERF_RCV_DATA]                   = BOTH(rcv_data, 1, 13, 32),
	[PERF_XMIT_PACKETS]               = BOTH(xmit_packets, 2, 14, 32),
	[PERF_RCV_PACKETS]                = BOTH(rcv_packets, 3, 15, 32),
	[PERF_UNICAST_XMIT_PACKETS]       = EXTENDED_ONLY(unicast_xmit_packets, 4),
	[PERF_UNICAST_RCV_PACKETS]        = EXTENDED_ONLY(unicast_rcv_packets, 5),
	[PERF_MULTICAST_XMIT_PACKETS]     = EXTENDED_ONLY(multicast_xmit_packets, 6),
	[PERF_MULTICAST_RCV_PACKETS]      = EXTENDED_ONLY(multicast_rcv_packets, 7),
	[PERF_SYMBOL_ERROR]               = BOTH(symbol_error, 16, 0, 16),
	[PERF_LINK_ERROR_RECOVERY]        = BOTH(link_error_recovery, 17, 1, 8),
	[PERF_LINK_DOWNED]                = BOTH(link_downed, 18, 2, 8),
	[PERF_RCV_ERRORS]                 = BOTH(rcv_errors, 19, 3, 16),
	[PERF_RCV_REMOTE_PHYSICAL_ERRORS] = BOTH(rcv_remote_physical_errors, 20, 4, 16),
	[PERF_RCV_SWITCH_RELAY_ERRORS]    = BOTH(rcv_switch_relay_errors, 21, 5, 16),
	[PERF_XMIT_DISCARDS]              = BOTH(xmit_discards, 22, 6, 16),
	[PERF_XMIT_CONSTRAINT_ERRORS]     = BOTH(xmit_constraint_errors, 23, 7, 8),
	[PERF_RCV_CONSTRAINT_ERRORS]      = BOTH(rcv_constraint_errors, 24, 8, 8),
	[PERF_LOCAL_LINK_INTEGRITY_ERRORS]
					  = BOTH(local_link_integrity_errors, 25, 9, 4),
	[PERF_EXCESSIVE_BUFFER_OVERRUN_ERRORS]
					  = BOTH(excessive_buffer_overrun_errors, 26, 10, 4),
	[PERF_VL15_DROPPED]               = BOTH(vl15_dropped, 27, 11, 16),
	[PERF_XMIT_WAIT]                  = BOTH(xmit_wait, 28, 16, 32),
	[PERF_QP1_DROPPED]                = BOTH(qp1_dropped, 29, 17, 16),
/* clang-format on */
#undef EXTENDED_ONLY
#undef BOTH
};

enum {
	DATA_COUNTERS = 1u << PERF_XMIT_DATA | 1u << PERF_RCV_DATA | 1u << PERF_XMIT_PACKETS |
			1u << PERF_RCV_PACKETS,
	CAST_COUNTERS = 1u << PERF_UNICAST_XMIT_PACKETS | 1u << PERF_UNICAST_RCV_PACKETS |
			1u << PERF_MULTICAST_XMIT_PACKETS | 1u << PERF_MULTICAST_RCV_PACKETS,
};

struct perf_sources perf_sources_choose(uint16_t capability_mask, uint32_t capability_mask2)
{
	struct perf_sources sources = {.basic = PERF_COUNTERS_ALL & ~(uint32_t)CAST_COUNTERS};

	if (!(capability_mask & PERFORMANCE_XMIT_WAIT))
		sources.basic &= ~(1u << PERF_XMIT_WAIT);
	if (!(capability_mask & PERFORMANCE_QP1_DROPPED))
		sources.basic &= ~(1u << PERF_QP1_DROPPED);
	if (capability_mask & PERFORMANCE_EXTENDED_WIDTH)
		sources.extended = DATA_COUNTERS | CAST_COUNTERS;
	else if (capability_mask & PERFORMANCE_EXTENDED_WIDTH_NO_IETF)
		sources.extended = DATA_COUNTERS;
	if (sources.extended && (capability_mask2 & PERFORMANCE_ADDITIONAL_EXTENDED))
		sources.extended |= sources.basic;
	sources.basic &= ~sources.extended;
	return sources;
}

static struct attribute_field member(uint16_t struct_offset, unsigned bit_count)
{
	uint8_t byte_count = bit_count <= 8 ? 1 : bit_count <= 16 ? 2 : bit_count <= 32 ? 4 : 8;

	return (struct attribute_field){.struct_offset = struct_offset, .struct_bytes = byte_count};
}

bool perf_reading_add_extended(struct perf_reading *reading, uint8_t port_number,
			       const uint8_t *data, uint32_t mask)
{
	struct port_counters_extended values;

	port_counters_extended_decode(data, &values);
	if (values.port_select != port_number)
		return false;
	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++) {
		struct attribute_field field = member(rows[i].extended_at, 64);

		if (!(mask >> i & 1))
			continue;
		reading->values[i] = attribute_field_value(&field, &values);
		reading->known |= 1u << i;
		reading->stuck &= ~(1u << i);
	}
	return true;
}

static uint64_t basic_maximum(unsigned counter)
{
	return (1ull << rows[counter].basic_bits) - 1;
}

bool perf_reading_add_basic(struct perf_reading *reading, uint8_t port_number, const uint8_t *data,
			    uint32_t mask)
{
	struct port_counters values;

	port_counters_decode(data, &values);
	if (values.port_select != port_number)
		return false;
	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++) {
		struct attribute_field field = member(rows[i].basic_at, rows[i].basic_bits);

		if (!(mask >> i & 1) || rows[i].basic_select == NOT_IN_BASIC)
			continue;
		reading->values[i] = attribute_field_value(&field, &values);
		reading->known |= 1u << i;
		reading->stuck &= ~(1u << i);
		if (reading->values[i] == basic_maximum(i))
			reading->stuck |= 1u << i;
	}
	return true;
}

bool perf_clear_extended(uint8_t port_select, uint32_t mask, uint8_t *ret_data)
{
	struct port_counters_extended values = {.port_select = port_select};

	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++) {
		if (!(mask >> i & 1))
			continue;
		if (rows[i].extended_select < SELECT2_FIRST)
			values.counter_select |= (uint16_t)(1u << rows[i].extended_select);
		else
			values.counter_select2 |= 1u << (rows[i].extended_select - SELECT2_FIRST);
	}
	port_counters_extended_encode(&values, ret_data);
	return values.counter_select || values.counter_select2;
}

bool perf_clear_basic(uint8_t port_select, uint32_t mask, uint8_t *ret_data)
{
	struct port_counters values = {.port_select = port_select};

	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++) {
		if (!(mask >> i & 1) || rows[i].basic_select == NOT_IN_BASIC)
			continue;
		if (rows[i].basic_select < SELECT2_FIRST)
			values.counter_select |= (uint16_t)(1u << rows[i].basic_select);
		else
			values.counter_select2 |=
				(uint8_t)(1u << (rows[i].basic_select - SELECT2_FIRST));
	}
	port_counters_encode(&values, ret_data);
	return values.counter_select || values.counter_select2;
}

uint32_t perf_counters_nearly_stuck(const struct perf_reading *reading)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++) {
		if ((reading->known >> i & 1) && rows[i].basic_select != NOT_IN_BASIC &&
		    reading->values[i] > basic_maximum(i) / 4 * 3)
			mask |= 1u << i;
	}
	return mask;
}

const char *perf_counter_name(enum perf_counter counter)
{
	return rows[counter].name;
}

bool perf_counter_find(const char *name, enum perf_counter *ret_counter)
{
	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++) {
		if (strcmp(rows[i].name, name) == 0) {
			*ret_counter = (enum perf_counter)i;
			return true;
		}
	}
	return false;
}
