/* SPDX-License-Identifier: Apache-2.0 */
/* Raw queue pairs by their calls: what is refused, packets from a port to itself, and that a port's
 * queue pair can be had again however the last one went. */
#include <softib/verbs.h>
#include "verbs_client.h"

enum { ETHERTYPE = 0x88b5, IPV6_BYTES = 40 };

static struct device device;

static struct ibv_qp *make(const struct endpoint *endpoint, enum ibv_qp_type type, uint8_t port)
{
	struct ibv_qp_init_attr options = qp_options(endpoint, type);

	return softib_create_raw_qp(endpoint->device->pd, port, &options);
}

static void move(struct endpoint *endpoint, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	CHECK_EQUAL(ibv_modify_qp(endpoint->qp, &attr, IBV_QP_STATE), 0);
}

static struct endpoint open_raw(enum ibv_qp_type type)
{
	struct endpoint endpoint = {.device = &device};

	endpoint_register(&endpoint);
	endpoint.cq = ibv_create_cq(device.context, 4 * QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(endpoint.cq);
	endpoint.qp = make(&endpoint, type, 1);
	CHECK(endpoint.qp);
	move(&endpoint, IBV_QPS_INIT);
	move(&endpoint, IBV_QPS_RTR);
	move(&endpoint, IBV_QPS_RTS);
	return endpoint;
}

static struct ibv_ah *to_self(void)
{
	struct ibv_ah_attr attr = {.dlid = device.port.lid, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(device.pd, &attr);

	CHECK(ah);
	return ah;
}

static int send_with(struct endpoint *endpoint, enum ibv_wr_opcode opcode, struct ibv_ah *ah,
		     uint32_t ethertype, uint32_t byte_count, int flags)
{
	struct ibv_sge sge = sge_of(endpoint, 0, byte_count);
	struct ibv_send_wr wr = {
		.wr_id = 7,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = (unsigned)(IBV_SEND_SIGNALED | flags),
	};
	struct ibv_send_wr *bad;

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = ethertype;
	return ibv_post_send(endpoint->qp, &wr, &bad);
}

static void what_makes_no_sense_is_refused(void)
{
	struct endpoint endpoint = open_raw(SOFTIB_QPT_RAW_ETHERTYPE);
	struct ibv_qp_init_attr options = qp_options(&endpoint, SOFTIB_QPT_RAW_IPV6);
	struct ibv_srq_init_attr srq_options = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(device.pd, &srq_options);
	struct ibv_ah *ah = to_self();

	CHECK(srq);
	CHECK(!softib_create_raw_qp(NULL, 1, &options) && errno == EINVAL);
	CHECK(!softib_create_raw_qp(device.pd, 1, NULL) && errno == EINVAL);
	CHECK(!softib_create_raw_qp(device.pd, 0, &options) && errno == EINVAL);
	CHECK(!softib_create_raw_qp(device.pd, 200, &options) && errno == EINVAL);
	CHECK(!make(&endpoint, IBV_QPT_UD, 1) && errno == EINVAL);
	CHECK(!make(&endpoint, SOFTIB_QPT_RD, 1) && errno == EINVAL);
	CHECK(!make(&endpoint, SOFTIB_QPT_RAW_ETHERTYPE, 1) && errno == EBUSY);
	options.srq = srq;
	CHECK(!softib_create_raw_qp(device.pd, 1, &options) && errno == EINVAL);
	options.srq = NULL;
	options.qp_type = SOFTIB_QPT_RAW_ETHERTYPE;
	CHECK(!ibv_create_qp(device.pd, &options) && errno == EINVAL);
	/* A failure after the claim releases the claim. */
	options.qp_type = SOFTIB_QPT_RAW_IPV6;
	options.cap.max_send_sge = 1 << 20;
	CHECK(!softib_create_raw_qp(device.pd, 1, &options) && errno == EINVAL);
	options.cap.max_send_sge = 1;
	options.send_cq = NULL;
	CHECK(!softib_create_raw_qp(device.pd, 1, &options) && errno == EINVAL);
	options.send_cq = endpoint.cq;

	struct ibv_qp *second = softib_create_raw_qp(device.pd, 1, &options);

	CHECK(second);
	CHECK_EQUAL(ibv_destroy_qp(second), 0);
	CHECK_EQUAL(send_with(&endpoint, IBV_WR_SEND, NULL, ETHERTYPE, 64, 0), EINVAL);
	CHECK_EQUAL(send_with(&endpoint, IBV_WR_SEND, ah, 0x10000, 64, 0), EINVAL);
	CHECK_EQUAL(send_with(&endpoint, IBV_WR_SEND_WITH_IMM, ah, ETHERTYPE, 64, 0), EINVAL);
	CHECK_EQUAL(send_with(&endpoint, IBV_WR_RDMA_WRITE, ah, ETHERTYPE, 64, 0), EINVAL);
	CHECK_EQUAL(send_with(&endpoint, IBV_WR_RDMA_READ, ah, ETHERTYPE, 64, 0), EINVAL);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	CHECK_EQUAL(ibv_destroy_srq(srq), 0);
	endpoint_close(&endpoint);
}

static void its_attributes_say_what_it_is(void)
{
	struct endpoint endpoint = open_raw(SOFTIB_QPT_RAW_IPV6);
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .qkey = 1};

