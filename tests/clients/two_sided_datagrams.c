/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams between two processes, every byte checked: one that comes is whole, in order, and as it
 * was when it was sent, whatever its sender does with the memory as soon as that is its own again.
 *
 *   two_sided_datagrams receiver|sender SOCKET MODE [COUNT [SEED]]
 *
 * Modes: "stress" (random sizes, batches and pauses), "fork" and "thread" (the same, and in the
 * middle of it the sender forks or has a second thread, so that its pages move), "flush" (queue
 * pairs drain, go to Error or Reset, or are destroyed with requests under way), "dereg" (regions go
 * while what was sent from them is under way), "unmap" (so does the memory, before them), "killed"
 * (the sender, at any moment), "deserted" (the receiver is).
 */
#include "random_messages.h"
#include "two_sides.h"

#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

enum {
	QPS = 2,
	DATAGRAM_BYTES_MAX = 4096,
	BATCH_MAX = 48,
	SLOT_BYTES = DATAGRAM_BYTES_MAX + 512,
	AREA_BYTES = 64 * SLOT_BYTES,
	RECEIVES = 512,
	RECEIVE_BYTES = GRH_BYTES + DATAGRAM_BYTES_MAX,
	REGIONS_MAX = 14, /* after this many, pages stay where they are */
	OTHER_USE = 0xee,
	BATCHES_BEFORE_DEATH = 20,
	RECEIVED_BEFORE_DEATH = 400,
	DEATH_US_MAX = 3000,
	IDLE_POLLS = 20000, /* the last datagram */
};

#define LAST_NUMBER UINT32_MAX

struct address {
	uint32_t lid, qpn;
};

struct side {
	struct device device;
	struct ibv_cq *cq;
	struct ibv_qp *qps[QPS];
	struct ibv_mr *mr;
	uint8_t *bytes;
	struct ibv_ah *ah;
	struct address peer;
	uint64_t seed;
	uint32_t number;
	int socket;
};

static uint32_t size_of(uint64_t key)
{
	switch (key % 4) {
	case 0:
		return (uint32_t)(key >> 8) % 1024;
	case 1:
		return 2048;
	default:
		return 1024 + (uint32_t)(key >> 8) % (DATAGRAM_BYTES_MAX - 1023);
	}
}

static unsigned source_of(uint64_t key)
{
	return key >> 40 & 1;
}

static struct ibv_qp *open_qp(struct side *side)
{
	struct ibv_qp_init_attr options = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {BATCH_MAX, RECEIVES, 1, 1, 0},
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp *qp = ibv_create_qp(side->device.pd, &options);

	CHECK(qp);
	return qp;
}

static void start_qp(struct ibv_qp *qp)
{
	qp_modify_to(qp, IBV_QPS_INIT, connection_to(0, 0));
	qp_connect(qp, connection_to(0, 0));
}

static void open_region(struct side *side, size_t byte_count)
{
	side->bytes =
		mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(side->bytes != MAP_FAILED);
	memset(side->bytes, 0, byte_count);
	side->mr = ibv_reg_mr(side->device.pd, side->bytes, byte_count, IBV_ACCESS_LOCAL_WRITE);
	CHECK(side->mr);
}

static void open_side(struct side *side, bool is_receiver)
{
	side->device = device_open();
	CHECK((side->cq = ibv_create_cq(side->device.context, 2 * RECEIVES, NULL, NULL, 0)));
	open_region(side, is_receiver ? RECEIVES * RECEIVE_BYTES : AREA_BYTES);
	for (unsigned i = 0; i < QPS; i++) {
		side->qps[i] = open_qp(side);
		start_qp(side->qps[i]);
	}
}

static void meet_peer(struct side *side)
{
	struct address own = {side->device.port.lid, side->qps[0]->qp_num};

	give(side->socket, &own, sizeof(own));
	take(side->socket, &side->peer, sizeof(side->peer));

	struct ibv_ah_attr attr = {.dlid = (uint16_t)side->peer.lid, .port_num = 1};

	CHECK((side->ah = ibv_create_ah(side->device.pd, &attr)));
}

/* A batch of one queue pair; the last request is signaled. */
struct batch {
	unsigned count;
	unsigned source;
	struct ibv_send_wr wrs[BATCH_MAX];
	struct ibv_sge sges[BATCH_MAX];
};

static void add(struct side *side, struct batch *batch, uint32_t used, uint32_t size)
{
	struct ibv_send_wr *wr = &batch->wrs[batch->count];

	batch->sges[batch->count] =
		(struct ibv_sge){(uintptr_t)side->bytes + used, size, side->mr->lkey};
	*wr = (struct ibv_send_wr){
		.wr_id = side->number,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = random_below(4) ? 0 : IBV_SEND_SIGNALED,
		.imm_data = side->number,
		.sg_list = &batch->sges[batch->count],
		.num_sge = 1,
		.wr.ud = {side->ah, side->peer.qpn, QKEY},
	};
	batch->count++;
}

