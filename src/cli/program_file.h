/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the drop-in libraries can get into a program at all. */
#ifndef SOFTIB_CLI_PROGRAM_FILE_H
#define SOFTIB_CLI_PROGRAM_FILE_H

#include <stddef.h>

/* As execvp would find it: ret_path gets the file. 0, -ENOENT or -EACCES. */
int program_file_find(const char *program, char *ret_path, size_t path_bytes);

/* NULL when nothing speaks against it, else the reason as the end of a sentence: "PROGRAM is ...".
 */
const char *program_file_obstacle(const char *path);

#endif
