/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SENDs between two processes, every byte checked.
 *
 *   two_sided receiver|sender SOCKET MODE [COUNT [SEED]]
 *
 * Modes: "stress" (random sizes, addresses, SGEs and queue pairs, WRITEs between them), "bursts"
 * (the same with mostly small messages, some of them of one size, with one SGE and posted in a
 * row), "fork" and "thread" (as "stress", but half way through the sender forks or starts a second
 * thread, so that its pages move; no ACK timer resends there). Both sides compute the messages from
 * the seed.
 */
#include "random_messages.h"
#include "two_sides.h"

#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>

enum {
	RC_QPS = 5,
	SHARED_QPS = 2,	  /* the last of them take their receives from one queue */
	QPS = RC_QPS + 1, /* the last is unreliable */
	MESSAGE_BYTES_MAX = (2 << 20) + (8 << 10),
	SEND_AREA_BYTES = 5 << 20,
	RECEIVES = 4,
	RECEIVE_PIECES_MAX = 3,
	GUARD_BYTES = 64, /* bytes behind a message that nobody writes to */
	GUARD = 0xa5,
	SLOT_BYTES = MESSAGE_BYTES_MAX + GUARD_BYTES,
	BATCH_MAX = 12,
	BURST_MESSAGES = 16,
	BURST_BYTES_SMALL = 32,
	BURST_BYTES_MAX = 1100, /* longer than the payload records of a burst */
	WRITE_SLOTS = 32,	/* more than the receiver can lag behind */
	WRITE_BYTES_MAX = 2048,
	INLINE_BYTES = 64,
	NO_TIMER = 0,
};

/* What each side tells the other. */
struct address {
	uint32_t lid, qpns[QPS], window_key;
	uint64_t window;
};

struct queue {
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *bytes;
	uint64_t number;   /* of the next message to be sent, or to be received */
	uint64_t posted;   /* receives that are not shared */
	bool is_under_way; /* a batch */
};

struct side {
	struct device device;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *window_mr;
	uint8_t *window; /* WRITE_SLOTS for each queue */
	uint8_t *expected;
	struct queue queues[QPS];
	uint64_t seed;
	bool has_bursts;
	struct address peer;
	int socket;
};

static bool is_shared(unsigned index)
{
	return index < RC_QPS && index >= RC_QPS - SHARED_QPS;
}

static uint32_t mtu_of(unsigned index)
{
	return index % 2 ? 1024 : 4096;
}

/* Whether the message has the size of others around it. */
static bool is_in_run(const struct side *side, unsigned index, uint64_t number)
{
	return side->has_bursts && index < RC_QPS && message_key(side->seed, index, number) % 32;
}

static uint32_t size_of(const struct side *side, unsigned index, uint64_t number)
{
	uint64_t key = message_key(side->seed, index, number);
	uint32_t draw = (uint32_t)(key >> 8 & 0xffffff);

	if (is_in_run(side, index, number)) {
		uint32_t run = (uint32_t)message_key(side->seed, index, number / BURST_MESSAGES);

		return 1 + (run >> 1) % (run & 1 ? BURST_BYTES_SMALL : BURST_BYTES_MAX);
	}
	switch (key % 16) {
	case 0:
		return 0;
	case 1:
		return 1 + draw % 9;
	case 2:
	case 3:
	case 4:
	case 5:
		return mtu_of(index) * (1 + draw % 5) - 2 + (draw >> 8) % 5;
	case 6:
		return draw % 4 ? (1 << 20) - 2 + (draw >> 8) % 5 : draw % MESSAGE_BYTES_MAX;
	case 7:
	case 8:
		return draw % (300 << 10);
	case 9:
	case 10:
	case 11:
		return draw % (64 << 10);
	default:
		return 1000 + draw % 9000;
	}
}

