/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An LD_AUDIT module that directs every search for the three RDMA libraries to softib's, even if
 * DT_RPATH or an absolute path bypasses LD_LIBRARY_PATH.
 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attributes.h"

enum { LIBRARY_PATH_BYTES = 1024 };

unsigned la_version(unsigned version);
char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);

/* A library name that starts with the prefix, with or without a version, is replaced by the
 * file. */
static struct library {
	const char *stem;
	const char *file;
	char path[LIBRARY_PATH_BYTES];
} libraries[] = {
	{.stem = "libibverbs.so", .file = "libibverbs.so.1"},
	{.stem = "librdmacm.so", .file = "librdmacm.so.1"},
	{.stem = "libibumad.so", .file = "libibumad.so.3"},
};

static struct library *find_library(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *file = slash ? slash + 1 : name;

	for (size_t i = 0; i < ARRAY_COUNT(libraries); i++) {
		size_t length = strlen(libraries[i].stem);

		if (strncmp(file, libraries[i].stem, length) == 0 &&
		    (file[length] == '\0' || file[length] == '.'))
			return &libraries[i];
	}
	return NULL;
}

__attribute__((visibility("default"))) unsigned la_version(unsigned version)
{
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* The dynamic linker holds its lock during this call, so one buffer per library is enough. */
__attribute__((visibility("default"))) char *la_objsearch(const char *name, uintptr_t *cookie,
							  unsigned flag)
{
	const char *folder = secure_getenv("SOFTIB_LIBDIR");
	struct library *library = find_library(name);
	int length;

	(void)cookie;
	(void)flag;
	if (!library || !folder)
		return (char *)name;
	length = snprintf(library->path, sizeof(library->path), "%s/%s", folder, library->file);
	if (length >= (int)sizeof(library->path) || access(library->path, R_OK))
		return (char *)name;
	return library->path;
}
