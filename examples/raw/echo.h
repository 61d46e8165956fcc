/* SPDX-License-Identifier: Apache-2.0 */
/* ICMPv6 echo requests and replies as IPv6 packets (RFC 4443), for the raw datagram example. */
#ifndef SOFTIB_EXAMPLES_RAW_ECHO_H
#define SOFTIB_EXAMPLES_RAW_ECHO_H

#include <stdbool.h>
#include <stdint.h>

enum { ECHO_HEADER_BYTES = 40 + 8 }; /* IPv6, then ICMPv6 */

struct echo {
	uint8_t source[16];
	uint8_t destination[16];
	uint16_t identifier;
	uint16_t sequence;
	uint8_t hop_limit;
	bool is_reply;
	uint8_t *data;
	uint32_t data_bytes;
};

/* Writes the packet, padded with zeros to a multiple of 4 bytes; returns its length with the
 * padding. */
uint32_t echo_write(const struct echo *echo, uint8_t *ret_bytes);
/* Reads an echo request or reply. False: it is none, or its checksum is wrong. ret_echo points into
 * bytes. */
bool echo_read(uint8_t *bytes, uint32_t byte_count, struct echo *ret_echo);

#endif
