/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of two programs that exchange random checked messages over an RC connection.
 *
 *   traffic a|b MODE SEED      (descriptor 3: a socket to the other program)
 *
 * Message n of a side is a SEND of random size whose bytes only message n has, behind it perhaps a
 * WRITE that must be there when the SEND has come, a READ or an atomic.
 *
 * A mode is made of these words:
 *
 *   poll, events  how it waits
 *   dereg         a writes into a region of b, which deregisters it: nothing is written afterwards
 *   turns         one message at a time, so that each may be the last one for long
 *   hasty         requests time out soon; otherwise so late that a lost message is noticed
 *   mortal        the other program or softibd may be killed
 */
#include "../clients/random_messages.h"
#include "../clients/verbs_client.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of libschedule.so: from now on the path may go away, and softibd may be killed. */
void schedule_ready(void);

enum {
	PEER = 3,
	MESSAGES_MAX = 40,
	WINDOW = 8, /* requests under way */
	RECEIVES = 12,
	BYTES_MAX = 6000,
	WRITE_BYTES = 3000,
	INLINE_MAX = 128,
	WR_SEND = 1,
	WR_OTHER = 2,
};

struct area {
	uint8_t sends[WINDOW][BYTES_MAX];
	uint8_t receives[RECEIVES][BYTES_MAX];
	uint8_t reads[WINDOW][BYTES_MAX];
	uint8_t read_by_peer[BYTES_MAX];
	uint8_t written_by_peer[MESSAGES_MAX][WRITE_BYTES];
	uint64_t counter; /* of the peer's atomics */
};

struct address {
	uint64_t base;
	uint32_t lid, qpn, key, count;
};

enum work { WORK_SEND, WORK_WRITE, WORK_READ, WORK_ATOMIC };

struct posted {
	enum work work;
	uint32_t byte_count;
	uint64_t slot, atomic_before;
};

struct side {
	uint64_t seed;
	unsigned own; /* 0: a */
	bool has_events, takes_turns, is_hasty, is_mortal, deregisters;
	bool is_alone; /* the other program or softibd is gone, or no request gets through */
	struct device device;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct area *area;
	struct address self, peer;
	uint64_t sent, received, done, posted, atomics, other_slot;
	struct posted requests[WINDOW];
};

static uint64_t key_of(const struct side *side, unsigned sender, uint64_t number, uint64_t use)
{
	return message_key(side->seed * 2 + sender, use, number);
}

static uint32_t size_of(uint64_t key)
{
	static const uint32_t limits[] = {8, 64, 256, 1008, 2100, BYTES_MAX};

	return 1 + (uint32_t)(key >> 8) % limits[key % 6];
}

/* How many bytes are written to the peer before SEND number n; 0: none. */
static uint32_t written_before(const struct side *side, unsigned sender, uint64_t number)
{
	const uint64_t key = key_of(side, sender, number, 2);

	return key % 4 == 0 ? 1 + (uint32_t)(key >> 8) % (key & 16 ? 64 : WRITE_BYTES) : 0;
}

static void open_side(struct side *side)
{
	side->device = device_open();
	CHECK_EQUAL(posix_memalign((void **)&side->area, 4096, sizeof(*side->area)), 0);
	memset(side->area, 0, sizeof(*side->area));
	message_write(side->seed + side->own, side->area->read_by_peer, BYTES_MAX);
	CHECK((side->mr =
		       ibv_reg_mr(side->device.pd, side->area, sizeof(*side->area), ALL_ACCESS)));
	if (side->has_events)
		CHECK((side->channel = ibv_create_comp_channel(side->device.context)));
	CHECK((side->cq = ibv_create_cq(side->device.context, 64, NULL, side->channel, 0)));

	struct ibv_qp_init_attr init = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {WINDOW * 2, RECEIVES, 1, 1, INLINE_MAX},
		.qp_type = IBV_QPT_RC,
	};

	CHECK((side->qp = ibv_create_qp(side->device.pd, &init)));
}

static void post_receive_slot(struct side *side, uint64_t slot)
{
	struct ibv_sge sge = {(uintptr_t)side->area->receives[slot], BYTES_MAX, side->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot << 8, .sg_list = &sge, .num_sge = 1}, *bad;

	memset(side->area->receives[slot], 0xa5, BYTES_MAX);
	CHECK_EQUAL(ibv_post_recv(side->qp, &wr, &bad), 0);
}

/* The other program is gone. */
static void be_alone(struct side *side)
{
	CHECK(side->is_mortal);
	side->is_alone = true;
}