static void make_batch(struct side *side, struct batch *ret_batch)
{
	unsigned wanted = 1 + random_below(BATCH_MAX);
	uint32_t used = random_below(256);

	ret_batch->count = 0;
	ret_batch->source = source_of(message_key(side->seed, 0, side->number));
	while (ret_batch->count < wanted) {
		uint64_t key = message_key(side->seed, 0, side->number);
		uint32_t size = size_of(key);

		/* The number in the datagram names its sender. */
		if (source_of(key) == ret_batch->source) {
			message_write(key, side->bytes + used, size);
			add(side, ret_batch, used, size);
			used += size + random_below(256);
		}
		side->number++;
	}
	ret_batch->wrs[ret_batch->count - 1].send_flags |= IBV_SEND_SIGNALED;
}

static void post_batch(struct side *side, struct batch *batch)
{
	struct ibv_send_wr *bad;
	bool is_list = random_below(2);

	for (unsigned i = 0; i + 1 < batch->count && is_list; i++)
		batch->wrs[i].next = &batch->wrs[i + 1];
	for (unsigned i = 0; i < (is_list ? 1 : batch->count); i++)
		CHECK_EQUAL(ibv_post_send(side->qps[batch->source], &batch->wrs[i], &bad), 0);
}

/* In order; the memory of completed requests is used for something else at once. */
static void finish_batch(struct side *side, const struct batch *batch)
{
	unsigned done = 0;

	while (done < batch->count) {
		struct ibv_wc wc = expect_status(side->cq, IBV_WC_SUCCESS);
		unsigned first = done;

		while (batch->wrs[done].wr_id != wc.wr_id) {
			CHECK(!(batch->wrs[done].send_flags & IBV_SEND_SIGNALED));
			done++;
			CHECK(done < batch->count);
		}
		done++;
		for (; first < done; first++)
			memset((void *)(uintptr_t)batch->sges[first].addr, OTHER_USE,
			       batch->sges[first].length);
	}
}

static void *look_on(void *context)
{
	(void)context;
	return NULL;
}

/* Pages move back while datagrams are under way; the child's writes change only its own memory. */
static void disturb(struct side *side, const char *mode)
{
	pthread_t thread;
	int status;

	if (strcmp(mode, "thread") == 0) {
		CHECK_EQUAL(pthread_create(&thread, NULL, look_on, NULL), 0);
		CHECK_EQUAL(pthread_join(thread, NULL), 0);
		return;
	}

	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		memset(side->bytes, OTHER_USE, AREA_BYTES);
		_exit(0);
	}
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK_EQUAL(status, 0);
}

static void take_unread(struct side *side)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(side->cq, 1, &wc) == 1)
		CHECK(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR ||
		      wc.status == IBV_WC_LOC_PROT_ERR);
}

static void drain(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD};
	struct ibv_qp_init_attr options;

	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	do
		CHECK_EQUAL(ibv_query_qp(qp, &attr, IBV_QP_STATE, &options), 0);
	while (attr.sq_draining);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

static void end_qp(struct side *side, const struct batch *batch)
{
	struct ibv_qp *qp = side->qps[batch->source];
	unsigned way = random_below(4);

	/* Requests that have not started continue afterwards. */
	if (way == 0) {
		drain(qp);
		finish_batch(side, batch);
		return;
	}
	if (way == 1) {
		CHECK_EQUAL(ibv_destroy_qp(qp), 0);
		side->qps[batch->source] = qp = open_qp(side);
	} else {
		if (way == 2)
			qp_modify_to(qp, IBV_QPS_ERR, connection_to(0, 0));
		qp_modify_to(qp, IBV_QPS_RESET, connection_to(0, 0));
	}
	/* Nobody reads it any more. */
	memset(side->bytes, OTHER_USE, AREA_BYTES);
	take_unread(side);
	start_qp(qp);
}

static void replace_qp(struct side *side, unsigned index)
{
	CHECK_EQUAL(ibv_destroy_qp(side->qps[index]), 0);
	take_unread(side);
	side->qps[index] = open_qp(side);
	start_qp(side->qps[index]);
}

/* With requests under way, as programs do that rely on an adapter's pinned pages. */
static void end_region(struct side *side, unsigned source, bool is_unmapped_first)
{
	if (is_unmapped_first) {
		CHECK_EQUAL(munmap(side->bytes, AREA_BYTES), 0);
		replace_qp(side, source);
		CHECK_EQUAL(ibv_dereg_mr(side->mr), 0);
	} else {
		CHECK_EQUAL(ibv_dereg_mr(side->mr), 0);
		memset(side->bytes, OTHER_USE, AREA_BYTES);
		CHECK_EQUAL(munmap(side->bytes, AREA_BYTES), 0);
		replace_qp(side, source);
	}
	open_region(side, AREA_BYTES);
}

/* At a random moment; there is no handler for the signal. */
static void die_soon(const struct side *side)
{
	const struct itimerval after = {
		.it_value.tv_usec = 1 + (suseconds_t)(side->seed * 7919 % DEATH_US_MAX)};

	CHECK_EQUAL(setitimer(ITIMER_REAL, &after, NULL), 0);
}

static bool is_alone(const struct side *side)
{
	struct pollfd word = {.fd = side->socket, .events = POLLIN};

	return poll(&word, 1, 0) == 1;
}

