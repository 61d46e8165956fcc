/* SPDX-License-Identifier: Apache-2.0 */
/* An io_uring by its system calls. */
#include "runtime/rma/kernel_ring.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "ipc/rma_area.h"

bool kernel_ring_is_allowed(void)
{
	const char *value = getenv("SOFTIB_PIN");

	return (!value || strcmp(value, "0") != 0) &&
	       sysconf(_SC_PAGESIZE) == RKEY_EXPORT_PAGE_BYTES;
}

enum {
	REQUESTS = 1, /* at a time */
	MAPPINGS = 2, /* of a ring */
};

static const char RING_NAME[] = "anon_inode:[io_uring]";

static unsigned open_count;

unsigned kernel_ring_mapping_count(void)
{
	return open_count * MAPPINGS;
}

static int setup(struct io_uring_params *ret_params)
{
	struct io_uring_params params = {0};
	int file = (int)syscall(SYS_io_uring_setup, REQUESTS, &params);

	if (file < 0)
		return -errno;
	*ret_params = params;
	return file;
}

static int do_register(int file, unsigned opcode, const void *argument, unsigned count)
{
	return syscall(SYS_io_uring_register, file, opcode, argument, count) < 0 ? -errno : 0;
}

int kernel_ring_create(void)
{
	const struct iovec none[KERNEL_RING_BUFFERS] = {0};
	const struct io_uring_rsrc_register buffers = {.nr = KERNEL_RING_BUFFERS,
						       .data = (uintptr_t)none};
	struct io_uring_params params = {0};
	int file = setup(&params);

	if (file < 0)
		return file;

	int error = do_register(file, IORING_REGISTER_BUFFERS2, &buffers, sizeof(buffers));

	if (!error)
		return file;
	close(file);
	return error;
}

static int set_buffer(int file, unsigned index, const struct iovec *buffer)
{
	const struct io_uring_rsrc_update2 update = {
		.offset = index, .data = (uintptr_t)buffer, .nr = 1};

	return do_register(file, IORING_REGISTER_BUFFERS_UPDATE, &update, sizeof(update));
}

int kernel_ring_pin(int file, unsigned index, const uint8_t *pages, size_t byte_count)
{
	const struct iovec buffer = {(void *)(uintptr_t)pages, byte_count};

	return set_buffer(file, index, &buffer);
}

int kernel_ring_unpin(int file, unsigned index)
{
	const struct iovec none = {0};

	return set_buffer(file, index, &none);
}

/* A file that is not a ring may be shorter than the bytes that we map. */
static bool is_ring(int file)
{
	char path[32], name[sizeof(RING_NAME) + 1];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);

	ssize_t byte_count = readlink(path, name, sizeof(name));

	return byte_count == (ssize_t)sizeof(RING_NAME) - 1 &&
	       memcmp(name, RING_NAME, sizeof(RING_NAME) - 1) == 0;
}

int kernel_ring_fetch(pid_t pid, int number)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0);

	if (process < 0)
		return -errno;

	int file = (int)syscall(SYS_pidfd_getfd, process, number, 0);
	int error = file < 0 ? -errno : 0;

	close(process);
	if (error)
		return error;
	if (is_ring(file))
		return file;
	close(file);
	return -EBADF;
}

/* The layout of a ring, taken from a ring of our own: the peer could change the numbers in its
 * ring. */
static int find_layout(struct io_uring_params *ret_params)
{
	int file = setup(ret_params);

	if (file < 0)
		return file;
	close(file);
	return ret_params->features & IORING_FEAT_SINGLE_MMAP ? 0 : -ENOSYS;
}

static void *map(int file, size_t byte_count, off_t offset)
{
	void *memory = mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			    file, offset);

	if (memory == MAP_FAILED)
		return NULL;
	(void)madvise(memory, byte_count, MADV_DONTFORK);
	return memory;
}

static size_t ring_bytes(const struct io_uring_params *params)
{
	const size_t requests = params->sq_off.array + params->sq_entries * sizeof(uint32_t);
	const size_t completions =
		params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);

	return requests > completions ? requests : completions;
}

static uint32_t *word_at(uint8_t *memory, uint32_t offset)
{
	return (uint32_t *)(void *)(memory + offset);
}

int kernel_ring_open(struct kernel_ring *ring, int file, int source)
{
	struct io_uring_params params = {0};
	int error = find_layout(&params);

	if (!error)
		error = do_register(file, IORING_REGISTER_FILES, &source, 1);
	if (error)
		return error;

	const size_t memory_bytes = ring_bytes(&params);
	uint8_t *memory = map(file, memory_bytes, IORING_OFF_SQ_RING);
	struct io_uring_sqe *request = memory ? map(file, sizeof(*request), IORING_OFF_SQES) : NULL;

	if (!request) {
		if (memory)
			munmap(memory, memory_bytes);
		return -ENOMEM;
	}
	open_count++;
	*word_at(memory, params.sq_off.array) = 0;
	*request = (struct io_uring_sqe){
		.opcode = IORING_OP_READ_FIXED,
		.flags = IOSQE_FIXED_FILE,
		.off = UINT64_MAX,
	};
	*ring = (struct kernel_ring){
		.file = file,
		.cq_mask = params.cq_entries - 1,
		.request = request,
		.completions = (const struct io_uring_cqe *)(void *)(memory + params.cq_off.cqes),
		.sq_tail = word_at(memory, params.sq_off.tail),
		.cq_tail = word_at(memory, params.cq_off.tail),
		.cq_head = word_at(memory, params.cq_off.head),
		.memory = memory,
		.memory_bytes = memory_bytes,
	};
	return 0;
}

void kernel_ring_close(struct kernel_ring *ring)
{
	open_count--;
	munmap(ring->memory, ring->memory_bytes);
	munmap(ring->request, sizeof(*ring->request));
	close(ring->file);
	ring->file = -1;
}

void kernel_ring_abandon(struct kernel_ring *ring)
{
	open_count--;
	close(ring->file);
	ring->file = -1;
}

int kernel_ring_read(struct kernel_ring *ring, unsigned index, uint64_t address,
		     uint32_t byte_count)
{
	const struct io_uring_cqe *completion = &ring->completions[ring->count & ring->cq_mask];
	struct io_uring_sqe *request = ring->request;

	request->addr = address;
	request->len = byte_count;
	request->buf_index = (uint16_t)index;
	__atomic_store_n(ring->sq_tail, ++ring->count, __ATOMIC_RELEASE);

	long submitted = syscall(SYS_io_uring_enter, ring->file, 1, 0, 0, NULL, (size_t)0);

	if (unlikely(submitted != 1))
		return submitted < 0 ? -errno : -EAGAIN;
	/* A source that has all the bytes completes the request within the call. */
	if (unlikely(__atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) != ring->count))
		return -EINPROGRESS;

	const int moved = completion->res;

	__atomic_store_n(ring->cq_head, ring->count, __ATOMIC_RELEASE);
	return moved <= (int)byte_count ? moved : -EINPROGRESS;
}
