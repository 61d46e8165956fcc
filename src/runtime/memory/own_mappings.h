/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of this process's memory and threads, for runtime/rma/shared_mr.h: whether
 * pages may move, and whether they are still where they were put. */
#ifndef SOFTIB_RUNTIME_MEMORY_OWN_MAPPINGS_H
#define SOFTIB_RUNTIME_MEMORY_OWN_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

/* But for the helper. */
bool own_thread_is_alone(void);
/* Locked pages would no more be, and what the kernel writes to later would get lost. */
bool own_mappings_may_move(void);
/* Whether all of it is private memory of the program's, and nobody has asked the kernel to write to
 * memory by and by. */
bool own_mapping_is_movable(uint64_t begin, uint64_t end);
/* Whether all of it shows the file from that offset on, for reading and writing. */
bool own_mapping_is_of(uint64_t begin, uint64_t end, int file, uint64_t offset);

/* PROT_READ and so on. Calls nothing that a signal handler may not call. false: nothing is mapped
 * there. */
bool own_mapping_rights(uint64_t address, int *ret_rights);

/* The next run of pages before end, from *begin on, that hold anything: what was never written to
 * is zero anyway, and costs nothing to leave where it is. Begins and ends on page boundaries.
 * false: there is none. Where the kernel does not say, all pages do. */
struct own_pages {
	int pagemap; /* -1: it does not say */
};
struct own_pages own_pages_open(void);
void own_pages_close(struct own_pages *pages);
bool own_pages_next(const struct own_pages *pages, uint64_t *begin, uint64_t end,
		    uint64_t *ret_end);

#endif
