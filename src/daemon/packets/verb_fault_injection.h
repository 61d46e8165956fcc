/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that fail on purpose at the programs of a host: what was asked for, and who has been told.
 */
#ifndef SOFTIB_DAEMON_PACKETS_VERB_FAULT_INJECTION_H
#define SOFTIB_DAEMON_PACKETS_VERB_FAULT_INJECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "host/verb_faults.h"

struct client;
struct daemon_core;
struct host;

enum { VERB_FAULT_RECORDS_MAX = 4096, VERB_FAULT_TEXT_BYTES = 160 };

/* Everything that was ever told to programs of a host, in order. */
struct verb_fault_log {
	struct verb_fault records[VERB_FAULT_RECORDS_MAX];
	char texts[VERB_FAULT_RECORDS_MAX][VERB_FAULT_TEXT_BYTES];
	uint32_t count;
	uint32_t first; /* that still holds */
};

/* Whether these are words about verbs, not links. */
bool verb_faults_are_meant(const json_t *words);

/* From "verb=ibv_reg_mr errno=ENOMEM after=3 times=1 probability=0.1", "completion=RETRY_EXC_ERR
 * ..." or "event=QP_FATAL". Returns 0, or -ENOENT (no such host), -ESRCH (an event that no program
 * is there for), -EINVAL, -ENOSPC or -ENOMEM, with a sentence that says why. */
MUST_USE int verb_faults_add(struct daemon_core *core, const char *host_name, const json_t *words,
			     uint64_t seed, char *ret_reason, size_t reason_bytes);
/* Of a host, or of all if it is NULL. Returns how many there were. */
unsigned verb_faults_clear(struct daemon_core *core, struct host *host);
json_t *verb_faults_describe(const struct daemon_core *core);

/* Tells a program what it has not heard yet, as far as there is room. */
void verb_faults_send(struct client *client);
/* A program begins to use an adapter: it hears what still holds. */
void verb_faults_send_active(struct client *client);

#endif
