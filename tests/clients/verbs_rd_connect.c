/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EE contexts connected by communication management, both sides in one program: requests with their
 * private data, services over a channel that is there, every way to say no, ends, and misuse.
 * Covers: api/libibverbs/rd/eec_calls.c api/libibverbs/rd/eec_contexts.c
 * api/libibverbs/rd/eec_events.c api/libibverbs/rd/eec_ids.c
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <softib/verbs.h>
#include "verbs_client.h"

enum { DEPTH = 8, MESSAGE_BYTES = 3000, IN = 65536 };

#define SERVICE 0x0053494200000017ull

static struct device device;
static struct softib_rdd *rdd;
static struct softib_cm_channel *channel;
static struct ibv_cq *cq;
static struct ibv_qp *qps[2]; /* of the caller, and of the called side */
static struct ibv_mr *mr;
static uint8_t bytes[2 * IN];

static struct softib_eec *context_new(void)
{
	struct softib_eec *eec = softib_create_eec(rdd, NULL);

	CHECK(eec);
	return eec;
}

static enum ibv_qp_state context_state(struct softib_eec *eec)
{
	struct ibv_qp_attr attr;

	CHECK_EQUAL(softib_query_eec(eec, &attr, 0), 0);
	return attr.qp_state;
}

static struct ibv_qp *queue_pair_new(void)
{
	struct ibv_qp_init_attr options = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {DEPTH, DEPTH, 1, 1, 0},
		.qp_type = SOFTIB_QPT_RD,
		.sq_sig_all = 1,
	};
	struct ibv_qp *qp = softib_create_rd_qp(device.pd, rdd, &options);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .qkey = QKEY,
				   .qp_access_flags = ALL_ACCESS,
				   .min_rnr_timer = 1};

	CHECK(qp);
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS), 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	return qp;
}

static struct softib_eec_call call_to(uint64_t service_id)
{
	return (struct softib_eec_call){
		.dgid = device.gid, .service_id = service_id, .port_num = 1};
}

static struct softib_eec_offer offer_of(unsigned side)
{
	static const char texts[2][8] = {"please", "gladly"};

