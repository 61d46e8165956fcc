/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Automatic path migration between two hosts whose adapters have two ports each (vol 1, chapter
 *17):
 *
 *	verbs_migration serve SOCKET	the passive side; the cable of its first port will be pulled
 *	verbs_migration ask SOCKET
 *
 * The passive side says "pull" and "plug" when it is time for that. The active side also looks at
 *what of a datagram's address arrives at the receiver.
 */
#include "two_sides.h"

enum {
	MESSAGE_BYTES = 5000,
	MESSAGES = 20,
	SL = 3,
	TRAFFIC_CLASS = 0x5a,
	FLOW_LABEL = 0x12345,
	STATIC_RATE = IBV_RATE_10_GBPS,
	/* 0.27 s, eight times: a peer that only waits for its processor is not left. */
	MIGRATION_TIMEOUT = 16,
};

/* What each side tells the other. */
struct card {
	uint16_t lids[2];
	uint32_t qpn, datagram_qpn;
	union ibv_gid gid;
};

struct side {
	struct device device;
	struct endpoint endpoint;
	struct endpoint datagrams;
	int socket;
	struct card own, peer;
	bool is_server;
};

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

static struct ibv_ah_attr path_by(const struct side *side, unsigned port_index)
{
	return (struct ibv_ah_attr){
		.dlid = side->peer.lids[port_index],
		.sl = SL,
		.static_rate = STATIC_RATE,
		.port_num = (uint8_t)(port_index + 1),
	};
}

static void modify(struct side *side, struct ibv_qp_attr *attr, int mask)
{
	CHECK_EQUAL(ibv_modify_qp(side->endpoint.qp, attr, mask), 0);
}

static void load_alternate(struct side *side, struct ibv_ah_attr path)
{
	struct ibv_qp_attr attr = {
		.alt_ah_attr = path,
		.alt_port_num = path.port_num,
		.alt_timeout = MIGRATION_TIMEOUT,
		.path_mig_state = IBV_MIG_REARM,
	};

	modify(side, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
}

static void connect_side(struct side *side)
{
	struct ibv_qp_attr attr = connection_to(0, side->peer.qpn);

	attr.ah_attr = path_by(side, 0);
	attr.timeout = MIGRATION_TIMEOUT;
	to_init(&side->endpoint, ALL_ACCESS);
	qp_connect(side->endpoint.qp, attr);
}

static struct ibv_qp_attr query(struct side *side)
{
	struct ibv_qp_init_attr options;
	struct ibv_qp_attr attr;

	CHECK_EQUAL(ibv_query_qp(side->endpoint.qp, &attr, IBV_QP_STATE, &options), 0);
	return attr;
}

static void expect_path(struct side *side, unsigned port_number, enum ibv_mig_state state)
{
	const struct ibv_qp_attr attr = query(side);

	CHECK_EQUAL(attr.port_num, port_number);
	CHECK_EQUAL(attr.ah_attr.dlid, side->peer.lids[port_number - 1]);
	CHECK_EQUAL(attr.ah_attr.sl, SL);
	CHECK_EQUAL(attr.ah_attr.static_rate, STATIC_RATE);
	CHECK_EQUAL(attr.path_mig_state, state);
}

/* Events of ports come in between, as cables are pulled. */
static void expect_event(struct side *side, enum ibv_event_type type)
{
	struct ibv_async_event event;

	do {
		CHECK_EQUAL(ibv_get_async_event(side->device.context, &event), 0);
		ibv_ack_async_event(&event);
	} while (event.event_type != type && event.event_type >= IBV_EVENT_PORT_ACTIVE);
	CHECK_EQUAL(event.event_type, type);
}

static void send_one(struct side *side, unsigned seed)
{
	struct ibv_sge sge = sge_of(&side->endpoint, 0, MESSAGE_BYTES);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};

	fill(side->endpoint.bytes, MESSAGE_BYTES, seed);
	post(&side->endpoint, &wr);
	expect_status(side->endpoint.cq, IBV_WC_SUCCESS);
}

