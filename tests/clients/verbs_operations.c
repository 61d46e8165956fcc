/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of RC, UC and UD between two queue pairs of one process, with the bytes compared.
 * Covers: api/libibverbs/verbs_address.c api/libibverbs/verbs_ah.c api/libibverbs/device.c
 * api/libibverbs/data/post.c api/libibverbs/data/post_receive.c */
#include "verbs_client.h"

static const size_t sizes[] = {0, 1, 7, 64, 1023, 1024, 1025, 4096, 65536, 1 << 20};
enum { SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0]), IMMEDIATE = 0x12345678 };

static void send_and_compare(struct endpoint *a, struct endpoint *b, size_t byte_count,
			     enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = sge_of(a, 0, byte_count);
	struct ibv_send_wr wr = request(opcode, &sge, b, 0);

	fill(a->bytes, byte_count, (unsigned)byte_count + opcode);
	memset(b->bytes, 0xee, byte_count);
	wr.imm_data = IMMEDIATE;
	post_receive(b, 9, 0, byte_count);
	post(a, &wr);
	CHECK_EQUAL(expect_status(a->cq, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);

	struct ibv_wc wc = expect_status(b->cq, IBV_WC_SUCCESS);

	CHECK_EQUAL(wc.opcode, IBV_WC_RECV);
	CHECK_EQUAL(wc.wr_id, 9);
	CHECK_EQUAL(wc.byte_len, byte_count);
	CHECK_EQUAL(wc.qp_num, b->qp->qp_num);
	if (opcode == IBV_WR_SEND_WITH_IMM) {
		CHECK(wc.wc_flags & IBV_WC_WITH_IMM);
		CHECK_EQUAL(wc.imm_data, IMMEDIATE);
	}
	CHECK(memcmp(a->bytes, b->bytes, byte_count) == 0);
}

static void write_and_compare(struct endpoint *a, struct endpoint *b, size_t byte_count)
{
	struct ibv_sge sge = sge_of(a, 0, byte_count);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, &sge, b, 16);

	fill(a->bytes, byte_count, 3);
	memset(b->bytes, 0xee, byte_count + 32);
	wr.imm_data = IMMEDIATE;
	post_receive(b, 8, 0, 0);
	post(a, &wr);
	CHECK_EQUAL(expect_status(a->cq, IBV_WC_SUCCESS).opcode, IBV_WC_RDMA_WRITE);

	struct ibv_wc wc = expect_status(b->cq, IBV_WC_SUCCESS);

	CHECK_EQUAL(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQUAL(wc.byte_len, byte_count);
	CHECK_EQUAL(wc.imm_data, IMMEDIATE);
	CHECK(memcmp(a->bytes, b->bytes + 16, byte_count) == 0);
	CHECK(b->bytes[15] == 0xee && b->bytes[16 + byte_count] == 0xee);
}

static void read_and_compare(struct endpoint *a, struct endpoint *b, size_t byte_count)
{
	struct ibv_sge sge = sge_of(a, 0, byte_count);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_READ, &sge, b, 64);

	memset(a->bytes, 0xee, byte_count + 1);
	fill(b->bytes + 64, byte_count, 5);
	post(a, &wr);
	CHECK_EQUAL(expect_status(a->cq, IBV_WC_SUCCESS).opcode, IBV_WC_RDMA_READ);
	CHECK(memcmp(a->bytes, b->bytes + 64, byte_count) == 0);
	CHECK_EQUAL(a->bytes[byte_count], 0xee);
}

