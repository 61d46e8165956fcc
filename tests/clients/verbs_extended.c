/* SPDX-License-Identifier: Apache-2.0 */
/* The extended interfaces: ibv_wr_*, ibv_cq_ex, device memory, on-demand regions, query_device_ex.
 * Covers: api/libibverbs/objects/core_sharing.c api/libibverbs/device_memory.c
 * api/libibverbs/data/poll.c api/libibverbs/verbs_query.c api/libibverbs/data/wr_builder.c */
#include "verbs_client.h"

enum {
	IMMEDIATE = 0x77665544,
	OPERATIONS = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
		     IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
		     IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
};

static struct endpoint extended_open(struct device *device)
{
	struct endpoint endpoint = {.device = device};
	struct ibv_cq_init_attr_ex cq_options = {
		.cqe = 64,
		.wc_flags = IBV_CREATE_CQ_SUP_WC_FLAGS,
	};

	endpoint_register(&endpoint);
	endpoint.cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(device->context, &cq_options));
	CHECK(endpoint.cq);

	struct ibv_qp_init_attr_ex options = {
		.send_cq = endpoint.cq,
		.recv_cq = endpoint.cq,
		.cap = {QUEUE_DEPTH, QUEUE_DEPTH, SGES, SGES, 256},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = device->pd,
		.send_ops_flags = OPERATIONS,
	};

	endpoint.qp = ibv_create_qp_ex(device->context, &options);
	CHECK(endpoint.qp);
	CHECK(options.cap.max_inline_data >= 256);
	return endpoint;
}

static struct ibv_cq_ex *wait_extended(struct endpoint *endpoint)
{
	struct ibv_cq_ex *cq = (struct ibv_cq_ex *)endpoint->cq;
	struct ibv_poll_cq_attr attr = {0};
	time_t end = time(NULL) + POLL_SECONDS_MAX;
	int error;

	while ((error = ibv_start_poll(cq, &attr)) == ENOENT)
		CHECK(time(NULL) <= end);
	CHECK_EQUAL(error, 0);
	CHECK_EQUAL(cq->status, IBV_WC_SUCCESS);
	return cq;
}

/* Three requests in one batch, read back one by one with start and next. */
static void batch(struct endpoint *a, struct endpoint *b)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a->qp);
	struct ibv_data_buf pieces[2] = {{a->bytes, 5}, {a->bytes + 100, 6}};

	CHECK(qp);
	fill(a->bytes, 4096, 9);
	post_receive(b, 50, 0, 64);
	post_receive(b, 51, 100, 64);

	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(qp, IMMEDIATE);
	ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->bytes, 20);
	qp->wr_id = 2;
	ibv_wr_send(qp);
	ibv_wr_set_inline_data_list(qp, 2, pieces);
	qp->wr_id = 3;
	ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->bytes + 1000);
	ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->bytes, 3000);
	CHECK_EQUAL(ibv_wr_complete(qp), 0);

	for (uint64_t wr_id = 1; wr_id <= 3; wr_id++) {
		struct ibv_cq_ex *cq = wait_extended(a);

		CHECK_EQUAL(cq->wr_id, wr_id);
		CHECK_EQUAL(ibv_wc_read_opcode(cq), wr_id == 3 ? IBV_WC_RDMA_WRITE : IBV_WC_SEND);
		CHECK_EQUAL(ibv_wc_read_qp_num(cq), a->qp->qp_num);
		CHECK(ibv_wc_read_completion_ts(cq) != 0);
		CHECK_EQUAL(ibv_wc_read_cvlan(cq), 0);
		CHECK_EQUAL(ibv_wc_read_flow_tag(cq), 0);
		ibv_end_poll(cq);
	}

	struct ibv_cq_ex *cq = wait_extended(b);

	CHECK_EQUAL(cq->wr_id, 50);
	CHECK_EQUAL(ibv_wc_read_byte_len(cq), 20);
	CHECK(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM);
	CHECK_EQUAL(ibv_wc_read_imm_data(cq), IMMEDIATE);
	CHECK_EQUAL(ibv_next_poll(cq), 0);
	CHECK_EQUAL(cq->wr_id, 51);
	CHECK_EQUAL(ibv_wc_read_byte_len(cq), 11);
	CHECK_EQUAL(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	CHECK(memcmp(b->bytes, a->bytes, 20) == 0);
	CHECK(memcmp(b->bytes + 100, a->bytes, 5) == 0);
	CHECK(memcmp(b->bytes + 105, a->bytes + 100, 6) == 0);
	CHECK(memcmp(b->bytes + 1000, a->bytes, 3000) == 0);
}

