/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells about this process's memory and threads, for runtime/rma/shared_mr.h:
 * whether pages may move, and whether they are still where they were put. */
#ifndef SOFTIB_RUNTIME_MEMORY_OWN_MAPPINGS_H
#define SOFTIB_RUNTIME_MEMORY_OWN_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the process has one thread besides the progress thread. */
bool own_thread_is_alone(void);
/* false also if the process has locked pages: moved pages would lose their lock. */
bool own_mappings_may_move(void);
/* Whether the whole range is private memory of the program, and the program has no AIO context or
 * io_uring by which the kernel could write to the pages later. */
bool own_mapping_is_movable(uint64_t begin, uint64_t end);
/* Whether the whole range maps the file from that offset on, for reading and writing. */
bool own_mapping_is_of(uint64_t begin, uint64_t end, int file, uint64_t offset);

/* The rights as PROT_READ and so on. Async-signal-safe. false: nothing is mapped there. */
bool own_mapping_rights(uint64_t address, int *ret_rights);

/* The next pages before end, from *begin on, that hold data; a page that was never written to is
 * zero, and need not be copied. Begins and ends on page boundaries. false: there are none. If the
 * kernel does not tell, all pages count. */
struct own_pages {
	int pagemap; /* -1: the kernel does not tell */
};
struct own_pages own_pages_open(void);
void own_pages_close(struct own_pages *pages);
bool own_pages_next(const struct own_pages *pages, uint64_t *begin, uint64_t end,
		    uint64_t *ret_end);

#endif
