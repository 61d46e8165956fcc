/* SPDX-License-Identifier: Apache-2.0 */
/* Registration by an attribute struct: of memory or of a DMA buffer, with DMA handles as hints. */
#include "api/libibverbs/extended_mr.h"

#include "api/libibverbs/objects/objects.h"

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr)
{
	if (!pd || !attr)
		return verbs_null(-EINVAL);

	const uint64_t known = IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD |
			       IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_DMAH;
	const uint64_t of_file = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET;
	bool has_address = attr->comp_mask & IBV_REG_MR_MASK_ADDR;

	/* There is no bus that could use a DMA handle. */
	if (attr->comp_mask & ~known || attr->comp_mask & IBV_REG_MR_MASK_DMAH)
		return verbs_null(-EOPNOTSUPP);
	if (has_address == !!(attr->comp_mask & of_file))
		return verbs_null(-EINVAL);
	if (!has_address) {
		/* Offset and iova have no default for a DMA buffer. */
		if ((attr->comp_mask & of_file) != of_file ||
		    !(attr->comp_mask & IBV_REG_MR_MASK_IOVA))
			return verbs_null(-EINVAL);
		return ibv_reg_dmabuf_mr(pd, attr->fd_offset, attr->length, attr->iova, attr->fd,
					 attr->access);
	}
	return ibv_reg_mr_iova2(pd, attr->addr, attr->length,
				attr->comp_mask & IBV_REG_MR_MASK_IOVA ? attr->iova
								       : (uintptr_t)attr->addr,
				(unsigned)attr->access);
}
