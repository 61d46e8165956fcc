/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the local part of a template: see send_template.h. */
#include "runtime/fast/send_template.h"

#include "net/memory/memory.h"

static struct template_range range_of(const struct qp *qp, const struct sge *sge)
{
	const struct region *region = memory_find_plain(qp->environment->memory, sge->lkey);

	return (struct template_range){
		.from = region->iova,
		.span = region->byte_count - sge->byte_count,
		.bytes = region->bytes,
	};
}

struct template_local template_local(const struct qp *qp, const struct send_request *request)
{
	const struct sge *sge = &request->sges[0];
	const bool has_key = !(request->flags & SEND_INLINE);

	return (struct template_local){
		.flags = request->flags,
		.byte_count = sge->byte_count,
		.key = sge->lkey,
		.key_mask = has_key ? UINT32_MAX : 0,
		.range = has_key ? range_of(qp, sge) : (struct template_range){.span = UINT64_MAX},
	};
}
