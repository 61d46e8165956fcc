/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses in connection requests (vol 1, annex A11; management 7.6). */
#include "wire/cm_ip_header.h"

#include <string.h>
#include "base/bytes.h"

enum {
	VERSION_PLACE = 0,
	IP_VERSION_PLACE = 1,
	PORT_PLACE = 2,
	SOURCE_PLACE = 4,
	DESTINATION_PLACE = 20
};

void cm_ip_header_encode(const struct cm_ip_header *header,
			 uint8_t ret_bytes[static CM_IP_HEADER_BYTES])
{
	ret_bytes[VERSION_PLACE] = 0;
	ret_bytes[IP_VERSION_PLACE] = (uint8_t)(header->ip_version << 4);
	put_be16(ret_bytes + PORT_PLACE, header->source_port);
	memcpy(ret_bytes + SOURCE_PLACE, header->source.bytes, sizeof(header->source.bytes));
	memcpy(ret_bytes + DESTINATION_PLACE, header->destination.bytes,
	       sizeof(header->destination.bytes));
}

bool cm_ip_header_decode(const uint8_t *bytes, size_t byte_count, struct cm_ip_header *ret_header)
{
	if (byte_count < CM_IP_HEADER_BYTES || bytes[VERSION_PLACE] != 0)
		return false;

	uint8_t ip_version = bytes[IP_VERSION_PLACE] >> 4;

	if (ip_version != 4 && ip_version != 6)
		return false;
	ret_header->ip_version = ip_version;
	ret_header->source_port = get_be16(bytes + PORT_PLACE);
	memcpy(ret_header->source.bytes, bytes + SOURCE_PLACE, sizeof(ret_header->source.bytes));
	memcpy(ret_header->destination.bytes, bytes + DESTINATION_PLACE,
	       sizeof(ret_header->destination.bytes));
	return true;
}
