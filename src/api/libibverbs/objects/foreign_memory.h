/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process that can be mapped here as well: that of a file, named or not. */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_FOREIGN_MEMORY_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_FOREIGN_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/attributes.h"

struct foreign_memory {
	uint8_t *bytes; /* where the range begins here */
	void *base;	/* of the mapping */
	size_t base_bytes;
};

/* -EOPNOTSUPP: the range is not shared memory; -ESRCH: there is no such process, or it is not ours
 * to look at; -ENOMEM. */
MUST_USE int foreign_memory_map(pid_t process, uint64_t address, size_t byte_count,
				struct foreign_memory *ret_memory);
void foreign_memory_unmap(struct foreign_memory *memory);

#endif
