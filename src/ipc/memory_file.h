/* SPDX-License-Identifier: Apache-2.0 */
/* Memory files: memfds that processes share by descriptor. The size is sealed, so that no process
 * can shrink the file while another has it mapped, and so are the seals, so that none can forbid
 * others to map it. */
#ifndef SOFTIB_IPC_MEMORY_FILE_H
#define SOFTIB_IPC_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/attributes.h"

/* A zeroed memfd of that size, mapped read-write here; size sealed. -errno. */
MUST_USE int memory_file_create(const char *name, size_t byte_count, int *ret_file,
				void **ret_memory);
/* memory_file_create; those who get the descriptor can map the file only for reading. */
MUST_USE int memory_file_create_published(const char *name, size_t byte_count, int *ret_file,
					  void **ret_memory);

/* Gives a memfd that size. Under a limit on file sizes ftruncate raises SIGXFSZ, which would end a
 * program that only opened a device; this function returns -EFBIG instead. */
MUST_USE int memory_file_resize(int file, size_t byte_count);

/* Maps a descriptor that another process sent. -EPROTO: not sealed, or not of that size. */
MUST_USE int memory_file_map(int file, size_t byte_count, void **ret_memory);
MUST_USE int memory_file_map_readonly(int file, size_t byte_count, const void **ret_memory);

/* The next range of data before end, from *begin on; the rest of the file is zero. The range ends
 * at a page boundary or at end. false: there is none. Moves the file's position. */
bool memory_file_next_data(int file, off_t *begin, off_t end, off_t *ret_end);

#endif
