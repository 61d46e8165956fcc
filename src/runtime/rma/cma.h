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

struct cma {
	int file; /* negative: not open */
	pid_t pid;
	bool is_self;
	bool has_calls; /* process_vm_readv and process_vm_writev work, and are faster for much */
	uint64_t nonce;
	uint64_t nonce_address;
};

/* -EPERM, -EACCES: not allowed; -ESRCH: whoever has this number is not the process that has the
 * nonce at that address. */
MUST_USE int cma_open(struct cma *memory, pid_t pid, uint64_t nonce, uint64_t nonce_address);
void cma_close(struct cma *memory);
/* Whether the process still runs that program, and so has its number. */
MUST_USE bool cma_is_there(const struct cma *memory);

/* All of it, in ascending order of addresses, or false: some of it may have been moved. */
MUST_USE bool cma_write(const struct cma *memory, uint64_t address, const struct iovec *parts,
			unsigned part_count, size_t byte_count);
MUST_USE bool cma_read(const struct cma *memory, uint64_t address, const struct iovec *parts,
		       unsigned part_count, size_t byte_count);

/* SOFTIB_CMA=0: this process neither reaches others' memory nor lets them reach its own. */
MUST_USE bool cma_is_allowed(void);

#endif