/* 0: there is no WRITE before this message. */
static uint32_t written_before(const struct side *side, unsigned index, uint64_t number)
{
	uint64_t key = message_key(side->seed, QPS + index, number);

	return index < RC_QPS && !is_in_run(side, index, number) && key % 4 == 0
		       ? 1 + (uint32_t)(key >> 16) % WRITE_BYTES_MAX
		       : 0;
}

static uint32_t window_offset(unsigned index, uint64_t number)
{
	return (index * WRITE_SLOTS + (uint32_t)(number % WRITE_SLOTS)) * WRITE_BYTES_MAX;
}

/* Only an unreliable message carries its number: others can't be lost. */
static bool has_immediate(const struct side *side, unsigned index, uint64_t number)
{
	return index >= RC_QPS || (!is_in_run(side, index, number) &&
				   message_key(side->seed, index, number) >> 40 & 1);
}

static void *memory_of(size_t byte_count)
{
	void *bytes;

	CHECK_EQUAL(posix_memalign(&bytes, 4096, byte_count), 0);
	memset(bytes, 0, byte_count);
	return bytes;
}

static void open_queue(struct side *side, unsigned index, size_t byte_count)
{
	struct queue *queue = &side->queues[index];
	struct ibv_qp_init_attr options = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.srq = is_shared(index) ? side->srq : NULL,
		.cap = {2 * BATCH_MAX, RECEIVES, 3, RECEIVE_PIECES_MAX, INLINE_BYTES},
		.qp_type = index < RC_QPS ? IBV_QPT_RC : IBV_QPT_UC,
	};

	queue->bytes = memory_of(byte_count);
	/* Peers may use RMA on some regions; from others they only fetch zcopy sends. */
	queue->mr = ibv_reg_mr(side->device.pd, queue->bytes, byte_count,
			       index % 2 ? ALL_ACCESS : IBV_ACCESS_LOCAL_WRITE);
	CHECK(queue->mr);
	CHECK((queue->qp = ibv_create_qp(side->device.pd, &options)));
}

static void open_side(struct side *side, bool is_receiver)
{
	struct ibv_srq_init_attr options = {.attr = {SHARED_QPS * RECEIVES, 1, 0}};
	const size_t window_bytes = QPS * WRITE_SLOTS * WRITE_BYTES_MAX;

	side->device = device_open();
	CHECK((side->cq = ibv_create_cq(side->device.context, 1024, NULL, NULL, 0)));
	CHECK((side->srq = ibv_create_srq(side->device.pd, &options)));
	side->window = memory_of(window_bytes);
	side->window_mr = ibv_reg_mr(side->device.pd, side->window, window_bytes, ALL_ACCESS);
	CHECK(side->window_mr);
	CHECK((side->expected = malloc(MESSAGE_BYTES_MAX)));
	for (unsigned i = 0; i < QPS; i++)
		open_queue(side, i, is_receiver ? RECEIVES * SLOT_BYTES : SEND_AREA_BYTES);
}

static void connect_side(struct side *side, uint8_t timeout)
{
	struct address own = {.lid = side->device.port.lid,
			      .window = (uintptr_t)side->window,
			      .window_key = side->window_mr->rkey};

	for (unsigned i = 0; i < QPS; i++)
		own.qpns[i] = side->queues[i].qp->qp_num;
	give(side->socket, &own, sizeof(own));
	take(side->socket, &side->peer, sizeof(side->peer));
	for (unsigned i = 0; i < QPS; i++) {
		struct ibv_qp_attr attr =
			connection_to((uint16_t)side->peer.lid, side->peer.qpns[i]);

		attr.path_mtu = i % 2 ? IBV_MTU_1024 : IBV_MTU_4096;
		attr.timeout = timeout;
		qp_modify_to(side->queues[i].qp, IBV_QPS_INIT, attr);
		qp_connect(side->queues[i].qp, attr);
	}
}

