/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reliable Datagram by softib/verbs.h: domains, contexts, requests of all kinds, completions that
 * name the sender, events, and every misuse that must be refused or completed with its own status.
 * Covers: api/libibverbs/rd/verbs_eec.c
 */
#include <softib/verbs.h>
#include "verbs_client.h"

enum { DEPTH = 8, MESSAGE_BYTES = 3000, IN = 65536 };

struct party {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static struct device device;
static struct softib_rdd *rdd;
static struct softib_eec *eecs[2]; /* connected with each other */
static struct party sender, receiver;
static struct ibv_mr *mr;
static uint8_t *bytes;

static struct ibv_qp_init_attr rd_options(struct ibv_cq *cq)
{
	return (struct ibv_qp_init_attr){
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {DEPTH, DEPTH, 2, 2, 64},
		.qp_type = SOFTIB_QPT_RD,
		.sq_sig_all = 1,
	};
}

static void to_rts_by_itself(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .qkey = QKEY,
				   .qp_access_flags = ALL_ACCESS,
				   .min_rnr_timer = 1};

	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_QKEY), EINVAL);
	CHECK_EQUAL(ibv_modify_qp(qp, &attr,
				  IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT),
		    EINVAL);
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS), 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

static struct party party_open(struct softib_rdd *domain)
{
	struct party party = {.cq = ibv_create_cq(device.context, 4 * DEPTH, NULL, NULL, 0)};
	struct ibv_qp_init_attr options = rd_options(party.cq);

	CHECK(party.cq);
	party.qp = softib_create_rd_qp(device.pd, domain, &options);
	CHECK(party.qp);
	CHECK_EQUAL(party.qp->qp_type, SOFTIB_QPT_RD);
	to_rts_by_itself(party.qp);
	return party;
}

static void party_close(struct party *party)
{
	CHECK_EQUAL(ibv_destroy_qp(party->qp), 0);
	CHECK_EQUAL(ibv_destroy_cq(party->cq), 0);
}

static struct ibv_qp_attr eec_attr(uint32_t destination)
{
	return (struct ibv_qp_attr){
		.port_num = 1,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = destination,
		.rq_psn = 0xfffff0,
		.sq_psn = 0xfffff0,
		.max_dest_rd_atomic = 2,
		.max_rd_atomic = 2,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = {.dlid = device.port.lid, .port_num = 1},
	};
}

