/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of this process's memory and threads. */
#include "host/own_mappings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "host/kernel_ring.h"

enum {
	TASK_LINKS_OF_NONE = 2, /* of /proc/self/task */
	OWN_THREADS = 2,	/* the program's and the helper */
};

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
	/* The program's own rings may be at the pages; ours are not while one moves. */
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
