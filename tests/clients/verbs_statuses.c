/* SPDX-License-Identifier: Apache-2.0 */
/* Every completion status that a program can bring about, each by a function of its name: the
 * mistake, the status at the side that it is about, and the state of the queue pair afterwards.
 * The others of the list need an adapter that fails, or reliable datagrams (transport 4.7). */
#include <infiniband/tm_types.h>
#include "verbs_client.h"

static struct device device;

struct couple {
	struct endpoint a, b;
};

static void use_srq(struct endpoint *endpoint, enum ibv_qp_type type)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 16, .max_sge = 1}};

	CHECK_EQUAL(ibv_destroy_qp(endpoint->qp), 0);
	endpoint->srq = ibv_create_srq(device.pd, &attr);
	CHECK(endpoint->srq);

	struct ibv_qp_init_attr options = qp_options(endpoint, type);

	endpoint->qp = ibv_create_qp(device.pd, &options);
	CHECK(endpoint->qp);
}

static struct couple couple_open(enum ibv_qp_type type)
{
	struct couple couple = {endpoint_open(&device, type), endpoint_open(&device, type)};

	connect_endpoints(&couple.a, &couple.b);
	return couple;
}

static enum ibv_qp_state state_of(const struct endpoint *endpoint)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	CHECK_EQUAL(ibv_query_qp(endpoint->qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

static void couple_close(struct couple *couple, enum ibv_qp_state a, enum ibv_qp_state b)
{
	CHECK_EQUAL(state_of(&couple->a), a);
	CHECK_EQUAL(state_of(&couple->b), b);
	endpoint_close(&couple->a);
	endpoint_close(&couple->b);
}

/* One request of 64 bytes from a to b; its key may be spoilt. */
static void post_64(struct couple *couple, enum ibv_wr_opcode opcode, uint32_t wrong_bits)
{
	struct ibv_sge sge = sge_of(&couple->a, 0, 64);
	struct ibv_send_wr wr = request(opcode, &sge, &couple->b, 0);

	wr.wr.rdma.rkey ^= wrong_bits;
	post(&couple->a, &wr);
}

static void success(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);

	post_receive(&couple.b, 1, 0, 64);
	post_64(&couple, IBV_WR_SEND, 0);
	CHECK_EQUAL(expect_status(couple.a.cq, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_SUCCESS).byte_len, 64);
	couple_close(&couple, IBV_QPS_RTS, IBV_QPS_RTS);
}

/* Receiver: too small a buffer. Sender: a datagram above the MTU, which stops its send queue only.
 */
static void loc_len_err(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);

	post_receive(&couple.b, 7, 0, 63);
	post_64(&couple, IBV_WR_SEND, 0);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_LOC_LEN_ERR).wr_id, 7);
	expect_status(couple.a.cq, IBV_WC_REM_INV_REQ_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_ERR);

	struct endpoint a = endpoint_open(&device, IBV_QPT_UD);
	struct ibv_ah_attr address = {.dlid = device.port.lid, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(device.pd, &address);
	struct ibv_sge sge = sge_of(&a, 0, 4097);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &a, 0);

	CHECK(ah);
	to_init(&a, 0);
	to_rts(&a, NULL, 0);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = a.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	post(&a, &wr);
	expect_status(a.cq, IBV_WC_LOC_LEN_ERR);
	CHECK_EQUAL(state_of(&a), IBV_QPS_SQE);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	endpoint_close(&a);
}

/* A region is not invalidated by a request, neither here nor at the peer. */
static void loc_qp_op_err(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);
	struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = couple.a.mr->rkey};

	post(&couple.a, &wr);
	expect_status(couple.a.cq, IBV_WC_LOC_QP_OP_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_RTS);

	couple = couple_open(IBV_QPT_RC);
	reconnect_in_vain(&couple.a, &couple.b);
	wr.opcode = IBV_WR_SEND_WITH_INV;
	wr.invalidate_rkey = couple.b.mr->rkey;
	post_receive(&couple.b, 7, 0, 63);
	post(&couple.a, &wr);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_LOC_QP_OP_ERR).wr_id, 7);
	/* There is no peer. */
	expect_status(couple.a.cq, IBV_WC_RETRY_EXC_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_ERR);
}

