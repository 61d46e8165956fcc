/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ibv_wr_* interface (rdma-core's send operations).
 *
 * Between start and complete the requests stand here as ordinary ibv_send_wr, with copies of their
 * SGEs and inline data, so that an abort leaves no trace and completing is one ibv_post_send. The
 * arrays grow to what a program uses and stay.
 */
#include "api/libibverbs/wr_builder.h"

#include <stdlib.h>
#include <string.h>
#include "api/libibverbs/operations.h"

struct staged_request {
	struct ibv_send_wr wr;
	uint32_t first_sge;   /* index in sges */
	size_t inline_offset; /* in inline_bytes, where IBV_SEND_INLINE is set */
};

struct wr_builder {
	pthread_mutex_t mutex; /* from start to complete or abort */
	int error;	       /* positive; the first thing that went wrong since start */
	struct staged_request *requests;
	uint32_t request_count;
	uint32_t request_capacity;
	struct ibv_sge *sges;
	uint32_t sge_count;
	uint32_t sge_capacity;
	uint8_t *inline_bytes;
	size_t inline_count;
	size_t inline_capacity;
};

static struct verbs_qp *qp_of_extended(struct ibv_qp_ex *qp)
{
	return qp_of(&qp->qp_base);
}

static struct wr_builder *builder_of(struct ibv_qp_ex *qp)
{
	return qp_of_extended(qp)->builder;
}

static void fail(struct wr_builder *builder, int error)
{
	if (!builder->error)
		builder->error = error;
}

/* A request with the id and flags that the program has put into the queue pair; NULL after an
 * error. */
static struct ibv_send_wr *stage(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode)
{
	struct wr_builder *builder = builder_of(qp);

	if (builder->error)
		return NULL;
	if (builder->request_count == builder->request_capacity) {
		uint32_t capacity = builder->request_capacity ? builder->request_capacity * 2 : 16;
		struct staged_request *larger =
			realloc(builder->requests, capacity * sizeof(*larger));

		if (!larger) {
			fail(builder, ENOMEM);
			return NULL;
		}
		builder->requests = larger;
		builder->request_capacity = capacity;
	}

	struct staged_request *staged = &builder->requests[builder->request_count++];

	*staged = (struct staged_request){
		.wr.wr_id = qp->wr_id,
		.wr.opcode = opcode,
		.wr.send_flags = qp->wr_flags & ~(unsigned)IBV_SEND_INLINE,
		.first_sge = builder->sge_count,
	};
	return &staged->wr;
}

/* The request that the setters speak of. */
static struct staged_request *current(struct wr_builder *builder)
{
	if (builder->error)
		return NULL;
	if (builder->request_count == 0) {
		fail(builder, EINVAL);
		return NULL;
	}
	return &builder->requests[builder->request_count - 1];
}

static void wr_start(struct ibv_qp_ex *qp)
{
	struct wr_builder *builder = builder_of(qp);

	pthread_mutex_lock(&builder->mutex);
	builder->error = 0;
	builder->request_count = 0;
	builder->sge_count = 0;
	builder->inline_count = 0;
}

/* The arrays have stopped moving: pointers into them can be set. */
static void link_requests(struct wr_builder *builder)
{
	for (uint32_t i = 0; i < builder->request_count; i++) {
		struct staged_request *staged = &builder->requests[i];
		struct ibv_sge *sges = builder->sges + staged->first_sge;

		staged->wr.next =
			i + 1 < builder->request_count ? &builder->requests[i + 1].wr : NULL;
		staged->wr.sg_list = staged->wr.num_sge ? sges : NULL;
		if (staged->wr.send_flags & IBV_SEND_INLINE)
			sges->addr = (uintptr_t)(builder->inline_bytes + staged->inline_offset);
	}
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	struct wr_builder *builder = builder_of(qp);
	int error = builder->error;

	if (!error && builder->request_count) {
		struct ibv_send_wr *bad;

		link_requests(builder);
		error = verbs_post_send(&qp->qp_base, &builder->requests[0].wr, &bad);
	}
	pthread_mutex_unlock(&builder->mutex);
	if (error)
		errno = error;
	return error;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	pthread_mutex_unlock(&builder_of(qp)->mutex);
}

static void wr_send(struct ibv_qp_ex *qp)
{
	stage(qp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 immediate)
{
	struct ibv_send_wr *wr = stage(qp, IBV_WR_SEND_WITH_IMM);

	if (wr)
		wr->imm_data = immediate;
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	struct ibv_send_wr *wr = stage(qp, IBV_WR_SEND_WITH_INV);

	if (wr)
		wr->invalidate_rkey = rkey;
}

static struct ibv_send_wr *stage_rdma(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode,
				      uint32_t rkey, uint64_t remote_address)
{
	struct ibv_send_wr *wr = stage(qp, opcode);

	if (wr) {
		wr->wr.rdma.rkey = rkey;
		wr->wr.rdma.remote_addr = remote_address;
	}
	return wr;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_address)
{
	stage_rdma(qp, IBV_WR_RDMA_READ, rkey, remote_address);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_address)
{
	stage_rdma(qp, IBV_WR_RDMA_WRITE, rkey, remote_address);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_address,
			      __be32 immediate)
{
	struct ibv_send_wr *wr = stage_rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_address);

	if (wr)
		wr->imm_data = immediate;
}

static void stage_atomic(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey,
			 uint64_t remote_address, uint64_t compare_add, uint64_t swap)
{
	struct ibv_send_wr *wr = stage(qp, opcode);

	if (!wr)
		return;
	wr->wr.atomic.rkey = rkey;
	wr->wr.atomic.remote_addr = remote_address;
	wr->wr.atomic.compare_add = compare_add;
	wr->wr.atomic.swap = swap;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_address,
			      uint64_t compare, uint64_t swap)
{
	stage_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_address, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_address,
				uint64_t add)
{
	stage_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_address, add, 0);
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct staged_request *staged = current(builder_of(qp));

	if (!staged)
		return;
	staged->wr.wr.ud.ah = ah;
	staged->wr.wr.ud.remote_qpn = remote_qpn;
	staged->wr.wr.ud.remote_qkey = remote_qkey;
}

