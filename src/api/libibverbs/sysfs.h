/* SPDX-License-Identifier: Apache-2.0 */
/* The sysfs readers that libibverbs exports; rdma-core declares them in a header it does not
 * install. */
#ifndef SOFTIB_API_LIBIBVERBS_SYSFS_H
#define SOFTIB_API_LIBIBVERBS_SYSFS_H

#include <stddef.h>

/* The folder above class/infiniband. The string lives as long as the process. */
const char *ibv_get_sysfs_path(void);

/*
 * Reads <dir>/<file> into ret_text without the last newline, and adds a NUL if there is room.
 * Returns the number of bytes, or -1 with errno.
 */
int ibv_read_sysfs_file(const char *dir, const char *file, char *ret_text, size_t text_bytes_max);

#endif
