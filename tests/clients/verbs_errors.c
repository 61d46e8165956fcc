/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes and the statuses, errnos and events that answer them.
 * Covers: api/libibverbs/context.c api/libibverbs/mr.c api/libibverbs/pd.c
 * api/libibverbs/verbs_qp.c api/libibverbs/qp_attributes.c api/libibverbs/qp_destruction.c */
#include "verbs_client.h"

struct couple {
	struct endpoint a, b;
};

static struct couple couple_open(struct device *device, enum ibv_qp_type type)
{
	struct couple couple = {endpoint_open(device, type), endpoint_open(device, type)};

	connect_endpoints(&couple.a, &couple.b);
	return couple;
}

static void couple_close(struct couple *couple)
{
	endpoint_close(&couple->a);
	endpoint_close(&couple->b);
}

static enum ibv_qp_state state_of(struct endpoint *endpoint)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	CHECK_EQUAL(ibv_query_qp(endpoint->qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

/* struct ibv_qp holds the state that the program knows. A queue pair that failed by itself shows it
 * when its state is queried, and not when another attribute is. */
static void expect_state_only_when_asked(struct endpoint *endpoint)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	CHECK_EQUAL(endpoint->qp->state, IBV_QPS_RTS);
	CHECK_EQUAL(ibv_query_qp(endpoint->qp, &attr, IBV_QP_AV | IBV_QP_DEST_QPN, &init), 0);
	CHECK_EQUAL(endpoint->qp->state, IBV_QPS_RTS);
	CHECK_EQUAL(ibv_query_qp(endpoint->qp, &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQUAL(attr.qp_state, IBV_QPS_ERR);
	CHECK_EQUAL(endpoint->qp->state, IBV_QPS_ERR);
}

/* Posts a request, expects its status and a queue pair in Error, and that later requests are
 * flushed. */
static void expect_failure(struct couple *couple, struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	struct ibv_sge sge = sge_of(&couple->a, 0, 8);
	struct ibv_send_wr next = request(IBV_WR_RDMA_WRITE, &sge, &couple->b, 0);

	wr->send_flags = 0; /* errors complete unsignaled requests as well */
	post(&couple->a, wr);
	CHECK_EQUAL(expect_status(couple->a.cq, status).wr_id, wr->wr_id);
	expect_state_only_when_asked(&couple->a);
	post(&couple->a, &next);
	expect_status(couple->a.cq, IBV_WC_WR_FLUSH_ERR);
	couple_close(couple);
}

static void remote_keys(struct device *device)
{
	for (unsigned mistake = 0; mistake < 5; mistake++) {
		struct couple couple = couple_open(device, IBV_QPT_RC);
		struct ibv_sge sge = sge_of(&couple.a, 0, 64);
		struct ibv_send_wr wr = request(mistake % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
						&sge, &couple.b, 0);

		switch (mistake) {
		case 0:
			wr.wr.rdma.rkey ^= 1; /* another tag of the same index */
			break;
		case 1:
			wr.wr.rdma.rkey = 0xdeadbeef;
			break;
		case 2:
			wr.wr.rdma.remote_addr += BUFFER_BYTES - 63;
			break;
		case 3:
			wr.wr.rdma.remote_addr -= 1;
			break;
		default:
			CHECK_EQUAL(ibv_dereg_mr(couple.b.mr), 0);
			couple.b.mr = ibv_reg_mr(device->pd, couple.b.bytes, BUFFER_BYTES,
						 IBV_ACCESS_LOCAL_WRITE);
			CHECK(couple.b.mr);
			wr.wr.rdma.rkey = couple.b.mr->rkey; /* no remote right */
		}
		expect_failure(&couple, &wr, IBV_WC_REM_ACCESS_ERR);
	}
}

static void local_keys(struct device *device)
{
	for (unsigned mistake = 0; mistake < 3; mistake++) {
		struct couple couple = couple_open(device, IBV_QPT_RC);
		struct ibv_sge sge = sge_of(&couple.a, 0, 64);
		struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &couple.b, 0);

		if (mistake == 0)
			sge.lkey ^= 1;
		else if (mistake == 1)
			sge.addr += BUFFER_BYTES;
		else
			sge.length = BUFFER_BYTES + 1;
		expect_failure(&couple, &wr, IBV_WC_LOC_PROT_ERR);
	}
}

static void receivers(struct device *device)
{
	struct couple couple = couple_open(device, IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&couple.a, 0, 64);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &couple.b, 0);

	expect_failure(&couple, &wr, IBV_WC_RNR_RETRY_EXC_ERR);

	/* Too small a buffer is the receiver's fault, and both sides hear of it. */
	couple = couple_open(device, IBV_QPT_RC);
	sge = sge_of(&couple.a, 0, 64);
	post_receive(&couple.b, 7, 0, 63);
	wr.send_flags = IBV_SEND_SIGNALED;
	post(&couple.a, &wr);
	expect_status(couple.a.cq, IBV_WC_REM_INV_REQ_ERR);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_LOC_LEN_ERR).wr_id, 7);
	CHECK_EQUAL(state_of(&couple.b), IBV_QPS_ERR);
	couple_close(&couple);
}

