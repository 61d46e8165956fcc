/* SPDX-License-Identifier: Apache-2.0 */
/* Management datagrams: the common header (vol 1, chapters 13 and 14; management 1.1, 2.1). */
#include "wire/mad.h"

#include "base/bytes.h"

enum { MAD_DIRECTION = 0x8000 };

void mad_header_encode(const struct mad_header *header, uint8_t ret_bytes[static MAD_HEADER_BYTES])
{
	ret_bytes[0] = header->base_version;
	ret_bytes[1] = header->management_class;
	ret_bytes[2] = header->class_version;
	ret_bytes[3] = header->method;
	if (header->management_class == MAD_CLASS_SUBNET_DIRECTED) {
		unsigned direction = header->is_returning ? MAD_DIRECTION : 0;

		put_be16(ret_bytes + 4, (uint16_t)(direction | (header->status & ~MAD_DIRECTION)));
		ret_bytes[6] = header->hop_pointer;
		ret_bytes[7] = header->hop_count;
	} else {
		put_be16(ret_bytes + 4, header->status);
		put_be16(ret_bytes + 6, header->class_specific);
	}
	put_be64(ret_bytes + 8, header->transaction_id);
	put_be16(ret_bytes + 16, header->attribute_id);
	put_be16(ret_bytes + 18, 0);
	put_be32(ret_bytes + 20, header->attribute_modifier);
}

bool mad_header_decode(const uint8_t *bytes, size_t byte_count, struct mad_header *ret_header)
{
	if (byte_count < MAD_HEADER_BYTES)
		return false;

	bool is_directed = bytes[1] == MAD_CLASS_SUBNET_DIRECTED;
	uint16_t status = get_be16(bytes + 4);

	*ret_header = (struct mad_header){
		.base_version = bytes[0],
		.management_class = bytes[1],
		.class_version = bytes[2],
		.method = bytes[3],
		.status = is_directed ? (uint16_t)(status & ~MAD_DIRECTION) : status,
		.is_returning = is_directed && (status & MAD_DIRECTION),
		.hop_pointer = is_directed ? bytes[6] : 0,
		.hop_count = is_directed ? bytes[7] : 0,
		.class_specific = is_directed ? 0 : get_be16(bytes + 6),
		.transaction_id = get_be64(bytes + 8),
		.attribute_id = get_be16(bytes + 16),
		.attribute_modifier = get_be32(bytes + 20),
	};
	return true;
}

bool mad_is_baseboard_answer(const uint8_t mad[static MAD_BYTES])
{
	return mad[MAD_CLASS_OFFSET] == MAD_CLASS_BASEBOARD && mad[MAD_METHOD_OFFSET] == MAD_SEND &&
	       get_be32(mad + MAD_MODIFIER_OFFSET) == 1;
}
