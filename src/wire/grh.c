/* SPDX-License-Identifier: Apache-2.0 */
/* Global route header (vol 1, chapter 8; transport 1.3). */
#include "wire/grh.h"

#include <string.h>
#include "base/bytes.h"

void grh_encode(const struct grh *grh, uint8_t ret_bytes[static GRH_BYTES])
{
	put_be32(ret_bytes, (uint32_t)grh->version << 28 | (uint32_t)grh->traffic_class << 20 |
				    (grh->flow_label & 0xfffff));
	put_be16(ret_bytes + 4, grh->payload_bytes);
	ret_bytes[6] = grh->next_header;
	ret_bytes[7] = grh->hop_limit;
	memcpy(ret_bytes + 8, grh->sgid.bytes, sizeof(grh->sgid.bytes));
	memcpy(ret_bytes + 24, grh->dgid.bytes, sizeof(grh->dgid.bytes));
}

bool grh_decode(const uint8_t *bytes, size_t byte_count, struct grh *ret_grh)
{
	if (byte_count < GRH_BYTES)
		return false;

	uint32_t word = get_be32(bytes);

	ret_grh->version = (uint8_t)(word >> 28);
	ret_grh->traffic_class = (uint8_t)(word >> 20);
	ret_grh->flow_label = word & 0xfffff;
	ret_grh->payload_bytes = get_be16(bytes + 4);
	ret_grh->next_header = bytes[6];
	ret_grh->hop_limit = bytes[7];
	memcpy(ret_grh->sgid.bytes, bytes + 8, sizeof(ret_grh->sgid.bytes));
	memcpy(ret_grh->dgid.bytes, bytes + 24, sizeof(ret_grh->dgid.bytes));
	return true;
}