static bool reserve_sges(struct wr_builder *builder, size_t count)
{
	while (builder->sge_count + count > builder->sge_capacity) {
		uint32_t capacity = builder->sge_capacity ? builder->sge_capacity * 2 : 64;
		struct ibv_sge *larger = realloc(builder->sges, capacity * sizeof(*larger));

		if (!larger) {
			fail(builder, ENOMEM);
			return false;
		}
		builder->sges = larger;
		builder->sge_capacity = capacity;
	}
	return true;
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *sges)
{
	struct wr_builder *builder = builder_of(qp);
	struct staged_request *staged = current(builder);

	if (!staged)
		return;
	if (count > qp_of_extended(qp)->object->qp.capabilities.send_sges_max) {
		fail(builder, EINVAL);
		return;
	}
	if (!reserve_sges(builder, count))
		return;
	staged->first_sge = builder->sge_count;
	staged->wr.num_sge = (int)count;
	if (count)
		memcpy(builder->sges + builder->sge_count, sges, count * sizeof(*sges));
	builder->sge_count += (uint32_t)count;
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	wr_set_sge_list(qp, 1, &sge);
}

static bool reserve_inline(struct wr_builder *builder, size_t byte_count)
{
	while (builder->inline_count + byte_count > builder->inline_capacity) {
		size_t capacity = builder->inline_capacity ? builder->inline_capacity * 2 : 1024;
		uint8_t *larger = realloc(builder->inline_bytes, capacity);

		if (!larger) {
			fail(builder, ENOMEM);
			return false;
		}
		builder->inline_bytes = larger;
		builder->inline_capacity = capacity;
	}
	return true;
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t buffer_count,
				    const struct ibv_data_buf *buffers)
{
	struct wr_builder *builder = builder_of(qp);
	struct staged_request *staged = current(builder);
	size_t byte_count = 0;

	if (!staged)
		return;
	for (size_t i = 0; i < buffer_count; i++)
		byte_count += buffers[i].length;
	if (byte_count > qp_of_extended(qp)->object->qp.capabilities.inline_bytes_max) {
		fail(builder, EINVAL);
		return;
	}
	if (!reserve_sges(builder, 1) || !reserve_inline(builder, byte_count))
		return;
	staged->inline_offset = builder->inline_count;
	for (size_t i = 0; i < buffer_count; i++) {
		if (buffers[i].length)
			memcpy(builder->inline_bytes + builder->inline_count, buffers[i].addr,
			       buffers[i].length);
		builder->inline_count += buffers[i].length;
	}
	staged->first_sge = builder->sge_count;
	builder->sges[builder->sge_count++] = (struct ibv_sge){.length = (uint32_t)byte_count};
	staged->wr.num_sge = 1;
	staged->wr.send_flags |= IBV_SEND_INLINE;
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *bytes, size_t byte_count)
{
	const struct ibv_data_buf buffer = {.addr = bytes, .length = byte_count};

	wr_set_inline_data_list(qp, 1, &buffer);
}

