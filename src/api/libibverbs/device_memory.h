/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory (ibv_alloc_dm). */
#ifndef SOFTIB_API_LIBIBVERBS_DEVICE_MEMORY_H
#define SOFTIB_API_LIBIBVERBS_DEVICE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum {
	DEVICE_MEMORY_BYTES_MAX = 64 << 20,
	DEVICE_MEMORY_LOG_ALIGN_MAX = 12,
	DEVICE_MEMORY_COPY_ALIGNMENT = 4,
};

struct verbs_dm;

/* Fills in what own and imported device memory have in common: the bytes and the copy functions. */
void device_memory_init(struct verbs_dm *dm, uint8_t *bytes, size_t byte_count);
/* Ends one handle, the creator's or an imported one. */
void device_memory_drop(struct verbs_dm *dm);

#endif
