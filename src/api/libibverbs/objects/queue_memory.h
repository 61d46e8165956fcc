/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for queues from a program's own allocator, which a parent domain carries. */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_QUEUE_MEMORY_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_QUEUE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

struct ibv_pd;

/* The resource_type that the program's allocator gets. Each adapter driver defines its own numbers.
 */
enum queue_memory_purpose {
	QUEUE_MEMORY_FOR_QP = 1,
	QUEUE_MEMORY_FOR_CQ = 2,
	QUEUE_MEMORY_FOR_SRQ = 3,
};

enum { QUEUE_MEMORY_PIECES = 2 };

struct queue_memory {
	struct ibv_pd *pd;		   /* the parent domain in use; NULL: none */
	void *pieces[QUEUE_MEMORY_PIECES]; /* NULL: the library allocated this piece */
	enum queue_memory_purpose purpose;
};

/* Allocates one piece per size that is not 0. Nothing is allocated if pd is NULL or no parent
 * domain. -ENOMEM: the program's allocator returned NULL or unaligned memory. Called without the
 * adapter's lock, because the allocator is the program's code. */
MUST_USE int queue_memory_allocate(struct queue_memory *memory, struct ibv_pd *pd,
				   enum queue_memory_purpose purpose,
				   const size_t sizes[static QUEUE_MEMORY_PIECES]);
/* Called when the queue is destroyed. */
void queue_memory_free(struct queue_memory *memory);

#endif
