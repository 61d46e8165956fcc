/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings about misuse that hardware forgives or punishes much later: one line on stderr per place,
 * when the program runs with SOFTIB_WARN=1. A place is a call, a kind of mistake and an object.
 *
 * Every use stands behind warnings_are_on, so that a program that did not ask pays one branch.
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
	/* Setting up. */
	WARN_CQ_TOO_SMALL,
	WARN_NO_TIMEOUT,
	WARN_NO_RETRIES,
	WARN_NO_RNR_RETRIES,
	WARN_STATIC_RATE,
	/* At work. */
	WARN_RECEIVE_QUEUE_DRY,
	WARN_PEER_REFUSED,
	WARN_CQ_OVERRUN,
	WARN_NOTHING_ARMED,
	WARN_COMPLETIONS_OVERLOOKED,
	/* Taking down. */
	WARN_STILL_IN_USE,
	WARN_EVENTS_UNACKNOWLEDGED,
	WARN_EVENT_NEVER_READ,
	WARN_REGION_HAS_REQUESTS,
	WARN_AH_HAS_REQUESTS,
	WARN_OBJECTS_LEFT,
	WARN_PKEY_DROPS,
	WARN_QKEY_DROPS,
};

/* Set once, before the first device is open. */
extern __attribute__((visibility("hidden"))) bool warnings_are_on;

/* Reads the environment at its first call. */
void warnings_init(void);

/* object: any number that tells objects of that kind apart, and is not used again soon. */
void warn(enum warning_kind kind, const char *call, uint64_t object, const char *format, ...)
	PRINTF_LIKE(4, 5);

#endif
