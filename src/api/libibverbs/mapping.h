/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a range is mapped with the rights that a registration needs. */
#ifndef SOFTIB_API_LIBIBVERBS_MAPPING_H
#define SOFTIB_API_LIBIBVERBS_MAPPING_H

#include <stddef.h>
#include "base/attributes.h"

enum mapping_use {
	MAPPING_EXISTS, /* rights may change later, as with on-demand paging */
	MAPPING_READ,
	MAPPING_WRITTEN,
};

/*
 * -EFAULT: the range has a hole, or its first or last page lacks the rights. Pages in between are
 * not probed one by one, because registering a large range must not touch every page.
 */
MUST_USE int mapping_check(const void *bytes, size_t byte_count, enum mapping_use use);

#endif
