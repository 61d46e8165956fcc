/* SPDX-License-Identifier: Apache-2.0 */
/* The wire records of rsockets: the greeting of a connection, the notices in immediate data, the
 * header of datagrams. Bytes from a peer are not trusted. */
#ifndef SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_RECORDS_H
#define SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/attributes.h"

enum {
	RSOCKET_GREETING_BYTES = 40,
	RSOCKET_DATAGRAM_HEADER_BYTES = sizeof(struct sockaddr_storage),
	RSOCKET_CONTROL_RESERVE = 16, /* receives reserved for notices other than data */
	RSOCKET_NOTICE_VALUE_MAX = (1 << 30) - 1,
};

/* Each side sends it as private data when it connects. */
struct rsocket_greeting {
	uint32_t mapping_count; /* how many of the peer's mappings fit */
	uint64_t ring_address;
	uint32_t ring_key;
	uint32_t ring_bytes;
	uint64_t control_address;
	uint32_t control_key;
	uint32_t receive_count;
};

void rsocket_greeting_encode(const struct rsocket_greeting *greeting,
			     uint8_t ret_bytes[static RSOCKET_GREETING_BYTES]);
/* false: the peer is no rsocket of softib, or its parameters are unusable. */
MUST_USE bool rsocket_greeting_decode(const uint8_t *bytes, size_t byte_count,
				      struct rsocket_greeting *ret_greeting);

/* Immediate data: two bits of kind, the rest a byte count. */
enum rsocket_notice { NOTICE_DATA, NOTICE_CONSUMED, NOTICE_END, NOTICE_UNKNOWN };

/* In network byte order, as in ibv_send_wr. */
uint32_t rsocket_notice_encode(enum rsocket_notice notice, uint32_t value);
enum rsocket_notice rsocket_notice_decode(uint32_t immediate, uint32_t *ret_value);

/* The header before a datagram's bytes: its source. */
void rsocket_datagram_header_encode(const struct sockaddr_storage *source,
				    uint8_t ret_bytes[static RSOCKET_DATAGRAM_HEADER_BYTES]);
/* false: too short, or an address family that cannot be replied to. */
MUST_USE bool rsocket_datagram_header_decode(const uint8_t *bytes, size_t byte_count,
					     struct sockaddr_storage *ret_source);

#endif
