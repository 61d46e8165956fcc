/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a context offers to processes that import it: the file behind its command descriptor lists
 * its protection domains, regions and device memory.
 *
 * The file grows with what is alive at once. Whoever reads it is another process: an entry counts
 * while its kind is set.
 */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_EXPORT_TABLE_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_EXPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/attributes.h"

enum export_kind { EXPORT_NONE, EXPORT_PD, EXPORT_MR, EXPORT_DM };

struct export_entry {
	uint32_t kind; /* enum export_kind; written last, cleared first */
	uint32_t handle;
	uint32_t pd_handle; /* of a region */
	uint32_t access;
	uint64_t address; /* in its process */
	uint64_t byte_count;
	uint64_t iova;
	uint64_t reserved[3];
};

static_assert(sizeof(struct export_entry) == 64, "entries never lie across two pages");

/* The beginning of the file. */
struct export_note {
	uint64_t magic;
	uint64_t node_guid;
	int64_t process;
	uint64_t entry_count; /* how far to look */
};

/* Of the process that made it; under the adapter's lock. */
struct export_table {
	int file;
	pid_t process;		  /* a child has the same memory, but not the same objects */
	struct export_note *note; /* NULL: nothing is offered */
	struct export_entry *entries;
	uint32_t capacity;
	uint32_t *free_slots;
	uint32_t free_count;
};

/* A file that says which adapter it is of. -errno. */
MUST_USE int export_file_create(uint64_t node_guid, int *ret_file);
MUST_USE bool export_file_read(int file, struct export_note *ret_note);

void export_table_open(struct export_table *table, int file);
void export_table_close(struct export_table *table);

enum { EXPORT_NO_SLOT = 0 };

/* Its slot, from 1; EXPORT_NO_SLOT where it can't be offered, for want of memory say. */
uint32_t export_table_add(struct export_table *table, const struct export_entry *entry);
void export_table_remove(struct export_table *table, uint32_t slot);

/* The entry of that kind and handle in somebody else's file, and its slot. */
MUST_USE bool export_file_find(int file, enum export_kind kind, uint32_t handle,
			       struct export_entry *ret_entry, uint32_t *ret_slot);
/* Maps the word that tells whether it is still there: it is as long as it reads `kind`. NULL: no
 * memory. */
const uint32_t *export_file_watch(int file, uint32_t slot);
void export_file_unwatch(const uint32_t *word);

#endif
