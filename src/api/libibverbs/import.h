/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts whose command descriptors are the same file share their objects. */
#ifndef SOFTIB_API_LIBIBVERBS_IMPORT_H
#define SOFTIB_API_LIBIBVERBS_IMPORT_H

#include <stdint.h>
#include <sys/types.h>

/* A number that all contexts with this file have in common (0: the file is no export file), and the
 * process that exports it (0: this one). */
uint64_t import_file_identity(int file, pid_t *ret_exporter);

#endif