	return (struct softib_eec_offer){
		.qp_num = qps[side]->qp_num,
		.qkey = QKEY,
		.private_data = texts[side],
		.private_data_len = sizeof(texts[side]),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

static struct softib_cm_id *call(struct softib_eec *eec)
{
	const struct softib_eec_call to = call_to(SERVICE);
	const struct softib_eec_offer offer = offer_of(0);
	struct softib_cm_id *id = softib_connect_eec(channel, eec, &to, &offer, NULL);

	CHECK(id);
	return id;
}

/* The next event must be this. It is acknowledged. */
static struct softib_cm_event expect(enum softib_cm_event_type type, struct softib_cm_id *id)
{
	struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
	struct softib_cm_event event;

	CHECK_EQUAL(poll(&ready, 1, POLL_SECONDS_MAX * 1000), 1);
	CHECK_EQUAL(softib_get_cm_event(channel, &event), 0);
	if (event.type != type) {
		fprintf(stderr, "event is \"%s\" (status %d), not \"%s\"\n",
			softib_cm_event_str(event.type), event.status, softib_cm_event_str(type));
		abort();
	}
	CHECK(!id || event.id == id);
	softib_ack_cm_event(&event);
	return event;
}

struct pair {
	struct softib_cm_id *listener;
	struct softib_eec *eecs[2];
	struct softib_cm_id *ids[2];
};

static struct softib_cm_id *listen_for(uint64_t service_id)
{
	struct softib_cm_id *id = softib_listen_eec(channel, 1, service_id, 0, &device);

	CHECK(id);
	return id;
}

static void pair_connect(struct pair *pair)
{
	const struct softib_eec_offer offer = offer_of(1);

	pair->ids[0] = call(pair->eecs[0]);

	struct softib_cm_event event = expect(SOFTIB_CM_REQUEST, NULL);

	pair->ids[1] = event.id;
	CHECK_EQUAL(softib_accept_eec(pair->ids[1], pair->eecs[1], &offer), 0);
	expect(SOFTIB_CM_ESTABLISHED, pair->ids[0]);
	expect(SOFTIB_CM_ESTABLISHED, pair->ids[1]);
}

static struct pair pair_open(void)
{
	struct pair pair = {.listener = listen_for(SERVICE),
			    .eecs = {context_new(), context_new()}};

	pair_connect(&pair);
	return pair;
}

static void context_destroy(struct softib_eec *eec)
{
	CHECK_EQUAL(softib_destroy_eec(eec), 0);
}

static void id_destroy(struct softib_cm_id *id)
{
	CHECK_EQUAL(softib_destroy_cm_id(id), 0);
}

static void pair_close(struct pair *pair)
{
	for (unsigned side = 0; side < 2; side++) {
		id_destroy(pair->ids[side]);
		context_destroy(pair->eecs[side]);
	}
	id_destroy(pair->listener);
}

/* From the queue pair of one side to the other's, by the contexts between them. */
static void message_crosses(const struct pair *pair, unsigned from, uint32_t qpn, uint32_t qkey)
{
	struct ibv_sge out = {(uintptr_t)bytes, MESSAGE_BYTES, mr->lkey};
	struct ibv_sge in = {(uintptr_t)bytes + IN, MESSAGE_BYTES, mr->lkey};
	struct ibv_recv_wr receive = {.wr_id = 9, .sg_list = &in, .num_sge = 1};
	struct softib_rd_send_wr wr = {
		.wr = {.wr_id = 7, .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND},
		.eec_num = pair->eecs[from]->eec_num,
		.remote_qpn = qpn,
		.remote_qkey = qkey,
	};
	struct ibv_recv_wr *bad_receive;
	struct softib_rd_send_wr *bad;

	fill(bytes, MESSAGE_BYTES, qpn);
	memset(bytes + IN, 0, MESSAGE_BYTES);
	CHECK_EQUAL(ibv_post_recv(qps[!from], &receive, &bad_receive), 0);
	CHECK_EQUAL(softib_post_rd_send(qps[from], &wr, &bad), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct ibv_wc wc = expect_status(cq, IBV_WC_SUCCESS);

		if (wc.wr_id == 9)
			CHECK_EQUAL(wc.src_qp, qps[from]->qp_num);
	}
	CHECK_EQUAL(memcmp(bytes, bytes + IN, MESSAGE_BYTES), 0);
}

static void a_call_is_answered_and_messages_cross(void)
{
	struct pair pair = {.listener = listen_for(SERVICE),
			    .eecs = {context_new(), context_new()}};
	const struct softib_eec_offer offer = offer_of(1);

	pair.ids[0] = call(pair.eecs[0]);
	CHECK(pair.ids[0]->eec == pair.eecs[0]);
	CHECK_EQUAL(pair.ids[0]->service_id, SERVICE);

	struct softib_cm_event event = expect(SOFTIB_CM_REQUEST, NULL);

	pair.ids[1] = event.id;
	CHECK(event.listener == pair.listener);
	CHECK(event.id->id_context == &device);
	CHECK_EQUAL(event.id->port_num, 1);
	CHECK(!event.eec && !event.id->eec);
	CHECK_EQUAL(event.remote_eec_num, pair.eecs[0]->eec_num);
	CHECK_EQUAL(event.remote_qpn, qps[0]->qp_num);
	CHECK_EQUAL(event.remote_qkey, QKEY);
	CHECK_EQUAL(memcmp(&event.remote_gid, &device.gid, sizeof(device.gid)), 0);
	CHECK_EQUAL(event.private_data_len, 92);
	CHECK_EQUAL(strcmp((char *)event.private_data, "please"), 0);
	CHECK_EQUAL(softib_accept_eec(pair.ids[1], pair.eecs[1], &offer), 0);
	CHECK_EQUAL(context_state(pair.eecs[1]), IBV_QPS_RTS);
	event = expect(SOFTIB_CM_ESTABLISHED, pair.ids[0]);
	CHECK_EQUAL(event.remote_eec_num, pair.eecs[1]->eec_num);
	CHECK_EQUAL(event.remote_qpn, qps[1]->qp_num);
	CHECK_EQUAL(event.remote_qkey, QKEY);
	CHECK_EQUAL(strcmp((char *)event.private_data, "gladly"), 0);
	CHECK_EQUAL(context_state(pair.eecs[0]), IBV_QPS_RTS);
	expect(SOFTIB_CM_ESTABLISHED, pair.ids[1]);
	message_crosses(&pair, 0, event.remote_qpn, event.remote_qkey);
	message_crosses(&pair, 1, qps[0]->qp_num, QKEY);
	pair_close(&pair);
}

static void depths_are_what_both_sides_can(void)
{
	struct pair pair = {.listener = listen_for(SERVICE),
			    .eecs = {context_new(), context_new()}};
	const struct softib_eec_call to = call_to(SERVICE);
	struct softib_eec_offer offer = offer_of(0);
	struct ibv_qp_attr attr;

	offer.responder_resources = 3;
	offer.initiator_depth = 0;
	pair.ids[0] = softib_connect_eec(channel, pair.eecs[0], &to, &offer, NULL);
	CHECK(pair.ids[0]);

	struct softib_cm_event event = expect(SOFTIB_CM_REQUEST, NULL);

	CHECK_EQUAL(event.responder_resources, 0);
	CHECK_EQUAL(event.initiator_depth, 3);
	pair.ids[1] = event.id;
	offer = offer_of(1);
	offer.initiator_depth = 8;
	CHECK_EQUAL(softib_accept_eec(pair.ids[1], pair.eecs[1], &offer), 0);
	expect(SOFTIB_CM_ESTABLISHED, pair.ids[0]);
	expect(SOFTIB_CM_ESTABLISHED, pair.ids[1]);
	CHECK_EQUAL(softib_query_eec(pair.eecs[0], &attr, 0), 0);
	CHECK_EQUAL(attr.max_dest_rd_atomic, 3);
	CHECK_EQUAL(attr.max_rd_atomic, 0);
	CHECK_EQUAL(softib_query_eec(pair.eecs[1], &attr, 0), 0);
	CHECK_EQUAL(attr.max_dest_rd_atomic, 0);
	CHECK_EQUAL(attr.max_rd_atomic, 3);
	pair_close(&pair);
}

/* Either side may end it; the other hears of it, and both contexts are in Error. */
static void an_end_reaches_both(unsigned who)
{
	struct pair pair = pair_open();
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	CHECK_EQUAL(softib_disconnect_eec(pair.ids[who]), 0);
	CHECK_EQUAL(context_state(pair.eecs[who]), IBV_QPS_ERR);
	expect(SOFTIB_CM_DISCONNECTED, pair.ids[!who]);
	CHECK_EQUAL(context_state(pair.eecs[!who]), IBV_QPS_ERR);
	expect(SOFTIB_CM_DISCONNECTED, pair.ids[who]);
	/* A second call does no harm. */
	CHECK_EQUAL(softib_disconnect_eec(pair.ids[!who]), 0);
	for (unsigned side = 0; side < 2; side++) {
		id_destroy(pair.ids[side]);
		CHECK_EQUAL(softib_modify_eec(pair.eecs[side], &attr, IBV_QP_STATE), 0);
	}
	pair_connect(&pair);
	message_crosses(&pair, 0, qps[1]->qp_num, QKEY);
	pair_close(&pair);
}

static void an_id_that_is_destroyed_ends_its_connection(void)
{
	struct pair pair = pair_open();

	id_destroy(pair.ids[0]);
	CHECK_EQUAL(context_state(pair.eecs[0]), IBV_QPS_ERR);
	expect(SOFTIB_CM_DISCONNECTED, pair.ids[1]);
	CHECK_EQUAL(context_state(pair.eecs[1]), IBV_QPS_ERR);
	id_destroy(pair.ids[1]);
	context_destroy(pair.eecs[0]);
	context_destroy(pair.eecs[1]);
	id_destroy(pair.listener);
}

static void a_second_service_uses_the_same_contexts(void)
{
	struct pair pair = pair_open();
	struct softib_cm_id *listener = listen_for(SERVICE + 1);
	struct softib_eec *other = context_new();
	const struct softib_eec_call to = call_to(SERVICE + 1);
	struct softib_eec_offer offer = offer_of(0);
	struct softib_cm_id *ids[2];

	ids[0] = softib_connect_eec(channel, pair.eecs[0], &to, &offer, NULL);
	CHECK(ids[0]);

	struct softib_cm_event event = expect(SOFTIB_CM_REQUEST, NULL);

	CHECK(event.listener == listener);
	CHECK(event.eec == pair.eecs[1]);
	CHECK_EQUAL(event.remote_eec_num, pair.eecs[0]->eec_num);
	ids[1] = event.id;
	offer = offer_of(1);
	CHECK_EQUAL(softib_accept_eec(ids[1], other, &offer), EINVAL);
	CHECK_EQUAL(softib_accept_eec(ids[1], event.eec, &offer), 0);
	event = expect(SOFTIB_CM_ESTABLISHED, ids[0]);
	CHECK_EQUAL(event.remote_qpn, qps[1]->qp_num);
	CHECK_EQUAL(event.remote_eec_num, pair.eecs[1]->eec_num);
	expect(SOFTIB_CM_ESTABLISHED, ids[1]);
	message_crosses(&pair, 0, event.remote_qpn, event.remote_qkey);
	/* Its end is not that of the contexts. */
	CHECK_EQUAL(softib_disconnect_eec(ids[1]), 0);
	expect(SOFTIB_CM_DISCONNECTED, ids[0]);
	expect(SOFTIB_CM_DISCONNECTED, ids[1]);
	id_destroy(ids[0]);
	id_destroy(ids[1]);
	message_crosses(&pair, 1, qps[0]->qp_num, QKEY);
	context_destroy(other);
	id_destroy(listener);
	pair_close(&pair);
}

static void connect_by_hand(struct softib_eec *eec, uint32_t destination)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = destination,
		.timeout = ACK_TIMEOUT,
		.ah_attr = {.dlid = device.port.lid, .port_num = 1},
	};

