/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program can load the drop-in libraries. */
#ifndef SOFTIB_CLI_PROGRAM_FILE_H
#define SOFTIB_CLI_PROGRAM_FILE_H

#include <stddef.h>

/* Finds the program's file as execvp does. 0, -ENOENT or -EACCES. */
int program_file_find(const char *program, char *ret_path, size_t path_bytes);

/* NULL if the program can load the libraries, else the reason as the end of a sentence: "PROGRAM is
 * ...". */
const char *program_file_obstacle(const char *path);

#endif
