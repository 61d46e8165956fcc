/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet management attributes that are tables of numbers (vol 1, chapter 14; management
 * 2.5). */
#include "wire/smp_tables.h"

#include <string.h>
#include "base/bytes.h"

void pkey_block_encode(const uint16_t pkeys[static PKEYS_PER_BLOCK],
		       uint8_t ret_bytes[static SMP_DATA_BYTES])
{
	for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++)
		put_be16(ret_bytes + 2 * i, pkeys[i]);
}

void pkey_block_decode(const uint8_t bytes[static SMP_DATA_BYTES],
		       uint16_t ret_pkeys[static PKEYS_PER_BLOCK])
{
	for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++)
		ret_pkeys[i] = get_be16(bytes + 2 * i);
}

void guid_block_encode(const uint64_t guids[static GUIDS_PER_BLOCK],
		       uint8_t ret_bytes[static SMP_DATA_BYTES])
{
	for (unsigned i = 0; i < GUIDS_PER_BLOCK; i++)
		put_be64(ret_bytes + 8 * i, guids[i]);
}

void guid_block_decode(const uint8_t bytes[static SMP_DATA_BYTES],
		       uint64_t ret_guids[static GUIDS_PER_BLOCK])
{
	for (unsigned i = 0; i < GUIDS_PER_BLOCK; i++)
		ret_guids[i] = get_be64(bytes + 8 * i);
}

void sl_to_vl_encode(const uint8_t vls[static SL_COUNT], uint8_t ret_bytes[static SMP_DATA_BYTES])
{
	memset(ret_bytes, 0, SMP_DATA_BYTES);
	for (unsigned i = 0; i < SL_TO_VL_BYTES; i++)
		ret_bytes[i] = (uint8_t)(vls[2 * i] << 4 | (vls[2 * i + 1] & 0xf));
}

void sl_to_vl_decode(const uint8_t bytes[static SL_TO_VL_BYTES], uint8_t ret_vls[static SL_COUNT])
{
	for (unsigned i = 0; i < SL_TO_VL_BYTES; i++) {
		ret_vls[2 * i] = bytes[i] >> 4;
		ret_vls[2 * i + 1] = bytes[i] & 0xf;
	}
}

void vl_arbitration_block_encode(
	const struct vl_arbitration_entry entries[static VL_ARBITRATION_PER_BLOCK],
	uint8_t ret_bytes[static SMP_DATA_BYTES])
{
	for (unsigned i = 0; i < VL_ARBITRATION_PER_BLOCK; i++) {
		ret_bytes[2 * i] = entries[i].vl & 0xf;
		ret_bytes[2 * i + 1] = entries[i].weight;
	}
}

void vl_arbitration_block_decode(
	const uint8_t bytes[static SMP_DATA_BYTES],
	struct vl_arbitration_entry ret_entries[static VL_ARBITRATION_PER_BLOCK])
{
	for (unsigned i = 0; i < VL_ARBITRATION_PER_BLOCK; i++) {
		ret_entries[i].vl = bytes[2 * i] & 0xf;
		ret_entries[i].weight = bytes[2 * i + 1];
	}
}

void linear_forwarding_block_encode(const uint8_t ports[static LINEAR_FORWARDING_PER_BLOCK],
				    uint8_t ret_bytes[static SMP_DATA_BYTES])
{
	memcpy(ret_bytes, ports, LINEAR_FORWARDING_PER_BLOCK);
}

void linear_forwarding_block_decode(const uint8_t bytes[static SMP_DATA_BYTES],
				    uint8_t ret_ports[static LINEAR_FORWARDING_PER_BLOCK])
{
	memcpy(ret_ports, bytes, LINEAR_FORWARDING_PER_BLOCK);
}

void multicast_forwarding_block_encode(const uint16_t masks[static MULTICAST_FORWARDING_PER_BLOCK],
				       uint8_t ret_bytes[static SMP_DATA_BYTES])
{
	for (unsigned i = 0; i < MULTICAST_FORWARDING_PER_BLOCK; i++)
		put_be16(ret_bytes + 2 * i, masks[i]);
}

void multicast_forwarding_block_decode(const uint8_t bytes[static SMP_DATA_BYTES],
				       uint16_t ret_masks[static MULTICAST_FORWARDING_PER_BLOCK])
{
	for (unsigned i = 0; i < MULTICAST_FORWARDING_PER_BLOCK; i++)
		ret_masks[i] = get_be16(bytes + 2 * i);
}
