/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that an address vector says, from one host to another (vol 1, chapters 7, 8 and 10):
 *
 *	verbs_addresses serve|ask SOCKET		path bits, SL, traffic class, flow label
 *	verbs_addresses serve|ask SOCKET paced	the static rate, on a fabric whose links are paced
 *
 * The port has 2^LMC LIDs, and every pair of them is a path of its own.
 */
#include "two_sides.h"

enum {
	MESSAGE_BYTES = 3000,
	HOP_LIMIT = 33,
	PACED_BYTES = 1 << 20,
	/* 1x SDR: 2 Gb/s of data, 4 ns a byte. */
	SLOW_BYTE_NS = 4,
};

struct card {
	uint16_t lid;
	uint8_t lmc;
	uint32_t datagram_qpn;
	union ibv_gid gid;
};

static struct device device;
static struct endpoint datagrams;
static struct card own, peer;
static int channel;
static bool is_server;

/* The address of datagram number i: all fields differ, from each other and from the next. */
static struct ibv_ah_attr address_of(unsigned i, uint8_t lmc)
{
	unsigned path_count = 1u << lmc;

	return (struct ibv_ah_attr){
		.grh = {.dgid = peer.gid,
			.flow_label = (0x12345 + 0x1111 * i) & 0xfffff,
			.hop_limit = HOP_LIMIT,
			.traffic_class = (uint8_t)(0x5a + 16 * i)},
		.dlid = (uint16_t)(peer.lid + i / path_count % path_count),
		.sl = (uint8_t)(i % 16),
		.src_path_bits = (uint8_t)(i % path_count),
		.static_rate = i % 2 ? IBV_RATE_2_5_GBPS : IBV_RATE_MAX,
		.is_global = 1,
		.port_num = 1,
	};
}

static void send_datagram(struct ibv_ah *ah, size_t byte_count)
{
	struct ibv_sge sge = sge_of(&datagrams, 65536, byte_count);
	struct ibv_send_wr wr = {
		.wr_id = 2,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {.ah = ah, .remote_qpn = peer.datagram_qpn, .remote_qkey = QKEY},
	};

	CHECK(ah);
	post(&datagrams, &wr);
}

static void check_arrival(const struct ibv_wc *wc, const struct ibv_ah_attr *sent)
{
	struct ibv_grh grh;

	memcpy(&grh, datagrams.bytes, sizeof(grh));

	uint32_t word = __builtin_bswap32(grh.version_tclass_flow);

	CHECK(wc->wc_flags & IBV_WC_GRH);
	CHECK_EQUAL(wc->sl, sent->sl);
	CHECK_EQUAL(wc->slid, peer.lid + sent->src_path_bits);
	CHECK_EQUAL(wc->dlid_path_bits, sent->dlid - peer.lid);
	CHECK_EQUAL(wc->src_qp, peer.datagram_qpn);
	CHECK_EQUAL(word >> 28, 6);
	CHECK_EQUAL(word >> 20 & 0xff, sent->grh.traffic_class);
	CHECK_EQUAL(word & 0xfffff, sent->grh.flow_label);
	CHECK_EQUAL(grh.hop_limit, sent->grh.hop_limit);
	CHECK(memcmp(&grh.sgid, &peer.gid, sizeof(grh.sgid)) == 0);
	CHECK(memcmp(&grh.dgid, &own.gid, sizeof(grh.dgid)) == 0);
}

/* One there, and one back by an address made of what came: its path bits are those that the first
 * was sent to, and it arrives at those that the first came from. */
static void there_and_back(unsigned i)
{
	struct ibv_ah_attr sent = address_of(i, own.lmc);

	post_receive(&datagrams, 1, 0, 4096);
	rendezvous(channel);
	if (is_server) {
		struct ibv_wc wc = expect_status(datagrams.cq, IBV_WC_SUCCESS);
		struct ibv_ah *back;

		check_arrival(&wc, &sent);
		back = ibv_create_ah_from_wc(device.pd, &wc, (void *)datagrams.bytes, 1);
		send_datagram(back, 64);
		CHECK_EQUAL(expect_status(datagrams.cq, IBV_WC_SUCCESS).wr_id, 2);
		CHECK_EQUAL(ibv_destroy_ah(back), 0);
		return;
	}

	struct ibv_ah *ah = ibv_create_ah(device.pd, &sent);
	struct ibv_wc wc;

	send_datagram(ah, 64);
	do
		wc = expect_status(datagrams.cq, IBV_WC_SUCCESS);
	while (wc.wr_id != 1);
	CHECK_EQUAL(wc.slid, sent.dlid);
	CHECK_EQUAL(wc.dlid_path_bits, sent.src_path_bits);
	CHECK_EQUAL(wc.sl, sent.sl);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);

	/* The completion of the send, if it has not been among those. */
	while (ibv_poll_cq(datagrams.cq, 1, &wc) > 0)
		CHECK_EQUAL(wc.wr_id, 2);
}

