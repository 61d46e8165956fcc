/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An SRP target that does what a test says, in place of io/nbdkit/srp_connection.c: link it with
 * srp_session.c. There is no fabric; the clock is the test's and moves on by a microsecond with
 * each look.
 *
 * The target keeps each request until the test answers it, or answers them at random.
 */
#ifndef SOFTIB_TESTS_SCRIPTED_SRP_TARGET_H
#define SOFTIB_TESTS_SCRIPTED_SRP_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"
#include "io/scsi/disk.h"
#include "io/srp/data_buffers.h"
#include "io/srp/information_units.h"

enum { SCRIPTED_REQUESTS_MAX = 8192, SCRIPTED_BLOCKS = 1024, SCRIPTED_CHANNELS_MAX = 16 };

/* An SRP_CMD or SRP_TSK_MGMT that arrived. */
struct scripted_request {
	uint8_t opcode;
	uint64_t tag;
	uint64_t task_tag; /* of SRP_TSK_MGMT */
	uint8_t cdb[SRP_CDB_BYTES];
	bool is_read;
	bool is_answered;
	unsigned channel; /* from 1 */
	struct srp_segment data;
};

extern struct scripted_srp_target {
	/* What the test sets, by the functions below. */
	uint32_t request_limit;
	bool answers_at_random;
	int open_error;
	void (*at_close)(void *context);
	void *context;
	uint8_t disk[SCRIPTED_BLOCKS * SCSI_BLOCK_BYTES];
	/* What happened. */
	unsigned open_count;	/* logins that were tried */
	unsigned closing_count; /* channels whose close has begun */
	unsigned close_count;
	unsigned outstanding_max; /* requests without answer, at most */
	uint64_t initiator_exts[SCRIPTED_CHANNELS_MAX];
	unsigned request_count;
	struct scripted_request requests[SCRIPTED_REQUESTS_MAX];
} scripted;

void scripted_reset(uint32_t request_limit);
void scripted_advance(time_ns by);
void scripted_answer_at_random(void);
/* Of further logins; 0: they succeed. */
void scripted_set_open_error(int error);
/* Is called when a channel closes, before the target forgets it. */
void scripted_set_at_close(void (*at_close)(void *context), void *context);

/* Waits until so many requests have arrived since the reset. */
void scripted_await_requests(unsigned count);
void scripted_await_opens(unsigned count);
void scripted_await_closing(void);
void scripted_await_closes(unsigned count);
/* Waits until the session waits for an event of an arrival. */
void scripted_await_armed(void);

/* Moves the data of a command and answers it with this SCSI status. */
void scripted_answer(unsigned request, uint8_t status);
/* Answers task management; it gives back the aborted command's request, too. */
void scripted_answer_abort(unsigned request, uint8_t response_code);
void scripted_send(const uint8_t *unit, size_t byte_count);
/* The queue pair fails. */
void scripted_break(void);
/* Connection management has an event. */
void scripted_disconnect(void);

#endif