static void receive_one(struct side *side, unsigned seed)
{
	uint8_t *received = side->endpoint.bytes + MESSAGE_BYTES;
	static uint8_t expected[MESSAGE_BYTES];

	CHECK_EQUAL(expect_status(side->endpoint.cq, IBV_WC_SUCCESS).byte_len, MESSAGE_BYTES);
	fill(expected, MESSAGE_BYTES, seed);
	CHECK(memcmp(received, expected, MESSAGE_BYTES) == 0);
}

/* Messages each way, so that both sides have heard of each other. */
static void talk(struct side *side)
{
	for (unsigned i = 0; i < MESSAGES; i++) {
		bool receives = side->is_server == (i % 2 == 0);

		if (receives)
			post_receive(&side->endpoint, i, MESSAGE_BYTES, MESSAGE_BYTES);
		rendezvous(side->socket);
		if (receives)
			receive_one(side, i);
		else
			send_one(side, i);
		rendezvous(side->socket);
	}
}

static void datagram_to_init(struct endpoint *endpoint)
{
	to_init(endpoint, 0);
	to_rts(endpoint, NULL, 0);
}

static void send_datagram(struct side *side)
{
	struct ibv_ah_attr address = path_by(side, 0);

	address.is_global = 1;
	address.grh = (struct ibv_global_route){
		.dgid = side->peer.gid,
		.flow_label = FLOW_LABEL,
		.hop_limit = 7,
		.traffic_class = TRAFFIC_CLASS,
	};

	struct ibv_ah *ah = ibv_create_ah(side->device.pd, &address);
	struct ibv_sge sge = sge_of(&side->datagrams, 0, 100);
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {.ah = ah, .remote_qpn = side->peer.datagram_qpn, .remote_qkey = QKEY},
	};

	CHECK(ah);
	post(&side->datagrams, &wr);
	expect_status(side->datagrams.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
}

static void receive_datagram(struct side *side)
{
	struct ibv_wc wc = expect_status(side->datagrams.cq, IBV_WC_SUCCESS);
	struct ibv_grh grh;
	struct ibv_ah_attr back;

	memcpy(&grh, side->datagrams.bytes, sizeof(grh));
	CHECK(wc.wc_flags & IBV_WC_GRH);
	CHECK_EQUAL(wc.sl, SL);
	CHECK_EQUAL(wc.slid, side->peer.lids[0]);
	CHECK_EQUAL(wc.dlid_path_bits, 0);
	CHECK_EQUAL(wc.src_qp, side->peer.datagram_qpn);

	uint32_t word = __builtin_bswap32(grh.version_tclass_flow);

	CHECK_EQUAL(word >> 28, 6);
	CHECK_EQUAL(word >> 20 & 0xff, TRAFFIC_CLASS);
	CHECK_EQUAL(word & 0xfffff, FLOW_LABEL);
	CHECK_EQUAL(grh.hop_limit, 7);
	CHECK(memcmp(&grh.sgid, &side->peer.gid, sizeof(grh.sgid)) == 0);
	/* And it leads back. */
	CHECK_EQUAL(ibv_init_ah_from_wc(side->device.context, 1, &wc, &grh, &back), 0);
	CHECK_EQUAL(back.dlid, side->peer.lids[0]);
	CHECK_EQUAL(back.sl, SL);
	CHECK_EQUAL(back.grh.traffic_class, TRAFFIC_CLASS);
	CHECK_EQUAL(back.grh.flow_label, FLOW_LABEL);
}

static void address_arrives(struct side *side)
{
	datagram_to_init(&side->datagrams);
	post_receive(&side->datagrams, 1, 0, 1000);
	rendezvous(side->socket);
	if (side->is_server)
		receive_datagram(side);
	else
		send_datagram(side);
	rendezvous(side->socket);
}

/* Both are armed once each has seen that the other is ready. */
static void arm(struct side *side, unsigned port_number)
{
	load_alternate(side, path_by(side, port_number == 1 ? 1 : 0));
	rendezvous(side->socket);
	talk(side);
	expect_path(side, port_number, IBV_MIG_ARMED);
	rendezvous(side->socket);
}

