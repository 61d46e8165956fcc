/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-sided requests between a process that lives on and one that is killed, again and again.
 *
 *   one_sided_kills lasting-target|lasting-initiator DIRECTORY
 *   one_sided_kills target|initiator DIRECTORY ROUND
 *
 * The lasting ones meet a new peer each round, by files in DIRECTORY, until there is one with the
 * name "finished". Whatever becomes of the peers, what they read is what was there, nobody's memory
 * changes but where it was written to, and none changes once the queue pair was taken back.
 */
#include "meeting_files.h"
#include "random_messages.h"

enum {
	WINDOW_BYTES = 256 << 10,  /* written to */
	PATTERN_BYTES = 256 << 10, /* behind it: only read from */
	AREA_BYTES = WINDOW_BYTES + PATTERN_BYTES,
	REQUEST_BYTES_MAX = 64 << 10,
	REQUESTS_UNTIL_FLOWS = 300,
};

struct side {
	struct device device;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr, *local_mr;
	uint8_t *bytes;
	uint8_t *local;
	const char *directory;
};

static void tell(const struct side *side, const char *name, unsigned round)
{
	const struct address own = {round, side->device.port.lid, side->qp->qp_num, side->mr->rkey,
				    (uintptr_t)side->bytes};

	tell_address(side->directory, name, &own);
}

static void open_side(struct side *side)
{
	side->device = device_open();
	side->cq = ibv_create_cq(side->device.context, 64, NULL, NULL, 0);
	CHECK(side->cq);
	CHECK_EQUAL(posix_memalign((void **)&side->bytes, 4096, AREA_BYTES), 0);
	memset(side->bytes, 0, AREA_BYTES);
	fill(side->bytes + WINDOW_BYTES, PATTERN_BYTES, 0);
	CHECK((side->local = calloc(1, REQUEST_BYTES_MAX)));
	side->mr = ibv_reg_mr(side->device.pd, side->bytes, AREA_BYTES, ALL_ACCESS);
	side->local_mr = ibv_reg_mr(side->device.pd, side->local, REQUEST_BYTES_MAX, ALL_ACCESS);
	CHECK(side->mr && side->local_mr);

	struct ibv_qp_init_attr options = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {16, 16, 1, 1, 64},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	CHECK((side->qp = ibv_create_qp(side->device.pd, &options)));
}

static void reset(struct side *side)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_wc wc;

	CHECK_EQUAL(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE), 0);
	while (ibv_poll_cq(side->cq, 1, &wc) > 0)
		;
}

/* A peer that is gone shows after three timeouts. */
static void connect_to(struct side *side, const struct address *peer)
{
	struct ibv_qp_attr attr = connection_to((uint16_t)peer->lid, peer->qpn);

	attr.max_rd_atomic = 8;
	attr.max_dest_rd_atomic = 8;
	attr.timeout = SLOW_ACK_TIMEOUT;
	attr.retry_cnt = 2;
	qp_modify_to(side->qp, IBV_QPS_INIT, attr);
	qp_connect(side->qp, attr);
}

static void check_pattern(const struct side *side, const uint8_t *expected)
{
	CHECK_EQUAL(memcmp(side->bytes + WINDOW_BYTES, expected, PATTERN_BYTES), 0);
}

static enum ibv_wc_status do_request(struct side *side, const struct address *peer,
				     enum ibv_wr_opcode opcode, uint64_t offset, uint32_t size)
{
	struct ibv_sge sge = {(uintptr_t)side->local, size, side->local_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;

	wr.wr.rdma.remote_addr = peer->bytes + offset;
	wr.wr.rdma.rkey = peer->key;
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = peer->bytes + (offset & ~UINT64_C(7));
		wr.wr.atomic.rkey = peer->key;
		wr.wr.atomic.compare_add = 1;
	}
	CHECK_EQUAL(ibv_post_send(side->qp, &wr, &bad), 0);
	return wait_completion(side->cq).status;
}