static void atomics(struct endpoint *a, struct endpoint *b)
{
	struct ibv_sge sge = sge_of(a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, b, 8);
	uint64_t *result = (uint64_t *)a->bytes;
	uint64_t *target = (uint64_t *)(b->bytes + 8);

	*target = 40;
	wr.wr.atomic.remote_addr = (uintptr_t)target;
	wr.wr.atomic.rkey = b->mr->rkey;
	wr.wr.atomic.compare_add = 2;
	post(a, &wr);
	CHECK_EQUAL(expect_status(a->cq, IBV_WC_SUCCESS).opcode, IBV_WC_FETCH_ADD);
	CHECK_EQUAL(*result, 40);
	CHECK_EQUAL(*target, 42);

	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 42;
	wr.wr.atomic.swap = 7;
	post(a, &wr);
	CHECK_EQUAL(expect_status(a->cq, IBV_WC_SUCCESS).opcode, IBV_WC_COMP_SWAP);
	CHECK_EQUAL(*result, 42);
	CHECK_EQUAL(*target, 7);
	/* Not equal: the old value comes back and nothing changes. */
	post(a, &wr);
	expect_status(a->cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(*result, 7);
	CHECK_EQUAL(*target, 7);
}

/* Gathers from three SGEs, scatters to two, inline and not. */
static void lists_and_inline(struct endpoint *a, struct endpoint *b)
{
	for (unsigned is_inline = 0; is_inline < 2; is_inline++) {
		struct ibv_sge pieces[3] = {sge_of(a, 0, 10), sge_of(a, 100, 20),
					    sge_of(a, 200, 30)};
		struct ibv_sge places[2] = {sge_of(b, 0, 25), sge_of(b, 1000, 100)};
		struct ibv_send_wr wr = request(IBV_WR_SEND, pieces, b, 0);
		struct ibv_recv_wr receive = {.wr_id = 1, .sg_list = places, .num_sge = 2};
		struct ibv_recv_wr *bad;
		uint8_t expected[60];

		fill(a->bytes, 300, is_inline);
		memcpy(expected, a->bytes, 10);
		memcpy(expected + 10, a->bytes + 100, 20);
		memcpy(expected + 30, a->bytes + 200, 30);
		CHECK_EQUAL(ibv_post_recv(b->qp, &receive, &bad), 0);
		wr.num_sge = 3;
		if (is_inline) {
			wr.send_flags |= IBV_SEND_INLINE;
			pieces[1].lkey = 0; /* not looked at */
		}
		post(a, &wr);
		if (is_inline)
			memset(a->bytes, 0, 300); /* the buffer is free again at once */
		expect_status(a->cq, IBV_WC_SUCCESS);
		CHECK_EQUAL(expect_status(b->cq, IBV_WC_SUCCESS).byte_len, 60);
		CHECK(memcmp(b->bytes, expected, 25) == 0);
		CHECK(memcmp(b->bytes + 1000, expected + 25, 35) == 0);
	}
}

/* A full queue of unsignaled requests refuses one more; one signaled completion frees them all. */
static void unsignaled(struct endpoint *a, struct endpoint *b)
{
	struct ibv_sge sge = sge_of(a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, b, 0);

	for (unsigned round = 0; round < 5; round++) {
		wr.send_flags = 0;
		for (unsigned i = 0; i + 1 < QUEUE_DEPTH; i++)
			post(a, &wr);
		wr.send_flags = IBV_SEND_SIGNALED;
		post(a, &wr);
		expect_status(a->cq, IBV_WC_SUCCESS);
	}
}

static void connected(struct device *device, enum ibv_qp_type type)
{
	struct endpoint a = endpoint_open(device, type);
	struct endpoint b = endpoint_open(device, type);

	connect_endpoints(&a, &b);
	for (unsigned i = 0; i < SIZE_COUNT; i++) {
		send_and_compare(&a, &b, sizes[i], IBV_WR_SEND);
		send_and_compare(&b, &a, sizes[i], IBV_WR_SEND_WITH_IMM);
		write_and_compare(&a, &b, sizes[i]);
		if (type == IBV_QPT_RC)
			read_and_compare(&a, &b, sizes[i]);
	}
	lists_and_inline(&a, &b);
	if (type == IBV_QPT_RC) {
		atomics(&a, &b);
		unsignaled(&a, &b);
	}
	endpoint_close(&a);
	endpoint_close(&b);
}

static void datagrams(struct device *device, bool is_global)
{
	struct endpoint a = endpoint_open(device, IBV_QPT_UD);
	struct endpoint b = endpoint_open(device, IBV_QPT_UD);
	struct ibv_ah_attr to_b = {.dlid = device->port.lid, .port_num = 1, .is_global = is_global};

	to_b.grh.dgid = device->gid;
	to_b.grh.hop_limit = 1;
	to_init(&a, 0), to_rts(&a, NULL, 0);
	to_init(&b, 0), to_rts(&b, NULL, 0);

	struct ibv_ah *ah = ibv_create_ah(device->pd, &to_b);
	struct ibv_sge sge = sge_of(&a, 0, 500);
	struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_IMM, &sge, &b, 0);

	CHECK(ah);
	wr.imm_data = IMMEDIATE;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	fill(a.bytes, 500, 1);
	post_receive(&b, 4, 0, 1000);
	post(&a, &wr);
	expect_status(a.cq, IBV_WC_SUCCESS);

	struct ibv_wc wc = expect_status(b.cq, IBV_WC_SUCCESS);

	CHECK_EQUAL(wc.byte_len, 500 + GRH_BYTES);
	CHECK_EQUAL(wc.src_qp, a.qp->qp_num);
	CHECK_EQUAL(wc.slid, device->port.lid);
	CHECK_EQUAL(wc.imm_data, IMMEDIATE);
	CHECK_EQUAL(!!(wc.wc_flags & IBV_WC_GRH), is_global);
	CHECK(memcmp(a.bytes, b.bytes + GRH_BYTES, 500) == 0);

	/* An answer, to where the datagram came from. */
	struct ibv_ah *back = ibv_create_ah_from_wc(device->pd, &wc, (struct ibv_grh *)b.bytes, 1);

	CHECK(back);
	sge = sge_of(&b, 0, 10);
	wr.opcode = IBV_WR_SEND;
	wr.wr.ud.ah = back;
	wr.wr.ud.remote_qpn = wc.src_qp;
	post_receive(&a, 5, 0, 100);
	post(&b, &wr);
	expect_status(b.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(expect_status(a.cq, IBV_WC_SUCCESS).byte_len, 10 + GRH_BYTES);
	CHECK_EQUAL(ibv_destroy_ah(back), 0);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	endpoint_close(&a);
	endpoint_close(&b);
}

int main(void)
{
	struct device device = device_open();

	connected(&device, IBV_QPT_RC);
	connected(&device, IBV_QPT_UC);
	datagrams(&device, false);
	datagrams(&device, true);
	device_close(&device);
	puts("ok");
	return 0;
}
