/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of a capture: LIDs, queue pair numbers, opcodes and management classes. */
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
	unsigned count; /* 0: any number matches */
};

/* A packet must match one entry of each kind that has entries. */
struct capture_filter {
	struct filter_numbers lids; /* source or destination */
	struct filter_numbers qpns; /* destination, or source if the packet has a DETH */
	bool wants_opcodes;
	bool opcodes[256];
	bool wants_classes;
	bool classes[256]; /* of MADs; if set, other packets do not match */
};

/* Reads "lids", "qpns", "opcodes" and "mad_classes" of a request. Returns 0, or -EINVAL with a
 * sentence that says why. */
MUST_USE int capture_filter_read(const json_t *request, struct capture_filter *ret_filter,
				 char *ret_reason, size_t reason_bytes);

/* `bytes` starts at the LRH. */
bool capture_filter_matches(const struct capture_filter *filter, const uint8_t *bytes,
			    size_t byte_count);

#endif
