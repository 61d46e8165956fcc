/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CMA: the memory of another process, where the system allows it.
 *
 * The process is identified by an open /proc/<pid>/mem, which stays bound to the process that it
 * was opened for. If that process ends or executes another program, the file reaches nothing, even
 * if the pid is reused.
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
	bool has_calls; /* process_vm_readv and process_vm_writev work; they are faster for long
			   copies */
	uint64_t nonce;
	uint64_t nonce_address;
	const uint64_t *hazard; /* our hazard word there (ipc/rma_area.h); NULL: no check */
};

/* -EPERM, -EACCES: not allowed; -ESRCH: the process with this pid does not have the nonce at that
 * address. The caller sets hazard. */
MUST_USE int cma_open(struct cma *memory, pid_t pid, uint64_t nonce, uint64_t nonce_address);
void cma_close(struct cma *memory);
/* Whether the process still runs the same program, and so still has its pid. */
MUST_USE bool cma_is_there(const struct cma *memory);

/* Moves all bytes, in ascending order of addresses. false: some of them may have been moved. A
 * write does not begin once the other process has cut it off, even if this process is stopped
 * before the call and goes on much later (runtime/rma/guarded_call.h). */
MUST_USE bool cma_write(const struct cma *memory, uint64_t address, const struct iovec *parts,
			unsigned part_count, size_t byte_count);
MUST_USE bool cma_read(const struct cma *memory, uint64_t address, const struct iovec *parts,
		       unsigned part_count, size_t byte_count);

/* SOFTIB_CMA=0: this process does not access others' memory, and does not tell them how to access
 * its own. */
MUST_USE bool cma_is_allowed(void);

#endif
