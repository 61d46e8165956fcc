/* SPDX-License-Identifier: Apache-2.0 */
/* Packet sequence numbers: 24 bits that wrap (vol 1, chapter 9). */
#ifndef SOFTIB_WIRE_PSN_H
#define SOFTIB_WIRE_PSN_H

#include <stdbool.h>
#include <stdint.h>

struct psn {
	uint32_t value; /* 24 bits */
};

static inline struct psn psn_from(uint32_t value)
{
	return (struct psn){.value = value & 0xffffff};
}

static inline struct psn psn_add(struct psn psn, uint32_t count)
{
	return psn_from(psn.value + count);
}

static inline struct psn psn_previous(struct psn psn)
{
	return psn_from(psn.value - 1);
}

/* How far b is after a; negative when it is before. Valid up to 2^23 - 1. */
static inline int32_t psn_distance(struct psn a, struct psn b)
{
	return (int32_t)((b.value - a.value) << 8) >> 8;
}

static inline bool psn_equal(struct psn a, struct psn b)
{
	return a.value == b.value;
}

static inline bool psn_before(struct psn a, struct psn b)
{
	return psn_distance(a, b) > 0;
}

#endif
