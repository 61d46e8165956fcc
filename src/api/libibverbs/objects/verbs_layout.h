/* SPDX-License-Identifier: Apache-2.0 */
/* The newest public object layouts, whatever rdma-core's headers of the build machine know. */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_VERBS_LAYOUT_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_VERBS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct ibv_buf;

/*
 * What lies before and in an open context. struct verbs_context grows towards lower addresses, so
 * the operations that rdma-core added after 44 stand in front of it. Embed the block in the context
 * object, zeroed, then:
 *
 *	block->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
 *	block->verbs.sz = CONTEXT_BLOCK_BYTES;
 *	block->verbs.query_port = ...;
 *	return &block->verbs.context;
 *
 * and come back from the program's pointer with context_block_of(). An operation left NULL is
 * answered with EOPNOTSUPP inside the program. Nothing of the object may stand between the block's
 * members, but anything may follow the block. ibv_close_xrcd() and the functions in
 * verbs.context.ops are called unchecked, so they must not stay NULL where a program can get there.
 */
struct softib_context_block {
#ifndef ABI_HAS_ALLOC_BUF
	void (*free_buf)(struct ibv_buf *buffer);
	void *(*alloc_buf)(struct ibv_pd *pd, size_t size, struct ibv_buf **ret_buffer);
#endif
#ifndef ABI_HAS_DM_EXPORT_DMABUF_FD
	int (*dm_export_dmabuf_fd)(struct ibv_dm *dm);
#endif
#ifndef ABI_HAS_ALLOC_DMAH
	struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *pd, void *attributes);
	int (*dealloc_dmah)(void *handle);
	void *(*alloc_dmah)(struct ibv_context *context, void *attributes);
#endif
	struct verbs_context verbs;
};

enum {
	/* From the first operation to the end of ibv_context; what verbs_context.sz says. */
	CONTEXT_BLOCK_BYTES = sizeof(struct softib_context_block),
	/* Real libmlx5 and libefa look at the pointer behind any device. */
	DEVICE_TAIL_BYTES = 8,
	/* What the exported ibv_query_port may write: its callers know no port_cap_flags2. */
	EXPORTED_PORT_ATTR_BYTES = 48,
};

static inline struct softib_context_block *context_block_of(struct ibv_context *context)
{
	return (struct softib_context_block *)((char *)context -
					       offsetof(struct softib_context_block,
							verbs.context));
}

/*
 * An ibv_qp_ex with every builder that programs of today may call. Embed it in the queue pair
 * object; qp->base.qp_base is the plain ibv_qp. The builders of base and wr_flush are all called
 * unchecked.
 */
struct softib_qp_ex {
	struct ibv_qp_ex base;
#ifndef ABI_HAS_WR_FLUSH
	void (*wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t length,
			 uint8_t type, uint8_t level);
#endif
};

#endif