/* Sender: the key of its own bytes. Receiver: that of its buffer. */
static void loc_prot_err(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&couple.a, 0, 64);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &couple.b, 0);

	sge.lkey ^= 1;
	post(&couple.a, &wr);
	expect_status(couple.a.cq, IBV_WC_LOC_PROT_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_RTS);
}

/* Requests posted to, or waiting at, a queue pair in error. */
static void wr_flush_err(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};

	post_receive(&couple.a, 1, 0, 64);
	CHECK_EQUAL(ibv_modify_qp(couple.a.qp, &error, IBV_QP_STATE), 0);
	CHECK_EQUAL(expect_status(couple.a.cq, IBV_WC_WR_FLUSH_ERR).wr_id, 1);
	post_64(&couple, IBV_WR_RDMA_WRITE, 0);
	expect_status(couple.a.cq, IBV_WC_WR_FLUSH_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_RTS);
}

/* Without the region's right to bind. */
static void mw_bind_err(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);
	struct ibv_mw *window = ibv_alloc_mw(device.pd, IBV_MW_TYPE_2);

	CHECK(window);

	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {.mw = window,
			    .rkey = ibv_inc_rkey(window->rkey),
			    .bind_info = {couple.a.mr, (uintptr_t)couple.a.bytes, 64,
					  IBV_ACCESS_REMOTE_WRITE}},
	};

	post(&couple.a, &wr);
	expect_status(couple.a.cq, IBV_WC_MW_BIND_ERR);
	CHECK_EQUAL(ibv_dealloc_mw(window), 0);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_RTS);
}

/* A WRITE with immediate that may not write tells the receive it would have used. */
static void loc_access_err(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);

	post_receive(&couple.b, 7, 0, 64);
	post_64(&couple, IBV_WR_RDMA_WRITE_WITH_IMM, 1);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_LOC_ACCESS_ERR).wr_id, 7);
	expect_status(couple.a.cq, IBV_WC_REM_ACCESS_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_ERR);
}

static void rem_inv_req_err(void)
{
	struct couple couple = {endpoint_open(&device, IBV_QPT_RC),
				endpoint_open(&device, IBV_QPT_RC)};

	to_init(&couple.a, ALL_ACCESS);
	to_init(&couple.b, IBV_ACCESS_LOCAL_WRITE);
	to_rts(&couple.a, &couple.b, 3);
	to_rts(&couple.b, &couple.a, 3);
	post_64(&couple, IBV_WR_RDMA_WRITE, 0);
	expect_status(couple.a.cq, IBV_WC_REM_INV_REQ_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_ERR);
}

static void rem_access_err(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);

	post_64(&couple, IBV_WR_RDMA_READ, 1);
	expect_status(couple.a.cq, IBV_WC_REM_ACCESS_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_ERR);
}

/* The peer's receive has a key that is no key. */
static void rem_op_err(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&couple.b, 0, 64);
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad;

	sge.lkey ^= 1;
	CHECK_EQUAL(ibv_post_recv(couple.b.qp, &wr, &bad), 0);
	post_64(&couple, IBV_WR_SEND, 0);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_LOC_PROT_ERR).wr_id, 7);
	expect_status(couple.a.cq, IBV_WC_REM_OP_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_ERR);
}

/* The peer is gone. */
static void retry_exc_err(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	reconnect_in_vain(&couple.a, &couple.b);
	CHECK_EQUAL(ibv_modify_qp(couple.b.qp, &reset, IBV_QP_STATE), 0);
	post_64(&couple, IBV_WR_RDMA_WRITE, 0);
	expect_status(couple.a.cq, IBV_WC_RETRY_EXC_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_RESET);
}