	CHECK_EQUAL(ibv_modify_qp(endpoint.qp, &attr, IBV_QP_STATE | IBV_QP_QKEY), EINVAL);
	CHECK_EQUAL(ibv_modify_qp(endpoint.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX), EINVAL);
	CHECK_EQUAL(ibv_query_qp(endpoint.qp, &attr, IBV_QP_STATE | IBV_QP_PORT, &init_attr), 0);
	CHECK_EQUAL(attr.qp_state, IBV_QPS_RTS);
	CHECK_EQUAL(attr.port_num, 1);
	CHECK_EQUAL(init_attr.qp_type, SOFTIB_QPT_RAW_IPV6);
	CHECK_EQUAL(endpoint.qp->qp_type, SOFTIB_QPT_RAW_IPV6);
	endpoint_close(&endpoint);
}

/* The completion of a send and that of a receive, in any order; returns the latter. */
static struct ibv_wc both_completions(struct endpoint *endpoint)
{
	struct ibv_wc first = expect_status(endpoint->cq, IBV_WC_SUCCESS);
	struct ibv_wc second = expect_status(endpoint->cq, IBV_WC_SUCCESS);

	CHECK((first.opcode == IBV_WC_RECV) != (second.opcode == IBV_WC_RECV));
	return first.opcode == IBV_WC_RECV ? first : second;
}

static void packets_reach_the_port_itself(enum ibv_qp_type type, int flags)
{
	struct endpoint endpoint = open_raw(type);
	struct ibv_ah *ah = to_self();
	uint32_t byte_count = 240;

	fill(endpoint.bytes, byte_count, 3);
	if (type == SOFTIB_QPT_RAW_IPV6) {
		memset(endpoint.bytes, 0, IPV6_BYTES);
		endpoint.bytes[0] = 0x60;
		endpoint.bytes[5] = (uint8_t)(byte_count - IPV6_BYTES);
		endpoint.bytes[6] = 59;
	}
	for (unsigned i = 0; i < 100; i++) {
		post_receive(&endpoint, 1000 + i, 4096, 256);
		memset(endpoint.bytes + 4096, 0, 256);
		CHECK_EQUAL(send_with(&endpoint, IBV_WR_SEND, ah, ETHERTYPE, byte_count, flags), 0);

		struct ibv_wc wc = both_completions(&endpoint);

		CHECK_EQUAL(wc.wr_id, 1000 + i);
		CHECK_EQUAL(wc.byte_len, byte_count);
		CHECK_EQUAL(wc.src_qp, type == SOFTIB_QPT_RAW_ETHERTYPE ? ETHERTYPE : 0);
		CHECK_EQUAL(wc.slid, device.port.lid);
		CHECK_EQUAL(wc.wc_flags, 0);
		CHECK_EQUAL(wc.qp_num, endpoint.qp->qp_num);
		CHECK(memcmp(endpoint.bytes, endpoint.bytes + 4096, byte_count) == 0);
	}
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	endpoint_close(&endpoint);
}

static void who_sleeps_is_woken(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(device.context);
	struct endpoint endpoint = {.device = &device};
	struct ibv_ah *ah = to_self();
	struct ibv_cq *cq;
	void *context;

	CHECK(channel);
	endpoint_register(&endpoint);
	endpoint.cq = ibv_create_cq(device.context, QUEUE_DEPTH, NULL, channel, 0);
	CHECK(endpoint.cq);
	endpoint.qp = make(&endpoint, SOFTIB_QPT_RAW_ETHERTYPE, 1);
	CHECK(endpoint.qp);
	move(&endpoint, IBV_QPS_INIT);
	post_receive(&endpoint, 1, 4096, 64);
	move(&endpoint, IBV_QPS_RTR);
	move(&endpoint, IBV_QPS_RTS);
	CHECK_EQUAL(ibv_req_notify_cq(endpoint.cq, 0), 0);
	CHECK_EQUAL(send_with(&endpoint, IBV_WR_SEND, ah, ETHERTYPE, 64, 0), 0);
	CHECK_EQUAL(ibv_get_cq_event(channel, &cq, &context), 0);
	CHECK(cq == endpoint.cq);
	CHECK_EQUAL(both_completions(&endpoint).byte_len, 64);
	ibv_ack_cq_events(cq, 1);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	endpoint_close(&endpoint);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
}

static void a_bad_length_stops_the_send_queue_until_it_is_restarted(void)
{
	static const uint32_t bad[] = {0, 4, 63, 4100, 100000};
	struct endpoint endpoint = open_raw(SOFTIB_QPT_RAW_ETHERTYPE);
	struct ibv_ah *ah = to_self();

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQUAL(send_with(&endpoint, IBV_WR_SEND, ah, ETHERTYPE, bad[i], 0), 0);
		(void)expect_status(endpoint.cq, IBV_WC_LOC_LEN_ERR);
		CHECK_EQUAL(send_with(&endpoint, IBV_WR_SEND, ah, ETHERTYPE, 64, 0), 0);
		(void)expect_status(endpoint.cq, IBV_WC_WR_FLUSH_ERR);
		post_receive(&endpoint, 1, 4096, 256);
		move(&endpoint, IBV_QPS_RTS);
		CHECK_EQUAL(send_with(&endpoint, IBV_WR_SEND, ah, ETHERTYPE, 64, 0), 0);
		CHECK_EQUAL(both_completions(&endpoint).byte_len, 64);
	}
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	endpoint_close(&endpoint);
}

