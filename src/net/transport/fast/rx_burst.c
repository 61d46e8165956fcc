/* SPDX-License-Identifier: Apache-2.0 */
/* A burst of arrivals: see rx_burst.h. */
#include "net/transport/fast/rx_burst.h"

struct rx_burst_place rx_burst_find_place(const struct qp *qp, uint32_t key, uint32_t byte_count)
{
	const struct region *region = memory_find_plain(qp->environment->memory, key);

	if (unlikely(!region || region->pd != qp->receive_queue->pd ||
		     !(region->access & ACCESS_LOCAL_WRITE) || region->byte_count < byte_count))
		return (struct rx_burst_place){.bytes = NULL};
	return (struct rx_burst_place){
		.key = key,
		.from = region->iova,
		.span = region->byte_count - byte_count,
		.bytes = region->bytes,
	};
}