static void aborts_and_mistakes(struct endpoint *a, struct endpoint *b)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a->qp);
	struct ibv_wc wc;

	ibv_wr_start(qp);
	ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->bytes);
	ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->bytes, 8);
	ibv_wr_abort(qp);

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, a->bytes, 4096);
	CHECK_EQUAL(ibv_wr_complete(qp), EINVAL);

	ibv_wr_start(qp);
	ibv_wr_send_tso(qp, a->bytes, 8, 512);
	CHECK_EQUAL(ibv_wr_complete(qp), EOPNOTSUPP);

	/* One more than the queue holds: none of them is posted. */
	ibv_wr_start(qp);
	for (unsigned i = 0; i <= QUEUE_DEPTH; i++) {
		ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->bytes);
		ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->bytes, 8);
	}
	CHECK_EQUAL(ibv_wr_complete(qp), ENOMEM);
	CHECK_EQUAL(ibv_poll_cq(a->cq, 1, &wc), 0);
}

static void device_memory(struct device *device, struct endpoint *a, struct endpoint *b)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096};
	struct ibv_dm *dm = ibv_alloc_dm(device->context, &attr);

	CHECK(dm);

	struct ibv_mr *mr = ibv_reg_dm_mr(device->pd, dm, 0, 4096,
					  IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE |
						  IBV_ACCESS_REMOTE_READ);
	struct ibv_sge sge = {.addr = 16, .length = 100, .lkey = mr ? mr->lkey : 0};
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, b, 0);

	CHECK(mr);
	fill(a->bytes, 100, 4);
	CHECK_EQUAL(ibv_memcpy_to_dm(dm, 16, a->bytes, 100), 0);
	CHECK(ibv_memcpy_to_dm(dm, 4000, a->bytes, 100) != 0);
	post(a, &wr);
	expect_status(a->cq, IBV_WC_SUCCESS);
	CHECK(memcmp(b->bytes, a->bytes, 100) == 0);
	CHECK_EQUAL(ibv_free_dm(dm), EBUSY);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	CHECK_EQUAL(ibv_free_dm(dm), 0);
}

static void on_demand(struct device *device, struct endpoint *a, struct endpoint *b)
{
	struct ibv_device_attr_ex attr;

	CHECK_EQUAL(ibv_query_device_ex(device->context, NULL, &attr), 0);
	CHECK(attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT);
	CHECK(attr.completion_timestamp_mask != 0);
	CHECK_EQUAL(attr.phys_port_cnt_ex, attr.orig_attr.phys_port_cnt);

	struct ibv_mr *all =
		ibv_reg_mr(device->pd, NULL, SIZE_MAX, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	uint8_t *fresh = malloc(1000);

	CHECK(all && fresh);

	struct ibv_sge sge = {(uintptr_t)fresh, 1000, all->lkey};
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, b, 0);

	CHECK_EQUAL(ibv_advise_mr(device->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				  IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
		    0);
	fill(fresh, 1000, 6);
	post(a, &wr);
	expect_status(a->cq, IBV_WC_SUCCESS);
	CHECK(memcmp(b->bytes, fresh, 1000) == 0);
	CHECK_EQUAL(ibv_dereg_mr(all), 0);
	free(fresh);
}

/* Every field that the header names can be asked for, alone and with all others. */
static void all_fields(struct device *device)
{
	for (uint64_t field = 1; field <= IBV_CREATE_CQ_SUP_WC_FLAGS; field <<= 1) {
		struct ibv_cq_init_attr_ex options = {.cqe = 1, .wc_flags = field};
		struct ibv_cq_ex *cq = ibv_create_cq_ex(device->context, &options);

		CHECK(cq);
		CHECK_EQUAL(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	}

	struct ibv_cq_init_attr_ex unknown = {.cqe = 1, .wc_flags = IBV_CREATE_CQ_SUP_WC_FLAGS + 1};

	CHECK(!ibv_create_cq_ex(device->context, &unknown) && errno == EOPNOTSUPP);
}

int main(void)
{
	struct device device = device_open();
	struct endpoint a = extended_open(&device);
	struct endpoint b = extended_open(&device);

	all_fields(&device);
	connect_endpoints(&a, &b);
	batch(&a, &b);
	aborts_and_mistakes(&a, &b);
	device_memory(&device, &a, &b);
	on_demand(&device, &a, &b);
	endpoint_close(&a);
	endpoint_close(&b);
	device_close(&device);
	puts("ok");
	return 0;
}
