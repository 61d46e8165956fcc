/* SPDX-License-Identifier: Apache-2.0 */
/* FLUSH and ATOMIC WRITE as a program built with rdma-core's newer headers asks for them (vol 1,
 * annex A19); Debian 12's have no names for the first. */
#include "verbs_client.h"

enum {
	NEWER_ACCESS_FLUSH_GLOBAL = 1 << 8,
	NEWER_ACCESS_FLUSH_PERSISTENT = 1 << 9,
	NEWER_QP_EX_WITH_FLUSH = 1 << 11,
	NEWER_WR_FLUSH = 14,
	NEWER_WC_FLUSH = 8,
	NEWER_FLUSH_GLOBAL = 1,
	NEWER_FLUSH_PERSISTENT = 2,
	NEWER_FLUSH_RANGE = 0,
	NEWER_FLUSH_MR = 1,
	NEWER_FLUSH_OFFSET = 352, /* of wr_flush in struct ibv_qp_ex */
	FLUSH_ACCESS = ALL_ACCESS | NEWER_ACCESS_FLUSH_GLOBAL | NEWER_ACCESS_FLUSH_PERSISTENT,
};

#define NEWER_DEVICE_FLUSH_GLOBAL     (UINT64_C(1) << 38)
#define NEWER_DEVICE_FLUSH_PERSISTENT (UINT64_C(1) << 39)
#define NEWER_DEVICE_ATOMIC_WRITE     (UINT64_C(1) << 40)

typedef void (*flush_function)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_address,
			       size_t length, uint8_t type, uint8_t level);

static void flush(struct ibv_qp_ex *qp, const struct ibv_mr *mr, size_t length, uint8_t type,
		  uint8_t level)
{
	flush_function function;

	memcpy(&function, (char *)qp + NEWER_FLUSH_OFFSET, sizeof(function));
	function(qp, mr->rkey, (uintptr_t)mr->addr, length, type, level);
}

static struct endpoint open_with_flush(struct device *device, unsigned access)
{
	struct endpoint endpoint = {.device = device, .bytes = calloc(1, BUFFER_BYTES)};

	CHECK(endpoint.bytes);
	endpoint.mr = ibv_reg_mr(device->pd, endpoint.bytes, BUFFER_BYTES, (int)access);
	endpoint.cq = ibv_create_cq(device->context, QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(endpoint.mr && endpoint.cq);

	struct ibv_qp_init_attr_ex options = {
		.send_cq = endpoint.cq,
		.recv_cq = endpoint.cq,
		.cap = {QUEUE_DEPTH, QUEUE_DEPTH, SGES, SGES, 64},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = device->pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_ATOMIC_WRITE |
				  NEWER_QP_EX_WITH_FLUSH,
	};

	endpoint.qp = ibv_create_qp_ex(device->context, &options);
	CHECK(endpoint.qp);
	return endpoint;
}

static void connect_with_flush(struct endpoint *a, struct endpoint *b)
{
	to_init(a, FLUSH_ACCESS);
	to_init(b, FLUSH_ACCESS);
	to_rts(a, b, 3);
	to_rts(b, a, 3);
}

static void capabilities(struct device *device)
{
	struct ibv_device_attr_ex attr;
	const uint64_t needed = NEWER_DEVICE_FLUSH_GLOBAL | NEWER_DEVICE_FLUSH_PERSISTENT |
				NEWER_DEVICE_ATOMIC_WRITE;

	CHECK_EQUAL(ibv_query_device_ex(device->context, NULL, &attr), 0);
	CHECK((attr.device_cap_flags_ex & needed) == needed);
}

/* A write, its flush, and the word that announces it: in this order. */
static void write_flush_and_announce(struct endpoint *a, struct endpoint *b)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a->qp);
	uint64_t word = 0x1122334455667788, found;

	fill(a->bytes, 2000, 4);
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	qp->wr_id = 1;
	ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->bytes);
	ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->bytes, 2000);
	qp->wr_id = 2;
	flush(qp, b->mr, 2000, NEWER_FLUSH_GLOBAL, NEWER_FLUSH_RANGE);
	qp->wr_id = 3;
	flush(qp, b->mr, 0, NEWER_FLUSH_GLOBAL | NEWER_FLUSH_PERSISTENT, NEWER_FLUSH_MR);
	qp->wr_id = 4;
	ibv_wr_atomic_write(qp, b->mr->rkey, (uintptr_t)b->bytes + 4096, &word);
	CHECK_EQUAL(ibv_wr_complete(qp), 0);
	for (unsigned i = 1; i <= 4; i++) {
		struct ibv_wc wc = expect_status(a->cq, IBV_WC_SUCCESS);

		CHECK_EQUAL(wc.wr_id, i);
		if (i == 2 || i == 3)
			CHECK_EQUAL(wc.opcode, NEWER_WC_FLUSH);
	}
	CHECK(memcmp(a->bytes, b->bytes, 2000) == 0);
	memcpy(&found, b->bytes + 4096, sizeof(found));
	CHECK(found == word);
}

static void refuse_flush(struct ibv_qp_ex *qp, const struct ibv_mr *mr, size_t length, uint8_t type,
			 uint8_t level)
{
	ibv_wr_start(qp);
	flush(qp, mr, length, type, level);
	CHECK_EQUAL(ibv_wr_complete(qp), EINVAL);
}

static void mistakes(struct endpoint *a, struct endpoint *b)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a->qp);
	struct ibv_send_wr plain = {.opcode = (enum ibv_wr_opcode)NEWER_WR_FLUSH}, *bad = NULL;

	refuse_flush(qp, b->mr, 8, 0, NEWER_FLUSH_RANGE);
	refuse_flush(qp, b->mr, 8, 4, NEWER_FLUSH_RANGE);
	refuse_flush(qp, b->mr, 8, NEWER_FLUSH_GLOBAL, 2);
	refuse_flush(qp, b->mr, (size_t)1 << 32, NEWER_FLUSH_GLOBAL, NEWER_FLUSH_RANGE);
	/* The plain form of a request has no field for its arguments. */
	CHECK_EQUAL(ibv_post_send(a->qp, &plain, &bad), EINVAL);
	CHECK(bad == &plain);
}

/* A region that does not grant FLUSH. */
static void without_rights(struct device *device)
{
	struct endpoint a = open_with_flush(device, ALL_ACCESS);
	struct endpoint b = open_with_flush(device, ALL_ACCESS);
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a.qp);

	connect_with_flush(&a, &b);
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	flush(qp, b.mr, 8, NEWER_FLUSH_GLOBAL, NEWER_FLUSH_RANGE);
	CHECK_EQUAL(ibv_wr_complete(qp), 0);
	expect_status(a.cq, IBV_WC_REM_ACCESS_ERR);
	endpoint_close(&a);
	endpoint_close(&b);
}

int main(void)
{
	struct device device = device_open();
	struct endpoint a = open_with_flush(&device, FLUSH_ACCESS);
	struct endpoint b = open_with_flush(&device, FLUSH_ACCESS);

	capabilities(&device);
	connect_with_flush(&a, &b);
	write_flush_and_announce(&a, &b);
	mistakes(&a, &b);
	endpoint_close(&a);
	endpoint_close(&b);
	without_rights(&device);
	device_close(&device);
	puts("ok");
	return 0;
}
