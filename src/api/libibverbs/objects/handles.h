/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that programs hold, by address: so that a call for one that was destroyed, or never
 * was, is refused instead of followed. Calls that make, change or unmake objects look here; posting
 * and polling do not.
 */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_HANDLES_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_HANDLES_H

#include <stdbool.h>

enum handle_kind {
	HANDLE_CONTEXT = 1,
	HANDLE_PD,
	HANDLE_MR,
	HANDLE_CHANNEL,
	HANDLE_CQ,
	HANDLE_SRQ,
	HANDLE_QP,
	HANDLE_AH,
};

/* The program is about to get it. */
void handle_given(enum handle_kind kind, const void *handle);
/* Its memory is about to be freed. */
void handle_gone(const void *handle);
/* NULL is nothing of any kind. */
bool handle_is_live(enum handle_kind kind, const void *handle);

#endif
