/* SPDX-License-Identifier: Apache-2.0 */
/* Subnet administration MADs: the SA header (vol 1, chapter 15; management 4.1). */
#include "wire/sa_mad.h"

#include "base/bytes.h"

void sa_header_encode(const struct sa_header *header, uint8_t ret_bytes[static SA_HEADER_BYTES])
{
	put_be64(ret_bytes, header->sm_key);
	put_be16(ret_bytes + 8, header->attribute_offset);
	put_be16(ret_bytes + 10, 0);
	put_be64(ret_bytes + 12, header->component_mask);
}

bool sa_header_decode(const uint8_t *bytes, size_t byte_count, struct sa_header *ret_header)
{
	if (byte_count < SA_HEADER_BYTES)
		return false;
	*ret_header = (struct sa_header){
		.sm_key = get_be64(bytes),
		.attribute_offset = get_be16(bytes + 8),
		.component_mask = get_be64(bytes + 12),
	};
	return true;
}
