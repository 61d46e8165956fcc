/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that processes share by descriptor: sealed, so that nobody can shrink it under somebody's
 * feet. */
#ifndef SOFTIB_IPC_MEMORY_FILE_H
#define SOFTIB_IPC_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/attributes.h"

/* A zeroed memfd of that size, mapped read-write here; size sealed. -errno. */
MUST_USE int memory_file_create(const char *name, size_t byte_count, int *ret_file,
				void **ret_memory);
/* The same, but whoever gets the descriptor can map it only for reading. */
MUST_USE int memory_file_create_published(const char *name, size_t byte_count, int *ret_file,
					  void **ret_memory);

/* Gives a memfd that size. Under a limit on the size of files ftruncate raises SIGXFSZ, which would
 * end a program that only opened a device: here it is -EFBIG. */
MUST_USE int memory_file_resize(int file, size_t byte_count);

/* Maps a descriptor that somebody sent. -EPROTO: not sealed, or not of that size. */
MUST_USE int memory_file_map(int file, size_t byte_count, void **ret_memory);
MUST_USE int memory_file_map_readonly(int file, size_t byte_count, const void **ret_memory);

/* The next run of bytes before end, from *begin on, for which memory has been taken: the others are
 * zero. Bounds are those of pages, or end. false: there is none. Moves the file's position. */
bool memory_file_next_data(int file, off_t *begin, off_t end, off_t *ret_end);

#endif
