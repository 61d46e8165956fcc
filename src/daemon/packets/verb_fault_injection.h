/* SPDX-License-Identifier: Apache-2.0 */
/* Injected verb faults: calls, completions and events that fail on purpose at the programs of a
 * host. */
#ifndef SOFTIB_DAEMON_PACKETS_VERB_FAULT_INJECTION_H
#define SOFTIB_DAEMON_PACKETS_VERB_FAULT_INJECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "ipc/verb_faults.h"

struct client;
struct daemon_core;
struct host;

enum { VERB_FAULT_RECORDS_MAX = 4096, VERB_FAULT_TEXT_BYTES = 160 };

/* All records that programs of a host were ever sent, in order. */
struct verb_fault_log {
	struct verb_fault records[VERB_FAULT_RECORDS_MAX];
	char texts[VERB_FAULT_RECORDS_MAX][VERB_FAULT_TEXT_BYTES];
	uint32_t count;
	uint32_t first; /* index of the first record that still holds */
};

/* Whether these words describe verb faults, not link faults. */
bool verb_faults_are_named(const json_t *words);

/* Adds a fault from words like "verb=ibv_reg_mr errno=ENOMEM after=3 times=1 probability=0.1",
 * "completion=RETRY_EXC_ERR ..." or "event=QP_FATAL". Returns 0, or -ENOENT (no such host), -ESRCH
 * (an event, and no program that could get it), -EINVAL, -ENOSPC or -ENOMEM, with a sentence that
 * says why. */
MUST_USE int verb_faults_add(struct daemon_core *core, const char *host_name, const json_t *words,
			     uint64_t seed, char *ret_reason, size_t reason_bytes);
/* Clears the faults of a host, or of all hosts if it is NULL. Returns how many there were. */
unsigned verb_faults_clear(struct daemon_core *core, struct host *host);
json_t *verb_faults_describe(const struct daemon_core *core);

/* Sends a program the records that it has not got yet, as far as there is room. */
void verb_faults_send(struct client *client);
/* A program begins to use an adapter: sends it the faults that still hold. */
void verb_faults_send_active(struct client *client);

#endif
