/* SPDX-License-Identifier: Apache-2.0 */
/* The newest public object layouts, independent of the rdma-core headers of the build machine. */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_VERBS_LAYOUT_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_VERBS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct ibv_buf;

/*
 * The memory of an open context, including the operations before it. struct verbs_context grows
 * towards lower addresses, so the operations that rdma-core added after 44 come first. The context
 * object embeds the block, zeroed, as its first member, and sets verbs.context.abi_compat to
 * __VERBS_ABI_IS_EXTENDED, verbs.sz to CONTEXT_BLOCK_BYTES, and the operations. Programs get
 * &block->verbs.context; context_block_of() leads back.
 *
 * A program gets EOPNOTSUPP for an operation that is NULL. The exceptions are ibv_close_xrcd() and
 * the functions in verbs.context.ops: programs call them unchecked, so they must not be NULL.
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
	/* From the first operation to the end of ibv_context: the value of verbs_context.sz. */
	CONTEXT_BLOCK_BYTES = sizeof(struct softib_context_block),
	/* libmlx5 and libefa read the pointer behind any device. */
	DEVICE_TAIL_BYTES = 8,
	/* The exported ibv_query_port writes no more, because its callers do not know
	 * port_cap_flags2. */
	EXPORTED_PORT_ATTR_BYTES = 48,
};

static inline struct softib_context_block *context_block_of(struct ibv_context *context)
{
	return (struct softib_context_block *)((char *)context -
					       offsetof(struct softib_context_block,
							verbs.context));
}

/*
 * An ibv_qp_ex with every builder function that today's programs may call. The QP object embeds it;
 * qp->base.qp_base is the plain ibv_qp. Programs call all builder functions unchecked.
 */
struct softib_qp_ex {
	struct ibv_qp_ex base;
#ifndef ABI_HAS_WR_FLUSH
	void (*wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t length,
			 uint8_t type, uint8_t level);
#endif
};

#endif
