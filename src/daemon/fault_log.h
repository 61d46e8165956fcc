/* SPDX-License-Identifier: Apache-2.0 */
/* What faults did so far, packet by packet, so that a run can be written down and made to happen again. */
#ifndef SOFTIB_DAEMON_FAULT_LOG_H
#define SOFTIB_DAEMON_FAULT_LOG_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "fabric/link_faults.h"

struct fabric;

enum {
	FAULT_LOG_ENTRIES_MAX = 1 << 20,
	FAULT_LINE_BYTES = 400,
	FAULT_RECORD_BYTES_MAX = 1 << 27,
};

struct fault_log_entry {
	const struct port *output;
	struct fault_decision decision;
};

struct fault_log {
	struct fault_log_entry *entries;
	size_t entry_count;
	size_t capacity;
	uint64_t forgotten; /* for want of room */
};

/* The part of a record that has come so far. */
struct fault_replay {
	uint32_t client_id; /* whose it is; 0: nobody's */
	char *text;
	size_t byte_count;
};

void fault_log_release(struct fault_log *log);
/* Begins anew. */
void fault_log_clear(struct fault_log *log);
/* A fault_observer's function; the context is the log. */
void fault_log_note(void *context, const struct link_faults *faults,
		    const struct fault_decision *decision);

/* Link by link, in the order of the packets on each: equal runs give equal records. */
void fault_log_sort(struct fault_log *log);

/* Line number `index` of the record: first the faulty links, then the decisions. Returns the length, or 0 behind the last. */
MUST_USE size_t fault_log_line(const struct fault_log *log, const struct fabric *fabric,
			       size_t index, char ret_line[static FAULT_LINE_BYTES]);

/* Puts the faults of a record, as fault_log_line wrote it, in place of all that are there. Nothing changes unless all of it
 * makes sense: -EINVAL, -ENOENT (a port that is not in this fabric), -ENOMEM, with a sentence that says why. */
MUST_USE int fault_log_replay(struct fabric *fabric, const char *text, time_ns now,
			      char *ret_reason, size_t reason_bytes);

#endif