static void give(struct side *side, const void *bytes, size_t byte_count)
{
	if (send(PEER, bytes, byte_count, MSG_NOSIGNAL) != (ssize_t)byte_count)
		be_alone(side);
}

static void take(struct side *side, void *bytes, size_t byte_count)
{
	if (recv(PEER, bytes, byte_count, 0) != (ssize_t)byte_count)
		be_alone(side);
}

static void meet(struct side *side)
{
	char token = 'r';

	give(side, &token, 1);
	take(side, &token, 1);
}

/* The other program ends only after this one has told it that all is done. */
static void look_for_peer(struct side *side)
{
	struct pollfd end = {.fd = PEER};

	if (side->is_mortal && poll(&end, 1, 0) == 1)
		be_alone(side);
}

static void connect_side(struct side *side)
{
	side->self = (struct address){
		.base = (uintptr_t)side->area,
		.lid = side->device.port.lid,
		.qpn = side->qp->qp_num,
		.key = side->mr->rkey,
		.count = 1 + (uint32_t)(key_of(side, side->takes_turns ? 0 : side->own, 0, 5) %
					MESSAGES_MAX),
	};
	give(side, &side->self, sizeof(side->self));
	take(side, &side->peer, sizeof(side->peer));
	if (side->is_alone)
		return;

	struct ibv_qp_attr attr = connection_to((uint16_t)side->peer.lid, side->peer.qpn);

	attr.path_mtu = IBV_MTU_2048;
	/* So long that a message which is not noticed would be missed. */
	attr.timeout = side->is_hasty ? 12 : 24;
	qp_modify_to(side->qp, IBV_QPS_INIT, attr);
	for (uint64_t slot = 0; slot < RECEIVES; slot++)
		post_receive_slot(side, slot);
	qp_connect(side->qp, attr);
	schedule_ready();
	meet(side);
}

static uint64_t remote(const struct side *side, const void *place)
{
	return side->peer.base + (uint64_t)((const uint8_t *)place - (const uint8_t *)side->area);
}

static void post_request(struct side *side, struct ibv_send_wr *wr, struct posted posted)
{
	struct ibv_send_wr *bad;

	wr->wr_id = WR_SEND | side->posted << 8;
	wr->send_flags |= IBV_SEND_SIGNALED;
	side->requests[side->posted % WINDOW] = posted;
	side->posted++;
	CHECK_EQUAL(ibv_post_send(side->qp, wr, &bad), 0);
}

static void post_write(struct side *side, uint64_t number)
{
	const uint32_t byte_count = written_before(side, side->own, number);
	const uint64_t slot = side->posted % WINDOW;
	struct ibv_sge sge = {(uintptr_t)side->area->reads[slot], byte_count, side->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {remote(side, side->area->written_by_peer[number]), side->peer.key},
	};

	message_write(key_of(side, side->own, number, 3), side->area->reads[slot], byte_count);
	post_request(side, &wr, (struct posted){.work = WORK_WRITE});
}

static void post_read(struct side *side, uint64_t key)
{
	const uint64_t slot = side->posted % WINDOW;
	const uint32_t byte_count = size_of(key);
	struct ibv_sge sge = {(uintptr_t)side->area->reads[slot], byte_count, side->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = {remote(side, side->area->read_by_peer), side->peer.key},
	};

	memset(side->area->reads[slot], 0, byte_count);
	post_request(side, &wr,
		     (struct posted){.work = WORK_READ, .byte_count = byte_count, .slot = slot});
}

static void post_atomic(struct side *side)
{
	const uint64_t slot = side->posted % WINDOW;
	struct ibv_sge sge = {(uintptr_t)side->area->reads[slot], 8, side->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = {remote(side, &side->area->counter), 3, 0, side->peer.key},
	};

	post_request(side, &wr,
		     (struct posted){.work = WORK_ATOMIC,
				     .slot = slot,
				     .atomic_before = 3 * side->atomics++});
}

static void post_message(struct side *side)
{
	const uint64_t number = side->sent++;
	const uint64_t key = key_of(side, side->own, number, 1), slot = side->posted % WINDOW;
	struct ibv_sge sge = {(uintptr_t)side->area->sends[slot], size_of(key), side->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = key & 32 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM,
		.imm_data = (uint32_t)number,
	};

	if (sge.length <= INLINE_MAX && key & 64)
		wr.send_flags = IBV_SEND_INLINE;
	message_write(key, side->area->sends[slot], sge.length);
	post_request(side, &wr, (struct posted){.work = WORK_SEND});
}

