/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for queues from a program's own allocator, which a parent domain carries. */
#ifndef SOFTIB_API_LIBIBVERBS_PARENT_DOMAIN_H
#define SOFTIB_API_LIBIBVERBS_PARENT_DOMAIN_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

struct ibv_pd;

/* What the allocator is told that the memory is for; numbers of this adapter. */
enum lent_purpose { LENT_FOR_QP = 1, LENT_FOR_CQ = 2, LENT_FOR_SRQ = 3 };

enum { LENT_PIECES = 2 };

struct lent_memory {
	struct ibv_pd *pd; /* the parent domain in use; NULL: none */
	void *pieces[LENT_PIECES]; /* NULL: the library's own memory serves */
	enum lent_purpose purpose;
};

/* One piece per size that is not 0. A pd that is no parent domain, or NULL, lends nothing. -ENOMEM:
 * its allocator has none. The adapter's lock is not held: the allocator is the program's. */
MUST_USE int lent_memory_take(struct lent_memory *lent, struct ibv_pd *pd,
			      enum lent_purpose purpose, const size_t sizes[static LENT_PIECES]);
/* Once nothing uses it any more. */
void lent_memory_return(struct lent_memory *lent);

#endif
