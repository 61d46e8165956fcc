/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process that this process can map: shared memory with a file behind it. */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_FOREIGN_MEMORY_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_FOREIGN_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/attributes.h"

struct foreign_memory {
	uint8_t *bytes; /* start of the range in this process */
	void *base;	/* of the mapping */
	size_t base_bytes;
};

/* -EOPNOTSUPP: the range is not shared memory; -ESRCH: no such process, or no right to inspect it;
 * -ENOMEM. */
MUST_USE int foreign_memory_map(pid_t process, uint64_t address, size_t byte_count,
				struct foreign_memory *ret_memory);
void foreign_memory_unmap(struct foreign_memory *memory);

#endif
