/* SPDX-License-Identifier: Apache-2.0 */
/* The wire records of rsockets: encoders and decoders. */
#include "api/librdmacm/rsocket/rsocket_records.h"

#include <arpa/inet.h>
#include <string.h>
#include "base/bytes.h"

enum {
	MAGIC = 0x72733031,
	NOTICE_SHIFT = 30,
	/* Offsets of the greeting's fields. */
	AT_MAGIC = 0,
	AT_MAPPING_COUNT = 4,
	AT_RING_ADDRESS = 8,
	AT_RING_KEY = 16,
	AT_RING_BYTES = 20,
	AT_CONTROL_ADDRESS = 24,
	AT_CONTROL_KEY = 32,
	AT_RECEIVE_COUNT = 36,
};

void rsocket_greeting_encode(const struct rsocket_greeting *greeting,
			     uint8_t ret_bytes[static RSOCKET_GREETING_BYTES])
{
	put_be32(ret_bytes + AT_MAGIC, MAGIC);
	put_be32(ret_bytes + AT_MAPPING_COUNT, greeting->mapping_count);
	put_be64(ret_bytes + AT_RING_ADDRESS, greeting->ring_address);
	put_be32(ret_bytes + AT_RING_KEY, greeting->ring_key);
	put_be32(ret_bytes + AT_RING_BYTES, greeting->ring_bytes);
	put_be64(ret_bytes + AT_CONTROL_ADDRESS, greeting->control_address);
	put_be32(ret_bytes + AT_CONTROL_KEY, greeting->control_key);
	put_be32(ret_bytes + AT_RECEIVE_COUNT, greeting->receive_count);
}

bool rsocket_greeting_decode(const uint8_t *bytes, size_t byte_count,
			     struct rsocket_greeting *ret_greeting)
{
	if (byte_count < RSOCKET_GREETING_BYTES || get_be32(bytes + AT_MAGIC) != MAGIC)
		return false;

	const struct rsocket_greeting greeting = {
		.mapping_count = get_be32(bytes + AT_MAPPING_COUNT),
		.ring_address = get_be64(bytes + AT_RING_ADDRESS),
		.ring_key = get_be32(bytes + AT_RING_KEY),
		.ring_bytes = get_be32(bytes + AT_RING_BYTES),
		.control_address = get_be64(bytes + AT_CONTROL_ADDRESS),
		.control_key = get_be32(bytes + AT_CONTROL_KEY),
		.receive_count = get_be32(bytes + AT_RECEIVE_COUNT),
	};

	/* One notice must be able to carry half a ring, and some receives are reserved for control
	 * notices. */
	if (!greeting.ring_bytes || greeting.ring_bytes > RSOCKET_NOTICE_VALUE_MAX ||
	    greeting.receive_count <= 2 * RSOCKET_CONTROL_RESERVE)
		return false;
	*ret_greeting = greeting;
	return true;
}

uint32_t rsocket_notice_encode(enum rsocket_notice notice, uint32_t value)
{
	return htonl((uint32_t)notice << NOTICE_SHIFT | value);
}

enum rsocket_notice rsocket_notice_decode(uint32_t immediate, uint32_t *ret_value)
{
	uint32_t word = ntohl(immediate);

	*ret_value = word & RSOCKET_NOTICE_VALUE_MAX;
	return (enum rsocket_notice)(word >> NOTICE_SHIFT);
}

void rsocket_datagram_header_encode(const struct sockaddr_storage *source,
				    uint8_t ret_bytes[static RSOCKET_DATAGRAM_HEADER_BYTES])
{
	memcpy(ret_bytes, source, RSOCKET_DATAGRAM_HEADER_BYTES);
}

bool rsocket_datagram_header_decode(const uint8_t *bytes, size_t byte_count,
				    struct sockaddr_storage *ret_source)
{
	struct sockaddr_storage source;

	if (byte_count < RSOCKET_DATAGRAM_HEADER_BYTES)
		return false;
	memcpy(&source, bytes, sizeof(source));
	if (source.ss_family != AF_INET && source.ss_family != AF_INET6)
		return false;
	*ret_source = source;
	return true;
}