static struct endpoint connect_by(unsigned own_bits, unsigned peer_bits, uint8_t sl, uint8_t rate)
{
	struct endpoint endpoint = endpoint_open(&device, IBV_QPT_RC);
	struct ibv_qp_attr attr = connection_to((uint16_t)(peer.lid + peer_bits), 0);

	attr.ah_attr.sl = sl;
	attr.ah_attr.src_path_bits = (uint8_t)own_bits;
	attr.ah_attr.static_rate = rate;
	attr.timeout = SLOW_ACK_TIMEOUT;
	to_init(&endpoint, ALL_ACCESS);
	give(channel, &endpoint.qp->qp_num, sizeof(endpoint.qp->qp_num));
	take(channel, &attr.dest_qp_num, sizeof(attr.dest_qp_num));
	qp_connect(endpoint.qp, attr);
	return endpoint;
}

/* A message each way by one of the paths. */
static void connection_by(unsigned own_bits, unsigned peer_bits, uint8_t sl)
{
	struct endpoint endpoint = connect_by(own_bits, peer_bits, sl, IBV_RATE_10_GBPS);
	struct ibv_sge sge = sge_of(&endpoint, 0, MESSAGE_BYTES);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &endpoint, 0);

	post_receive(&endpoint, 1, 65536, MESSAGE_BYTES);
	rendezvous(channel);
	fill(endpoint.bytes, MESSAGE_BYTES, own_bits * 16 + peer_bits + 1);
	post(&endpoint, &wr);
	expect_status(endpoint.cq, IBV_WC_SUCCESS);
	expect_status(endpoint.cq, IBV_WC_SUCCESS);
	fill(endpoint.bytes, MESSAGE_BYTES, peer_bits * 16 + own_bits + 1);
	CHECK_EQUAL(memcmp(endpoint.bytes, endpoint.bytes + 65536, MESSAGE_BYTES), 0);
	rendezvous(channel);
	endpoint_close(&endpoint);
}

/* Path bits above the LMC do not count, an SL has four bits. */
static void wrong_bits(void)
{
	struct ibv_ah_attr address = address_of(0, own.lmc);

	address.src_path_bits = (uint8_t)(1u << own.lmc);

	struct ibv_ah *handle = ibv_create_ah(device.pd, &address);

	CHECK(handle);
	ibv_destroy_ah(handle);
	address.sl = 16;
	errno = 0;
	CHECK(!ibv_create_ah(device.pd, &address));
	CHECK_EQUAL(errno, EINVAL);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Packets sent at 2.5 Gb/s do not arrive faster, on links that could. Only an early arrival is an
 * error. */
static void static_rate(void)
{
	struct endpoint endpoint = connect_by(0, 0, 0, IBV_RATE_2_5_GBPS);
	struct ibv_sge sge = sge_of(&endpoint, 0, PACED_BYTES);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &endpoint, 0);

	post_receive(&endpoint, 1, PACED_BYTES, PACED_BYTES);
	rendezvous(channel);

	uint64_t start = now_ns();

	if (!is_server)
		post(&endpoint, &wr);
	expect_status(endpoint.cq, IBV_WC_SUCCESS);
	if (!is_server)
		CHECK(now_ns() - start >= (uint64_t)PACED_BYTES * SLOW_BYTE_NS);
	rendezvous(channel);
	endpoint_close(&endpoint);
}

int main(int argument_count, char **arguments)
{
	CHECK(argument_count >= 3);
	is_server = strcmp(arguments[1], "serve") == 0;
	device = device_open();
	datagrams = endpoint_open(&device, IBV_QPT_UD);
	to_init(&datagrams, 0);
	to_rts(&datagrams, NULL, 0);
	own = (struct card){
		.lid = device.port.lid,
		.lmc = device.port.lmc,
		.datagram_qpn = datagrams.qp->qp_num,
		.gid = device.gid,
	};
	channel = meet(arguments[2], is_server);
	give(channel, &own, sizeof(own));
	take(channel, &peer, sizeof(peer));
	if (argument_count > 3) {
		static_rate();
	} else {
		unsigned path_count = 1u << own.lmc;

		CHECK_EQUAL(peer.lmc, own.lmc);
		wrong_bits();
		/* Every pair of path bits, every SL. */
		for (unsigned i = 0; i < 16 || i < path_count * path_count; i++)
			there_and_back(i);
		for (unsigned i = 0; i < path_count * path_count; i++) {
			unsigned first = i % path_count, second = i / path_count;

			connection_by(is_server ? first : second, is_server ? second : first,
				      (uint8_t)(i % 8));
		}
	}
	rendezvous(channel);
	endpoint_close(&datagrams);
	device_close(&device);
	printf("addresses: ok, LMC %u\n", own.lmc);
	return 0;
}
