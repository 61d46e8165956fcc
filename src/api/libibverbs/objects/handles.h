/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live objects of the program, by address. A call with a pointer to a destroyed object, or to
 * none, fails with EINVAL instead of crashing. Calls that create, modify or destroy objects check
 * this; posting and polling do not.
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

/* Called before the program gets the handle. */
void handle_add(enum handle_kind kind, const void *handle);
/* Called before the object is freed. */
void handle_remove(const void *handle);
/* False for NULL. */
bool handle_is_live(enum handle_kind kind, const void *handle);

#endif
