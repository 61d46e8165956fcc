/* SPDX-License-Identifier: Apache-2.0 */
/* The header of an Ethernet II frame. */
#include "wire/ethernet.h"

#include <string.h>
#include "base/bytes.h"

enum { SOURCE_OFFSET = MAC_BYTES, TYPE_OFFSET = 2 * MAC_BYTES };

void ethernet_header_encode(const struct ethernet_header *header,
			    uint8_t ret_bytes[static ETHERNET_HEADER_BYTES])
{
	memcpy(ret_bytes, header->destination.bytes, MAC_BYTES);
	memcpy(ret_bytes + SOURCE_OFFSET, header->source.bytes, MAC_BYTES);
	put_be16(ret_bytes + TYPE_OFFSET, header->ethertype);
}

bool ethernet_header_decode(const uint8_t *bytes, size_t byte_count,
			    struct ethernet_header *ret_header)
{
	if (byte_count < ETHERNET_HEADER_BYTES || get_be16(bytes + TYPE_OFFSET) < ETHERTYPE_MIN)
		return false;
	memcpy(ret_header->destination.bytes, bytes, MAC_BYTES);
	memcpy(ret_header->source.bytes, bytes + SOURCE_OFFSET, MAC_BYTES);
	ret_header->ethertype = get_be16(bytes + TYPE_OFFSET);
	return true;
}
