/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SENDs whose requests, or whose memory, end before or right after they have arrived: a receiver
 * gets a message whole or not at all, and each that the sender saw done.
 *
 *   two_sided_ends receiver|sender SOCKET MODE [COUNT [SEED]]
 *
 * Modes: "flush" (the queue pair goes to Error or Reset or is destroyed in the middle of a batch,
 * and its memory is used for something else at once), "dereg" (the same with a region that is
 * taken back too soon), "regions" (each message from a region of its own, which is gone as soon as
 * it was sent).
 */
#include "random_messages.h"
#include "two_sides.h"

#include <poll.h>
#include <sys/mman.h>

enum {
	BATCH = 10,
	MESSAGE_BYTES_MAX = 1 << 20,
	AREA_BYTES = BATCH * MESSAGE_BYTES_MAX,
	PAGE_BYTES = 4096,
	REGION_PAGES = 32,
	SENDS_PER_REGION = 3,
	OTHER_USE = 0xee,
};

struct side {
	struct device device;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *bytes;
	uint8_t *expected;
	uint64_t seed;
	int socket;
	bool is_receiver;
};

/* In a round the messages are all long, all of a packet or two, or mixed. */
static uint32_t size_of(const struct side *side, uint64_t round, unsigned number)
{
	uint64_t key = message_key(side->seed, round, number);

	switch (message_key(side->seed, round, BATCH) % 4) {
	case 0:
		return MESSAGE_BYTES_MAX - (uint32_t)(key % 3);
	case 1:
		return 1024 + (uint32_t)(key % 8192);
	case 2:
		return 1 + (uint32_t)(key % (64 << 10));
	default:
		return 1 + (uint32_t)(key % MESSAGE_BYTES_MAX);
	}
}