static void absent_peer(struct device *device)
{
	struct couple couple = couple_open(device, IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&couple.a, 0, 64);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &couple.b, 0);
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	reconnect_in_vain(&couple.a, &couple.b);
	CHECK_EQUAL(ibv_modify_qp(couple.b.qp, &reset, IBV_QP_STATE), 0);
	expect_failure(&couple, &wr, IBV_WC_RETRY_EXC_ERR);
}

/* A datagram with a wrong Q_Key is dropped in silence and counted; the right one behind it arrives.
 */
static void wrong_qkey(struct device *device)
{
	struct couple couple = {endpoint_open(device, IBV_QPT_UD),
				endpoint_open(device, IBV_QPT_UD)};
	struct ibv_ah_attr attr = {.dlid = device->port.lid, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(device->pd, &attr);
	struct ibv_sge sge = sge_of(&couple.a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_IMM, &sge, &couple.b, 0);

	CHECK(ah);
	to_init(&couple.a, 0), to_rts(&couple.a, NULL, 0);
	to_init(&couple.b, 0), to_rts(&couple.b, NULL, 0);
	post_receive(&couple.b, 1, 0, 100);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = couple.b.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY + 1;
	wr.imm_data = 1;
	post(&couple.a, &wr);
	wr.wr.ud.remote_qkey = QKEY;
	wr.imm_data = 2;
	post(&couple.a, &wr);
	expect_status(couple.a.cq, IBV_WC_SUCCESS);
	expect_status(couple.a.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_SUCCESS).imm_data, 2);

	/* A datagram above the MTU is an error of this request alone: SQE, and back. */
	struct ibv_qp_attr ready = {.qp_state = IBV_QPS_RTS};

	sge.length = 5000;
	post(&couple.a, &wr);
	expect_status(couple.a.cq, IBV_WC_LOC_LEN_ERR);
	CHECK_EQUAL(state_of(&couple.a), IBV_QPS_SQE);
	CHECK_EQUAL(ibv_modify_qp(couple.a.qp, &ready, IBV_QP_STATE), 0);
	sge.length = 8;
	post_receive(&couple.b, 1, 0, 100);
	post(&couple.a, &wr);
	expect_status(couple.a.cq, IBV_WC_SUCCESS);
	expect_status(couple.b.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	couple_close(&couple);
}

static void flushing(struct device *device)
{
	struct couple couple = couple_open(device, IBV_QPT_RC);
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};

	for (uint64_t i = 0; i < 5; i++)
		post_receive(&couple.b, i, 0, 8);
	CHECK_EQUAL(ibv_modify_qp(couple.b.qp, &error, IBV_QP_STATE), 0);
	for (uint64_t i = 0; i < 5; i++)
		CHECK_EQUAL(expect_status(couple.b.cq, IBV_WC_WR_FLUSH_ERR).wr_id, i);
	couple_close(&couple);
}