/* Operations that no type offers: the program learns of it from wr_complete. */
static void refuse(struct ibv_qp_ex *qp)
{
	fail(builder_of(qp), EOPNOTSUPP);
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	(void)mw;
	(void)rkey;
	(void)info;
	refuse(qp);
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	(void)rkey;
	refuse(qp);
}

static void wr_send_tso(struct ibv_qp_ex *qp, void *header, uint16_t header_bytes, uint16_t mss)
{
	(void)header;
	(void)header_bytes;
	(void)mss;
	refuse(qp);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t srqn)
{
	(void)srqn;
	refuse(qp);
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_address,
			    const void *value)
{
	(void)rkey;
	(void)remote_address;
	(void)value;
	refuse(qp);
}

static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_address, size_t length,
		     uint8_t type, uint8_t level)
{
	(void)rkey;
	(void)remote_address;
	(void)length;
	(void)type;
	(void)level;
	refuse(qp);
}

uint64_t wr_builder_operations(enum ibv_qp_type type)
{
	const uint64_t sends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	const uint64_t writes = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	const uint64_t answered = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
				  IBV_QP_EX_WITH_SEND_WITH_INV;

	switch ((unsigned)type) {
	case IBV_QPT_RC:
		return sends | writes | answered;
	case IBV_QPT_UC:
		return sends | writes;
	case IBV_QPT_UD:
		return sends;
	default:
		return 0;
	}
}

int wr_builder_attach(struct verbs_qp *qp)
{
	struct ibv_qp_ex *public = &qp_extended(qp)->base;

	qp->builder = calloc(1, sizeof(*qp->builder));
	if (!qp->builder)
		return -ENOMEM;
	pthread_mutex_init(&qp->builder->mutex, NULL);
	public->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	public->wr_atomic_fetch_add = wr_atomic_fetch_add;
	public->wr_bind_mw = wr_bind_mw;
	public->wr_local_inv = wr_local_inv;
	public->wr_rdma_read = wr_rdma_read;
	public->wr_rdma_write = wr_rdma_write;
	public->wr_rdma_write_imm = wr_rdma_write_imm;
	public->wr_send = wr_send;
	public->wr_send_imm = wr_send_imm;
	public->wr_send_inv = wr_send_inv;
	public->wr_send_tso = wr_send_tso;
	public->wr_set_ud_addr = wr_set_ud_addr;
	public->wr_set_xrc_srqn = wr_set_xrc_srqn;
	public->wr_set_inline_data = wr_set_inline_data;
	public->wr_set_inline_data_list = wr_set_inline_data_list;
	public->wr_set_sge = wr_set_sge;
	public->wr_set_sge_list = wr_set_sge_list;
	public->wr_start = wr_start;
	public->wr_complete = wr_complete;
	public->wr_abort = wr_abort;
	public->wr_atomic_write = wr_atomic_write;
#ifdef ABI_HAS_WR_FLUSH
	public->wr_flush = wr_flush;
#else
	qp_extended(qp)->wr_flush = wr_flush;
#endif
	return 0;
}

void wr_builder_detach(struct verbs_qp *qp)
{
	struct wr_builder *builder = qp->builder;

	if (!builder)
		return;
	pthread_mutex_destroy(&builder->mutex);
	free(builder->requests);
	free(builder->sges);
	free(builder->inline_bytes);
	free(builder);
	qp->builder = NULL;
}