static void open_qp(struct side *side)
{
	struct ibv_qp_init_attr options = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {BATCH, BATCH, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	CHECK((side->qp = ibv_create_qp(side->device.pd, &options)));
}

static void open_side(struct side *side)
{
	side->device = device_open();
	CHECK((side->cq = ibv_create_cq(side->device.context, 4 * BATCH, NULL, NULL, 0)));
	CHECK_EQUAL(posix_memalign((void **)&side->bytes, PAGE_BYTES, AREA_BYTES), 0);
	memset(side->bytes, 0, AREA_BYTES);
	side->mr = ibv_reg_mr(side->device.pd, side->bytes, AREA_BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK(side->mr);
	CHECK((side->expected = malloc(MESSAGE_BYTES_MAX)));
	open_qp(side);
}

static void receive_into(struct side *side, unsigned slot)
{
	struct ibv_sge sge = {(uintptr_t)side->bytes + slot * MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX,
			      side->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK_EQUAL(ibv_post_recv(side->qp, &wr, &bad), 0);
}

/* Packets of the last connection must not be accepted by this one: each starts at another PSN. */
static void connect_side(struct side *side, uint64_t round)
{
	struct {
		uint32_t lid, qpn;
	} own = {side->device.port.lid, side->qp->qp_num}, peer;

	give(side->socket, &own, sizeof(own));
	take(side->socket, &peer, sizeof(peer));

	struct ibv_qp_attr attr = connection_to((uint16_t)peer.lid, peer.qpn);

	attr.path_mtu = round % 2 ? IBV_MTU_1024 : IBV_MTU_4096;
	attr.rq_psn = attr.sq_psn = message_key(side->seed, round, BATCH + 1) & 0xffffff;
	qp_modify_to(side->qp, IBV_QPS_INIT, attr);
	for (unsigned i = 0; i < BATCH && side->is_receiver; i++)
		receive_into(side, i);
	qp_connect(side->qp, attr);
	rendezvous(side->socket);
}

static void move_to(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

static void check_content(struct side *side, const uint8_t *bytes, uint64_t key, uint32_t size)
{
	message_write(key, side->expected, size);
	CHECK_EQUAL(memcmp(bytes, side->expected, size), 0);
}

static void post_batch(struct side *side, uint64_t round)
{
	struct ibv_send_wr wrs[BATCH], *bad;
	struct ibv_sge sges[BATCH];
	bool is_list = random_below(2);

	for (unsigned i = 0; i < BATCH; i++) {
		uint8_t *bytes = side->bytes + i * MESSAGE_BYTES_MAX;
		uint32_t size = size_of(side, round, i);

		message_write(message_key(side->seed, round, i), bytes, size);
		sges[i] = (struct ibv_sge){(uintptr_t)bytes, size, side->mr->lkey};
		wrs[i] =
			(struct ibv_send_wr){.wr_id = i,
					     .opcode = IBV_WR_SEND,
					     .sg_list = &sges[i],
					     .num_sge = 1,
					     .next = is_list && i + 1 < BATCH ? &wrs[i + 1] : NULL};
	}
	for (unsigned i = 0; i < (is_list ? 1 : BATCH); i++)
		CHECK_EQUAL(ibv_post_send(side->qp, &wrs[i], &bad), 0);
}

/* Sends complete in order; returns how many of the batch have. */
static void take_completion(const struct ibv_wc *wc, unsigned *done)
{
	CHECK(wc->opcode == IBV_WC_SEND && wc->status == IBV_WC_SUCCESS);
	CHECK_EQUAL(wc->wr_id, *done);
	++*done;
}

/* Waits for some time, or until some requests have completed. */
static void wait_a_moment(struct side *side, unsigned *done)
{
	unsigned wanted = random_below(3) ? 0 : random_below(BATCH);

	for (unsigned spins = random_below(1u << random_below(18)); spins; spins--)
		__asm__ volatile("");
	while (*done < wanted) {
		struct ibv_wc wc = wait_completion(side->cq);

		take_completion(&wc, done);
	}
}

/* Polls the rest of the batch, of which the last ones may have failed. */
static void drain(struct side *side, unsigned *done)
{
	for (unsigned ended = *done; ended < BATCH;) {
		struct ibv_wc wc = wait_completion(side->cq);

		CHECK_EQUAL(wc.wr_id, ended);
		ended++;
		if (wc.status == IBV_WC_SUCCESS)
			++*done;
		else
			CHECK(wc.status == IBV_WC_WR_FLUSH_ERR || wc.status == IBV_WC_LOC_PROT_ERR);
		CHECK(wc.status != IBV_WC_SUCCESS || *done == ended);
	}
}

static void begin_anew(struct side *side)
{
	struct ibv_wc wc;

	move_to(side->qp, IBV_QPS_RESET);
	while (ibv_poll_cq(side->cq, 1, &wc) > 0)
		;
}

/* Ends the batch in one way or another, and uses its memory for something else. */
static unsigned end_by_queue_pair(struct side *side)
{
	unsigned done = 0, way = random_below(3);

	wait_a_moment(side, &done);
	if (way == 0) {
		move_to(side->qp, IBV_QPS_ERR);
		drain(side, &done);
	} else if (way == 1) {
		move_to(side->qp, IBV_QPS_RESET);
	} else {
		CHECK_EQUAL(ibv_destroy_qp(side->qp), 0);
	}
	memset(side->bytes, OTHER_USE, AREA_BYTES);
	if (way == 2)
		open_qp(side);
	return done;
}

static unsigned end_by_region(struct side *side)
{
	unsigned done = 0;

	wait_a_moment(side, &done);
	CHECK_EQUAL(ibv_dereg_mr(side->mr), 0);
	memset(side->bytes, OTHER_USE, AREA_BYTES);
	drain(side, &done);
	side->mr = ibv_reg_mr(side->device.pd, side->bytes, AREA_BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK(side->mr);
	return done;
}

static void send_rounds(struct side *side, const char *mode, unsigned count)
{
	for (unsigned round = 0; round < count; round++) {
		connect_side(side, round);
		post_batch(side, round);

		unsigned done =
			strcmp(mode, "flush") == 0 ? end_by_queue_pair(side) : end_by_region(side);

		give(side->socket, &done, sizeof(done));
		rendezvous(side->socket);
		begin_anew(side);
	}
}

static void *map(void *address, size_t byte_count)
{
	void *bytes = mmap(address, byte_count, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED : 0), -1, 0);

	CHECK(bytes != MAP_FAILED);
	return bytes;
}

/* Messages with numbers from this one on, from random addresses of a region. */
static void send_from(struct side *side, const struct ibv_mr *mr, uint64_t number)
{
	for (unsigned i = 0; i < SENDS_PER_REGION; i++) {
		uint32_t piece = (uint32_t)mr->length / SENDS_PER_REGION;
		uint32_t offset = random_below(piece / 2), size = 1 + random_below(piece - offset);
		uint8_t *bytes = (uint8_t *)mr->addr + i * piece + offset;
		struct ibv_sge sge = {(uintptr_t)bytes, size, mr->lkey};
		struct ibv_send_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;

		wr.opcode = IBV_WR_SEND;
		message_write(message_key(side->seed, 0, number + i), bytes, size);
		CHECK_EQUAL(ibv_post_send(side->qp, &wr, &bad), 0);
	}
	for (unsigned done = 0; done < SENDS_PER_REGION;) {
		struct ibv_wc wc = wait_completion(side->cq);

		take_completion(&wc, &done);
	}
}

static struct ibv_mr *register_pages(struct side *side, uint8_t *bytes, size_t page_count)
{
	struct ibv_mr *mr = ibv_reg_mr(side->device.pd, bytes, page_count * PAGE_BYTES,
				       random_below(2) ? ALL_ACCESS : IBV_ACCESS_LOCAL_WRITE);

	CHECK(mr);
	return mr;
}

/* A part of the region was registered too, and stays; the rest makes room for other memory. */
static void send_from_replaced(struct side *side, uint64_t number)
{
	const size_t rest_pages = REGION_PAGES - 1;
	uint8_t *bytes = map(NULL, REGION_PAGES * PAGE_BYTES);
	struct ibv_mr *whole = register_pages(side, bytes, REGION_PAGES);
	struct ibv_mr *part = register_pages(side, bytes, 1);

	CHECK_EQUAL(ibv_dereg_mr(whole), 0);
	map(bytes + PAGE_BYTES, rest_pages * PAGE_BYTES);

	struct ibv_mr *rest = register_pages(side, bytes + PAGE_BYTES, rest_pages);

	send_from(side, rest, number);
	CHECK_EQUAL(ibv_dereg_mr(rest), 0);
	CHECK_EQUAL(ibv_dereg_mr(part), 0);
	CHECK_EQUAL(munmap(bytes, REGION_PAGES * PAGE_BYTES), 0);
}

static void send_from_regions(struct side *side, unsigned count)
{
	connect_side(side, 0);
	for (unsigned i = 0; i < count; i++) {
		size_t page_count = 1 + random_below(REGION_PAGES);
		uint8_t *bytes = map(NULL, page_count * PAGE_BYTES);

		if (i % 8 == 3) {
			send_from_replaced(side, (uint64_t)i * SENDS_PER_REGION);
		} else {
			struct ibv_mr *mr = register_pages(side, bytes, page_count);

			send_from(side, mr, (uint64_t)i * SENDS_PER_REGION);
			memset(bytes, OTHER_USE, page_count * PAGE_BYTES);
			CHECK_EQUAL(ibv_dereg_mr(mr), 0);
			CHECK_EQUAL(bytes[0], OTHER_USE);
		}
		CHECK_EQUAL(munmap(bytes, page_count * PAGE_BYTES), 0);
	}
	rendezvous(side->socket);
}

/* Polls what has arrived in a round. Returns how many receives have completed. */
static unsigned take_what_came(struct side *side, uint64_t round, unsigned *received)
{
	struct ibv_wc wc;
	unsigned ended = 0;

	while (ibv_poll_cq(side->cq, 1, &wc) > 0) {
		ended++;
		if (wc.status == IBV_WC_WR_FLUSH_ERR)
			continue;
		CHECK_EQUAL(wc.status, IBV_WC_SUCCESS);
		CHECK_EQUAL(wc.wr_id, *received);
		CHECK_EQUAL(wc.byte_len, size_of(side, round, *received));
		check_content(side, side->bytes + *received * MESSAGE_BYTES_MAX,
			      message_key(side->seed, round, *received), wc.byte_len);
		++*received;
	}
	return ended;
}

static void receive_rounds(struct side *side, unsigned count)
{
	struct pollfd word = {.fd = side->socket, .events = POLLIN};
	unsigned done, all = 0;

	for (unsigned round = 0; round < count; round++) {
		time_t give_up;
		unsigned received = 0, ended = 0;

		connect_side(side, round);
		/* Now and then the receiver is late: messages are still in the ring when the round
		 * ends. */
		if (random_below(2))
			poll(NULL, 0, (int)random_below(3));
		for (unsigned i = 0; i % 64 || poll(&word, 1, 0) == 0; i++)
			ended += take_what_came(side, round, &received);
		take(side->socket, &done, sizeof(done));
		move_to(side->qp, IBV_QPS_ERR);
		give_up = time(NULL) + POLL_SECONDS_MAX;
		while ((ended += take_what_came(side, round, &received)) < BATCH)
			CHECK(time(NULL) < give_up);
		CHECK(received >= done);
		all += received;
		begin_anew(side);
		rendezvous(side->socket);
	}
	printf("%u of %u messages received\n", all, count * BATCH);
}

static void receive_from_regions(struct side *side, unsigned count)
{
	connect_side(side, 0);
	for (unsigned i = 0; i < count * SENDS_PER_REGION; i++) {
		struct ibv_wc wc = expect_status(side->cq, IBV_WC_SUCCESS);

		CHECK_EQUAL(wc.wr_id, i % BATCH);
		check_content(side, side->bytes + i % BATCH * MESSAGE_BYTES_MAX,
			      message_key(side->seed, 0, i), wc.byte_len);
		receive_into(side, i % BATCH);
	}
	rendezvous(side->socket);
}

int main(int argument_count, char **arguments)
{
	struct side side = {.seed = 1};

	CHECK(argument_count >= 4);

	side.is_receiver = strcmp(arguments[1], "receiver") == 0;

	bool has_regions = strcmp(arguments[3], "regions") == 0;
	unsigned count = argument_count > 4 ? (unsigned)strtoul(arguments[4], NULL, 10) : 10;

	if (argument_count > 5)
		side.seed = strtoul(arguments[5], NULL, 10);
	random_state = side.seed;
	open_side(&side);
	side.socket = meet(arguments[2], side.is_receiver);
	if (side.is_receiver && has_regions)
		receive_from_regions(&side, count);
	else if (side.is_receiver)
		receive_rounds(&side, count);
	else if (has_regions)
		send_from_regions(&side, count);
	else
		send_rounds(&side, arguments[3], count);
	return 0;
}
