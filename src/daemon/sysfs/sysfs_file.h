/* SPDX-License-Identifier: Apache-2.0 */
/* Small files that are replaced whole, so that a reader never sees half of one. */
#ifndef SOFTIB_DAEMON_SYSFS_SYSFS_FILE_H
#define SOFTIB_DAEMON_SYSFS_SYSFS_FILE_H

#include "base/attributes.h"
#include "host/control.h"

enum { SYSFS_PATH_BYTES = CONTROL_PATH_BYTES + 256 };

/* Writes folder/name; a newline is added. 0 or -errno. */
MUST_USE int sysfs_file_write(const char *folder, const char *name, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* folder/name with all folders above it. */
MUST_USE int sysfs_folder_make(const char *folder, const char *name);
/* A link at folder/name, with the folders above it. */
MUST_USE int sysfs_link_make(const char *folder, const char *name, const char *target);

#endif
