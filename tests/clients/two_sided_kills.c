/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SENDs between a process that lives on and one that is killed, again and again.
 *
 *   two_sided_kills lasting-target|lasting-initiator DIRECTORY
 *   two_sided_kills target|initiator DIRECTORY ROUND
 *
 * Targets receive, initiators send. The lasting ones meet a new peer each round, by files in
 * DIRECTORY, until there is one with the name "finished". Whatever becomes of the peers, a message
 * comes whole or not at all, in order, and a sender learns that nobody is there any more.
 */
#include "meeting_files.h"
#include "random_messages.h"

enum {
	SLOTS = 16, /* more than it takes to begin a burst (runtime/fast/burst.h) */
	MESSAGE_BYTES_MAX = 256 << 10,
	MESSAGES_UNTIL_FLOWS = 100,
	POLLS_BEFORE_SLEEP = 10000,
	BURST_MESSAGES = 64,
	BURST_BYTES_MAX = 1100,
	PSN_QUEUE = 1, /* its key says where the PSNs of a round begin */
	RUN_QUEUE = 2, /* and the length of the messages of a burst */
};

struct side {
	struct device device;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *bytes;
	uint8_t *expected;
	const char *directory;
};

/* Half of the rounds use bursts. */
static uint32_t size_of(unsigned round, uint64_t number)
{
	const uint64_t key = message_key(round, 0, number);
	const uint64_t run_key = message_key(round, RUN_QUEUE, number / BURST_MESSAGES);

	if (round / 2 % 2)
		return 1 + (uint32_t)(run_key >> 8) % BURST_BYTES_MAX;
	return 1 + (uint32_t)(key >> 8) % (key % 8 ? 16 << 10 : MESSAGE_BYTES_MAX);
}

static void tell(const struct side *side, const char *name, unsigned round)
{
	const struct address own = {
		.round = round, .lid = side->device.port.lid, .qpn = side->qp->qp_num};

	tell_address(side->directory, name, &own);
}

