/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of another process that this process can map.
 *
 * A hardware adapter reaches the pages of any process. A library can share only memory that the
 * kernel lets two processes map: files, memfds, System V and POSIX shared memory, and shared
 * anonymous memory that this process has mapped already. Private memory cannot be shared.
 */
#include "api/libibverbs/objects/foreign_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A line of /proc/<pid>/maps. */
struct mapping_line {
	uint64_t start, end, offset;
	char rights[5];
	dev_t device;
	ino_t inode;
	char path[256];
};

static bool read_line(FILE *maps, struct mapping_line *ret_line)
{
	unsigned major_number, minor_number;
	uint64_t inode;
	char text[512];
	int path_at = 0;

	if (!fgets(text, sizeof(text), maps))
		return false;
	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &ret_line->start, &ret_line->end, ret_line->rights, &ret_line->offset,
		   &major_number, &minor_number, &inode, &path_at) < 7)
		return false;
	ret_line->device = makedev(major_number, minor_number);
	ret_line->inode = (ino_t)inode;
	text[strcspn(text, "\n")] = '\0';
	snprintf(ret_line->path, sizeof(ret_line->path), "%.255s", path_at ? text + path_at : "");
	return true;
}

static int find_mapping(pid_t process, uint64_t address, size_t byte_count,
			struct mapping_line *ret_line)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)process);

	FILE *maps = fopen(path, "re");
	int error = -EOPNOTSUPP;

	if (!maps)
		return -ESRCH;
	while (error && read_line(maps, ret_line))
		if (ret_line->start <= address && address < ret_line->end &&
		    byte_count <= ret_line->end - address && ret_line->rights[3] == 's' &&
		    ret_line->inode)
			error = 0;
	fclose(maps);
	return error;
}

static bool is_file(int file, const struct mapping_line *line)
{
	struct stat status;

	/* Some file systems show different device numbers in stat and maps, so only the inode is
	 * compared. */
	return fstat(file, &status) == 0 && status.st_ino == line->inode;
}

static int open_if(const char *path, const struct mapping_line *line)
{
	int file = open(path, O_RDWR | O_CLOEXEC);

	if (file >= 0 && !is_file(file, line)) {
		close(file);
		file = -1;
	}
	return file;
}

/* Looks among the open descriptors of the other process. */
static int open_descriptor(pid_t process, const struct mapping_line *line)
{
	char folder[64], path[128];
	int file = -1;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)process);

	DIR *descriptors = opendir(folder);

	for (struct dirent *entry; file < 0 && descriptors && (entry = readdir(descriptors));) {
		struct stat status;

		snprintf(path, sizeof(path), "%s/%.16s", folder, entry->d_name);
		if (stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		    status.st_ino == line->inode)
			file = open_if(path, line);
	}
	if (descriptors)
		closedir(descriptors);
	return file;
}

static int open_backing(pid_t process, const struct mapping_line *line)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)process,
		 line->start, line->end);

	int file = open_if(path, line);

	if (file < 0 && line->path[0] == '/')
		file = open_if(line->path, line);
	if (file < 0)
		file = open_descriptor(process, line);
	return file;
}

/* Shared anonymous memory has no name, but a child has inherited its parent's mapping. */
static int find_here(const struct mapping_line *line, uint64_t offset, size_t byte_count,
		     struct foreign_memory *ret_memory)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct mapping_line own;
	int error = -EOPNOTSUPP;

	while (error && maps && read_line(maps, &own)) {
		if (own.inode != line->inode || own.device != line->device ||
		    own.rights[3] != 's' || offset < own.offset ||
		    offset - own.offset + byte_count > own.end - own.start)
			continue;
		*ret_memory = (struct foreign_memory){
			.bytes = (uint8_t *)(uintptr_t)(own.start + (offset - own.offset))};
		error = 0;
	}
	if (maps)
		fclose(maps);
	return error;
}

int foreign_memory_map(pid_t process, uint64_t address, size_t byte_count,
		       struct foreign_memory *ret_memory)
{
	struct mapping_line line;
	int error = find_mapping(process, address, byte_count, &line);

	if (error)
		return error;

	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t offset = line.offset + (address - line.start);
	size_t before = (size_t)(offset % page);
	int file = open_backing(process, &line);

	if (file < 0)
		return find_here(&line, offset, byte_count, ret_memory);

	size_t base_bytes = before + byte_count;
	void *base = mmap(NULL, base_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
			  (off_t)(offset - before));

	error = base == MAP_FAILED ? -ENOMEM : 0;
	close(file);
	if (error)
		return error;
	*ret_memory = (struct foreign_memory){(uint8_t *)base + before, base, base_bytes};
	return 0;
}

void foreign_memory_unmap(struct foreign_memory *memory)
{
	if (memory->base)
		munmap(memory->base, memory->base_bytes);
	memory->base = NULL;
}
