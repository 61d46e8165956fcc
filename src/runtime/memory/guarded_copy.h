/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing datagrams into memory that the program may have unmapped.
 *
 * A hardware adapter writes to the pages that it has pinned, even if the program has unmapped their
 * addresses since. Programs with a registration cache rely on that: UCX returns the memory of a
 * datagram interface to the system and then destroys its queue pair. A datagram that arrives in
 * between is lost, but must not cause a segmentation fault. So while the progress thread receives,
 * and when a queue pair stops, the kernel copies the datagrams: that costs a system call for each,
 * and drops bytes that have no page.
 */
#ifndef SOFTIB_RUNTIME_MEMORY_GUARDED_COPY_H
#define SOFTIB_RUNTIME_MEMORY_GUARDED_COPY_H

#include <stddef.h>
#include <stdint.h>

struct process_runtime;
struct payload;

/* byte_count: one packet's payload at most. */
void guarded_copy(const struct payload *payload, size_t from, size_t byte_count,
		  uint8_t *ret_bytes);

/* Until guarded_copy_end all datagrams are copied by the kernel. With the lock. */
void guarded_copy_begin(struct process_runtime *runtime);
void guarded_copy_end(struct process_runtime *runtime);

#endif
