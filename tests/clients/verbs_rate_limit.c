/* SPDX-License-Identifier: Apache-2.0 */
/* A queue pair's send rate limit: what adapters report, accept and refuse, and that nothing is ever
 * sent faster. The clock only tells whether it was too fast; how slow depends on the machine. */
#include "verbs_client.h"

static struct device device;

enum {
	KBPS = 160000, /* 20 bytes per microsecond */
	BURST_BYTES = 4096,
	MESSAGE_BYTES = 32768,
	MESSAGES = 32,
	DATAGRAM_BYTES = 1024,
	DATAGRAMS = 512,
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int limit(struct ibv_qp *qp, uint32_t kbps, uint32_t burst_bytes)
{
	struct ibv_qp_rate_limit_attr attr = {.rate_limit = kbps, .max_burst_sz = burst_bytes};

	return ibv_modify_qp_rate_limit(qp, &attr);
}

static uint32_t limit_of(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init_attr;

	CHECK_EQUAL(ibv_query_qp(qp, &attr, IBV_QP_RATE_LIMIT, &init_attr), 0);
	return attr.rate_limit;
}

/* At least the time of all bytes except one burst. */
static void check_time(uint64_t start, uint64_t byte_count)
{
	uint64_t least_ns = (byte_count - BURST_BYTES) * 8000000u / KBPS;

	CHECK(now_ns() - start >= least_ns);
}

static void capabilities(void)
{
	struct ibv_device_attr_ex attr;

	CHECK_EQUAL(ibv_query_device_ex(device.context, NULL, &attr), 0);
	CHECK(attr.packet_pacing_caps.qp_rate_limit_min > 0);
	CHECK(attr.packet_pacing_caps.qp_rate_limit_max > KBPS);
	CHECK_EQUAL(attr.packet_pacing_caps.supported_qpts,
		    1 << IBV_QPT_RC | 1 << IBV_QPT_UC | 1 << IBV_QPT_UD | 1 << IBV_QPT_XRC_SEND);
}

static void refusals(void)
{
	struct endpoint endpoint = endpoint_open(&device, IBV_QPT_RC);
	struct ibv_qp_rate_limit_attr later = {.rate_limit = KBPS, .comp_mask = 1};
	struct ibv_device_attr_ex attr;

	CHECK_EQUAL(ibv_query_device_ex(device.context, NULL, &attr), 0);
	/* Only a queue pair that can send has a rate. */
	CHECK_EQUAL(limit(endpoint.qp, KBPS, 0), EINVAL);
	to_init(&endpoint, ALL_ACCESS);
	CHECK_EQUAL(limit(endpoint.qp, KBPS, 0), EINVAL);
	to_rts(&endpoint, &endpoint, 3);
	CHECK_EQUAL(limit(endpoint.qp, attr.packet_pacing_caps.qp_rate_limit_max + 1, 0), EINVAL);
	CHECK_EQUAL(limit(endpoint.qp, 0, BURST_BYTES), EINVAL);
	CHECK_EQUAL(ibv_modify_qp_rate_limit(endpoint.qp, &later), EINVAL);
	CHECK_EQUAL(limit_of(endpoint.qp), 0);
	CHECK_EQUAL(limit(endpoint.qp, attr.packet_pacing_caps.qp_rate_limit_max, 0), 0);
	CHECK_EQUAL(limit_of(endpoint.qp), attr.packet_pacing_caps.qp_rate_limit_max);
	CHECK_EQUAL(limit(endpoint.qp, attr.packet_pacing_caps.qp_rate_limit_min, 0), 0);
	CHECK_EQUAL(limit(endpoint.qp, 0, 0), 0);

	/* The attribute of the older call. */
	struct ibv_qp_attr modify = {.rate_limit = KBPS, .qp_state = IBV_QPS_RTS};

	CHECK_EQUAL(ibv_modify_qp(endpoint.qp, &modify, IBV_QP_RATE_LIMIT), 0);
	CHECK_EQUAL(ibv_modify_qp(endpoint.qp, &modify, IBV_QP_STATE | IBV_QP_RATE_LIMIT), 0);
	CHECK_EQUAL(limit_of(endpoint.qp), KBPS);
	modify.qp_state = IBV_QPS_SQD;
	CHECK_EQUAL(ibv_modify_qp(endpoint.qp, &modify, IBV_QP_STATE | IBV_QP_RATE_LIMIT), EINVAL);
	endpoint_close(&endpoint);
}

static void writes_keep_to_the_rate(void)
{
	struct endpoint a = endpoint_open(&device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(&device, IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&a, 0, MESSAGE_BYTES);

	connect_endpoints(&a, &b);
	CHECK_EQUAL(limit(a.qp, KBPS, BURST_BYTES), 0);
	fill(a.bytes, MESSAGE_BYTES, 1);

	uint64_t start = now_ns();

	for (size_t i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &b, i * MESSAGE_BYTES);

		post(&a, &wr);
	}
	for (size_t i = 0; i < MESSAGES; i++)
		expect_status(a.cq, IBV_WC_SUCCESS);
	check_time(start, MESSAGES * MESSAGE_BYTES);
	for (size_t i = 0; i < MESSAGES; i++)
		CHECK_EQUAL(memcmp(a.bytes, b.bytes + i * MESSAGE_BYTES, MESSAGE_BYTES), 0);

	/* The other direction has no limit of its own, nor has this one any more: nothing waits. */
	CHECK_EQUAL(limit(a.qp, 0, 0), 0);
	CHECK_EQUAL(limit_of(b.qp), 0);
	for (size_t i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &b, 0);

		post(&a, &wr);
		expect_status(a.cq, IBV_WC_SUCCESS);
	}
	endpoint_close(&a);
	endpoint_close(&b);
}

