/* SPDX-License-Identifier: Apache-2.0 */
/* Small files, folders and links of the sysfs tree. A file is replaced as a whole, so that a reader
 * never sees half of one. */
#ifndef SOFTIB_DAEMON_SYSFS_SYSFS_FILE_H
#define SOFTIB_DAEMON_SYSFS_SYSFS_FILE_H

#include "base/attributes.h"
#include "ipc/control_socket.h"

enum { SYSFS_PATH_BYTES = CONTROL_PATH_BYTES + 256 };

/* Writes folder/name; a newline is added. 0 or -errno. */
MUST_USE int sysfs_file_write(const char *folder, const char *name, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* Makes the folder folder/name, and those above it. */
MUST_USE int sysfs_folder_make(const char *folder, const char *name);
/* Makes a symbolic link at folder/name, and the folders above it. */
MUST_USE int sysfs_link_make(const char *folder, const char *name, const char *target);
/* For a row of writes that all take place: keeps the first error. */
static inline void keep_first(int *error, int next)
{
	if (!*error)
		*error = next;
}

#endif
