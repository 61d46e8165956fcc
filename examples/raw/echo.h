/* SPDX-License-Identifier: Apache-2.0 */
/* ICMPv6 echo requests and their answers as IPv6 packets (RFC 4443), for the example of raw
 * datagrams. */
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

/* Writes the packet, filled up with zeros to a multiple of 4; returns its bytes with those. */
uint32_t echo_write(const struct echo *echo, uint8_t *ret_bytes);
/* Reads what is an echo request or reply with a right checksum; false: it is none. The data stays
 * where it is. */
bool echo_read(uint8_t *bytes, uint32_t byte_count, struct echo *ret_echo);

#endif