/* The pieces of a buffer, of random lengths; one key always gives the same pieces. */
static int cut(uint64_t key, const struct ibv_mr *mr, const uint8_t *bytes, uint32_t byte_count,
	       struct ibv_sge ret_sges[static RECEIVE_PIECES_MAX])
{
	int count = key % 2 ? 1 : 1 + (int)(key >> 4 & 0xff) % RECEIVE_PIECES_MAX;

	for (int i = 0; i < count; i++) {
		uint32_t piece =
			i + 1 == count ? byte_count : (uint32_t)(key >> 12) % (byte_count + 1);

		ret_sges[i] = (struct ibv_sge){(uintptr_t)bytes, piece, mr->lkey};
		bytes += piece;
		byte_count -= piece;
	}
	return count;
}

/* Posts the requests of a batch. Returns the number of its messages. */
static unsigned post_batch(struct side *side, unsigned index)
{
	struct queue *queue = &side->queues[index];
	struct ibv_send_wr wrs[2 * BATCH_MAX], *bad;
	struct ibv_sge sges[2 * BATCH_MAX][RECEIVE_PIECES_MAX];
	unsigned count = 0, message_count = 0, wanted = 1 + random_below(BATCH_MAX);
	uint32_t used = random_below(5000);

	while (message_count < wanted) {
		uint64_t number = queue->number, key = message_key(side->seed, index, number);
		uint32_t size = size_of(side, index, number);
		uint32_t written = written_before(side, index, number);

		if (used + size + written + 64 > SEND_AREA_BYTES)
			break;
		if (written) {
			message_write(~key, queue->bytes + used, written);
			wrs[count] = (struct ibv_send_wr){
				.opcode = IBV_WR_RDMA_WRITE,
				.num_sge = cut(key >> 3, queue->mr, queue->bytes + used, written,
					       sges[count]),
				.wr.rdma = {side->peer.window + window_offset(index, number),
					    side->peer.window_key},
			};
			count++;
			used += written + random_below(30);
		}
		message_write(key, queue->bytes + used, size);
		wrs[count] = (struct ibv_send_wr){
			.opcode = has_immediate(side, index, number) ? IBV_WR_SEND_WITH_IMM
								     : IBV_WR_SEND,
			.send_flags = size <= INLINE_BYTES && random_below(2) ? IBV_SEND_INLINE : 0,
			.imm_data = (uint32_t)number,
			.num_sge = cut(is_in_run(side, index, number) ? 1 : key >> 5, queue->mr,
				       queue->bytes + used, size, sges[count]),
		};
		count++;
		used += size + random_below(30);
		message_count++;
		queue->number++;
	}
	for (unsigned i = 0; i < count; i++) {
		wrs[i].wr_id = index;
		wrs[i].sg_list = sges[i];
	}
	wrs[count - 1].send_flags |= IBV_SEND_SIGNALED;

	bool is_list = random_below(2);

	for (unsigned i = 0; i < count; i++) {
		wrs[i].next = is_list && i + 1 < count ? &wrs[i + 1] : NULL;
		if (!is_list)
			CHECK_EQUAL(ibv_post_send(queue->qp, &wrs[i], &bad), 0);
	}
	if (is_list)
		CHECK_EQUAL(ibv_post_send(queue->qp, wrs, &bad), 0);
	queue->is_under_way = true;
	return message_count;
}

static void finish_one(struct side *side)
{
	struct ibv_wc wc = expect_status(side->cq, IBV_WC_SUCCESS);

	CHECK(wc.wr_id < QPS && side->queues[wc.wr_id].is_under_way);
	side->queues[wc.wr_id].is_under_way = false;
}

static void *look_on(void *context)
{
	(void)context;
	return NULL;
}

