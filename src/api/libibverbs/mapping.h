/* SPDX-License-Identifier: Apache-2.0 */
/* Whether memory is there and may be used as a registration wants to. */
#ifndef SOFTIB_API_LIBIBVERBS_MAPPING_H
#define SOFTIB_API_LIBIBVERBS_MAPPING_H

#include <stddef.h>
#include "base/attributes.h"

enum mapping_use {
	MAPPING_EXISTS, /* pages may come and go, as with on-demand paging */
	MAPPING_READ,
	MAPPING_WRITTEN,
};

/*
 * -EFAULT: a hole in the range, or no right to its first or last page. Pages between two mappings
 * of different rights are not looked at one by one: registering must not cost a walk over them.
 */
MUST_USE int mapping_check(const void *bytes, size_t byte_count, enum mapping_use use);

#endif
