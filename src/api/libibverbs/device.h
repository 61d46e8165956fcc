/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs devices. */
#ifndef SOFTIB_API_LIBIBVERBS_DEVICE_H
#define SOFTIB_API_LIBIBVERBS_DEVICE_H

#include "api/libibverbs/objects.h"

static inline struct verbs_device *device_of(struct ibv_device *device)
{
	return (struct verbs_device *)device;
}

#endif
