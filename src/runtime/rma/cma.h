/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of another process, where the system lets us reach it.
 *
 * It is held by an open /proc/<pid>/mem, which stays with the process it was opened for: a process
 * that ended, or became another program, can no more be reached, whoever has its number next.
 */
#ifndef SOFTIB_RUNTIME_RMA_CMA_H
#define SOFTIB_RUNTIME_RMA_CMA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include "base/attributes.h"

struct cross_memory {
	int file; /* negative: not open */
	pid_t pid;
	bool is_self;
	bool has_calls; /* process_vm_readv and process_vm_writev work, and are faster for much */
	uint64_t nonce;
	uint64_t nonce_address;
};

/* -EPERM, -EACCES: not allowed; -ESRCH: whoever has this number is not the process that has the
 * nonce at that address. */
MUST_USE int cross_memory_open(struct cross_memory *memory, pid_t pid, uint64_t nonce,
			       uint64_t nonce_address);
void cross_memory_close(struct cross_memory *memory);
/* Whether the process still runs that program, and so has its number. */
MUST_USE bool cross_memory_is_there(const struct cross_memory *memory);

/* All of it, in ascending order of addresses, or false: some of it may have been moved. */
MUST_USE bool cross_memory_write(const struct cross_memory *memory, uint64_t address,
				 const struct iovec *parts, unsigned part_count, size_t byte_count);
MUST_USE bool cross_memory_read(const struct cross_memory *memory, uint64_t address,
				const struct iovec *parts, unsigned part_count, size_t byte_count);

/* SOFTIB_CMA=0: this process neither reaches others' memory nor lets them reach its own. */
MUST_USE bool cross_memory_is_allowed(void);

#endif
