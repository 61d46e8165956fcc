/* SPDX-License-Identifier: Apache-2.0 */
/* The size that offloaded packets would have had on the links of the fabric: LRH to ICRC of each
 * (vol 1, chapter 7). */
#ifndef SOFTIB_RUNTIME_PACKETS_WIRE_BYTES_H
#define SOFTIB_RUNTIME_PACKETS_WIRE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/packet.h"

/* A packet with nothing after its BTH. */
static inline uint32_t wire_bytes_bare(bool is_global)
{
	return LRH_BYTES + BTH_BYTES + ICRC_BYTES + (is_global ? GRH_BYTES : 0);
}

/* The packets that one record of so many bytes stands for. The record does not hold the repeated
 * headers of all packets but the first. */
static inline uint64_t wire_bytes_of_train(uint64_t record_bytes, uint64_t packet_count,
					   bool is_global)
{
	return record_bytes + ICRC_BYTES + (packet_count - 1) * wire_bytes_bare(is_global);
}

#endif
