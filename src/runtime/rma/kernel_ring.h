/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of the kernel's (io_uring), by its own calls: its buffers are pages that one process pins,
 * and another has the kernel read from a file into them, one request at a time, which is carried
 * out in the call that submits it.
 *
 * Both have the ring's memory, so who submits acts for whoever else has it: only those who could
 * change each other's memory anyway may share one.
 */
#ifndef SOFTIB_RUNTIME_RMA_KERNEL_RING_H
#define SOFTIB_RUNTIME_RMA_KERNEL_RING_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/attributes.h"

struct io_uring_cqe;
struct io_uring_sqe;

enum { KERNEL_RING_BUFFERS = 16 };

/* All return a negative errno where the kernel, or whoever filters system calls, does not want. */

/* A ring with no buffers yet; returns its file. */
MUST_USE int kernel_ring_create(void);
/* Whole pages of this process. */
MUST_USE int kernel_ring_pin(int file, unsigned index, const uint8_t *pages, size_t byte_count);
MUST_USE int kernel_ring_unpin(int file, unsigned index);

/* The ring that another process has under this number; returns a file of our own. -EBADF: that is
 * no ring. */
MUST_USE int kernel_ring_fetch(pid_t pid, int number);

/* As who submits has it. */
struct kernel_ring {
	int file;
	uint32_t count;	  /* of requests so far */
	uint32_t cq_mask; /* places of completions - 1 */
	struct io_uring_sqe *request;
	const struct io_uring_cqe *completions;
	uint32_t *sq_tail, *cq_tail, *cq_head;
	uint8_t *memory;
	size_t memory_bytes;
};

/* The file becomes the ring's, on success; requests read from the source, which the ring keeps. */
MUST_USE int kernel_ring_open(struct kernel_ring *ring, int file, int source);
void kernel_ring_close(struct kernel_ring *ring);
/* How many mappings of rings, as /proc/self/maps shows them, are ours. Under the caller's lock, as
 * the two above. */
unsigned kernel_ring_mapping_count(void);
/* In the child of a fork, where none of its memory is. */
void kernel_ring_abandon(struct kernel_ring *ring);

/* Reads into a buffer, at that address of the process that pinned it. Returns how many bytes were
 * moved; -EINPROGRESS: nobody knows; else a negative errno: none. Anything but byte_count is the
 * end of the ring. */
MUST_USE int kernel_ring_read(struct kernel_ring *ring, unsigned index, uint64_t address,
			      uint32_t byte_count);

/* SOFTIB_PIN=0: not; nor where pages have another size than the windows count with. */
MUST_USE bool kernel_ring_is_allowed(void);

#endif
