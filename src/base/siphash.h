/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of short messages. Without the 128-bit
 * key nobody can compute it. */
#ifndef SOFTIB_BASE_SIPHASH_H
#define SOFTIB_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { SIPHASH_KEY_BYTES = 16 };

uint64_t siphash(const uint8_t key[static SIPHASH_KEY_BYTES], const uint8_t *bytes,
		 size_t byte_count);

#endif
