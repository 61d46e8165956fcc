/* SPDX-License-Identifier: Apache-2.0 */
/* The decisions of link faults, packet by packet, so that a run can be recorded and repeated. */
#ifndef SOFTIB_DAEMON_PACKETS_FAULT_LOG_H
#define SOFTIB_DAEMON_PACKETS_FAULT_LOG_H

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
	uint64_t forgotten; /* entries that found no room */
};

/* The parts of a record that a client has sent so far. */
struct fault_replay {
	uint32_t client_id; /* the client that sends it; 0: none */
	char *text;
	size_t byte_count;
};

void fault_log_release(struct fault_log *log);
/* Drops all entries. */
void fault_log_clear(struct fault_log *log);
/* The fault_observer's callback; the context is the log. */
void fault_log_note(void *context, const struct link_faults *faults,
		    const struct fault_decision *decision);

/* Sorts by link, then by packet, so that equal runs give equal records. */
void fault_log_sort(struct fault_log *log);

/* Writes line `index` of the record: first the faulty links, then the decisions. Returns its
 * length, or 0 behind the last line. */
MUST_USE size_t fault_log_line(const struct fault_log *log, const struct fabric *fabric,
			       size_t index, char ret_line[static FAULT_LINE_BYTES]);

/* Replaces all faults by those of a record that fault_log_line wrote. Nothing changes unless the
 * whole record is valid: -EINVAL, -ENOENT (a port that this fabric does not have), -ENOMEM, with a
 * sentence that says why. */
MUST_USE int fault_log_replay(struct fabric *fabric, const char *text, time_ns now,
			      char *ret_reason, size_t reason_bytes);

#endif
