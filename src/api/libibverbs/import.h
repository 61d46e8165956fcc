/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts that share their objects: those whose command descriptors are the same file. */
#ifndef SOFTIB_API_LIBIBVERBS_IMPORT_H
#define SOFTIB_API_LIBIBVERBS_IMPORT_H

#include <stdint.h>
#include <sys/types.h>

/* What contexts with this descriptor have in common, and which process made it (0: this one). 0: it
 * says nothing. */
uint64_t import_file_identity(int file, pid_t *ret_exporter);

#endif
