/* SPDX-License-Identifier: Apache-2.0 */
/* Maps paths of InfiniBand files (/sys, /dev, ibacm's in /run, /var and /etc) to the host's files.
 */
#ifndef SOFTIB_API_PATHSHIM_PATH_MAP_H
#define SOFTIB_API_PATHSHIM_PATH_MAP_H

#include <stdbool.h>
#include <stddef.h>

/* Small enough for a signal handler's alternate stack. Longer mapped paths stay unmapped. */
enum { MAPPED_PATH_BYTES = 1024 };

/* Whether the path is one of softib's. One comparison rules out nearly every path of a program. */
bool path_is_mapped(const char *path);

/*
 * Returns path itself, or <tree> + path in ret_buffer. If tree is NULL or empty, maps nothing.
 * Async-signal-safe; allocates nothing; keeps errno.
 */
const char *path_map(const char *path, const char *tree, char ret_buffer[static MAPPED_PATH_BYTES]);

/* Whether the file is a counter, which softibd writes only on request. */
bool path_is_counter(const char *path, const char *tree);

/* The /proc path that leads to the path of an open fd. As safe as path_map(). */
enum { FD_PATH_BYTES = 32 };
void path_of_fd(int fd, char ret_path[static FD_PATH_BYTES]);

#endif