static void open_side(struct side *side)
{
	struct ibv_qp_init_attr options = {
		.cap = {SLOTS, SLOTS, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	side->device = device_open();
	CHECK((side->cq = ibv_create_cq(side->device.context, 64, NULL, NULL, 0)));
	CHECK_EQUAL(posix_memalign((void **)&side->bytes, 4096, SLOTS * MESSAGE_BYTES_MAX), 0);
	memset(side->bytes, 0, SLOTS * MESSAGE_BYTES_MAX);
	side->mr = ibv_reg_mr(side->device.pd, side->bytes, SLOTS * MESSAGE_BYTES_MAX,
			      IBV_ACCESS_LOCAL_WRITE);
	CHECK(side->mr);
	CHECK((side->expected = malloc(MESSAGE_BYTES_MAX)));
	options.send_cq = options.recv_cq = side->cq;
	CHECK((side->qp = ibv_create_qp(side->device.pd, &options)));
}

static void receive_into(struct side *side, uint64_t slot)
{
	struct ibv_sge sge = {(uintptr_t)side->bytes + slot * MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX,
			      side->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK_EQUAL(ibv_post_recv(side->qp, &wr, &bad), 0);
}

static void reset(struct side *side)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_wc wc;

	CHECK_EQUAL(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE), 0);
	while (ibv_poll_cq(side->cq, 1, &wc) > 0)
		;
}

/* A peer that is gone shows after two timeouts. Packets of one peer must not be accepted from the
 * next: each round starts at another PSN. */
static void connect_to(struct side *side, const struct address *peer, unsigned receive_count)
{
	struct ibv_qp_attr attr = connection_to((uint16_t)peer->lid, peer->qpn);

	attr.timeout = SLOW_ACK_TIMEOUT;
	attr.retry_cnt = 1;
	attr.rq_psn = attr.sq_psn = message_key(peer->round, PSN_QUEUE, 0) & 0xffffff;
	qp_modify_to(side->qp, IBV_QPS_INIT, attr);
	for (unsigned i = 0; i < receive_count; i++)
		receive_into(side, i);
	qp_connect(side->qp, attr);
}

static void post_message(struct side *side, unsigned round, uint64_t number)
{
	uint64_t key = message_key(round, 0, number);
	uint8_t *bytes = side->bytes + number % SLOTS * MESSAGE_BYTES_MAX;
	struct ibv_sge sge = {(uintptr_t)bytes, size_of(round, number), side->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = number, .sg_list = &sge, .num_sge = 1}, *bad;

	wr.opcode = IBV_WR_SEND;
	message_write(key, bytes, sge.length);
	CHECK_EQUAL(ibv_post_send(side->qp, &wr, &bad), 0);
}

/* Until the peer is gone, which shows as on a real fabric. */
static void send_until_gone(struct side *side, unsigned round)
{
	uint64_t posted = 0, done = 0;
	struct ibv_wc wc;

	for (;; done++) {
		while (posted - done < SLOTS)
			post_message(side, round, posted++);
		wc = wait_completion(side->cq);
		CHECK_EQUAL(wc.wr_id, done);
		if (wc.status != IBV_WC_SUCCESS)
			break;
		if (done == MESSAGES_UNTIL_FLOWS) {
			printf("flows %u\n", round);
			fflush(stdout);
		}
	}
	CHECK_EQUAL(wc.status, IBV_WC_RETRY_EXC_ERR);
	while (++done < posted)
		CHECK_EQUAL(wait_completion(side->cq).status, IBV_WC_WR_FLUSH_ERR);
	/* A peer that is still there must not get this. */
	memset(side->bytes, 0xee, SLOTS * MESSAGE_BYTES_MAX);
	printf("gone %u\n", round);
	fflush(stdout);
}

static void last_as_initiator(struct side *side)
{
	struct address peer, connected;

	while (!has_come(side->directory, "finished")) {
		if (!hear(side->directory, "target", &peer)) {
			poll(NULL, 0, 1);
			continue;
		}
		reset(side);
		connect_to(side, &peer, 0);
		tell(side, name_in_round("initiator", peer.round), peer.round);
		/* The peer may be killed before it is ready; then there will be another. */
		while (!has_come(side->directory, "target") &&
		       !has_come(side->directory, "finished")) {
			if (hear(side->directory, name_in_round("connected", peer.round),
				 &connected)) {
				send_until_gone(side, peer.round);
				break;
			}
			poll(NULL, 0, 1);
		}
	}
}

static void initiate(struct side *side, unsigned round)
{
	tell(side, "initiator", round);

	struct address peer = wait_for(side->directory, name_in_round("target", round));

	connect_to(side, &peer, 0);
	send_until_gone(side, round);
}

/* Receives what the peer of this round has sent, until nothing more arrives. */
static void receive_some(struct side *side, unsigned round, uint64_t *number)
{
	struct ibv_wc wc;

	for (unsigned idle = 0; idle < POLLS_BEFORE_SLEEP; idle++) {
		int count = ibv_poll_cq(side->cq, 1, &wc);

		CHECK(count >= 0);
		if (count == 0)
			continue;
		idle = 0;

		uint64_t key = message_key(round, 0, *number);
		uint64_t slot = *number % SLOTS;

		CHECK_EQUAL(wc.status, IBV_WC_SUCCESS);
		CHECK_EQUAL(wc.wr_id, slot);
		CHECK_EQUAL(wc.byte_len, size_of(round, *number));
		message_write(key, side->expected, wc.byte_len);
		CHECK_EQUAL(
			memcmp(side->bytes + slot * MESSAGE_BYTES_MAX, side->expected, wc.byte_len),
			0);
		receive_into(side, slot);
		++*number;
	}
	poll(NULL, 0, 1);
}

static void last_as_target(struct side *side)
{
	struct address peer = {0};
	uint64_t number = 0;

	while (!has_come(side->directory, "finished")) {
		if (hear(side->directory, "initiator", &peer)) {
			reset(side);
			connect_to(side, &peer, SLOTS);
			number = 0;
			tell(side, name_in_round("target", peer.round), peer.round);
		}
		receive_some(side, peer.round, &number);
	}
}

static void serve(struct side *side, unsigned round)
{
	uint64_t number = 0;

	tell(side, "target", round);

	struct address peer = wait_for(side->directory, name_in_round("initiator", round));

	connect_to(side, &peer, SLOTS);
	tell(side, name_in_round("connected", round), round);
	while (!has_come(side->directory, "finished"))
		receive_some(side, round, &number);
}

int main(int argument_count, char **arguments)
{
	unsigned round = argument_count > 3 ? (unsigned)strtoul(arguments[3], NULL, 10) : 0;
	struct side side = {.directory = argument_count > 2 ? arguments[2] : NULL};

	CHECK(side.directory);
	open_side(&side);
	if (strcmp(arguments[1], "lasting-target") == 0)
		last_as_target(&side);
	else if (strcmp(arguments[1], "lasting-initiator") == 0)
		last_as_initiator(&side);
	else if (strcmp(arguments[1], "target") == 0)
		serve(&side, round);
	else
		initiate(&side, round);
	return 0;
}
