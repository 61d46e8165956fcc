/* SPDX-License-Identifier: Apache-2.0 */
/* Small files, folders and links of the sysfs tree. A file is replaced as a whole, so that a reader
 * never sees half of one. */
#include "daemon/sysfs/sysfs_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most files have one line; "interfaces" has one per port of the host. */
enum { TEXT_BYTES_MAX = 8192 };

static int join(const char *folder, const char *name, const char *suffix,
		char ret_path[static SYSFS_PATH_BYTES])
{
	int length = snprintf(ret_path, SYSFS_PATH_BYTES, "%s/%s%s", folder, name, suffix);

	return length < 0 || length >= SYSFS_PATH_BYTES ? -ENAMETOOLONG : 0;
}

static int write_whole(const char *path, const char *text, size_t byte_count)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (file < 0)
		return -errno;

	ssize_t written = write(file, text, byte_count);
	int error = written < 0 ? -errno : (size_t)written < byte_count ? -ENOSPC : 0;

	if (close(file) != 0 && !error)
		error = -errno;
	return error;
}

int sysfs_file_write(const char *folder, const char *name, const char *format, ...)
{
	char path[SYSFS_PATH_BYTES];
	char unfinished[SYSFS_PATH_BYTES];
	char text[TEXT_BYTES_MAX];
	va_list arguments;
	int error = join(folder, name, "", path);

	if (!error)
		error = join(folder, name, ".new", unfinished);
	if (error)
		return error;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof(text) - 1, format, arguments);
	va_end(arguments);
	if (length < 0 || length >= (int)sizeof(text) - 1)
		return -EMSGSIZE;
	text[length++] = '\n';
	error = write_whole(unfinished, text, (size_t)length);
	if (!error && rename(unfinished, path) != 0)
		error = -errno;
	if (error)
		unlink(unfinished);
	return error;
}

/* Makes every folder of the path up to the slash at `end`. */
static int make_above(char *path, const char *end)
{
	for (char *slash = path + 1; slash <= end; slash++) {
		if (*slash != '/')
			continue;
		*slash = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

int sysfs_folder_make(const char *folder, const char *name)
{
	char path[SYSFS_PATH_BYTES];
	int error = join(folder, name, "/", path);

	return error ? error : make_above(path, path + strlen(path) - 1);
}

int sysfs_link_make(const char *folder, const char *name, const char *target)
{
	char path[SYSFS_PATH_BYTES];
	int error = join(folder, name, "", path);

	if (!error)
		error = make_above(path, strrchr(path, '/'));
	if (!error && symlink(target, path) != 0 && errno != EEXIST)
		error = -errno;
	return error;
}
