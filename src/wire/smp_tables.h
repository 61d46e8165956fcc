/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet management attributes that are tables of numbers, block by block, and the attribute
 * modifiers that select a block (vol 1, chapter 14; management 2.4, 2.5).
 */
#ifndef SOFTIB_WIRE_SMP_TABLES_H
#define SOFTIB_WIRE_SMP_TABLES_H

#include <stdint.h>
#include "wire/mad.h"

enum {
	PKEYS_PER_BLOCK = 32,
	GUIDS_PER_BLOCK = 8,
	SL_COUNT = 16,
	SL_TO_VL_BYTES = 8,
	VL_ARBITRATION_PER_BLOCK = 32,
	LINEAR_FORWARDING_PER_BLOCK = 64,
	MULTICAST_FORWARDING_PER_BLOCK = 32,
	MULTICAST_PORTS_PER_POSITION = 16,
	LINEAR_FORWARDING_BLOCKS_MAX = 768,
	LINEAR_FORWARDING_DROP = 0xff, /* an entry that names no port */
};

enum vl_arbitration_section {
	VL_ARBITRATION_LOW_FIRST = 1, /* entries 0 .. 31 of the low priority table */
	VL_ARBITRATION_LOW_SECOND = 2,
	VL_ARBITRATION_HIGH_FIRST = 3,
	VL_ARBITRATION_HIGH_SECOND = 4,
};

struct vl_arbitration_entry {
	uint8_t vl;
	uint8_t weight; /* in units of 64 bytes */
};

void pkey_block_encode(const uint16_t pkeys[static PKEYS_PER_BLOCK],
		       uint8_t ret_bytes[static SMP_DATA_BYTES]);
void pkey_block_decode(const uint8_t bytes[static SMP_DATA_BYTES],
		       uint16_t ret_pkeys[static PKEYS_PER_BLOCK]);

void guid_block_encode(const uint64_t guids[static GUIDS_PER_BLOCK],
		       uint8_t ret_bytes[static SMP_DATA_BYTES]);
void guid_block_decode(const uint8_t bytes[static SMP_DATA_BYTES],
		       uint64_t ret_guids[static GUIDS_PER_BLOCK]);

/* One VL per SL. Encoding clears the rest of the attribute. */
void sl_to_vl_encode(const uint8_t vls[static SL_COUNT], uint8_t ret_bytes[static SMP_DATA_BYTES]);
void sl_to_vl_decode(const uint8_t bytes[static SL_TO_VL_BYTES], uint8_t ret_vls[static SL_COUNT]);

void vl_arbitration_block_encode(
	const struct vl_arbitration_entry entries[static VL_ARBITRATION_PER_BLOCK],
	uint8_t ret_bytes[static SMP_DATA_BYTES]);
void vl_arbitration_block_decode(
	const uint8_t bytes[static SMP_DATA_BYTES],
	struct vl_arbitration_entry ret_entries[static VL_ARBITRATION_PER_BLOCK]);

/* One port per LID. */
void linear_forwarding_block_encode(const uint8_t ports[static LINEAR_FORWARDING_PER_BLOCK],
				    uint8_t ret_bytes[static SMP_DATA_BYTES]);
void linear_forwarding_block_decode(const uint8_t bytes[static SMP_DATA_BYTES],
				    uint8_t ret_ports[static LINEAR_FORWARDING_PER_BLOCK]);

/* One mask per MLID; bit n is port 16 x position + n. */
void multicast_forwarding_block_encode(const uint16_t masks[static MULTICAST_FORWARDING_PER_BLOCK],
				       uint8_t ret_bytes[static SMP_DATA_BYTES]);
void multicast_forwarding_block_decode(const uint8_t bytes[static SMP_DATA_BYTES],
				       uint16_t ret_masks[static MULTICAST_FORWARDING_PER_BLOCK]);

/* port_number: an external port of a switch; 0 for its port 0 and for adapters. */
static inline uint32_t pkey_table_modifier(uint16_t block, uint8_t port_number)
{
	return (uint32_t)port_number << 16 | block;
}

static inline uint16_t pkey_table_block(uint32_t modifier)
{
	return (uint16_t)modifier;
}

static inline uint16_t pkey_table_port(uint32_t modifier)
{
	return (uint16_t)(modifier >> 16);
}

/* Used instead of a port number where SwitchInfo.OptimizedSLtoVLMappingProgramming is set: one Set
 * writes the tables of all output or input ports. */
enum { SL_TO_VL_ALL_OUTPUTS = 1 << 16, SL_TO_VL_ALL_INPUTS = 1 << 17 };

static inline uint32_t sl_to_vl_modifier(uint8_t input_port, uint8_t output_port)
{
	return (uint32_t)input_port << 8 | output_port;
}

static inline uint32_t vl_arbitration_modifier(enum vl_arbitration_section section,
					       uint8_t port_number)
{
	return (uint32_t)section << 16 | port_number;
}

static inline uint32_t multicast_forwarding_modifier(uint16_t block, uint8_t position)
{
	return (uint32_t)position << 28 | (block & 0x1ffu);
}

#endif
