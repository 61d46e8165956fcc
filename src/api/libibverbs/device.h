/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs devices. */
#ifndef SOFTIB_API_LIBIBVERBS_DEVICE_H
#define SOFTIB_API_LIBIBVERBS_DEVICE_H

#include "api/libibverbs/objects/objects.h"

static inline struct verbs_device *device_of(struct ibv_device *device)
{
	return (struct verbs_device *)device;
}

/* In context.c. On success the context owns the command descriptor and closes it with the
 * device. */
struct ibv_context *context_open(struct ibv_device *device, int file);

#endif
