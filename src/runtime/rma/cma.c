/* SPDX-License-Identifier: Apache-2.0 */
/* CMA: the memory of another process, where the system allows it. */
#include "runtime/rma/cma.h"

#include <stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "runtime/rma/guarded_call.h"

bool cma_is_allowed(void)
{
	const char *value = getenv("SOFTIB_CMA");

	return !value || strcmp(value, "0") != 0;
}

/* Up to this size the open file is faster, since it needs no lookup of the process. */
enum { FILE_BYTES_MAX = 8192 };

/* Raw system calls: the C library's functions are cancellation points, and a thread of the program
 * that is cancelled there would keep our lock. */
static ssize_t read_file(const struct cma *memory, void *bytes, size_t byte_count, uint64_t address)
{
	return syscall(SYS_pread64, memory->file, bytes, byte_count, address);
}

static ssize_t write_file(const struct cma *memory, const struct iovec *parts, unsigned part_count,
			  uint64_t address)
{
	const struct guarded_call one = {
		SYS_pwrite64,
		{memory->file, (long)parts->iov_base, (long)parts->iov_len, (long)address}};
	const struct guarded_call several = {
		SYS_pwritev, {memory->file, (long)parts, part_count, (long)address}};

	return guarded_call(part_count == 1 ? &one : &several, memory->hazard);
}

static ssize_t write_process(const struct cma *memory, const struct iovec *parts,
			     unsigned part_count, const struct iovec *there)
{
	const struct guarded_call call = {
		SYS_process_vm_writev, {memory->pid, (long)parts, part_count, (long)there, 1, 0}};

	return guarded_call(&call, memory->hazard);
}

bool cma_is_there(const struct cma *memory)
{
	uint64_t found;

	return read_file(memory, &found, sizeof(found), memory->nonce_address) ==
		       (ssize_t)sizeof(found) &&
	       found == memory->nonce;
}

/* Whether the kernel and any seccomp filter allow the calls on this process. */
static bool calls_work(const struct cma *memory)
{
	uint64_t found = 0;
	struct iovec here = {&found, sizeof(found)};
	struct iovec there = {(void *)(uintptr_t)memory->nonce_address, sizeof(found)};

	return process_vm_readv(memory->pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof(found) &&
	       found == memory->nonce;
}

int cma_open(struct cma *memory, pid_t pid, uint64_t nonce, uint64_t nonce_address)
{
	char path[32];

	*memory = (struct cma){.file = -1,
			       .pid = pid,
			       .is_self = pid == getpid(),
			       .nonce = nonce,
			       .nonce_address = nonce_address};
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	memory->file = open(path, O_RDWR | O_CLOEXEC);
	if (memory->file < 0)
		return -errno;
	/* In another pid namespace the pid may belong to another process here. */
	if (!cma_is_there(memory)) {
		cma_close(memory);
		return -ESRCH;
	}
	memory->has_calls = calls_work(memory);
	return 0;
}

void cma_close(struct cma *memory)
{
	if (memory->file >= 0)
		close(memory->file);
	memory->file = -1;
}

/* The calls name the process by its pid, so the file is asked first whether it is still the same
 * process. The pid can't be reused between that check and the call, since the kernel assigns pids
 * in turn. */
static bool may_call(const struct cma *memory, size_t byte_count)
{
	return memory->has_calls && byte_count > FILE_BYTES_MAX && cma_is_there(memory);
}

static void write_here(uint64_t address, const struct iovec *parts, unsigned part_count)
{
	uint8_t *there = (uint8_t *)(uintptr_t)address;

	for (unsigned i = 0; i < part_count; i++) {
		memmove(there, parts[i].iov_base, parts[i].iov_len);
		there += parts[i].iov_len;
	}
}

static void read_here(uint64_t address, const struct iovec *parts, unsigned part_count)
{
	const uint8_t *there = (const uint8_t *)(uintptr_t)address;

	for (unsigned i = 0; i < part_count; i++) {
		memmove(parts[i].iov_base, there, parts[i].iov_len);
		there += parts[i].iov_len;
	}
}

bool cma_write(const struct cma *memory, uint64_t address, const struct iovec *parts,
	       unsigned part_count, size_t byte_count)
{
	struct iovec there = {(void *)(uintptr_t)address, byte_count};
	ssize_t moved;

	if (unlikely(memory->is_self)) {
		write_here(address, parts, part_count);
		return true;
	}
	if (may_call(memory, byte_count))
		moved = write_process(memory, parts, part_count, &there);
	else
		moved = write_file(memory, parts, part_count, address);
	return moved == (ssize_t)byte_count;
}

bool cma_read(const struct cma *memory, uint64_t address, const struct iovec *parts,
	      unsigned part_count, size_t byte_count)
{
	struct iovec there = {(void *)(uintptr_t)address, byte_count};
	ssize_t moved;

	if (unlikely(memory->is_self)) {
		read_here(address, parts, part_count);
		return true;
	}
	if (may_call(memory, byte_count))
		moved = process_vm_readv(memory->pid, parts, part_count, &there, 1, 0);
	else if (part_count == 1)
		moved = read_file(memory, parts->iov_base, byte_count, address);
	else
		moved = preadv(memory->file, parts, (int)part_count, (off_t)address);
	return moved == (ssize_t)byte_count;
}
