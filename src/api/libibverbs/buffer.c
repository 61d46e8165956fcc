/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that the library allocates for a program: anonymous mappings, registered like any other
 * memory. */
#include "api/libibverbs/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* verbs.h defines a macro of this name that may call a newer function; this file needs the
 * function. */
#undef ibv_reg_mr

struct ibv_buf {
	void *bytes;
	size_t size;
};

void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **ret_buffer)
{
	struct ibv_buf *buffer;
	void *bytes;

	(void)pd;
	if (size == 0) {
		errno = EINVAL;
		return NULL;
	}
	buffer = malloc(sizeof(*buffer));
	if (!buffer)
		return NULL;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED) {
		free(buffer);
		errno = ENOMEM;
		return NULL;
	}
	*buffer = (struct ibv_buf){.bytes = bytes, .size = size};
	*ret_buffer = buffer;
	return bytes;
}

void ibv_free_buf(struct ibv_buf *buffer)
{
	if (!buffer)
		return;
	munmap(buffer->bytes, buffer->size);
	free(buffer);
}

struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buffer, void *addr, size_t length,
			      int access)
{
	size_t offset = (size_t)((char *)addr - (char *)buffer->bytes);

	if ((char *)addr < (char *)buffer->bytes || offset > buffer->size ||
	    length > buffer->size - offset) {
		errno = EINVAL;
		return NULL;
	}
	return ibv_reg_mr(pd, addr, length, access);
}
