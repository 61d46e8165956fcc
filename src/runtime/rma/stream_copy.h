/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying more than a core's cache holds: past the cache, so that the lines which are overwritten
 * are not read first. The memory that is written to is cold afterwards.
 */
#ifndef SOFTIB_RUNTIME_RMA_STREAM_COPY_H
#define SOFTIB_RUNTIME_RMA_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>

/* The ranges don't overlap. Whoever sees what is stored afterwards sees all of it. */
void stream_copy(const uint8_t *bytes, size_t byte_count, uint8_t *ret_bytes);

#endif
