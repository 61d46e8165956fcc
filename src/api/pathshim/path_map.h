/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths of the machine stand for files that softib renders, and where those are. */
#ifndef SOFTIB_API_PATHSHIM_PATH_MAP_H
#define SOFTIB_API_PATHSHIM_PATH_MAP_H

#include <stdbool.h>
#include <stddef.h>

/* Fits a signal handler's alternate stack. A path that grows beyond it is left alone. */
enum { MAPPED_PATH_BYTES = 1024 };

/* Whether path belongs to softib. Nearly every path of a program is told otherwise by one
 * comparison. */
bool path_is_mapped(const char *path);

/*
 * The path to use instead of path: itself, or <tree> + path in ret_buffer. tree NULL or empty maps
 * nothing. Async-signal-safe, allocates nothing, leaves errno alone.
 */
const char *path_map(const char *path, const char *tree, char ret_buffer[static MAPPED_PATH_BYTES]);

/* A file of the tree whose text softibd writes only when asked. */
bool path_is_counter(const char *path, const char *tree);

/* Where the system says which path fd was opened by; as safe as path_map(). */
enum { FD_PATH_BYTES = 32 };
void path_of_fd(int fd, char ret_path[static FD_PATH_BYTES]);

#endif
