/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An io_uring by its system calls. Its buffers are pages that one process pins. Another process has
 * the kernel read from a file into them, one request at a time, and each request completes within
 * the call that submits it.
 *
 * Both processes map the ring, so the process that submits may execute a request that the other one
 * wrote. Only processes that could change each other's memory anyway may share a ring.
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

/* All return a negative errno if the kernel or a seccomp filter refuses the call. */

/* A ring with no buffers yet; returns its file. */
MUST_USE int kernel_ring_create(void);
/* byte_count: whole pages of this process. */
MUST_USE int kernel_ring_pin(int file, unsigned index, const uint8_t *pages, size_t byte_count);
MUST_USE int kernel_ring_unpin(int file, unsigned index);

/* Duplicates the ring that another process has under this file number; returns a file of our own.
 * -EBADF: that file is not a ring. */
MUST_USE int kernel_ring_fetch(pid_t pid, int number);

/* The ring in the process that submits requests. */
struct kernel_ring {
	int file;
	uint32_t count;	  /* requests so far */
	uint32_t cq_mask; /* number of completion entries - 1 */
	struct io_uring_sqe *request;
	const struct io_uring_cqe *completions;
	uint32_t *sq_tail, *cq_tail, *cq_head;
	uint8_t *memory;
	size_t memory_bytes;
};

/* On success the ring owns the file. Requests read from source, to which the ring keeps a
 * reference. */
MUST_USE int kernel_ring_open(struct kernel_ring *ring, int file, int source);
void kernel_ring_close(struct kernel_ring *ring);
/* How many io_uring mappings in /proc/self/maps are ours. Needs the caller's lock, like
 * kernel_ring_open and kernel_ring_close. */
unsigned kernel_ring_mapping_count(void);
/* In the child of a fork, where the ring's memory is not mapped. */
void kernel_ring_abandon(struct kernel_ring *ring);

/* Reads into a buffer, at that address of the process that pinned it. Returns the number of bytes
 * moved. -EINPROGRESS: it is not known how many. Any other negative errno: none were moved. After
 * any result but byte_count the ring is unusable. */
MUST_USE int kernel_ring_read(struct kernel_ring *ring, unsigned index, uint64_t address,
			      uint32_t byte_count);

/* false with SOFTIB_PIN=0, and where the page size differs from the one that pinned ranges use. */
MUST_USE bool kernel_ring_is_allowed(void);

#endif