/* Sends a number of its own repeatedly: one of them arrives. */
static void say_goodbye(struct side *side)
{
	struct pollfd word = {.fd = side->socket, .events = POLLIN};
	struct batch batch = {.count = 0};
	time_t end = time(NULL) + POLL_SECONDS_MAX;

	take_unread(side);
	do {
		CHECK(time(NULL) <= end);
		side->number = LAST_NUMBER;
		batch.count = 0;
		add(side, &batch, 0, 2048);
		batch.wrs[0].send_flags = IBV_SEND_SIGNALED;
		post_batch(side, &batch);
		finish_batch(side, &batch);
	} while (poll(&word, 1, 1) == 0);
	rendezvous(side->socket);
}

static void send_all(struct side *side, const char *mode, unsigned count)
{
	bool is_flush = strcmp(mode, "flush") == 0, is_unmap = strcmp(mode, "unmap") == 0;
	bool ends_regions = is_unmap || strcmp(mode, "dereg") == 0;
	bool moves = strcmp(mode, "fork") == 0 || strcmp(mode, "thread") == 0;
	bool is_killed = strcmp(mode, "killed") == 0, is_deserted = strcmp(mode, "deserted") == 0;
	unsigned regions = 0;
	struct batch batch;

	for (unsigned i = 0; i < count; i++) {
		if (is_killed && i == BATCHES_BEFORE_DEATH)
			die_soon(side);
		if (is_killed || (is_deserted && !is_alone(side)))
			count++;
		make_batch(side, &batch);
		post_batch(side, &batch);
		if (moves && i == count / 3)
			disturb(side, mode);
		if (is_flush && i % 4 == 3) {
			end_qp(side, &batch);
			continue;
		}
		if (ends_regions && i % 8 == 7 && regions++ < REGIONS_MAX) {
			end_region(side, batch.source, is_unmap);
			continue;
		}
		finish_batch(side, &batch);
	}
	if (!is_deserted)
		say_goodbye(side);
}

static void post_one(struct side *side, uint64_t slot)
{
	struct ibv_sge sge = {(uintptr_t)side->bytes + slot * RECEIVE_BYTES, RECEIVE_BYTES,
			      side->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK_EQUAL(ibv_post_recv(side->qps[0], &wr, &bad), 0);
}

static void check_datagram(struct side *side, const struct ibv_wc *wc, uint32_t next[QPS])
{
	uint64_t key = message_key(side->seed, 0, wc->imm_data);
	uint8_t expected[DATAGRAM_BYTES_MAX];

	CHECK_EQUAL(wc->status, IBV_WC_SUCCESS);
	/* Lost datagrams are lost. */
	CHECK(wc->imm_data >= next[source_of(key)]);
	next[source_of(key)] = wc->imm_data + 1;
	CHECK_EQUAL(wc->byte_len, GRH_BYTES + size_of(key));
	message_write(key, expected, size_of(key));
	CHECK_EQUAL(
		memcmp(side->bytes + wc->wr_id * RECEIVE_BYTES + GRH_BYTES, expected, size_of(key)),
		0);
}

/* Until the sender sends the last datagram, or has been dead for a while. */
static void receive_all(struct side *side, const char *mode)
{
	bool is_killed = strcmp(mode, "killed") == 0, is_deserted = strcmp(mode, "deserted") == 0;
	uint32_t next[QPS] = {0}, received = 0;
	struct ibv_wc wc = {.imm_data = 0};

	for (unsigned idle = 0; wc.imm_data != LAST_NUMBER && idle < IDLE_POLLS;) {
		if (ibv_poll_cq(side->cq, 1, &wc) != 1) {
			/* The sender's socket closes with the sender. */
			idle = is_killed && (idle || is_alone(side)) ? idle + 1 : 0;
			continue;
		}
		if (wc.imm_data == LAST_NUMBER)
			break;
		idle = 0;
		check_datagram(side, &wc, next);
		post_one(side, wc.wr_id);
		if (++received == RECEIVED_BEFORE_DEATH && is_deserted)
			die_soon(side);
		if (random_below(200) == 0)
			poll(NULL, 0, 1); /* the sender would wait for its memory */
	}
	CHECK(received);
	if (!is_killed)
		rendezvous(side->socket);
}

int main(int argument_count, char **arguments)
{
	struct side side = {.seed = 1};

	CHECK(argument_count >= 4);

	bool is_receiver = strcmp(arguments[1], "receiver") == 0;
	unsigned count = argument_count > 4 ? (unsigned)strtoul(arguments[4], NULL, 10) : 100;

	if (argument_count > 5)
		side.seed = strtoul(arguments[5], NULL, 10);
	random_state = side.seed;
	open_side(&side, is_receiver);
	side.socket = meet(arguments[2], is_receiver);
	meet_peer(&side);
	for (unsigned i = 0; i < RECEIVES && is_receiver; i++)
		post_one(&side, i);
	rendezvous(side.socket);
	if (is_receiver)
		receive_all(&side, arguments[3]);
	else
		send_all(&side, arguments[3], count);
	return 0;
}