/* Small messages, each posted after the one before has completed: short sends are paced, too. */
static void small_sends_keep_to_the_rate(enum ibv_qp_type type)
{
	struct endpoint a = endpoint_open(&device, type);
	struct endpoint b = endpoint_open(&device, type);
	struct ibv_sge sge = sge_of(&a, 0, 64);

	connect_endpoints(&a, &b);
	/* A hundredth, since only the payload is counted here. */
	CHECK_EQUAL(limit(a.qp, KBPS / 100, 64), 0);

	uint64_t start = now_ns();

	for (unsigned i = 0; i < 100; i++) {
		struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &b, 0);

		if (i % 2)
			wr.send_flags |= IBV_SEND_INLINE;
		post_receive(&b, i, 0, 64);
		post(&a, &wr);
		expect_status(a.cq, IBV_WC_SUCCESS);
		expect_status(b.cq, IBV_WC_SUCCESS);
	}
	CHECK(now_ns() - start >= 99u * 64 * 8000000 / (KBPS / 100));
	endpoint_close(&a);
	endpoint_close(&b);
}

static void datagrams_keep_to_the_rate(void)
{
	struct endpoint a = endpoint_open(&device, IBV_QPT_UD);
	struct ibv_ah_attr address = {.dlid = device.port.lid, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(device.pd, &address);
	struct ibv_sge sge = sge_of(&a, 0, DATAGRAM_BYTES);
	unsigned posted = 0;

	CHECK(ah);
	to_init(&a, 0);
	to_rts(&a, NULL, 0);
	CHECK_EQUAL(limit(a.qp, KBPS, BURST_BYTES), 0);

	uint64_t start = now_ns();

	/* To a queue pair that does not exist: only the sender counts. */
	for (unsigned done = 0; done < DATAGRAMS; done++) {
		for (; posted < DATAGRAMS && posted < done + QUEUE_DEPTH; posted++) {
			struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &a, 0);

			wr.wr.ud.ah = ah;
			wr.wr.ud.remote_qpn = a.qp->qp_num;
			wr.wr.ud.remote_qkey = QKEY;
			post(&a, &wr);
		}
		expect_status(a.cq, IBV_WC_SUCCESS);
	}
	check_time(start, DATAGRAMS * DATAGRAM_BYTES);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	endpoint_close(&a);
}

int main(void)
{
	device = device_open();
	capabilities();
	refusals();
	writes_keep_to_the_rate();
	small_sends_keep_to_the_rate(IBV_QPT_RC);
	small_sends_keep_to_the_rate(IBV_QPT_UC);
	datagrams_keep_to_the_rate();
	device_close(&device);
	puts("rate limit: ok");
	return 0;
}