/* By this process, at once. */
static void a_port_can_be_had_again(void)
{
	for (unsigned i = 0; i < 50; i++) {
		struct endpoint endpoint =
			open_raw(i % 2 ? SOFTIB_QPT_RAW_IPV6 : SOFTIB_QPT_RAW_ETHERTYPE);

		endpoint_close(&endpoint);
	}
}

/* The context goes first, and with it the queue pair. */
static void a_port_can_be_had_again_after_its_context_was_closed(void)
{
	struct device first = device, other = device_open();

	device = other;

	struct endpoint left = open_raw(SOFTIB_QPT_RAW_ETHERTYPE);

	CHECK_EQUAL(ibv_close_device(other.context), 0);
	device = first;

	struct endpoint next = open_raw(SOFTIB_QPT_RAW_ETHERTYPE);

	left.device = &other;
	endpoint_close(&left);
	CHECK_EQUAL(ibv_dealloc_pd(other.pd), 0);
	/* Packets that are left of the first were not for the second. */
	CHECK(!make(&next, SOFTIB_QPT_RAW_ETHERTYPE, 1) && errno == EBUSY);
	endpoint_close(&next);
}

int main(void)
{
	device = device_open();
	what_makes_no_sense_is_refused();
	its_attributes_say_what_it_is();
	packets_reach_the_port_itself(SOFTIB_QPT_RAW_ETHERTYPE, 0);
	packets_reach_the_port_itself(SOFTIB_QPT_RAW_ETHERTYPE, IBV_SEND_INLINE);
	packets_reach_the_port_itself(SOFTIB_QPT_RAW_IPV6, 0);
	packets_reach_the_port_itself(SOFTIB_QPT_RAW_IPV6, IBV_SEND_INLINE);
	who_sleeps_is_woken();
	a_bad_length_stops_the_send_queue_until_it_is_restarted();
	a_port_can_be_had_again();
	a_port_can_be_had_again_after_its_context_was_closed();
	device_close(&device);
	puts("ok");
	return 0;
}
