/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing datagrams into memory that may have gone.
 *
 * An adapter writes to pages that it holds, whatever the program did with its addresses since it
 * registered them. Programs that keep registrations in a cache rely on that: UCX gives the memory
 * of a datagram interface back to the system and then destroys its queue pair. What arrives in
 * between is nobody's, but must not be a segmentation fault. So while others than the program
 * itself take datagrams in, the system writes them, which costs a system call each and forgets what
 * finds no page.
 */
#ifndef SOFTIB_RUNTIME_MEMORY_GUARDED_COPY_H
#define SOFTIB_RUNTIME_MEMORY_GUARDED_COPY_H

#include <stddef.h>
#include <stdint.h>

struct process_runtime;
struct payload;

/* Of one packet at most. */
void guarded_copy(const struct payload *payload, size_t from, size_t byte_count,
		  uint8_t *ret_bytes);

/* From here to the end all datagrams are written so. With the lock. */
void guarded_copy_begin(struct process_runtime *runtime);
void guarded_copy_end(struct process_runtime *runtime);

#endif