	CHECK_EQUAL(softib_modify_eec(eec, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT),
		    0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQUAL(softib_modify_eec(eec, &attr,
				      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC),
		    0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(softib_modify_eec(eec, &attr,
				      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					      IBV_QP_MAX_QP_RD_ATOMIC),
		    0);
}

/* The managers know nothing of contexts that were connected past them. */
static void a_service_over_no_channel_is_refused(void)
{
	struct softib_cm_id *listener = listen_for(SERVICE);
	struct softib_eec *eecs[2] = {context_new(), context_new()};

	connect_by_hand(eecs[0], eecs[1]->eec_num);
	connect_by_hand(eecs[1], eecs[0]->eec_num);

	struct softib_cm_id *id = call(eecs[0]);

	CHECK_EQUAL(expect(SOFTIB_CM_REJECTED, id).status, SOFTIB_REJECT_NO_CHANNEL);
	CHECK_EQUAL(context_state(eecs[0]), IBV_QPS_RTS);
	id_destroy(id);
	context_destroy(eecs[0]);
	context_destroy(eecs[1]);
	id_destroy(listener);
}

static void refusals_say_why(void)
{
	struct softib_eec *eec = context_new();
	struct softib_cm_id *id = call(eec);

	CHECK_EQUAL(expect(SOFTIB_CM_REJECTED, id).status, SOFTIB_REJECT_INVALID_SERVICE_ID);
	id_destroy(id);

	static const int reasons[] = {SOFTIB_REJECT_CONSUMER, SOFTIB_REJECT_NO_EEC,
				      SOFTIB_REJECT_NO_RESOURCES};
	struct softib_cm_id *listener = listen_for(SERVICE);

	for (unsigned i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		id = call(eec);

		struct softib_cm_event request = expect(SOFTIB_CM_REQUEST, NULL);

		CHECK_EQUAL(softib_reject_eec(request.id, i ? reasons[i] : 0, "sorry", 6), 0);

		struct softib_cm_event event = expect(SOFTIB_CM_REJECTED, id);

		CHECK_EQUAL(event.status, reasons[i]);
		CHECK_EQUAL(event.private_data_len, 148);
		CHECK_EQUAL(strcmp((char *)event.private_data, "sorry"), 0);
		CHECK_EQUAL(context_state(eec), IBV_QPS_RESET);
		CHECK_EQUAL(softib_reject_eec(request.id, 0, NULL, 0), EINVAL);
		id_destroy(request.id);
		id_destroy(id);
	}
	/* Destroying the id without an answer is also an answer. */
	id = call(eec);
	id_destroy(expect(SOFTIB_CM_REQUEST, NULL).id);
	CHECK_EQUAL(expect(SOFTIB_CM_REJECTED, id).status, SOFTIB_REJECT_CONSUMER);
	id_destroy(id);
	id_destroy(listener);
	context_destroy(eec);
}

static void a_gid_that_nobody_has_is_unreachable(void)
{
	struct softib_eec *eec = context_new();
	struct softib_eec_call to = call_to(SERVICE);
	const struct softib_eec_offer offer = offer_of(0);

	to.dgid.raw[15] ^= 0x5a;
	to.dgid.raw[12] ^= 0x5a;

	struct softib_cm_id *id = softib_connect_eec(channel, eec, &to, &offer, NULL);

	CHECK(id);
	CHECK_EQUAL(expect(SOFTIB_CM_UNREACHABLE, id).status, EHOSTUNREACH);
	CHECK_EQUAL(context_state(eec), IBV_QPS_RESET);
	id_destroy(id);
	context_destroy(eec);
}

/* The caller destroyed its id before the answer. */
static void an_answer_to_nobody_ends(void)
{
	struct softib_cm_id *listener = listen_for(SERVICE);
	struct softib_eec *eecs[2] = {context_new(), context_new()};
	struct softib_cm_id *caller = call(eecs[0]);
	struct softib_cm_id *called = expect(SOFTIB_CM_REQUEST, NULL).id;
	const struct softib_eec_offer offer = offer_of(1);

	id_destroy(caller);

	/* Its REJ may come before the answer or after it. */
	int error = softib_accept_eec(called, eecs[1], &offer);

	CHECK(error == 0 || error == EINVAL);
	if (!error)
		expect(SOFTIB_CM_REJECTED, called);
	CHECK_EQUAL(context_state(eecs[1]), error ? context_state(eecs[1]) : IBV_QPS_ERR);
	CHECK(context_state(eecs[1]) != IBV_QPS_RTS);
	id_destroy(called);
	context_destroy(eecs[0]);
	context_destroy(eecs[1]);
	id_destroy(listener);
}

static void unread_requests_are_refused(void)
{
	struct softib_cm_channel *second = softib_create_cm_channel(device.context);

	CHECK(second);

	struct softib_cm_id *listener = softib_listen_eec(second, 1, SERVICE, 5, NULL);
	struct softib_eec *eec = context_new();
	struct softib_cm_id *id = call(eec);
	struct pollfd ready = {.fd = second->fd, .events = POLLIN};

	CHECK(listener);
	/* No event comes from the way there, but a thread must poll to make progress. */
	for (;;) {
		struct softib_cm_event event;

		if (poll(&ready, 1, 0) == 1)
			break;
		CHECK_EQUAL(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
		CHECK_EQUAL(softib_get_cm_event(channel, &event), EAGAIN);
		CHECK_EQUAL(fcntl(channel->fd, F_SETFL, 0), 0);
	}
	CHECK_EQUAL(softib_destroy_cm_channel(second), EBUSY);
	id_destroy(listener);
	CHECK_EQUAL(softib_destroy_cm_channel(second), 0);
	CHECK_EQUAL(expect(SOFTIB_CM_REJECTED, id).status, SOFTIB_REJECT_CONSUMER);
	id_destroy(id);
	context_destroy(eec);
}

static void what_is_used_stays(void)
{
	struct pair pair = pair_open();
	struct softib_eec *eec = context_new();
	const struct softib_eec_call to = call_to(SERVICE + 5);
	const struct softib_eec_offer offer = offer_of(0);

	CHECK_EQUAL(softib_destroy_eec(pair.eecs[0]), EBUSY);
	CHECK_EQUAL(softib_destroy_eec(pair.eecs[1]), EBUSY);
	CHECK_EQUAL(softib_destroy_cm_channel(channel), EBUSY);
	CHECK(!softib_listen_eec(channel, 1, SERVICE, 0, NULL));
	CHECK_EQUAL(errno, EADDRINUSE);
	CHECK_EQUAL(softib_accept_eec(pair.ids[1], eec, &offer), EINVAL);
	CHECK_EQUAL(softib_accept_eec(pair.ids[0], eec, &offer), EINVAL);
	CHECK_EQUAL(softib_accept_eec(pair.listener, eec, &offer), EINVAL);
	CHECK_EQUAL(softib_reject_eec(pair.ids[1], 0, NULL, 0), EINVAL);
	CHECK_EQUAL(softib_reject_eec(pair.ids[0], 0, NULL, 0), EINVAL);
	CHECK_EQUAL(softib_disconnect_eec(pair.listener), EINVAL);
	CHECK_EQUAL(softib_notify_eec(pair.ids[0]), EINVAL);
	CHECK_EQUAL(softib_notify_eec(pair.ids[1]), 0);

	/* A context is called for once at a time. */
	struct softib_cm_id *id = softib_connect_eec(channel, eec, &to, &offer, NULL);

	CHECK(id);
	CHECK(!softib_connect_eec(channel, eec, &to, &offer, NULL));
	CHECK_EQUAL(errno, EBUSY);
	CHECK_EQUAL(softib_destroy_eec(eec), EBUSY);
	expect(SOFTIB_CM_REJECTED, id);
	id_destroy(id);
	context_destroy(eec);
	pair_close(&pair);
}

static void check_refused_call(struct softib_eec *eec, struct softib_eec_call to,
			       struct softib_eec_offer offer)
{
	errno = 0;
	CHECK(!softib_connect_eec(channel, eec, &to, &offer, NULL));
	CHECK_EQUAL(errno, EINVAL);
}

static void senseless_arguments_are_refused(void)
{
	struct softib_eec *eec = context_new();
	struct softib_eec_call to = call_to(SERVICE);
	struct softib_eec_offer offer = offer_of(0);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	CHECK(!softib_create_cm_channel(NULL));
	CHECK_EQUAL(softib_destroy_cm_channel(NULL), EINVAL);
	CHECK_EQUAL(softib_destroy_cm_id(NULL), EINVAL);
	CHECK_EQUAL(softib_get_cm_event(NULL, NULL), EINVAL);
	CHECK(!softib_listen_eec(NULL, 1, SERVICE, 0, NULL));
	CHECK(!softib_listen_eec(channel, 9, SERVICE, 0, NULL));
	CHECK(!softib_listen_eec(channel, 1, 0, 0, NULL));
	CHECK(!softib_listen_eec(channel, 1, SERVICE, -1, NULL));
	CHECK(!softib_connect_eec(NULL, eec, &to, &offer, NULL));
	CHECK(!softib_connect_eec(channel, NULL, &to, &offer, NULL));
	CHECK(!softib_connect_eec(channel, eec, NULL, &offer, NULL));
	CHECK(!softib_connect_eec(channel, eec, &to, NULL, NULL));
	to.service_id = 0;
	check_refused_call(eec, to, offer);
	to = call_to(SERVICE);
	to.port_num = 9;
	check_refused_call(eec, to, offer);
	to = call_to(SERVICE);
	to.pkey = 0x1234;
	check_refused_call(eec, to, offer);
	to = call_to(SERVICE);
	to.response_timeout = 20;
	check_refused_call(eec, to, offer);
	to.tries = 17;
	check_refused_call(eec, to, offer);
	to = call_to(SERVICE);
	offer.private_data_len = 93;
	check_refused_call(eec, to, offer);
	offer = offer_of(0);
	offer.private_data = NULL;
	check_refused_call(eec, to, offer);
	offer = offer_of(0);
	offer.qp_num = 1u << 24;
	check_refused_call(eec, to, offer);
	offer = offer_of(0);
	offer.retry_count = 8;
	check_refused_call(eec, to, offer);
	offer = offer_of(0);
	CHECK_EQUAL(softib_modify_eec(eec, &attr, IBV_QP_STATE), 0);
	check_refused_call(eec, to, offer);
	context_destroy(eec);
	CHECK_EQUAL(strcmp(softib_cm_event_str((enum softib_cm_event_type)99), "unknown"), 0);
}

/* One thread waits for events while another destroys what they are about. */
static void *wait_for_events(void *argument)
{
	struct softib_cm_channel *own = argument;
	struct softib_cm_event event;

	while (softib_get_cm_event(own, &event) == 0) {
		const struct softib_eec_offer offer = offer_of(1);
		struct softib_eec *eec = event.type == SOFTIB_CM_REQUEST ? context_new() : NULL;
		struct softib_cm_id *id = event.id;
		bool is_over =
			event.type == SOFTIB_CM_DISCONNECTED || event.type == SOFTIB_CM_REJECTED;
		bool is_last = event.type == SOFTIB_CM_REQUEST && event.private_data[0] == 'q';

		softib_ack_cm_event(&event);
		if (eec && softib_accept_eec(id, eec, &offer)) {
			id_destroy(id);
			context_destroy(eec);
		}
		if (is_over && id->id_context == own) {
			eec = id->eec;
			id_destroy(id);
			context_destroy(eec);
		}
		if (is_last)
			break;
	}
	return NULL;
}

static void destroying_does_not_race_with_events(void)
{
	enum { ROUNDS = 100 };
	struct softib_cm_channel *second = softib_create_cm_channel(device.context);
	struct softib_cm_id *listener = softib_listen_eec(second, 1, SERVICE, 0, second);
	struct softib_eec *eec = context_new();
	const struct softib_eec_call to = call_to(SERVICE);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	pthread_t thread;

	CHECK(second && listener);
	CHECK_EQUAL(pthread_create(&thread, NULL, wait_for_events, second), 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct softib_eec_offer offer = offer_of(0);
		/* The events of every other one are read by the other thread as well. */
		struct softib_cm_id *id =
			softib_connect_eec(round % 2 ? second : channel, eec, &to, &offer, NULL);

		CHECK(id);
		id_destroy(id);
		CHECK_EQUAL(softib_modify_eec(eec, &attr, IBV_QP_STATE), 0);
	}

	struct softib_eec_offer last = offer_of(0);

	last.private_data = "quit";
	last.private_data_len = 5;

	struct softib_cm_id *id = softib_connect_eec(channel, eec, &to, &last, NULL);

	CHECK(id);
	expect(SOFTIB_CM_ESTABLISHED, id);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	id_destroy(id);
	/* The objects of the other thread go with the program. */
}

int main(void)
{
	device = device_open();
	rdd = softib_alloc_rdd(device.context);
	channel = softib_create_cm_channel(device.context);
	cq = ibv_create_cq(device.context, 8 * DEPTH, NULL, NULL, 0);
	mr = ibv_reg_mr(device.pd, bytes, sizeof(bytes), ALL_ACCESS);
	CHECK(rdd && channel && cq && mr);
	for (unsigned side = 0; side < 2; side++)
		qps[side] = queue_pair_new();
	a_call_is_answered_and_messages_cross();
	depths_are_what_both_sides_can();
	an_end_reaches_both(0);
	an_end_reaches_both(1);
	an_id_that_is_destroyed_ends_its_connection();
	a_second_service_uses_the_same_contexts();
	a_service_over_no_channel_is_refused();
	refusals_say_why();
	a_gid_that_nobody_has_is_unreachable();
	an_answer_to_nobody_ends();
	unread_requests_are_refused();
	what_is_used_stays();
	senseless_arguments_are_refused();
	CHECK_EQUAL(softib_destroy_cm_channel(channel), 0);
	channel = softib_create_cm_channel(device.context);
	CHECK(channel);
	destroying_does_not_race_with_events();
	printf("ok\n");
	return 0;
}