/* Refusals of the calls themselves. */
static void bad_calls(struct device *device)
{
	struct endpoint endpoint = endpoint_open(device, IBV_QPT_RC);
	struct ibv_sge sges[SGES + 1];
	struct ibv_send_wr wr = request(IBV_WR_SEND, sges, &endpoint, 0);
	struct ibv_recv_wr receive = {.sg_list = sges, .num_sge = SGES + 1};
	struct ibv_send_wr *bad_send = NULL;
	struct ibv_recv_wr *bad_receive = NULL;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};

	for (unsigned i = 0; i <= SGES; i++)
		sges[i] = sge_of(&endpoint, 0, 1);
	CHECK_EQUAL(ibv_post_send(endpoint.qp, &wr, &bad_send), EINVAL); /* in RESET */
	CHECK(bad_send == &wr);
	CHECK_EQUAL(ibv_modify_qp(endpoint.qp, &attr, IBV_QP_STATE), EINVAL);
	to_init(&endpoint, 0);
	CHECK_EQUAL(ibv_post_recv(endpoint.qp, &receive, &bad_receive), EINVAL);
	CHECK(bad_receive == &receive);
	receive.num_sge = 1;
	for (unsigned i = 0; i < QUEUE_DEPTH; i++)
		CHECK_EQUAL(ibv_post_recv(endpoint.qp, &receive, &bad_receive), 0);
	CHECK_EQUAL(ibv_post_recv(endpoint.qp, &receive, &bad_receive), ENOMEM);

	CHECK_EQUAL(ibv_destroy_cq(endpoint.cq), EBUSY);
	CHECK_EQUAL(ibv_dealloc_pd(device->pd), EBUSY);
	CHECK(!ibv_reg_mr(device->pd, endpoint.bytes, 8, IBV_ACCESS_REMOTE_WRITE) &&
	      errno == EINVAL);
	CHECK(!ibv_reg_mr(device->pd, NULL, 8, 0) && errno == EFAULT);
	CHECK(!ibv_reg_mr(device->pd, (void *)0x1000, 8, 0) && errno == EFAULT);
	CHECK(!ibv_create_cq(device->context, 0, NULL, NULL, 0) && errno == EINVAL);
	CHECK(!ibv_create_cq(device->context, 1, NULL, NULL, device->context->num_comp_vectors) &&
	      errno == EINVAL);

	struct ibv_qp_init_attr options = qp_options(&endpoint, IBV_QPT_RAW_PACKET);

	CHECK(!ibv_create_qp(device->pd, &options) && errno == EOPNOTSUPP);
	options = qp_options(&endpoint, IBV_QPT_RC);
	options.cap.max_send_wr = 1 << 30;
	CHECK(!ibv_create_qp(device->pd, &options) && errno == EINVAL);

	struct ibv_ah_attr nowhere = {.dlid = 1, .port_num = 9};

	CHECK(!ibv_create_ah(device->pd, &nowhere) && errno == EINVAL);
	CHECK(!ibv_alloc_mw(device->pd, (enum ibv_mw_type)3) && errno == EINVAL);
	CHECK(!ibv_reg_dmabuf_mr(device->pd, 0, 8, 0, -1, 0) && errno == EOPNOTSUPP);
	endpoint_close(&endpoint);
}

/* Objects that a closed context has left can still be destroyed, and hold nothing afterwards. */
static void closing_too_early(void)
{
	struct device device = device_open();
	struct endpoint endpoint = endpoint_open(&device, IBV_QPT_RC);

	CHECK_EQUAL(ibv_close_device(device.context), 0);
	endpoint_close(&endpoint);
	CHECK_EQUAL(ibv_dealloc_pd(device.pd), 0);
}

int main(void)
{
	struct device device = device_open();

	remote_keys(&device);
	local_keys(&device);
	receivers(&device);
	absent_peer(&device);
	wrong_qkey(&device);
	flushing(&device);
	bad_calls(&device);
	closing_too_early();
	device_close(&device);
	closing_too_early();
	puts("ok");
	return 0;
}
