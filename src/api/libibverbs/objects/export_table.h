/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that other processes can import from a context. The file behind the context's command
 * descriptor lists its protection domains, regions and device memory.
 *
 * The file grows with the number of live objects. Another process reads it, so an entry is valid
 * only while its kind is set.
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
	uint64_t address; /* in the exporting process */
	uint64_t byte_count;
	uint64_t iova;
	uint64_t reserved[3];
};

static_assert(sizeof(struct export_entry) == 64, "entries never lie across two pages");

/* The head of the file. */
struct export_header {
	uint64_t magic;
	uint64_t node_guid;
	int64_t process;
	uint64_t entry_count; /* entries beyond it were never used */
};

/* The exporting process's view of its file. Covered by the adapter's lock. */
struct export_table {
	int file;
	pid_t process;		      /* a child after fork shares the file but not the objects */
	struct export_header *header; /* NULL: nothing is exported */
	struct export_entry *entries;
	uint32_t capacity;
	uint32_t *free_slots;
	uint32_t free_count;
};

/* Creates a file that names the adapter. -errno. */
MUST_USE int export_file_create(uint64_t node_guid, int *ret_file);
MUST_USE bool export_file_read(int file, struct export_header *ret_note);

void export_table_open(struct export_table *table, int file);
void export_table_close(struct export_table *table);

enum { EXPORT_NO_SLOT = 0 };

/* The entry's slot, from 1; EXPORT_NO_SLOT if it cannot be added, for example for lack of
 * memory. */
uint32_t export_table_add(struct export_table *table, const struct export_entry *entry);
void export_table_remove(struct export_table *table, uint32_t slot);

/* Finds an entry by kind and handle in another process's file. */
MUST_USE bool export_file_find(int file, enum export_kind kind, uint32_t handle,
			       struct export_entry *ret_entry, uint32_t *ret_slot);
/* Maps the entry's kind: the object lives as long as the word reads `kind`. NULL: no memory. */
const uint32_t *export_file_watch(int file, uint32_t slot);
void export_file_unwatch(const uint32_t *word);

#endif