static void eec_to_init(struct softib_eec *eec)
{
	struct ibv_qp_attr attr = eec_attr(0);

	attr.qp_state = IBV_QPS_INIT;
	CHECK_EQUAL(softib_modify_eec(eec, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
	CHECK_EQUAL(softib_modify_eec(eec, &attr,
				      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					      IBV_QP_ACCESS_FLAGS),
		    EINVAL);
	CHECK_EQUAL(softib_modify_eec(eec, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT),
		    0);
	CHECK_EQUAL(eec->state, IBV_QPS_INIT);
}

static void eec_to_rtr(struct softib_eec *eec, uint32_t destination)
{
	struct ibv_qp_attr attr = eec_attr(destination);

	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQUAL(softib_modify_eec(eec, &attr,
				      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC),
		    0);
}

static void eec_to_rts(struct softib_eec *eec)
{
	struct ibv_qp_attr attr = eec_attr(0);

	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(softib_modify_eec(eec, &attr,
				      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					      IBV_QP_MAX_QP_RD_ATOMIC),
		    0);
}

static int set_state(struct softib_eec *eec, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	return softib_modify_eec(eec, &attr, IBV_QP_STATE);
}

static struct softib_rd_send_wr rd_request(enum ibv_wr_opcode opcode, struct ibv_sge *sge)
{
	return (struct softib_rd_send_wr){
		.wr = {.wr_id = 7,
		       .sg_list = sge,
		       .num_sge = 1,
		       .opcode = opcode,
		       .wr.rdma = {(uintptr_t)bytes + IN, mr->rkey}},
		.eec_num = eecs[0]->eec_num,
		.remote_qpn = receiver.qp->qp_num,
		.remote_qkey = QKEY,
	};
}

static struct ibv_sge sge_at(uint32_t offset, uint32_t byte_count)
{
	return (struct ibv_sge){(uintptr_t)bytes + offset, byte_count, mr->lkey};
}

static struct softib_wc take(struct ibv_cq *cq)
{
	struct softib_wc wc;
	time_t end = time(NULL) + POLL_SECONDS_MAX;
	int count;

	while ((count = softib_poll_cq(cq, 1, &wc)) == 0)
		CHECK(time(NULL) < end);
	CHECK_EQUAL(count, 1);
	return wc;
}

static void rd_post(struct softib_rd_send_wr *wr)
{
	struct softib_rd_send_wr *bad;

	CHECK_EQUAL(softib_post_rd_send(sender.qp, wr, &bad), 0);
}

static void rd_receive(uint32_t byte_count)
{
	struct ibv_sge sge = sge_at(IN, byte_count);
	struct ibv_recv_wr wr = {.wr_id = 9, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	CHECK_EQUAL(ibv_post_recv(receiver.qp, &wr, &bad), 0);
}

static void back_to_rts(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	struct ibv_qp_init_attr init;

	CHECK_EQUAL(ibv_query_qp(sender.qp, &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQUAL(attr.qp_state, IBV_QPS_SQE);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(ibv_modify_qp(sender.qp, &attr, IBV_QP_STATE), 0);
}

static void a_message_arrives_and_names_its_sender(void)
{
	struct ibv_sge sge = sge_at(0, MESSAGE_BYTES);
	struct softib_rd_send_wr wr = rd_request(IBV_WR_SEND_WITH_IMM, &sge);

	for (unsigned i = 0; i < MESSAGE_BYTES; i++)
		bytes[i] = (uint8_t)(i * 13);
	wr.wr.imm_data = 0x12345678;
	rd_receive(MESSAGE_BYTES);
	rd_post(&wr);

	struct softib_wc sent = take(sender.cq), got = take(receiver.cq);

	CHECK_EQUAL(sent.wc.status, IBV_WC_SUCCESS);
	CHECK_EQUAL(sent.wc.wr_id, 7);
	CHECK_EQUAL(sent.eec_num, 0);
	CHECK_EQUAL(got.wc.status, IBV_WC_SUCCESS);
	CHECK_EQUAL(got.wc.wr_id, 9);
	CHECK_EQUAL(got.wc.byte_len, MESSAGE_BYTES);
	CHECK_EQUAL(got.wc.imm_data, 0x12345678);
	CHECK_EQUAL(got.wc.qp_num, receiver.qp->qp_num);
	CHECK_EQUAL(got.wc.src_qp, sender.qp->qp_num);
	CHECK_EQUAL(got.wc.slid, device.port.lid);
	CHECK_EQUAL(got.eec_num, eecs[1]->eec_num);
	CHECK(!memcmp(bytes, bytes + IN, MESSAGE_BYTES));
}

static void memory_operations_work(void)
{
	struct ibv_sge sge = sge_at(0, MESSAGE_BYTES);
	struct softib_rd_send_wr write = rd_request(IBV_WR_RDMA_WRITE, &sge);
	uint64_t word = 40;

	memset(bytes, 3, MESSAGE_BYTES);
	rd_post(&write);
	CHECK_EQUAL(take(sender.cq).wc.status, IBV_WC_SUCCESS);
	CHECK(!memcmp(bytes, bytes + IN, MESSAGE_BYTES));

	struct softib_rd_send_wr read = rd_request(IBV_WR_RDMA_READ, &sge);

	memset(bytes + IN, 4, MESSAGE_BYTES);
	rd_post(&read);
	CHECK_EQUAL(take(sender.cq).wc.status, IBV_WC_SUCCESS);
	CHECK(!memcmp(bytes, bytes + IN, MESSAGE_BYTES));

	sge = sge_at(0, 8);

	struct softib_rd_send_wr add = rd_request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);

	add.wr.wr.atomic.remote_addr = (uintptr_t)bytes + IN;
	add.wr.wr.atomic.rkey = mr->rkey;
	add.wr.wr.atomic.compare_add = 2;
	memcpy(bytes + IN, &word, 8);
	rd_post(&add);
	CHECK_EQUAL(take(sender.cq).wc.status, IBV_WC_SUCCESS);
	CHECK(!memcmp(bytes, &word, 8));
	word = 42;
	CHECK(!memcmp(bytes + IN, &word, 8));
}

/* The request fails by itself, and everything else continues. */
static void expect_failure(struct softib_rd_send_wr *wr, enum ibv_wc_status status)
{
	rd_post(wr);
	CHECK_EQUAL(take(sender.cq).wc.status, status);
	back_to_rts();
	CHECK_EQUAL(eecs[0]->state, IBV_QPS_RTS);
	a_message_arrives_and_names_its_sender();
}

static void wrong_requests_fail_with_their_own_status(void)
{
	struct ibv_sge sge = sge_at(0, 100);
	struct softib_rd_send_wr wr = rd_request(IBV_WR_SEND, &sge);
	struct softib_rdd *other_rdd = softib_alloc_rdd(device.context);
	struct softib_eec *other = softib_create_eec(other_rdd, NULL);
	struct softib_eec *unready = softib_create_eec(rdd, NULL);

	CHECK(other_rdd && other && unready);
	wr.remote_qkey = QKEY + 1;
	expect_failure(&wr, IBV_WC_REM_INV_RD_REQ_ERR);
	wr = rd_request(IBV_WR_SEND, &sge);
	wr.remote_qpn = 0x7ffff0;
	expect_failure(&wr, IBV_WC_REM_INV_RD_REQ_ERR);
	wr = rd_request(IBV_WR_SEND, &sge);
	wr.eec_num = 0x7ffff0;
	expect_failure(&wr, IBV_WC_INV_EECN_ERR);
	wr.eec_num = sender.qp->qp_num;
	expect_failure(&wr, IBV_WC_INV_EECN_ERR);
	wr.eec_num = other->eec_num;
	expect_failure(&wr, IBV_WC_LOC_RDD_VIOL_ERR);
	wr.eec_num = unready->eec_num;
	expect_failure(&wr, IBV_WC_INV_EEC_STATE_ERR);
	wr = rd_request(IBV_WR_RDMA_WRITE, &sge);
	wr.wr.wr.rdma.rkey ^= 0x100;
	expect_failure(&wr, IBV_WC_REM_ACCESS_ERR);
	wr = rd_request(IBV_WR_SEND, &sge);
	sge.lkey ^= 0x100;
	expect_failure(&wr, IBV_WC_LOC_PROT_ERR);
	sge = sge_at(0, 2000);
	rd_receive(1000);
	rd_post(&wr);
	CHECK_EQUAL(take(sender.cq).wc.status, IBV_WC_REM_INV_REQ_ERR);
	CHECK_EQUAL(take(receiver.cq).wc.status, IBV_WC_LOC_LEN_ERR);
	back_to_rts();
	a_message_arrives_and_names_its_sender();
	CHECK_EQUAL(softib_dealloc_rdd(other_rdd), EBUSY);
	CHECK_EQUAL(softib_destroy_eec(other), 0);
	CHECK_EQUAL(softib_destroy_eec(unready), 0);
	CHECK_EQUAL(softib_dealloc_rdd(other_rdd), 0);
}

static void expect_refused(struct ibv_qp *qp, struct softib_rd_send_wr *wr, int error)
{
	struct softib_rd_send_wr *bad = NULL;

	CHECK_EQUAL(softib_post_rd_send(qp, wr, &bad), error);
	CHECK(bad == wr);
}

static void requests_that_the_service_does_not_have_are_refused(void)
{
	static const int refused[] = {
		IBV_WR_LOCAL_INV, IBV_WR_SEND_WITH_INV, IBV_WR_TSO, 14 /* flush */, 40, -1};
	struct ibv_sge sges[3] = {sge_at(0, 8), sge_at(0, 8), sge_at(0, 8)};
	struct softib_rd_send_wr wr;
	struct ibv_send_wr plain = {.sg_list = sges, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_send_wr *bad_plain = NULL;

	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		wr = rd_request((enum ibv_wr_opcode)refused[i], sges);
		expect_refused(sender.qp, &wr, EINVAL);
	}
	wr = rd_request(IBV_WR_SEND, sges);
	wr.wr.num_sge = 3;
	expect_refused(sender.qp, &wr, EINVAL);
	wr = rd_request(IBV_WR_SEND, sges);
	wr.eec_num = 1 << 24;
	expect_refused(sender.qp, &wr, EINVAL);
	wr = rd_request(IBV_WR_SEND, sges);
	wr.remote_qpn = 1 << 24;
	expect_refused(sender.qp, &wr, EINVAL);
	/* Without a context there is no way, and other services have no contexts. */
	CHECK_EQUAL(ibv_post_send(sender.qp, &plain, &bad_plain), EINVAL);
	CHECK(bad_plain == &plain);

	struct endpoint ud = endpoint_open(&device, IBV_QPT_UD);

	to_init(&ud, 0);
	wr = rd_request(IBV_WR_SEND, sges);
	expect_refused(ud.qp, &wr, EINVAL);
	endpoint_close(&ud);
}

static void wrong_arguments_are_refused(void)
{
	struct ibv_qp_init_attr options = rd_options(sender.cq);
	struct ibv_qp_attr attr = {.qp_state = (enum ibv_qp_state)99};

	CHECK(!softib_alloc_rdd(NULL) && errno == EINVAL);
	CHECK(!softib_create_eec(NULL, NULL) && errno == EINVAL);
	CHECK_EQUAL(softib_dealloc_rdd(NULL), EINVAL);
	CHECK_EQUAL(softib_destroy_eec(NULL), EINVAL);
	CHECK_EQUAL(softib_modify_eec(NULL, &attr, IBV_QP_STATE), EINVAL);
	CHECK_EQUAL(softib_modify_eec(eecs[0], NULL, IBV_QP_STATE), EINVAL);
	CHECK_EQUAL(softib_modify_eec(eecs[0], &attr, IBV_QP_STATE), EINVAL);
	CHECK_EQUAL(softib_query_eec(eecs[0], NULL, 0), EINVAL);
	CHECK_EQUAL(set_state(eecs[0], IBV_QPS_SQE), EINVAL);
	CHECK_EQUAL(set_state(eecs[0], IBV_QPS_INIT), EINVAL);
	/* The type needs a domain, and the domain the type. */
	CHECK(!ibv_create_qp(device.pd, &options) && errno == EINVAL);
	CHECK(!softib_create_rd_qp(device.pd, NULL, &options) && errno == EINVAL);
	CHECK(!softib_create_rd_qp(NULL, rdd, &options) && errno == EINVAL);
	options.qp_type = IBV_QPT_RC;
	CHECK(!softib_create_rd_qp(device.pd, rdd, &options) && errno == EINVAL);
	options.qp_type = SOFTIB_QPT_RD;
	options.cap.max_send_wr = 1 << 30;
	CHECK(!softib_create_rd_qp(device.pd, rdd, &options) && errno == EINVAL);
	CHECK_EQUAL(softib_dealloc_rdd(rdd), EBUSY);
}

static void the_context_says_how_it_is(void)
{
	struct ibv_device_attr limits;
	struct ibv_qp_attr attr;

	CHECK_EQUAL(softib_query_eec(eecs[0], &attr, IBV_QP_STATE), 0);
	CHECK_EQUAL(attr.qp_state, IBV_QPS_RTS);
	CHECK_EQUAL(attr.dest_qp_num, eecs[1]->eec_num);
	CHECK_EQUAL(attr.path_mtu, IBV_MTU_1024);
	CHECK_EQUAL(attr.max_rd_atomic, 2);
	CHECK_EQUAL(attr.ah_attr.dlid, device.port.lid);
	CHECK_EQUAL(ibv_query_device(device.context, &limits), 0);
	CHECK(limits.max_ee > 0 && limits.max_rdd > 0 && limits.max_ee_rd_atom >= 2 &&
	      limits.max_ee_init_rd_atom >= 2);
}

static void expect_event(enum softib_event_type type, const struct softib_eec *eec)
{
	struct ibv_async_event event;

	CHECK_EQUAL(ibv_get_async_event(device.context, &event), 0);
	CHECK_EQUAL(event.event_type, type);
	CHECK(softib_event_eec(&event) == eec);
	ibv_ack_async_event(&event);
}

static void contexts_have_events(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	struct ibv_async_event other = {.event_type = IBV_EVENT_PORT_ACTIVE};

	CHECK(!softib_event_eec(&other));
	CHECK_EQUAL(softib_modify_eec(eecs[0], &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
		    0);
	expect_event(SOFTIB_EVENT_EEC_SQ_DRAINED, eecs[0]);
	/* Requests posted meanwhile wait. */
	struct ibv_sge sge = sge_at(0, 10);
	struct softib_rd_send_wr wr = rd_request(IBV_WR_SEND, &sge);

	rd_receive(10);
	rd_post(&wr);
	CHECK_EQUAL(set_state(eecs[0], IBV_QPS_RTS), 0);
	CHECK_EQUAL(take(sender.cq).wc.status, IBV_WC_SUCCESS);
	CHECK_EQUAL(take(receiver.cq).wc.status, IBV_WC_SUCCESS);
}

static void a_context_in_error_fails_what_uses_it_and_can_be_reset(void)
{
	struct ibv_sge sge = sge_at(0, 10);
	struct softib_rd_send_wr wr = rd_request(IBV_WR_SEND, &sge);

	CHECK_EQUAL(set_state(eecs[0], IBV_QPS_ERR), 0);
	rd_post(&wr);
	CHECK_EQUAL(take(sender.cq).wc.status, IBV_WC_INV_EEC_STATE_ERR);
	back_to_rts();
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQUAL(set_state(eecs[i], IBV_QPS_RESET), 0);
		eec_to_init(eecs[i]);
	}
	eec_to_rtr(eecs[0], eecs[1]->eec_num);
	eec_to_rtr(eecs[1], eecs[0]->eec_num);
	eec_to_rts(eecs[0]);
	/* The first message finds the other end in RTR. */
	a_message_arrives_and_names_its_sender();
	expect_event(SOFTIB_EVENT_EEC_COMM_EST, eecs[1]);
	eec_to_rts(eecs[1]);
}

static void a_list_is_posted_up_to_the_bad_one(void)
{
	struct ibv_sge sge = sge_at(0, 10);
	struct softib_rd_send_wr wrs[3];
	struct softib_rd_send_wr *bad = NULL;

	for (unsigned i = 0; i < 3; i++) {
		wrs[i] = rd_request(i == 1 ? IBV_WR_TSO : IBV_WR_SEND, &sge);
		wrs[i].next = i < 2 ? &wrs[i + 1] : NULL;
	}
	rd_receive(10);
	CHECK_EQUAL(softib_post_rd_send(sender.qp, wrs, &bad), EINVAL);
	CHECK(bad == &wrs[1]);
	CHECK_EQUAL(take(sender.cq).wc.status, IBV_WC_SUCCESS);
	CHECK_EQUAL(take(receiver.cq).wc.status, IBV_WC_SUCCESS);
}

static void a_full_queue_is_refused(void)
{
	struct ibv_sge sge = sge_at(0, 10);
	struct softib_rd_send_wr wr = rd_request(IBV_WR_SEND, &sge);

	/* No receives: the first is suspended again and again, and the rest wait behind it. */
	for (unsigned i = 0; i < DEPTH; i++)
		rd_post(&wr);
	expect_refused(sender.qp, &wr, ENOMEM);
	for (unsigned i = 0; i < DEPTH; i++)
		rd_receive(10);
	for (unsigned i = 0; i < DEPTH; i++) {
		CHECK_EQUAL(take(sender.cq).wc.status, IBV_WC_SUCCESS);
		CHECK_EQUAL(take(receiver.cq).wc.status, IBV_WC_SUCCESS);
	}
}

/* There is no peer: the retries run out, which ends the context and all requests that wait for it.
 */
static void silence_ends_a_context(void)
{
	struct softib_eec *lonely = softib_create_eec(rdd, NULL);
	struct ibv_qp_attr attr = eec_attr(0x7ffff0);
	struct ibv_sge sge = sge_at(0, 10);
	struct softib_rd_send_wr wr = rd_request(IBV_WR_SEND, &sge);
	struct softib_rd_send_wr *bad;

	CHECK(lonely);
	eec_to_init(lonely);
	eec_to_rtr(lonely, 0x7ffff0);
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 8;
	attr.retry_cnt = 2;
	CHECK_EQUAL(softib_modify_eec(lonely, &attr,
				      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					      IBV_QP_MAX_QP_RD_ATOMIC),
		    0);
	wr.eec_num = lonely->eec_num;
	rd_post(&wr);
	CHECK_EQUAL(softib_post_rd_send(receiver.qp, &wr, &bad), 0);
	CHECK_EQUAL(take(sender.cq).wc.status, IBV_WC_RETRY_EXC_ERR);
	CHECK_EQUAL(take(receiver.cq).wc.status, IBV_WC_INV_EEC_STATE_ERR);
	CHECK_EQUAL(softib_query_eec(lonely, &attr, IBV_QP_STATE), 0);
	CHECK_EQUAL(attr.qp_state, IBV_QPS_ERR);
	CHECK_EQUAL(lonely->state, IBV_QPS_ERR);
	back_to_rts();
	CHECK_EQUAL(softib_destroy_eec(lonely), 0);
	/* The queue pairs still work, and so does the other context. */
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(ibv_modify_qp(receiver.qp, &attr, IBV_QP_STATE), 0);
	a_message_arrives_and_names_its_sender();
}

/* A device that is closed over its objects takes them along. */
static void leftovers_do_no_harm(void)
{
	struct device own = device_open();
	struct softib_rdd *left = softib_alloc_rdd(own.context);
	struct softib_eec *eec = softib_create_eec(left, NULL);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	CHECK(left && eec);
	CHECK_EQUAL(ibv_close_device(own.context), 0);
	CHECK_EQUAL(softib_modify_eec(eec, &attr, IBV_QP_STATE), EINVAL);
	CHECK_EQUAL(softib_query_eec(eec, &attr, 0), EINVAL);
	CHECK_EQUAL(softib_destroy_eec(eec), 0);
	CHECK_EQUAL(softib_dealloc_rdd(left), 0);
	CHECK_EQUAL(ibv_dealloc_pd(own.pd), 0);
}

int main(void)
{
	device = device_open();
	bytes = calloc(1, 2 * IN);
	CHECK(bytes);
	mr = ibv_reg_mr(device.pd, bytes, 2 * IN, ALL_ACCESS);
	CHECK(mr);
	rdd = softib_alloc_rdd(device.context);
	CHECK(rdd);
	for (unsigned i = 0; i < 2; i++) {
		eecs[i] = softib_create_eec(rdd, &device);
		CHECK(eecs[i] && eecs[i]->eec_context == &device && eecs[i]->rdd == rdd);
		CHECK_EQUAL(eecs[i]->state, IBV_QPS_RESET);
		eec_to_init(eecs[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		eec_to_rtr(eecs[i], eecs[!i]->eec_num);
		eec_to_rts(eecs[i]);
	}
	sender = party_open(rdd);
	receiver = party_open(rdd);

	a_message_arrives_and_names_its_sender();
	memory_operations_work();
	wrong_requests_fail_with_their_own_status();
	requests_that_the_service_does_not_have_are_refused();
	wrong_arguments_are_refused();
	the_context_says_how_it_is();
	contexts_have_events();
	a_context_in_error_fails_what_uses_it_and_can_be_reset();
	a_list_is_posted_up_to_the_bad_one();
	a_full_queue_is_refused();
	silence_ends_a_context();

	party_close(&sender);
	party_close(&receiver);
	CHECK_EQUAL(softib_destroy_eec(eecs[0]), 0);
	CHECK_EQUAL(softib_destroy_eec(eecs[1]), 0);
	CHECK_EQUAL(softib_dealloc_rdd(rdd), 0);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	free(bytes);
	device_close(&device);
	leftovers_do_no_harm();
	puts("ok");
	return 0;
}
