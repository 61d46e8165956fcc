/* SPDX-License-Identifier: Apache-2.0 */
/* What packets that go past the fabric would have weighed on its links: LRH to ICRC of each (vol 1,
 * chapter 7). */
#ifndef SOFTIB_RUNTIME_PACKETS_WIRE_BYTES_H
#define SOFTIB_RUNTIME_PACKETS_WIRE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/packet.h"

/* Of a packet with nothing behind its BTH. */
static inline uint32_t wire_bytes_bare(bool is_global)
{
	return LRH_BYTES + BTH_BYTES + ICRC_BYTES + (is_global ? GRH_BYTES : 0);
}

/* Of packets that one record of so many bytes stands for: what all but the first repeat is not in
 * it. */
static inline uint64_t wire_bytes_of_train(uint64_t record_bytes, uint64_t packet_count,
					   bool is_global)
{
	return record_bytes + ICRC_BYTES + (packet_count - 1) * wire_bytes_bare(is_global);
}

#endif