static bool may_send(const struct side *side)
{
	if (side->sent == side->self.count || side->posted + 3 - side->done >= WINDOW)
		return false;
	return !side->takes_turns || side->sent + side->own <= side->received;
}

/* Posts what belongs to the next message, as far as there is room. */
static void post_more(struct side *side)
{
	while (may_send(side)) {
		const uint64_t key = key_of(side, side->own, side->sent, 4);

		if (written_before(side, side->own, side->sent))
			post_write(side, side->sent);
		if (key % 8 == 0)
			post_read(side, key >> 8);
		if (key % 8 == 1)
			post_atomic(side);
		post_message(side);
		if (key % 16 > 10)
			return;
		if (key % 16 > 6)
			usleep((useconds_t)(key >> 8) % 300);
	}
}

static void check_bytes(const char *what, uint64_t number, uint64_t key, const uint8_t *bytes,
			uint32_t byte_count)
{
	static uint8_t expected[BYTES_MAX];

	message_write(key, expected, byte_count);
	for (uint32_t i = 0; i < byte_count; i++)
		if (bytes[i] != expected[i]) {
			fprintf(stderr, "%s %llu of %u bytes is wrong at byte %u: %02x, not %02x\n",
				what, (unsigned long long)number, byte_count, i, bytes[i],
				expected[i]);
			exit(1);
		}
}

static void check_received(struct side *side, const struct ibv_wc *wc)
{
	const uint64_t number = side->received++, slot = wc->wr_id >> 8;
	const uint64_t key = key_of(side, !side->own, number, 1);
	const uint32_t written = written_before(side, !side->own, number);

	CHECK_EQUAL(slot, number % RECEIVES);
	CHECK_EQUAL(wc->byte_len, size_of(key));
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		CHECK_EQUAL(wc->imm_data, number);
	check_bytes("message", number, key, side->area->receives[slot], wc->byte_len);
	if (wc->byte_len < BYTES_MAX)
		CHECK_EQUAL(side->area->receives[slot][wc->byte_len], 0xa5);
	check_bytes("WRITE before message", number, key_of(side, !side->own, number, 3),
		    side->area->written_by_peer[number], written);
	post_receive_slot(side, slot);
}

static void check_done(struct side *side, const struct ibv_wc *wc)
{
	const struct posted *posted = &side->requests[side->done % WINDOW];

	CHECK_EQUAL(wc->wr_id >> 8, side->done);
	side->done++;
	if (posted->work == WORK_READ)
		check_bytes("READ", side->done, side->seed + !side->own,
			    side->area->reads[posted->slot], posted->byte_count);
	if (posted->work == WORK_ATOMIC) {
		uint64_t found;

		memcpy(&found, side->area->reads[posted->slot], sizeof(found));
		CHECK_EQUAL(found, posted->atomic_before);
	}
}

static void take_completion(struct side *side, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS && side->is_mortal) {
		side->is_alone = true;
		return;
	}
	CHECK_EQUAL(wc->status, IBV_WC_SUCCESS);
	if (wc->opcode & IBV_WC_RECV)
		check_received(side, wc);
	else
		check_done(side, wc);
}

static bool is_complete(const struct side *side)
{
	return side->sent == side->self.count && side->done == side->posted &&
	       side->received == side->peer.count;
}