/* There is a peer, but it has posted nothing. */
static void rnr_retry_exc_err(void)
{
	struct couple couple = couple_open(IBV_QPT_RC);

	post_64(&couple, IBV_WR_SEND, 0);
	expect_status(couple.a.cq, IBV_WC_RNR_RETRY_EXC_ERR);
	couple_close(&couple, IBV_QPS_ERR, IBV_QPS_RTS);
}

/* An unreliable message for which a receive of a shared queue was too small. */
static void rem_abort_err(void)
{
	struct couple couple = {endpoint_open(&device, IBV_QPT_UC),
				endpoint_open(&device, IBV_QPT_UC)};

	use_srq(&couple.b, IBV_QPT_UC);
	connect_endpoints(&couple.a, &couple.b);
	post_receive(&couple.b, 7, 0, 63);
	post_64(&couple, IBV_WR_SEND, 0);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_REM_ABORT_ERR).wr_id, 7);
	expect_status(couple.a.cq, IBV_WC_SUCCESS);
	couple_close(&couple, IBV_QPS_RTS, IBV_QPS_RTS);
}

static struct ibv_srq *open_tags(struct ibv_cq *cq)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 16, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = device.pd,
		.cq = cq,
		.tm_cap = {.max_num_tags = 4, .max_ops = 4},
	};
	struct ibv_srq *srq = ibv_create_srq_ex(device.context, &attr);

	CHECK(srq);
	return srq;
}

static uint32_t add_tag(struct endpoint *endpoint, uint64_t tag, size_t byte_count)
{
	struct ibv_sge sge = sge_of(endpoint, 0, byte_count);
	struct ibv_ops_wr wr = {
		.opcode = IBV_WR_TAG_ADD,
		.tm.add = {.recv_wr_id = 7,
			   .sg_list = &sge,
			   .num_sge = 1,
			   .tag = tag,
			   .mask = UINT64_MAX},
	};
	struct ibv_ops_wr *bad;

	CHECK_EQUAL(ibv_post_srq_ops(endpoint->srq, &wr, &bad), 0);
	return wr.tm.handle;
}

static struct couple open_tagged(void)
{
	struct couple couple = {endpoint_open(&device, IBV_QPT_RC),
				endpoint_open(&device, IBV_QPT_RC)};
	struct endpoint *b = &couple.b;

	CHECK_EQUAL(ibv_destroy_qp(b->qp), 0);
	b->srq = open_tags(b->cq);

	struct ibv_qp_init_attr options = qp_options(b, IBV_QPT_RC);

	b->qp = ibv_create_qp(device.pd, &options);
	CHECK(b->qp);
	connect_endpoints(&couple.a, &couple.b);
	return couple;
}

/* The queue with the tags uses the completion queue, and goes first. */
static void close_tagged(struct couple *couple)
{
	struct endpoint *b = &couple->b;

	CHECK_EQUAL(state_of(b), IBV_QPS_RTS);
	CHECK_EQUAL(ibv_destroy_qp(b->qp), 0);
	CHECK_EQUAL(ibv_destroy_srq(b->srq), 0);
	CHECK_EQUAL(ibv_destroy_cq(b->cq), 0);
	CHECK_EQUAL(ibv_dereg_mr(b->mr), 0);
	free(b->bytes);
	endpoint_close(&couple->a);
}

/* A tag that a message has taken can't be taken back. */
static void tm_err(void)
{
	struct couple couple = open_tagged();
	struct ibv_ops_wr removal = {.opcode = IBV_WR_TAG_DEL, .wr_id = 9}, *bad;
	struct ibv_tmh *header = (struct ibv_tmh *)(void *)couple.a.bytes;

	removal.tm.handle = add_tag(&couple.b, 0, 64);
	header->opcode = IBV_TMH_EAGER;
	post_64(&couple, IBV_WR_SEND, 0);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_SUCCESS).wr_id, 7);
	expect_status(couple.a.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(ibv_post_srq_ops(couple.b.srq, &removal, &bad), 0);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_TM_ERR).wr_id, 9);
	close_tagged(&couple);
}

