/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ibv_wr_* interface (rdma-core's send operations): what each call adds to the requests that
 * wr_complete then posts, all or none.
 */
#include "api/libibverbs/data/wr_builder.h"

#include <stdlib.h>
#include "api/libibverbs/objects/operations.h"
#include "api/libibverbs/data/staged_requests.h"
#include "wire/pkey.h"

struct wr_builder {
	pthread_mutex_t mutex; /* from start to complete or abort */
	struct staged_requests staged;
};

/* The last one is IBV_QP_EX_WITH_FLUSH of rdma-core 45. */
enum { QP_EX_WITH_FLUSH = 1 << 11 };

static struct verbs_qp *qp_of_extended(struct ibv_qp_ex *qp)
{
	return qp_of(&qp->qp_base);
}

static struct staged_requests *staged_of(struct ibv_qp_ex *qp)
{
	return &qp_of_extended(qp)->builder->staged;
}

/* A request with the id and flags that the program has put into the queue pair; NULL after an
 * error. */
static struct ibv_send_wr *stage(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode)
{
	return staged_requests_add(staged_of(qp), qp->wr_id, opcode, qp->wr_flags);
}

static void wr_start(struct ibv_qp_ex *qp)
{
	pthread_mutex_lock(&qp_of_extended(qp)->builder->mutex);
	staged_requests_clear(staged_of(qp));
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	struct staged_requests *staged = staged_of(qp);
	int error = staged->error;

	if (!error && staged->request_count)
		error = -verbs_post_whole(qp_of_extended(qp), staged_requests_link(staged));
	pthread_mutex_unlock(&qp_of_extended(qp)->builder->mutex);
	if (error)
		errno = error;
	return error;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	pthread_mutex_unlock(&qp_of_extended(qp)->builder->mutex);
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
	struct ibv_send_wr *wr = staged_requests_newest(staged_of(qp));

	if (!wr)
		return;
	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = remote_qpn;
	wr->wr.ud.remote_qkey = remote_qkey;
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t srqn)
{
	struct ibv_send_wr *wr = staged_requests_newest(staged_of(qp));

	if (srqn > QPN_MAX)
		staged_requests_fail(staged_of(qp), EINVAL);
	else if (wr)
		wr->qp_type.xrc.remote_srqn = srqn;
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *sges)
{
	if (count > qp_of_extended(qp)->object->qp.capabilities.send_sges_max)
		staged_requests_fail(staged_of(qp), EINVAL);
	else
		staged_requests_set_sges(staged_of(qp), sges, count);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	wr_set_sge_list(qp, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t buffer_count,
				    const struct ibv_data_buf *buffers)
{
	size_t room = qp_of_extended(qp)->object->qp.capabilities.inline_bytes_max;

	for (size_t i = 0; i < buffer_count; i++) {
		if (buffers[i].length > room) {
			staged_requests_fail(staged_of(qp), EINVAL);
			return;
		}
		room -= buffers[i].length;
	}
	staged_requests_set_inline(staged_of(qp), buffers, buffer_count);
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *bytes, size_t byte_count)
{
	const struct ibv_data_buf buffer = {.addr = bytes, .length = byte_count};

	wr_set_inline_data_list(qp, 1, &buffer);
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr *wr = stage(qp, IBV_WR_BIND_MW);

	if (!wr)
		return;
	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = *info;
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	struct ibv_send_wr *wr = stage(qp, IBV_WR_LOCAL_INV);

	if (wr)
		wr->invalidate_rkey = rkey;
}

/* Operations that no type offers: the program learns of it from wr_complete. */
static void refuse(struct ibv_qp_ex *qp)
{
	staged_requests_fail(staged_of(qp), EOPNOTSUPP);
}

static void wr_send_tso(struct ibv_qp_ex *qp, void *header, uint16_t header_bytes, uint16_t mss)
{
	(void)header;
	(void)header_bytes;
	(void)mss;
	refuse(qp);
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_address,
			    const void *value)
{
	const struct ibv_data_buf bytes = {.addr = (void *)(uintptr_t)value, .length = 8};

	if (stage_rdma(qp, IBV_WR_ATOMIC_WRITE, rkey, remote_address))
		staged_requests_set_inline(staged_of(qp), &bytes, 1);
}

/* struct ibv_send_wr has no room of its own for a flush: it goes where an atomic's operands are. */
static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_address, size_t length,
		     uint8_t type, uint8_t level)
{
	if (length > UINT32_MAX || type == 0 || type > (FLUSH_GLOBAL | FLUSH_PERSISTENT) ||
	    level > FLUSH_REGION)
		staged_requests_fail(staged_of(qp), EINVAL);
	else
		stage_atomic(qp, (enum ibv_wr_opcode)SEND_FLUSH, rkey, remote_address, length,
			     (uint64_t)level << 8 | type);
}

uint64_t wr_builder_operations(enum ibv_qp_type type)
{
	const uint64_t sends = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	const uint64_t writes = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	const uint64_t answered = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
				  IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_SEND_WITH_INV |
				  QP_EX_WITH_FLUSH;
	const uint64_t local = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;

	switch ((unsigned)type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return sends | writes | answered | local;
	case IBV_QPT_UC:
		return sends | writes | local;
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
	staged_requests_release(&builder->staged);
	free(builder);
	qp->builder = NULL;
}