/* Pages move back while messages are under way; the child's writes change only its own memory. */
static pid_t disturb(struct side *side, const char *mode)
{
	pthread_t thread;

	if (strcmp(mode, "thread") == 0) {
		CHECK_EQUAL(pthread_create(&thread, NULL, look_on, NULL), 0);
		CHECK_EQUAL(pthread_join(thread, NULL), 0);
		return 0;
	}

	pid_t child = fork();

	CHECK(child >= 0);
	if (child)
		return child;
	for (unsigned i = 0; i < QPS; i++)
		memset(side->queues[i].bytes, 0xee, SEND_AREA_BYTES);
	_exit(0);
}

static void send_all(struct side *side, const char *mode, unsigned count)
{
	bool is_disturbed = strcmp(mode, "fork") == 0 || strcmp(mode, "thread") == 0;
	unsigned disturbed_at = is_disturbed ? count / 3 : UINT32_MAX;
	uint64_t totals[QPS];
	pid_t child = 0;
	int status;

	for (unsigned sent = 0; sent < count;) {
		unsigned index = random_below(QPS);

		while (side->queues[index].is_under_way)
			finish_one(side);
		sent += post_batch(side, index);
		if (sent >= disturbed_at) {
			child = disturb(side, mode);
			disturbed_at = UINT32_MAX;
			/* No later message helps those that were under way. */
			for (unsigned i = 0; i < QPS; i++)
				while (side->queues[i].is_under_way)
					finish_one(side);
		}
	}
	for (unsigned i = 0; i < QPS; i++) {
		while (side->queues[i].is_under_way)
			finish_one(side);
		totals[i] = side->queues[i].number;
	}
	if (child) {
		CHECK_EQUAL(waitpid(child, &status, 0), child);
		CHECK_EQUAL(status, 0);
	}
	give(side->socket, totals, sizeof(totals));
	rendezvous(side->socket);
}

static uint8_t *slot_of(const struct side *side, unsigned index, uint64_t posted)
{
	return side->queues[index].bytes + posted % RECEIVES * SLOT_BYTES;
}

/* Posts a receive for the message of this number, with room for a little more. */
static void post_own(struct side *side, unsigned index)
{
	struct queue *queue = &side->queues[index];
	uint64_t number = queue->posted++, key = message_key(side->seed, index, number);
	uint8_t *slot = slot_of(side, index, number);
	/* On an unreliable queue pair the message may be another one. */
	uint32_t size = index < RC_QPS ? size_of(side, index, number) : MESSAGE_BYTES_MAX;
	struct ibv_sge sges[RECEIVE_PIECES_MAX];
	struct ibv_recv_wr wr = {.wr_id = number, .sg_list = sges}, *bad;

	memset(slot + size, GUARD, GUARD_BYTES);
	wr.num_sge = cut(key >> 7, queue->mr, slot, size + (uint32_t)(key & 31), sges);
	CHECK_EQUAL(ibv_post_recv(queue->qp, &wr, &bad), 0);
}

/* Slots of queue pairs that share one queue are numbered through. */
static unsigned queue_of_slot(uint64_t slot_number)
{
	return RC_QPS - SHARED_QPS + (unsigned)(slot_number / RECEIVES);
}

