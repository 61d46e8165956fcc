/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings about misuse that hardware ignores or reports much later: one line on stderr per place,
 * if the program runs with SOFTIB_WARN=1. A place is a call, a kind of mistake and an object.
 *
 * Every check is behind warnings_are_on, so that other programs pay one branch.
 */
#ifndef SOFTIB_API_LIBIBVERBS_DIAGNOSTICS_WARNINGS_H
#define SOFTIB_API_LIBIBVERBS_DIAGNOSTICS_WARNINGS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

enum warning_kind {
	/* Posting. */
	WARN_KEY_UNKNOWN,
	WARN_KEY_AFTER_DEREG,
	WARN_OTHER_PD,
	WARN_RIGHTS_MISSING,
	WARN_OUT_OF_BOUNDS,
	WARN_UNSIGNALED_FILLS,
	WARN_NOT_READY_TO_SEND,
	WARN_NO_READS_ALLOWED,
	WARN_ATOMIC_SHAPE,
	WARN_NO_ROOM_FOR_GRH,
	/* Creating objects. */
	WARN_CQ_TOO_SMALL,
	WARN_NO_TIMEOUT,
	WARN_NO_RETRIES,
	WARN_NO_RNR_RETRIES,
	WARN_STATIC_RATE,
	/* Events and completions. */
	WARN_RECEIVE_QUEUE_DRY,
	WARN_PEER_REFUSED,
	WARN_CQ_OVERRUN,
	WARN_NOTHING_ARMED,
	WARN_COMPLETIONS_OVERLOOKED,
	/* Destroying objects. */
	WARN_STILL_IN_USE,
	WARN_EVENTS_UNACKNOWLEDGED,
	WARN_EVENT_NEVER_READ,
	WARN_REGION_HAS_REQUESTS,
	WARN_AH_HAS_REQUESTS,
	WARN_OBJECTS_LEFT,
	WARN_PKEY_DROPS,
	WARN_QKEY_DROPS,
};

/* Set once, before the first device is opened. */
extern __attribute__((visibility("hidden"))) bool warnings_are_on;

/* Reads SOFTIB_WARN at its first call. */
void warnings_init(void);

/* object: a number that identifies the object among those of its kind, and is not reused soon. */
void warn(enum warning_kind kind, const char *call, uint64_t object, const char *format, ...)
	PRINTF_LIKE(4, 5);

#endif
