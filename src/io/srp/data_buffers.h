/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data buffer descriptors of SRP_CMD: where in the initiator's memory a command's data lie.
 *
 * A direct descriptor is one segment. An indirect descriptor is a table of segments, of which the
 * first ones are in the information unit. This target takes only tables that are there completely,
 * as Linux's does.
 */
#ifndef SOFTIB_IO_SRP_DATA_BUFFERS_H
#define SOFTIB_IO_SRP_DATA_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "io/srp/information_units.h"

enum srp_buffer_format { SRP_BUFFER_NONE = 0, SRP_BUFFER_DIRECT = 1, SRP_BUFFER_INDIRECT = 2 };

enum {
	SRP_DESCRIPTOR_BYTES = 16,
	SRP_TABLE_HEADER_BYTES = 20,
	SRP_SEGMENTS_MAX = 64,
	/* The longest IU that the target asks for. */
	SRP_CMD_BYTES_MAX =
		SRP_CMD_BYTES + SRP_TABLE_HEADER_BYTES + SRP_SEGMENTS_MAX * SRP_DESCRIPTOR_BYTES,
};

struct srp_segment {
	uint64_t address;
	uint32_t rkey;
	uint32_t byte_count;
};

struct srp_data_buffer {
	uint64_t byte_count;
	uint32_t segment_count;
	struct srp_segment segments[SRP_SEGMENTS_MAX];
};

enum srp_buffer_verdict {
	SRP_BUFFERS_GOOD,
	SRP_BUFFERS_FORMAT_UNKNOWN,
	SRP_BUFFERS_CUT,	     /* the descriptors end behind the information unit */
	SRP_BUFFERS_TABLE_ELSEWHERE, /* a part of the table is not in the information unit */
	SRP_BUFFERS_TABLE_TOO_LONG,
	SRP_BUFFERS_LENGTHS_DIFFER, /* the segments do not add up to the table's length */
	SRP_BUFFERS_BOTH_WAYS,	    /* data in and data out in one command */
};

void srp_segment_encode(const struct srp_segment *segment,
			uint8_t ret_bytes[static SRP_DESCRIPTOR_BYTES]);
void srp_segment_decode(const uint8_t bytes[static SRP_DESCRIPTOR_BYTES],
			struct srp_segment *ret_segment);

/* What the command's descriptors say. iu has iu_bytes bytes, at least SRP_CMD_BYTES. */
enum srp_buffer_verdict srp_data_buffers_decode(const struct srp_cmd *cmd, const uint8_t *iu,
						size_t iu_bytes, struct srp_data_buffer *ret_out,
						struct srp_data_buffer *ret_in);
const char *srp_buffer_verdict_text(enum srp_buffer_verdict verdict);

#endif
