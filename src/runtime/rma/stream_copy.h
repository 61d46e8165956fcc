/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying more than a core's cache holds, with stores that bypass the cache: the lines that are
 * overwritten are not read first. The destination is not in the cache afterwards.
 */
#ifndef SOFTIB_RUNTIME_RMA_STREAM_COPY_H
#define SOFTIB_RUNTIME_RMA_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>

/* The ranges must not overlap. A reader that sees a store made after this call sees all copied
 * bytes. */
void stream_copy(const uint8_t *bytes, size_t byte_count, uint8_t *ret_bytes);

#endif
