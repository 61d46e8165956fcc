/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program can load the drop-in libraries: static, setuid and 32-bit programs cannot. */
#include "cli/program_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PROGRAM_HEADERS_MAX = 256 };

static int check_executable(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	return S_ISREG(status.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

int program_file_find(const char *program, char *ret_path, size_t path_bytes)
{
	const char *folders = getenv("PATH");
	int error = -ENOENT;

	if (strchr(program, '/')) {
		snprintf(ret_path, path_bytes, "%s", program);
		return check_executable(program);
	}
	for (const char *folder = folders ? folders : "/bin:/usr/bin"; folder;) {
		size_t length = strcspn(folder, ":");
		int written = snprintf(ret_path, path_bytes, "%.*s/%s", length ? (int)length : 1,
				       length ? folder : ".", program);
		int found = written > 0 && (size_t)written < path_bytes ? check_executable(ret_path)
									: -ENOENT;

		if (found == 0)
			return 0;
		if (found == -EACCES)
			error = -EACCES;
		folder = folder[length] ? folder + length + 1 : NULL;
	}
	return error;
}

/* In secure mode the loader ignores LD_LIBRARY_PATH and LD_PRELOAD. */
static bool gains_privileges(int file)
{
	struct stat status;

	if (fstat(file, &status) != 0)
		return false;
	if (((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
	    ((status.st_mode & S_ISGID) && status.st_gid != getegid()))
		return true;
	return geteuid() != 0 && fgetxattr(file, "security.capability", NULL, 0) > 0;
}

static bool has_interpreter(int file, const Elf64_Ehdr *header)
{
	for (unsigned index = 0; index < header->e_phnum && index < PROGRAM_HEADERS_MAX; index++) {
		Elf64_Phdr segment;
		off_t offset = (off_t)(header->e_phoff + (Elf64_Off)index * header->e_phentsize);

		if (pread(file, &segment, sizeof(segment), offset) != sizeof(segment))
			return true;
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *elf_obstacle(int file)
{
	Elf64_Ehdr header;
	ssize_t byte_count = pread(file, &header, sizeof(header), 0);

	if (byte_count < EI_NIDENT || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return "a 32-bit program, and softib's libraries are 64-bit";
	if (byte_count != sizeof(header) || header.e_phentsize < sizeof(Elf64_Phdr))
		return NULL;
	if (!has_interpreter(file, &header))
		return "statically linked, so it does not load softib's libraries";
	return NULL;
}

const char *program_file_obstacle(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	const char *obstacle;

	if (file < 0)
		return NULL;
	if (gains_privileges(file))
		obstacle =
			"setuid, setgid or has file capabilities, and the system's loader ignores "
			"LD_LIBRARY_PATH for such programs (try --namespace)";
	else
		obstacle = elf_obstacle(file);
	close(file);
	return obstacle;
}