static void post_shared(struct side *side, uint64_t slot_number)
{
	unsigned index = queue_of_slot(slot_number);
	struct ibv_sge sge = {(uintptr_t)slot_of(side, index, slot_number), SLOT_BYTES,
			      side->queues[index].mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot_number, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK_EQUAL(ibv_post_srq_recv(side->srq, &wr, &bad), 0);
}

static void post_first(struct side *side)
{
	for (unsigned i = 0; i < SHARED_QPS * RECEIVES; i++)
		post_shared(side, i);
	for (unsigned i = 0; i < QPS; i++)
		for (unsigned j = 0; j < RECEIVES && !is_shared(i); j++)
			post_own(side, i);
}

static unsigned index_of(const struct side *side, uint32_t qpn)
{
	unsigned index = 0;

	while (index < QPS && side->queues[index].qp->qp_num != qpn)
		index++;
	CHECK(index < QPS);
	return index;
}

static void check_message(struct side *side, unsigned index, const struct ibv_wc *wc)
{
	struct queue *queue = &side->queues[index];
	uint64_t number = queue->number;
	uint64_t key = message_key(side->seed, index, number);
	uint32_t size = size_of(side, index, number);
	uint32_t written = written_before(side, index, number);
	const uint8_t *slot =
		slot_of(side, is_shared(index) ? queue_of_slot(wc->wr_id) : index, wc->wr_id);

	CHECK_EQUAL(wc->byte_len, size);
	CHECK_EQUAL(wc->wc_flags & IBV_WC_WITH_IMM,
		    has_immediate(side, index, number) ? IBV_WC_WITH_IMM : 0);
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		CHECK_EQUAL(wc->imm_data, (uint32_t)number);
	message_write(key, side->expected, size);
	CHECK_EQUAL(memcmp(slot, side->expected, size), 0);
	if (index < RC_QPS && !is_shared(index))
		for (unsigned i = 0; i < GUARD_BYTES; i++)
			CHECK_EQUAL(slot[size + i], GUARD);
	message_write(~key, side->expected, written);
	CHECK_EQUAL(memcmp(side->window + window_offset(index, number), side->expected, written),
		    0);
	queue->number++;
}

static void take_one(struct side *side, const struct ibv_wc *wc)
{
	unsigned index = index_of(side, wc->qp_num);

	CHECK_EQUAL(wc->status, IBV_WC_SUCCESS);
	/* Unreliable messages may be lost; those that arrive are whole, and in order. */
	if (index >= RC_QPS) {
		CHECK(wc->imm_data >= side->queues[index].number);
		side->queues[index].number = wc->imm_data;
	}
	check_message(side, index, wc);
	if (random_below(50) == 0)
		poll(NULL, 0, 1); /* the sender finds no receive */
	if (is_shared(index))
		post_shared(side, wc->wr_id);
	else
		post_own(side, index);
}

static bool has_all(const struct side *side, const uint64_t *totals)
{
	for (unsigned i = 0; i < RC_QPS; i++)
		if (side->queues[i].number != totals[i])
			return false;
	return true;
}

static void receive_all(struct side *side)
{
	uint64_t totals[QPS] = {UINT64_MAX};
	struct pollfd word = {.fd = side->socket, .events = POLLIN};
	bool is_told = false;
	struct ibv_wc wc;

	for (unsigned idle = 0; !is_told || !has_all(side, totals);) {
		int count = ibv_poll_cq(side->cq, 1, &wc);

		CHECK(count >= 0);
		if (count == 1) {
			take_one(side, &wc);
			idle = 0;
		} else if (!is_told && ++idle % 64 == 0 && poll(&word, 1, 0) == 1) {
			take(side->socket, totals, sizeof(totals));
			is_told = true;
		}
	}
	rendezvous(side->socket);
	CHECK(side->queues[RC_QPS].number > 0);
}

int main(int argument_count, char **arguments)
{
	struct side side = {.seed = 1};

	CHECK(argument_count >= 4);

	bool is_receiver = strcmp(arguments[1], "receiver") == 0;
	const char *mode = arguments[3];
	unsigned count = argument_count > 4 ? (unsigned)strtoul(arguments[4], NULL, 10) : 100;

	if (argument_count > 5)
		side.seed = strtoul(arguments[5], NULL, 10);
	random_state = side.seed;
	side.has_bursts = strcmp(mode, "bursts") == 0;
	open_side(&side, is_receiver);
	side.socket = meet(arguments[2], is_receiver);
	connect_side(&side,
		     side.has_bursts || strcmp(mode, "stress") == 0 ? ACK_TIMEOUT : NO_TIMER);
	if (is_receiver)
		post_first(&side);
	rendezvous(side.socket);
	if (is_receiver)
		receive_all(&side);
	else
		send_all(&side, mode, count);
	return 0;
}
