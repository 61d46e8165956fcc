/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where softib's own files are, seen from the file that this code was loaded from.
 *
 * Build tree:   BUILD/softib, BUILD/softibd, libraries in BUILD/lib (links to BUILD/src/api)
 * Installation: PREFIX/bin/softib, PREFIX/libexec/softib/softibd, libraries in PREFIX/LIBDIR/softib
 *
 * SOFTIB_LIBDIR (set by "softib run") says where the libraries are and comes first. A folder is the
 * right one if the file is in it.
 */
#include "ipc/control_socket.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SOFTIB_PRIVATE_LIBDIR
#define SOFTIB_PRIVATE_LIBDIR "lib/softib"
#endif

/* From the folder of this code to the folder of a program. */
static const char *const program_folders[] = {
	".",			   /* BUILD/softib -> BUILD/softibd; both in one bin */
	"..",			   /* BUILD/lib */
	"../libexec/softib",	   /* PREFIX/bin */
	"../../libexec/softib",	   /* PREFIX/lib/softib */
	"../../../libexec/softib", /* PREFIX/lib/x86_64-linux-gnu/softib */
	"../../bin",		   /* these two for softib itself */
	"../../../bin",
	"../../../", /* BUILD/src/api/libibverbs */
	"../..",     /* BUILD/src/cli, BUILD/tests/unit */
	"../daemon",
};

/* From the folder of this code to the libraries. */
static const char *const library_folders[] = {
	"lib",				/* BUILD */
	"../../lib",			/* BUILD/src/cli */
	"../../../lib",			/* BUILD/src/api/libibverbs */
	"../" SOFTIB_PRIVATE_LIBDIR,	/* PREFIX/bin */
	"../../" SOFTIB_PRIVATE_LIBDIR, /* PREFIX/libexec/softib */
	SOFTIB_PRIVATE_LIBDIR,		/* configured as an absolute path */
	"../lib/softib",
	".", /* loaded from the folder itself */
};

static int copy_path(const char *path, char ret_path[static CONTROL_PATH_BYTES])
{
	size_t length = strlen(path);

	if (length >= CONTROL_PATH_BYTES)
		return -ENAMETOOLONG;
	memcpy(ret_path, path, length + 1);
	return 0;
}

/* The folder of the shared object or program that contains this function, links resolved. */
static int own_folder(char ret_path[static CONTROL_PATH_BYTES])
{
	char resolved[PATH_MAX];
	struct link_map *map = NULL;
	Dl_info info;
	const char *name = "/proc/self/exe";

	if (dladdr1((void *)(uintptr_t)own_folder, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
	    map->l_name[0])
		name = map->l_name;
	if (!realpath(name, resolved))
		return -errno;
	*strrchr(resolved, '/') = '\0';
	return copy_path(resolved, ret_path);
}

/* BASE/FOLDER/FILE if it is accessible in this mode; ret_path gets the folder, resolved. */
static int try_folder(const char *base, const char *folder, const char *file, int mode,
		      char ret_path[static CONTROL_PATH_BYTES])
{
	char path[PATH_MAX];
	char resolved[PATH_MAX];
	int length = folder[0] == '/'
			     ? snprintf(path, sizeof(path), "%s/%s", folder, file)
			     : snprintf(path, sizeof(path), "%s/%s/%s", base, folder, file);

	if (length < 0 || length >= PATH_MAX || access(path, mode) != 0)
		return -ENOENT;
	path[(size_t)length - strlen(file) - 1] = '\0';
	if (!realpath(path, resolved))
		return -errno;
	return copy_path(resolved, ret_path);
}

static int find_folder(const char *base, const char *const folders[], size_t folder_count,
		       const char *file, int mode, char ret_path[static CONTROL_PATH_BYTES])
{
	for (size_t i = 0; i < folder_count; i++)
		if (try_folder(base, folders[i], file, mode, ret_path) == 0)
			return 0;
	return -ENOENT;
}

int program_path(const char *program, char ret_path[static CONTROL_PATH_BYTES])
{
	const char *libraries = getenv("SOFTIB_LIBDIR");
	char own[CONTROL_PATH_BYTES];
	char folder[CONTROL_PATH_BYTES];
	char path[PATH_MAX];
	int error = own_folder(own);

	if (error)
		return error;
	error = find_folder(own, program_folders, ARRAY_COUNT(program_folders), program, X_OK,
			    folder);
	if (error && libraries && *libraries)
		error = find_folder(libraries, program_folders, ARRAY_COUNT(program_folders),
				    program, X_OK, folder);
	if (error)
		return error;
	snprintf(path, sizeof(path), "%s/%s", folder, program);
	return copy_path(path, ret_path);
}

int library_directory(char ret_path[static CONTROL_PATH_BYTES])
{
	const char *chosen = getenv("SOFTIB_LIBDIR");
	char own[CONTROL_PATH_BYTES];

	if (chosen && *chosen)
		return copy_path(chosen, ret_path);

	int error = own_folder(own);

	if (error)
		return error;
	return find_folder(own, library_folders, ARRAY_COUNT(library_folders), "libibverbs.so.1",
			   R_OK, ret_path);
}
