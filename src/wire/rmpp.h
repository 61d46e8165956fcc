/* SPDX-License-Identifier: Apache-2.0 */
/* The header of RMPP, the reliable multi-packet protocol, inside a MAD (vol 1, chapter 13;
 * management 1.8). */
#ifndef SOFTIB_WIRE_RMPP_H
#define SOFTIB_WIRE_RMPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/mad.h"

enum {
	RMPP_OFFSET = 24,
	RMPP_HEADER_BYTES = 12,
	RMPP_SEGMENT_OFFSET = 36, /* PayloadLength counts from here */
	RMPP_SEGMENT_BYTES = 220,
	RMPP_VERSION = 1,
	RMPP_RESP_TIME_NONE = 0x1f,
};

enum rmpp_type {
	RMPP_TYPE_NONE = 0,
	RMPP_TYPE_DATA = 1,
	RMPP_TYPE_ACK = 2,
	RMPP_TYPE_STOP = 3,
	RMPP_TYPE_ABORT = 4,
};

enum rmpp_flag {
	RMPP_FLAG_ACTIVE = 1, /* without it the MAD is not part of an RMPP transfer */
	RMPP_FLAG_FIRST = 2,
	RMPP_FLAG_LAST = 4,
};

enum rmpp_status {
	RMPP_STATUS_NORMAL = 0,
	RMPP_STATUS_RESOURCES_EXHAUSTED = 1, /* STOP only; the others are for ABORT only */
	RMPP_STATUS_TOTAL_TIME_TOO_LONG = 118,
	RMPP_STATUS_BAD_LENGTH = 119,
	RMPP_STATUS_BAD_SEGMENT = 120,
	RMPP_STATUS_BAD_TYPE = 121,
	RMPP_STATUS_WINDOW_TOO_SMALL = 122,
	RMPP_STATUS_SEGMENT_TOO_BIG = 123,
	RMPP_STATUS_BAD_STATUS = 124,
	RMPP_STATUS_BAD_VERSION = 125,
	RMPP_STATUS_TOO_MANY_RETRIES = 126,
	RMPP_STATUS_UNSPECIFIED = 127,
};

struct rmpp_header {
	uint8_t version;
	uint8_t type;
	uint8_t resp_time; /* 5 bits */
	uint8_t flags;	   /* 3 bits */
	uint8_t status;
	uint32_t segment_number; /* DATA, ACK */
	uint32_t length_or_last; /* DATA: PayloadLength; ACK: NewWindowLast */
};

void rmpp_header_encode(const struct rmpp_header *header, uint8_t ret_mad[static MAD_BYTES]);
void rmpp_header_decode(const uint8_t mad[static MAD_BYTES], struct rmpp_header *ret_header);

/* Whether MADs of this class have an RMPP header: subnet administration, device administration,
 * boot information, vendor range 2. */
bool rmpp_class_has_header(uint8_t management_class);

/* Whether this MAD is part of an RMPP transfer. */
bool rmpp_mad_is_active(const uint8_t mad[static MAD_BYTES]);

/* Where the data of the class start; the bytes before them are repeated in every segment. */
size_t rmpp_data_offset(uint8_t management_class);

#endif
