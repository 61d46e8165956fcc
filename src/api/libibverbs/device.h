/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs devices. */
#ifndef SOFTIB_API_LIBIBVERBS_DEVICE_H
#define SOFTIB_API_LIBIBVERBS_DEVICE_H

#include "api/libibverbs/objects/objects.h"

static inline struct verbs_device *device_of(struct ibv_device *device)
{
	return (struct verbs_device *)device;
}

/* context.c: a context with that command descriptor. It closes it in the end; not if this fails. */
struct ibv_context *context_open(struct ibv_device *device, int file);

#endif