/* The path breaks: retries run out, and the connection goes on by the other. */
static void path_breaks(struct side *side)
{
	if (side->is_server) {
		say("pull");
		expect_event(side, IBV_EVENT_PORT_ERR);
	}
	rendezvous(side->socket);
	talk(side);
	expect_event(side, IBV_EVENT_PATH_MIG);
	expect_path(side, 2, IBV_MIG_MIGRATED);
	rendezvous(side->socket);
}

static void path_is_back(struct side *side)
{
	if (side->is_server) {
		say("plug");
		expect_event(side, IBV_EVENT_PORT_ACTIVE);
	}
	rendezvous(side->socket);
	talk(side);
}

/* The program itself asks for the other path. */
static void migrate_by_hand(struct side *side)
{
	struct ibv_qp_attr attr = {.path_mig_state = IBV_MIG_MIGRATED};

	if (!side->is_server)
		modify(side, &attr, IBV_QP_PATH_MIG_STATE);
	rendezvous(side->socket);
	talk(side);
	expect_event(side, IBV_EVENT_PATH_MIG);
	expect_path(side, 1, IBV_MIG_MIGRATED);
	rendezvous(side->socket);
}

/* The passive side has another idea of where the other path leads: it refuses, once, and the active
 * side runs out of retries. */
static void paths_disagree(struct side *side)
{
	struct ibv_qp_attr attr = {.path_mig_state = IBV_MIG_MIGRATED};
	struct ibv_ah_attr path = path_by(side, 1);

	if (side->is_server)
		path.dlid = (uint16_t)(path.dlid + 1000);
	load_alternate(side, path);
	rendezvous(side->socket);
	talk(side);
	if (side->is_server) {
		rendezvous(side->socket);
		expect_event(side, IBV_EVENT_PATH_MIG_ERR);
		expect_path(side, 1, IBV_MIG_ARMED);
		return;
	}
	modify(side, &attr, IBV_QP_PATH_MIG_STATE);
	expect_event(side, IBV_EVENT_PATH_MIG);
	rendezvous(side->socket);

	struct ibv_sge sge = sge_of(&side->endpoint, 0, 8);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};

	post(&side->endpoint, &wr);
	expect_status(side->endpoint.cq, IBV_WC_RETRY_EXC_ERR);
}

static void open_side(struct side *side)
{
	struct ibv_port_attr second;

	side->device = device_open();
	CHECK_EQUAL(ibv_query_port(side->device.context, 2, &second), 0);
	CHECK_EQUAL(second.state, IBV_PORT_ACTIVE);
	side->endpoint = endpoint_open(&side->device, IBV_QPT_RC);
	side->datagrams = endpoint_open(&side->device, IBV_QPT_UD);
	side->own = (struct card){
		.lids = {side->device.port.lid, second.lid},
		.qpn = side->endpoint.qp->qp_num,
		.datagram_qpn = side->datagrams.qp->qp_num,
		.gid = side->device.gid,
	};
}

int main(int argument_count, char **arguments)
{
	struct side side = {0};
	struct ibv_device_attr attr;

	CHECK_EQUAL(argument_count, 3);
	side.is_server = strcmp(arguments[1], "serve") == 0;
	open_side(&side);
	CHECK_EQUAL(ibv_query_device(side.device.context, &attr), 0);
	CHECK(attr.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG);
	side.socket = meet(arguments[2], side.is_server);
	give(side.socket, &side.own, sizeof(side.own));
	take(side.socket, &side.peer, sizeof(side.peer));
	connect_side(&side);
	rendezvous(side.socket);
	address_arrives(&side);
	arm(&side, 1);
	path_breaks(&side);
	path_is_back(&side);
	arm(&side, 2);
	migrate_by_hand(&side);
	paths_disagree(&side);
	endpoint_close(&side.endpoint);
	endpoint_close(&side.datagrams);
	device_close(&side.device);
	say("ok");
	return 0;
}
