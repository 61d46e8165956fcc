/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer that changes shared memory between two reads of it, at a read that the input chooses.
 *
 * The files of the runtime and of the layers below it are compiled with this header in front
 * (tests/fuzz/meson.build): each call or builtin by which they read memory that another process may
 * write first calls shared_read(). So a value that is read twice can differ, each time at the same
 * place for the same input; a second thread would hit such a place once in a million runs.
 */
#ifndef SOFTIB_TESTS_FUZZ_SHARED_READS_H
#define SOFTIB_TESTS_FUZZ_SHARED_READS_H

#include <stdint.h>
#include <string.h>
#include "base/bytes.h"

/* What the peer does to one word. */
struct shared_write {
	unsigned read; /* before the read of this number, counted from shared_reads_begin() */
	uint64_t *place;
	uint64_t value;
};

enum { SHARED_WRITES_MAX = 4 };

/* The next reads of this thread are those of the runtime. */
void shared_reads_begin(void);
void shared_reads_add(const struct shared_write *write);
void shared_reads_end(void);

void shared_read(void);

/* A macro is not expanded within itself. */
#ifdef SHARED_READS_ARE_WATCHED
#define __atomic_load_n(place, order) (shared_read(), __atomic_load_n(place, order))
#define __atomic_thread_fence(order)  (shared_read(), __atomic_thread_fence(order))
#define memcpy(to, from, byte_count)  (shared_read(), memcpy(to, from, byte_count))
#define get_be16(bytes)		      (shared_read(), get_be16(bytes))
#define get_be32(bytes)		      (shared_read(), get_be32(bytes))
#define get_be64(bytes)		      (shared_read(), get_be64(bytes))
#define get_be32_once(bytes)	      (shared_read(), get_be32_once(bytes))
#define get_be64_once(bytes)	      (shared_read(), get_be64_once(bytes))
#endif

#endif
