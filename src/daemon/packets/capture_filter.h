/* SPDX-License-Identifier: Apache-2.0 */
/* Which packets a capture wants: by LID, queue pair number, opcode and management class. */
#ifndef SOFTIB_DAEMON_PACKETS_CAPTURE_FILTER_H
#define SOFTIB_DAEMON_PACKETS_CAPTURE_FILTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

enum { FILTER_NUMBERS_MAX = 64 };

struct filter_numbers {
	uint32_t numbers[FILTER_NUMBERS_MAX];
	unsigned count; /* 0: any will do */
};

/* A packet must match one of each kind that names some. */
struct capture_filter {
	struct filter_numbers lids; /* source or destination */
	struct filter_numbers qpns; /* destination, or source where the packet says it */
	bool wants_opcodes;
	bool opcodes[256];
	bool wants_classes;
	bool classes[256]; /* of MADs; then nothing else matches */
};

/* From "lids", "qpns", "opcodes" and "mad_classes" of a request. Returns 0 or -EINVAL with a
 * sentence that says why. */
MUST_USE int capture_filter_read(const json_t *request, struct capture_filter *ret_filter,
				 char *ret_reason, size_t reason_bytes);

/* The bytes of a packet from LRH on. */
bool capture_filter_matches(const struct capture_filter *filter, const uint8_t *bytes,
			    size_t byte_count);

#endif
