/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells about this process's memory and threads. */
#include "runtime/memory/own_mappings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/rma/kernel_ring.h"
#include "ipc/rma_area.h"

enum {
	TASK_LINKS_OF_NONE = 2, /* link count of /proc/self/task without threads */
	OWN_THREADS = 2,	/* the program's thread and the progress thread */
	PAGES_PER_LOOK = 512,
};

/* Bits of a page's word in /proc/self/pagemap. */
#define PAGE_IS_SWAPPED ((uint64_t)1 << 62)
#define PAGE_IS_PRESENT ((uint64_t)1 << 63)

bool own_thread_is_alone(void)
{
	struct stat status;

	return stat("/proc/self/task", &status) == 0 &&
	       status.st_nlink <= TASK_LINKS_OF_NONE + OWN_THREADS;
}

/* A line of /proc/self/maps. */
struct mapping {
	uint64_t begin, end, offset, inode;
	char rights[5];
	char name[64];
};

static bool next_mapping(FILE *maps, struct mapping *ret_mapping)
{
	char line[512];
	unsigned major_number, minor_number;

	if (!fgets(line, sizeof(line), maps))
		return false;
	*ret_mapping = (struct mapping){.begin = 0};
	return sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %63s", &ret_mapping->begin,
		      &ret_mapping->end, ret_mapping->rights, &ret_mapping->offset, &major_number,
		      &minor_number, &ret_mapping->inode, ret_mapping->name) >= 7;
}

bool own_mappings_may_move(void)
{
	if (!own_thread_is_alone())
		return false;

	char line[128];
	FILE *status = fopen("/proc/self/status", "re");
	bool is_locked = true;

	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "VmLck:", 6) == 0)
			is_locked = strtoul(line + 6, NULL, 10) != 0;
	if (status)
		fclose(status);
	return !is_locked;
}

static bool is_private_memory(const struct mapping *mapping)
{
	return strcmp(mapping->rights, "rw-p") == 0 && mapping->inode == 0 &&
	       (mapping->name[0] == '\0' || strcmp(mapping->name, "[heap]") == 0 ||
		strncmp(mapping->name, "[anon:", 6) == 0);
}

bool own_mapping_is_movable(uint64_t begin, uint64_t end)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct mapping mapping;
	uint64_t reached = begin;
	bool is_movable = maps != NULL;
	unsigned ring_count = 0;

	while (maps && next_mapping(maps, &mapping)) {
		is_movable &= !strstr(mapping.name, "[aio]");
		ring_count += strstr(mapping.name, "io_uring") != NULL;
		if (mapping.end <= reached || mapping.begin > reached || reached >= end)
			continue;
		if (is_private_memory(&mapping))
			reached = mapping.end;
		else
			is_movable = false;
	}
	if (maps)
		fclose(maps);
	/* The kernel may write to the pages through the program's own rings. It does not through
	 * ours while a page moves. */
	return is_movable && reached >= end && ring_count <= kernel_ring_mapping_count();
}

bool own_mapping_is_of(uint64_t begin, uint64_t end, int file, uint64_t offset)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct mapping mapping;
	struct stat status;
	uint64_t reached = begin;

	if (!maps)
		return false;
	if (fstat(file, &status) != 0)
		reached = end + 1;
	while (reached < end && next_mapping(maps, &mapping)) {
		if (mapping.end <= reached || mapping.begin > reached)
			continue;
		if (mapping.inode != status.st_ino || strcmp(mapping.rights, "rw-s") != 0 ||
		    mapping.offset + (reached - mapping.begin) != offset + (reached - begin))
			break;
		reached = mapping.end;
	}
	fclose(maps);
	return reached >= end && reached != end + 1;
}

/* Reads /proc/self/maps in pieces. */
struct maps_reader {
	int file;
	char bytes[256];
	ssize_t count, next;
};

/* -1: end of the file. */
static int next_character(struct maps_reader *reader)
{
	if (reader->next == reader->count) {
		reader->count = read(reader->file, reader->bytes, sizeof(reader->bytes));
		reader->next = 0;
		if (reader->count <= 0)
			return -1;
	}
	return (unsigned char)reader->bytes[reader->next++];
}

/* Returns the character after the address. */
static int read_address(struct maps_reader *reader, uint64_t *ret_address)
{
	int character = next_character(reader);

	*ret_address = 0;
	for (; (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
	     character = next_character(reader))
		*ret_address =
			*ret_address << 4 |
			(uint64_t)(character <= '9' ? character - '0' : character - 'a' + 10);
	return character;
}

bool own_mapping_rights(uint64_t address, int *ret_rights)
{
	struct maps_reader reader = {.file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	bool is_mapped = false;
	uint64_t begin, end;

	while (reader.file >= 0 && !is_mapped && read_address(&reader, &begin) == '-' &&
	       read_address(&reader, &end) == ' ') {
		int rights = next_character(&reader) == 'r' ? PROT_READ : 0;

		rights |= next_character(&reader) == 'w' ? PROT_WRITE : 0;
		rights |= next_character(&reader) == 'x' ? PROT_EXEC : 0;
		is_mapped = address >= begin && address < end;
		if (is_mapped)
			*ret_rights = rights;
		for (int character = 0; character != '\n' && character >= 0;)
			character = next_character(&reader);
	}
	if (reader.file >= 0)
		close(reader.file);
	return is_mapped;
}

struct own_pages own_pages_open(void)
{
	return (struct own_pages){open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};
}

void own_pages_close(struct own_pages *pages)
{
	if (pages->pagemap >= 0)
		close(pages->pagemap);
	pages->pagemap = -1;
}

/* Reads the pagemap words of some pages. Returns how many. */
static unsigned look_at_pages(const struct own_pages *pages, uint64_t begin, uint64_t end,
			      uint64_t ret_words[static PAGES_PER_LOOK])
{
	const uint64_t first = begin / RKEY_EXPORT_PAGE_BYTES;
	const uint64_t left = end / RKEY_EXPORT_PAGE_BYTES - first;
	const uint64_t count = left < PAGES_PER_LOOK ? left : PAGES_PER_LOOK;
	const size_t byte_count = count * sizeof(ret_words[0]);

	if (pages->pagemap >= 0 &&
	    pread(pages->pagemap, ret_words, byte_count, (off_t)(first * sizeof(ret_words[0]))) ==
		    (ssize_t)byte_count)
		return (unsigned)count;
	for (unsigned i = 0; i < count; i++)
		ret_words[i] = PAGE_IS_PRESENT;
	return (unsigned)count;
}

bool own_pages_next(const struct own_pages *pages, uint64_t *begin, uint64_t end, uint64_t *ret_end)
{
	uint64_t words[PAGES_PER_LOOK];
	uint64_t first = end; /* first page with data, once one was found */
	uint64_t at = *begin;

	while (at < end) {
		const unsigned count = look_at_pages(pages, at, end, words);

		for (unsigned i = 0; i < count; i++, at += RKEY_EXPORT_PAGE_BYTES) {
			const bool is_empty = !(words[i] & (PAGE_IS_PRESENT | PAGE_IS_SWAPPED));

			if (!is_empty && first == end)
				first = at;
			if (is_empty && first != end) {
				*begin = first;
				*ret_end = at;
				return true;
			}
		}
	}
	if (first == end)
		return false;
	*begin = first;
	*ret_end = end;
	return true;
}
