/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that other processes can import from a context. */
#include "api/libibverbs/objects/export_table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ipc/memory_file.h"

enum { PAGE_BYTES = 4096, ENTRIES_PER_PAGE = PAGE_BYTES / sizeof(struct export_entry) };

#define EXPORT_MAGIC 0x736f66746962696dull

static size_t file_bytes(uint32_t capacity)
{
	return PAGE_BYTES + (size_t)capacity * sizeof(struct export_entry);
}

/* If the file cannot be resized, the context works but cannot be imported. */
int export_file_create(uint64_t node_guid, int *ret_file)
{
	const struct export_header header = {EXPORT_MAGIC, node_guid, getpid(), 0};
	int file = memfd_create("softib-context", MFD_CLOEXEC);

	if (file < 0)
		return -errno;
	if (memory_file_resize(file, PAGE_BYTES) == 0 &&
	    pwrite(file, &header, sizeof(header), 0) != (ssize_t)sizeof(header)) {
		close(file);
		return -EIO;
	}
	*ret_file = file;
	return 0;
}

bool export_file_read(int file, struct export_header *ret_note)
{
	return pread(file, ret_note, sizeof(*ret_note), 0) == (ssize_t)sizeof(*ret_note) &&
	       ret_note->magic == EXPORT_MAGIC;
}

void export_table_open(struct export_table *table, int file)
{
	struct export_header header;

	*table = (struct export_table){.file = file, .process = getpid()};
	if (!export_file_read(file, &header))
		return;

	void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (memory == MAP_FAILED)
		return;
	table->header = memory;
	table->entries = (struct export_entry *)((char *)memory + PAGE_BYTES);
}

void export_table_close(struct export_table *table)
{
	if (table->header)
		munmap(table->header, file_bytes(table->capacity));
	free(table->free_slots);
	*table = (struct export_table){.file = -1};
}

static bool grow(struct export_table *table)
{
	uint32_t capacity = table->capacity ? table->capacity * 2 : ENTRIES_PER_PAGE;
	uint32_t *slots = realloc(table->free_slots, capacity * sizeof(*slots));

	if (!slots)
		return false;
	table->free_slots = slots;
	if (memory_file_resize(table->file, file_bytes(capacity)) != 0)
		return false;

	void *memory = mremap(table->header, file_bytes(table->capacity), file_bytes(capacity),
			      MREMAP_MAYMOVE);

	if (memory == MAP_FAILED)
		return false;
	table->header = memory;
	table->entries = (struct export_entry *)((char *)memory + PAGE_BYTES);
	for (uint32_t slot = capacity; slot-- > table->capacity;)
		table->free_slots[table->free_count++] = slot;
	table->capacity = capacity;
	return true;
}

uint32_t export_table_add(struct export_table *table, const struct export_entry *entry)
{
	if (!table->header || table->process != getpid() || (!table->free_count && !grow(table)))
		return EXPORT_NO_SLOT;

	uint32_t slot = table->free_slots[--table->free_count];
	struct export_entry *place = &table->entries[slot];
	struct export_entry without_kind = *entry;

	without_kind.kind = EXPORT_NONE;
	*place = without_kind;
	if (table->header->entry_count <= slot)
		__atomic_store_n(&table->header->entry_count, slot + 1u, __ATOMIC_RELEASE);
	__atomic_store_n(&place->kind, entry->kind, __ATOMIC_RELEASE);
	return slot + 1;
}

void export_table_remove(struct export_table *table, uint32_t slot)
{
	if (!table->header || slot == EXPORT_NO_SLOT || table->process != getpid())
		return;
	__atomic_store_n(&table->entries[slot - 1].kind, EXPORT_NONE, __ATOMIC_RELEASE);
	table->free_slots[table->free_count++] = slot - 1;
}

bool export_file_find(int file, enum export_kind kind, uint32_t handle,
		      struct export_entry *ret_entry, uint32_t *ret_slot)
{
	struct export_entry entries[ENTRIES_PER_PAGE];
	struct export_header header;

	if (!export_file_read(file, &header))
		return false;
	for (uint64_t first = 0; first < header.entry_count; first += ENTRIES_PER_PAGE) {
		ssize_t byte_count = pread(file, entries, sizeof(entries),
					   (off_t)(PAGE_BYTES + first * sizeof(entries[0])));

		for (ssize_t i = 0; i < byte_count / (ssize_t)sizeof(entries[0]); i++) {
			if (entries[i].kind != kind || entries[i].handle != handle)
				continue;
			*ret_entry = entries[i];
			*ret_slot = (uint32_t)first + (uint32_t)i + 1;
			return true;
		}
		if (byte_count <= 0)
			return false;
	}
	return false;
}

const uint32_t *export_file_watch(int file, uint32_t slot)
{
	uint32_t index = slot - 1;
	uint32_t page = 1 + index / ENTRIES_PER_PAGE;
	char *memory =
		mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, file, (off_t)page * PAGE_BYTES);

	if (memory == MAP_FAILED)
		return NULL;
	return (const uint32_t *)(const void *)(memory + index % ENTRIES_PER_PAGE *
								 sizeof(struct export_entry));
}

void export_file_unwatch(const uint32_t *word)
{
	uintptr_t page = (uintptr_t)word & ~(uintptr_t)(PAGE_BYTES - 1);

	if (word)
		munmap((void *)page, PAGE_BYTES);
}