/* A WRITE, READ or atomic of random size and address; the bytes of a READ are checked. */
static enum ibv_wc_status request_something(struct side *side, const struct address *peer,
					    const uint8_t *pattern)
{
	uint32_t size = 1 + random_below(random_below(16) ? 256 : REQUEST_BYTES_MAX);
	uint32_t offset = random_below(WINDOW_BYTES - REQUEST_BYTES_MAX);
	unsigned kind = random_below(8);

	if (kind == 0)
		return do_request(side, peer, IBV_WR_ATOMIC_FETCH_AND_ADD, offset, 8);
	if (kind >= 4)
		return do_request(side, peer, IBV_WR_RDMA_WRITE, offset, size);

	enum ibv_wc_status status =
		do_request(side, peer, IBV_WR_RDMA_READ, WINDOW_BYTES + offset, size);

	if (status == IBV_WC_SUCCESS)
		CHECK_EQUAL(memcmp(side->local, pattern + offset, size), 0);
	return status;
}

/* Until the peer is gone, which shows as on a real fabric. */
static void request_until_gone(struct side *side, const struct address *peer,
			       const uint8_t *pattern)
{
	enum ibv_wc_status status;

	for (unsigned i = 0;; i++) {
		status = request_something(side, peer, pattern);
		if (status != IBV_WC_SUCCESS)
			break;
		if (i == REQUESTS_UNTIL_FLOWS) {
			printf("flows %u\n", peer->round);
			fflush(stdout);
		}
	}
	CHECK_EQUAL(status, IBV_WC_RETRY_EXC_ERR);
	printf("gone %u\n", peer->round);
	fflush(stdout);
}

static void last_as_target(struct side *side, const uint8_t *pattern)
{
	uint8_t *before = malloc(AREA_BYTES);
	struct address peer;

	CHECK(before);
	while (!has_come(side->directory, "finished")) {
		check_pattern(side, pattern);
		if (!hear(side->directory, "initiator", &peer)) {
			poll(NULL, 0, 1);
			continue;
		}
		/* The previous peer may still be there. */
		reset(side);
		memcpy(before, side->bytes, AREA_BYTES);
		poll(NULL, 0, 1);
		CHECK_EQUAL(memcmp(before, side->bytes, AREA_BYTES), 0);
		connect_to(side, &peer);
		tell(side, name_in_round("target", peer.round), peer.round);
	}
	check_pattern(side, pattern);
	free(before);
}

static void last_as_initiator(struct side *side, const uint8_t *pattern)
{
	struct address peer, connected;

	while (!has_come(side->directory, "finished")) {
		if (!hear(side->directory, "target", &peer)) {
			poll(NULL, 0, 1);
			continue;
		}
		reset(side);
		connect_to(side, &peer);
		tell(side, name_in_round("initiator", peer.round), peer.round);
		/* The peer may be killed before it is ready; then there will be another. */
		while (!has_come(side->directory, "target") &&
		       !has_come(side->directory, "finished")) {
			if (hear(side->directory, name_in_round("connected", peer.round),
				 &connected)) {
				request_until_gone(side, &peer, pattern);
				break;
			}
			poll(NULL, 0, 1);
		}
		check_pattern(side, pattern);
	}
}

static void initiate(struct side *side, unsigned round, const uint8_t *pattern)
{
	tell(side, "initiator", round);

	struct address peer = wait_for(side->directory, name_in_round("target", round));

	connect_to(side, &peer);
	memset(side->local, (int)round, REQUEST_BYTES_MAX);
	request_until_gone(side, &peer, pattern);
}

static void serve(struct side *side, unsigned round)
{
	tell(side, "target", round);

	struct address peer = wait_for(side->directory, name_in_round("initiator", round));

	connect_to(side, &peer);
	tell(side, name_in_round("connected", round), round);
	while (!has_come(side->directory, "finished"))
		poll(NULL, 0, 10);
}

int main(int argument_count, char **arguments)
{
	static uint8_t pattern[PATTERN_BYTES];
	unsigned round = argument_count > 3 ? (unsigned)strtoul(arguments[3], NULL, 10) : 0;
	struct side side = {.directory = argument_count > 2 ? arguments[2] : NULL};

	CHECK(side.directory);
	random_state = round + 1;
	fill(pattern, PATTERN_BYTES, 0);
	open_side(&side);
	if (strcmp(arguments[1], "lasting-target") == 0)
		last_as_target(&side, pattern);
	else if (strcmp(arguments[1], "lasting-initiator") == 0)
		last_as_initiator(&side, pattern);
	else if (strcmp(arguments[1], "target") == 0)
		serve(&side, round);
	else
		initiate(&side, round, pattern);
	return 0;
}