static void await_event(struct side *side)
{
	struct pollfd watched[2] = {{.fd = side->channel->fd, .events = POLLIN},
				    {.fd = PEER, .events = 0 /* only its end */}};
	struct ibv_cq *cq;
	void *context;

	/* A program that waits for the death of others, too, can't do so in the library. */
	if (side->is_mortal) {
		CHECK(poll(watched, 2, -1) > 0);
		if (watched[1].revents)
			look_for_peer(side);
		if (!watched[0].revents)
			return;
	}
	CHECK_EQUAL(ibv_get_cq_event(side->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

static unsigned poll_all(struct side *side)
{
	struct ibv_wc completions[4];
	unsigned any = 0;
	int count;

	while ((count = ibv_poll_cq(side->cq, 4, completions)) > 0) {
		for (int i = 0; i < count; i++)
			take_completion(side, &completions[i]);
		any += (unsigned)count;
	}
	CHECK_EQUAL(count, 0);
	return any;
}

static void exchange(struct side *side)
{
	while (!is_complete(side) && !side->is_alone) {
		post_more(side);
		if (poll_all(side))
			continue;
		if (!side->has_events) {
			look_for_peer(side);
			sched_yield();
			continue;
		}
		CHECK_EQUAL(ibv_req_notify_cq(side->cq, 0), 0);
		if (!poll_all(side))
			await_event(side);
	}
}

static void close_side(struct side *side)
{
	CHECK_EQUAL(ibv_destroy_qp(side->qp), 0);
	CHECK_EQUAL(ibv_destroy_cq(side->cq), 0);
	if (side->channel)
		CHECK_EQUAL(ibv_destroy_comp_channel(side->channel), 0);
	CHECK_EQUAL(ibv_dereg_mr(side->mr), 0);
	device_close(&side->device);
}

enum { VICTIM_BYTES = 70000, LOOKS_AFTERWARDS = 300, WRITES_IN_HASTE = 2000 };

/* a: WRITEs into the region of b until one fails. */
static void write_until_refused(struct side *side, const struct address *victim)
{
	bool was_refused = false;

	while (!was_refused && !side->is_alone) {
		const uint64_t key = key_of(side, 0, side->posted, 6);
		const uint32_t limit = key & 1 ? VICTIM_BYTES / 2 : 200;
		const uint32_t byte_count = 1 + (uint32_t)(key >> 8) % limit;
		struct ibv_sge sge = {(uintptr_t)side->area, byte_count, side->mr->lkey};
		struct ibv_send_wr wr = {
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = {victim->base + (key >> 40) % (VICTIM_BYTES / 2), victim->key},
		};
		struct ibv_wc wc;

		if (side->posted - side->done < WINDOW) {
			memset(side->area, (int)(key >> 32 & 0xff), byte_count);
			post_request(side, &wr, (struct posted){.work = WORK_WRITE});
		}
		while (ibv_poll_cq(side->cq, 1, &wc) == 1) {
			was_refused |= wc.status != IBV_WC_SUCCESS;
			side->done++;
		}
		look_for_peer(side);
		/* The other program may be paused for long. */
		if (side->posted > WRITES_IN_HASTE)
			usleep(1000);
		else
			sched_yield();
	}
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* b: after ibv_dereg_mr has returned nothing is written any more. */
static void deregister_and_watch(struct side *side, uint8_t *bytes, struct ibv_mr *mr)
{
	static uint8_t before[VICTIM_BYTES];
	const unsigned patience = (unsigned)(key_of(side, 1, 0, 7) % 400);
	struct ibv_wc wc;

	for (unsigned i = 0; i < patience && !side->is_alone; i++) {
		CHECK(ibv_poll_cq(side->cq, 1, &wc) >= 0);
		look_for_peer(side);
		sched_yield();
	}

	const uint64_t start = clock_ns();

	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	CHECK(clock_ns() - start < 1000000000u);
	memcpy(before, bytes, VICTIM_BYTES);
	for (unsigned i = 0; i < LOOKS_AFTERWARDS; i++) {
		CHECK(memcmp(before, bytes, VICTIM_BYTES) == 0);
		CHECK(ibv_poll_cq(side->cq, 1, &wc) >= 0);
		sched_yield();
	}
}

static void deregister_under_writes(struct side *side)
{
	struct address victim = {0};
	struct ibv_mr *mr = NULL;
	uint8_t *bytes = NULL;

	if (side->own) {
		CHECK_EQUAL(posix_memalign((void **)&bytes, 4096, VICTIM_BYTES), 0);
		memset(bytes, 0, VICTIM_BYTES);
		CHECK((mr = ibv_reg_mr(side->device.pd, bytes, VICTIM_BYTES, ALL_ACCESS)));
		victim = (struct address){.base = (uintptr_t)bytes, .key = mr->rkey};
		give(side, &victim, sizeof(victim));
		deregister_and_watch(side, bytes, mr);
	} else {
		take(side, &victim, sizeof(victim));
		write_until_refused(side, &victim);
	}
}

int main(int count, char **words)
{
	static struct side side;

	CHECK_EQUAL(count, 4);
	side.own = words[1][0] == 'b';
	side.has_events = strstr(words[2], "events") != NULL;
	side.takes_turns = strstr(words[2], "turns") != NULL;
	side.is_hasty = strstr(words[2], "hasty") != NULL;
	side.is_mortal = strstr(words[2], "mortal") != NULL;
	side.deregisters = strstr(words[2], "dereg") != NULL;
	side.seed = strtoull(words[3], NULL, 10);
	open_side(&side);
	connect_side(&side);
	if (side.deregisters && !side.is_alone)
		deregister_under_writes(&side);
	else if (!side.is_alone)
		exchange(&side);
	meet(&side);
	close_side(&side);
	return 0;
}
