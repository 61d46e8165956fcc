/* SPDX-License-Identifier: Apache-2.0 */
/* ICMPv6 echo requests and replies as IPv6 packets (RFC 4443). */
#include "echo.h"

#include <string.h>

enum {
	IPV6_BYTES = 40,
	ICMPV6_BYTES = 8,
	NEXT_HEADER_ICMPV6 = 58,
	ECHO_REQUEST = 128,
	ECHO_REPLY = 129,
	SOURCE_OFFSET = 8,
	DESTINATION_OFFSET = 24,
};

static void put16(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

static uint32_t get16(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t add(uint32_t sum, const uint8_t *bytes, uint32_t byte_count)
{
	for (uint32_t i = 0; i + 1 < byte_count; i += 2)
		sum += get16(bytes + i);
	if (byte_count % 2)
		sum += (uint32_t)bytes[byte_count - 1] << 8;
	return sum;
}

/* The ICMPv6 checksum over both addresses, length, next header and message. 0 if the message
 * already has the right checksum. */
static uint32_t checksum(const uint8_t *packet, uint32_t message_bytes)
{
	uint32_t sum = add(message_bytes + NEXT_HEADER_ICMPV6, packet + SOURCE_OFFSET, 32);

	sum = add(sum, packet + IPV6_BYTES, message_bytes);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

uint32_t echo_write(const struct echo *echo, uint8_t *ret_bytes)
{
	uint32_t message_bytes = ICMPV6_BYTES + echo->data_bytes;
	uint32_t total = (IPV6_BYTES + message_bytes + 3) / 4 * 4;
	uint8_t *message = ret_bytes + IPV6_BYTES;

	memmove(message + ICMPV6_BYTES, echo->data, echo->data_bytes);
	memset(message + message_bytes, 0, total - IPV6_BYTES - message_bytes);
	memset(ret_bytes, 0, IPV6_BYTES + ICMPV6_BYTES);
	ret_bytes[0] = 6 << 4;
	put16(ret_bytes + 4, message_bytes);
	ret_bytes[6] = NEXT_HEADER_ICMPV6;
	ret_bytes[7] = echo->hop_limit;
	memcpy(ret_bytes + SOURCE_OFFSET, echo->source, sizeof(echo->source));
	memcpy(ret_bytes + DESTINATION_OFFSET, echo->destination, sizeof(echo->destination));
	message[0] = echo->is_reply ? ECHO_REPLY : ECHO_REQUEST;
	put16(message + 4, echo->identifier);
	put16(message + 6, echo->sequence);
	put16(message + 2, checksum(ret_bytes, message_bytes));
	return total;
}

bool echo_read(uint8_t *bytes, uint32_t byte_count, struct echo *ret_echo)
{
	if (byte_count < IPV6_BYTES + ICMPV6_BYTES || bytes[0] >> 4 != 6 ||
	    bytes[6] != NEXT_HEADER_ICMPV6)
		return false;

	uint32_t message_bytes = get16(bytes + 4);
	const uint8_t *message = bytes + IPV6_BYTES;

	if (message_bytes < ICMPV6_BYTES || message_bytes > byte_count - IPV6_BYTES ||
	    checksum(bytes, message_bytes) != 0)
		return false;
	if ((message[0] != ECHO_REQUEST && message[0] != ECHO_REPLY) || message[1] != 0)
		return false;
	*ret_echo = (struct echo){
		.identifier = (uint16_t)get16(message + 4),
		.sequence = (uint16_t)get16(message + 6),
		.hop_limit = bytes[7],
		.is_reply = message[0] == ECHO_REPLY,
		.data = bytes + IPV6_BYTES + ICMPV6_BYTES,
		.data_bytes = message_bytes - ICMPV6_BYTES,
	};
	memcpy(ret_echo->source, bytes + SOURCE_OFFSET, sizeof(ret_echo->source));
	memcpy(ret_echo->destination, bytes + DESTINATION_OFFSET, sizeof(ret_echo->destination));
	return true;
}
