/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts that share their objects: those whose command descriptors are the same file. */
#ifndef SOFTIB_API_LIBIBVERBS_IMPORT_H
#define SOFTIB_API_LIBIBVERBS_IMPORT_H

#include <stdint.h>
#include "base/attributes.h"

struct context_object;
struct verbs_device;

/* A new context's command descriptor: it says which adapter it is of, to whoever it is passed to.
 * -errno. */
MUST_USE int import_file_create(const struct verbs_device *device, int *ret_file);

/* What contexts with this descriptor have in common; 0: made by another process, whose objects are
 * not here. */
uint64_t import_file_identity(int file);

#endif