/* More is announced than the tagged buffer holds: the program finds the headers there. */
static void tm_rndv_incomplete(void)
{
	struct couple couple = open_tagged();
	struct ibv_tmh *header = (struct ibv_tmh *)(void *)couple.a.bytes;
	struct ibv_rvh *announced = (struct ibv_rvh *)(void *)(couple.a.bytes + sizeof(*header));
	struct ibv_sge sge = sge_of(&couple.a, 0, sizeof(*header) + sizeof(*announced));
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &couple.b, 0);

	add_tag(&couple.b, 0, 64);
	header->opcode = IBV_TMH_RNDV;
	announced->len = __builtin_bswap32(65);
	post(&couple.a, &wr);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_TM_RNDV_INCOMPLETE).wr_id, 7);
	CHECK_EQUAL(memcmp(couple.a.bytes, couple.b.bytes, sge.length), 0);
	expect_status(couple.a.cq, IBV_WC_SUCCESS);
	close_tagged(&couple);
}

#define ELSEWHERE(reason)                                                                          \
	{                                                                                          \
		NULL, reason                                                                       \
	}

static const struct {
	void (*provoke)(void);
	const char *elsewhere;
} statuses[] = {
	[IBV_WC_SUCCESS] = {success},
	[IBV_WC_LOC_LEN_ERR] = {loc_len_err},
	[IBV_WC_LOC_QP_OP_ERR] = {loc_qp_op_err},
	[IBV_WC_LOC_EEC_OP_ERR] = ELSEWHERE("reliable datagrams"),
	[IBV_WC_LOC_PROT_ERR] = {loc_prot_err},
	[IBV_WC_WR_FLUSH_ERR] = {wr_flush_err},
	[IBV_WC_MW_BIND_ERR] = {mw_bind_err},
	[IBV_WC_BAD_RESP_ERR] = ELSEWHERE("a peer that answers nonsense"),
	[IBV_WC_LOC_ACCESS_ERR] = {loc_access_err},
	[IBV_WC_REM_INV_REQ_ERR] = {rem_inv_req_err},
	[IBV_WC_REM_ACCESS_ERR] = {rem_access_err},
	[IBV_WC_REM_OP_ERR] = {rem_op_err},
	[IBV_WC_RETRY_EXC_ERR] = {retry_exc_err},
	[IBV_WC_RNR_RETRY_EXC_ERR] = {rnr_retry_exc_err},
	[IBV_WC_LOC_RDD_VIOL_ERR] = ELSEWHERE("reliable datagrams"),
	[IBV_WC_REM_INV_RD_REQ_ERR] = ELSEWHERE("reliable datagrams"),
	[IBV_WC_REM_ABORT_ERR] = {rem_abort_err},
	[IBV_WC_INV_EECN_ERR] = ELSEWHERE("reliable datagrams"),
	[IBV_WC_INV_EEC_STATE_ERR] = ELSEWHERE("reliable datagrams"),
	[IBV_WC_FATAL_ERR] = ELSEWHERE("softib fault"),
	[IBV_WC_RESP_TIMEOUT_ERR] = ELSEWHERE("softib fault"),
	[IBV_WC_GENERAL_ERR] = ELSEWHERE("softib fault"),
	[IBV_WC_TM_ERR] = {tm_err},
	[IBV_WC_TM_RNDV_INCOMPLETE] = {tm_rndv_incomplete},
};

int main(void)
{
	device = device_open();
	for (unsigned i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		CHECK(statuses[i].provoke || statuses[i].elsewhere);
		if (statuses[i].provoke)
			statuses[i].provoke();
	}
	device_close(&device);
	puts("statuses: ok");
	return 0;
}
