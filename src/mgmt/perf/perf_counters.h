/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of a port that the performance manager keeps, and how PortCounters and
 * PortCountersExtended carry them (management 6.1). */
#ifndef SOFTIB_MGMT_PERF_PERF_COUNTERS_H
#define SOFTIB_MGMT_PERF_PERF_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

/* In the order of PortCountersExtended. */
enum perf_counter {
	PERF_XMIT_DATA, /* 32-bit words */
	PERF_RCV_DATA,
	PERF_XMIT_PACKETS,
	PERF_RCV_PACKETS,
	PERF_UNICAST_XMIT_PACKETS,
	PERF_UNICAST_RCV_PACKETS,
	PERF_MULTICAST_XMIT_PACKETS,
	PERF_MULTICAST_RCV_PACKETS,
	PERF_SYMBOL_ERROR,
	PERF_LINK_ERROR_RECOVERY,
	PERF_LINK_DOWNED,
	PERF_RCV_ERRORS,
	PERF_RCV_REMOTE_PHYSICAL_ERRORS,
	PERF_RCV_SWITCH_RELAY_ERRORS,
	PERF_XMIT_DISCARDS,
	PERF_XMIT_CONSTRAINT_ERRORS,
	PERF_RCV_CONSTRAINT_ERRORS,
	PERF_LOCAL_LINK_INTEGRITY_ERRORS,
	PERF_EXCESSIVE_BUFFER_OVERRUN_ERRORS,
	PERF_VL15_DROPPED,
	PERF_XMIT_WAIT, /* ticks */
	PERF_QP1_DROPPED,
	PERF_COUNTER_COUNT,
};

enum { PERF_WORD_BYTES = 4 };

#define PERF_COUNTERS_ALL ((1u << PERF_COUNTER_COUNT) - 1)
/* Counters that mean that something is wrong when they grow. */
#define PERF_COUNTERS_ERRORS                                                                       \
	((((1u << PERF_XMIT_WAIT) - 1) & ~((1u << PERF_SYMBOL_ERROR) - 1)) | 1u << PERF_QP1_DROPPED)

/* The values of one port. Masks have a bit per perf_counter. */
struct perf_reading {
	uint64_t values[PERF_COUNTER_COUNT];
	uint32_t known; /* counters that the agent has */
	uint32_t stuck; /* counters at the maximum of their field: the true value may be higher */
};

/* The attributes that give all counters which the agent has. */
struct perf_sources {
	uint32_t extended; /* counters to take from PortCountersExtended; 0: it is not read */
	uint32_t basic;	   /* counters to take from PortCounters; 0: it is not read */
};

/* From ClassPortInfo.CapabilityMask and CapabilityMask2. */
struct perf_sources perf_sources_choose(uint16_t capability_mask, uint32_t capability_mask2);

/* Adds the counters of this mask from an attribute's data. false: the data are of another port. */
MUST_USE bool perf_reading_add_extended(struct perf_reading *reading, uint8_t port_number,
					const uint8_t *data, uint32_t mask);
MUST_USE bool perf_reading_add_basic(struct perf_reading *reading, uint8_t port_number,
				     const uint8_t *data, uint32_t mask);

/* The data of a Set that clears the counters of this mask; each returns whether the attribute has
 * any of them. */
MUST_USE bool perf_clear_extended(uint8_t port_select, uint32_t mask, uint8_t *ret_data);
MUST_USE bool perf_clear_basic(uint8_t port_select, uint32_t mask, uint8_t *ret_data);

/* Counters of PortCounters that are above three quarters of their range, and may stick soon. */
uint32_t perf_counters_nearly_stuck(const struct perf_reading *reading);

/* "xmit_data": the names of the fields of PortCountersExtended. */
const char *perf_counter_name(enum perf_counter counter);
/* false: no counter has this name. */
MUST_USE bool perf_counter_find(const char *name, enum perf_counter *ret_counter);
static inline bool perf_counter_is_error(unsigned counter)
{
	return PERF_COUNTERS_ERRORS >> counter & 1;
}

#endif
