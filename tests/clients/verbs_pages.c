/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered memory whose pages the program has taken away: unmapped, protected, or cut off a file.
 * An adapter has them pinned. Each operation of a peer's on it and of the program's own from it
 * ends with a completion, nobody dies, and what can't be right is not reported as a success. Two
 * processes; the one whose memory goes polls, or sleeps and leaves the work to the progress thread.
 * Covers: runtime/memory/memory_guard.c runtime/memory/fault_signals.c
 */
#include "verbs_client.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	REGION_BYTES = 256 << 10,
	GONE_FROM = 64 << 10,
	GONE_BYTES = 128 << 10,
	PAGE_BYTES = 4096,
};

enum away { UNMAPPED, NO_ACCESS, READ_ONLY, TRUNCATED, AWAY_COUNT };
enum progress { POLLING, SLEEPING, PROGRESS_COUNT };

enum operation {
	PEER_READS, /* first: pages are shared with peers only for the first regions */
	PEER_WRITES,
	PEER_ADDS,
	PEER_SENDS,
	OWN_SEND,
	OWN_WRITE,
	OWN_READ,
	OWN_DATAGRAM,
	OPERATION_COUNT
};

/* What the processes tell each other about a queue pair and its memory. */
struct end {
	uint16_t lid;
	uint32_t qpn;
	uint32_t rkey;
	uint64_t address;
};

struct order {
	enum operation operation;
	uint32_t byte_count;
	uint32_t offset;
	struct end end;
};

struct answer {
	enum ibv_wc_status status;
	bool is_right; /* of what was read: the bytes that were there */
};

struct side {
	struct endpoint endpoint; /* its own memory is not used */
	uint8_t *bytes;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	int file;
};

static struct device device;
static int to_other, from_other;

static void give(const void *bytes, size_t byte_count)
{
	CHECK_EQUAL(write(to_other, bytes, byte_count), byte_count);
}

static void take(void *ret_bytes, size_t byte_count)
{
	CHECK_EQUAL(read(from_other, ret_bytes, byte_count), byte_count);
}

static bool is_datagram(enum operation operation)
{
	return operation == OWN_DATAGRAM;
}

static bool is_own(enum operation operation)
{
	return operation >= OWN_SEND;
}

static struct side side_open(enum operation operation, enum away away)
{
	enum ibv_qp_type type = is_datagram(operation) ? IBV_QPT_UD : IBV_QPT_RC;
	struct side side = {.file = -1, .endpoint = {.device = &device}};
	struct endpoint *endpoint = &side.endpoint;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;

	if (away == TRUNCATED) {
		side.file = memfd_create("pages", MFD_CLOEXEC);
		CHECK(side.file >= 0);
		CHECK_EQUAL(ftruncate(side.file, REGION_BYTES), 0);
		flags = MAP_SHARED;
	}
	side.bytes = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, flags, side.file, 0);
	CHECK(side.bytes != MAP_FAILED);
	fill(side.bytes, REGION_BYTES, 1);
	side.mr = ibv_reg_mr(device.pd, side.bytes, REGION_BYTES, ALL_ACCESS);
	CHECK(side.mr);
	endpoint->cq = ibv_create_cq(device.context, 4 * QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(endpoint->cq);

	struct ibv_qp_init_attr options = qp_options(endpoint, type);

	endpoint->qp = ibv_create_qp(device.pd, &options);
	CHECK(endpoint->qp);
	to_init(endpoint, ALL_ACCESS);
	return side;
}

static struct end end_of(const struct side *side)
{
	return (struct end){device.port.lid, side->endpoint.qp->qp_num, side->mr->rkey,
			    (uintptr_t)side->bytes};
}

static void side_connect(struct side *side, const struct end *other)
{
	struct ibv_qp_attr attr = connection_to(other->lid, other->qpn);
	struct ibv_ah_attr address = {.dlid = other->lid, .port_num = 1};

	qp_connect(side->endpoint.qp, attr);
	side->ah = ibv_create_ah(device.pd, &address);
	CHECK(side->ah);
}

static void side_close(struct side *side)
{
	CHECK_EQUAL(ibv_destroy_ah(side->ah), 0);
	CHECK_EQUAL(ibv_destroy_qp(side->endpoint.qp), 0);
	CHECK_EQUAL(ibv_destroy_cq(side->endpoint.cq), 0);
	CHECK_EQUAL(ibv_dereg_mr(side->mr), 0);
	CHECK_EQUAL(munmap(side->bytes, REGION_BYTES), 0);
	if (side->file >= 0)
		close(side->file);
}

static void receive(struct side *side, const struct order *order)
{
	struct ibv_sge sge = {(uintptr_t)side->bytes + order->offset, REGION_BYTES - order->offset,
			      side->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	CHECK_EQUAL(ibv_post_recv(side->endpoint.qp, &wr, &bad), 0);
}

/* Carries out an operation of which this side is the requester. */
static struct ibv_wc act(struct side *side, const struct order *order, const struct end *other)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[PEER_WRITES] = IBV_WR_RDMA_WRITE,
		[PEER_READS] = IBV_WR_RDMA_READ,
		[PEER_ADDS] = IBV_WR_ATOMIC_FETCH_AND_ADD,
		[PEER_SENDS] = IBV_WR_SEND,
		[OWN_SEND] = IBV_WR_SEND,
		[OWN_WRITE] = IBV_WR_RDMA_WRITE,
		[OWN_READ] = IBV_WR_RDMA_READ,
		[OWN_DATAGRAM] = IBV_WR_SEND,
	};
	struct ibv_sge sge = {(uintptr_t)side->bytes + order->offset, order->byte_count,
			      side->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcodes[order->operation],
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {other->address + order->offset, other->rkey},
	};

	if (order->operation == PEER_ADDS) {
		sge.length = 8;
		wr.wr.atomic.remote_addr = other->address + order->offset;
		wr.wr.atomic.rkey = other->rkey;
		wr.wr.atomic.compare_add = 0;
	} else if (is_datagram(order->operation)) {
		wr.wr.ud.ah = side->ah;
		wr.wr.ud.remote_qpn = other->qpn;
		wr.wr.ud.remote_qkey = QKEY;
	}
	post(&side->endpoint, &wr);
	return wait_completion(side->endpoint.cq);
}

/* Of memory that is as the whole is filled from this offset on. */
static bool has_pattern(const uint8_t *bytes, uint32_t offset, uint32_t byte_count)
{
	static uint8_t expected[REGION_BYTES];

	fill(expected, REGION_BYTES, 1);
	return memcmp(bytes, expected + offset, byte_count) == 0;
}

/* What was fetched. */
static bool is_right(const struct side *side, const struct order *order)
{
	return has_pattern(side->bytes + order->offset, order->offset,
			   order->operation == PEER_ADDS ? 8 : order->byte_count);
}

/* The other side says that it sent or wrote with success. */
static void expect_arrival(struct side *side, const struct order *order)
{
	uint32_t room = is_datagram(order->operation) ? GRH_BYTES : 0;

	if (order->operation == OWN_READ)
		return;
	if (order->operation != OWN_WRITE)
		expect_status(side->endpoint.cq, IBV_WC_SUCCESS);
	CHECK(has_pattern(side->bytes + order->offset + room, order->offset, order->byte_count));
}

/* The peer. What it reads it has overwritten before. */
static void serve(void)
{
	struct order order;

	device = device_open();
	while (read(from_other, &order, sizeof(order)) == sizeof(order)) {
		struct side side = side_open(order.operation, UNMAPPED);
		struct end end = end_of(&side);
		struct answer answer = {0};
		char token;

		side_connect(&side, &order.end);
		receive(&side, &order);
		if (order.operation != PEER_WRITES && order.operation != PEER_SENDS &&
		    order.operation != OWN_READ)
			memset(side.bytes, 0x55, REGION_BYTES);
		give(&end, sizeof(end));
		take(&token, 1);
		if (!is_own(order.operation)) {
			answer.status = act(&side, &order, &order.end).status;
			answer.is_right = is_right(&side, &order);
			give(&answer, sizeof(answer));
		}
		take(&answer, sizeof(answer));
		if (is_own(order.operation) && answer.status == IBV_WC_SUCCESS)
			expect_arrival(&side, &order);
		side_close(&side);
	}
	device_close(&device);
}

static void take_away(struct side *side, enum away away)
{
	uint8_t *gone = side->bytes + GONE_FROM;

	if (away == UNMAPPED)
		CHECK_EQUAL(munmap(gone, GONE_BYTES), 0);
	else if (away == TRUNCATED)
		CHECK_EQUAL(ftruncate(side->file, GONE_FROM), 0);
	else
		CHECK_EQUAL(mprotect(gone, GONE_BYTES, away == READ_ONLY ? PROT_READ : PROT_NONE),
			    0);
}

/* The hole is back as soon as the progress thread runs, so that the program may use it. */
static void expect_hole(const struct side *side)
{
	time_t end = time(NULL) + POLL_SECONDS_MAX;

	for (uint32_t offset = 0; offset < GONE_BYTES; offset += PAGE_BYTES)
		while (msync(side->bytes + GONE_FROM + offset, PAGE_BYTES, MS_ASYNC) == 0 ||
		       errno != ENOMEM)
			CHECK(time(NULL) < end);
}

static struct answer wait_for_answer(struct side *side, enum progress progress)
{
	struct answer answer;
	struct ibv_wc wc;
	fd_set set;

	for (;;) {
		struct timeval now = {0};

		FD_ZERO(&set);
		FD_SET(from_other, &set);
		if (progress == SLEEPING || select(from_other + 1, &set, NULL, NULL, &now) == 1)
			break;
		(void)ibv_poll_cq(side->endpoint.cq, 1, &wc);
	}
	take(&answer, sizeof(answer));
	return answer;
}

/* A write arrives or is lost; a read is right or is not reported as a success. */
static void expect_answer(enum operation operation, enum away away, const struct answer *answer)
{
	bool is_read = operation != PEER_WRITES && operation != PEER_SENDS && operation != OWN_READ;
	bool is_there = away == NO_ACCESS || away == READ_ONLY || !is_read;
	enum ibv_wc_status refused =
		is_own(operation) ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR;

	if (is_there || answer->status == IBV_WC_SUCCESS)
		CHECK_EQUAL(answer->status, IBV_WC_SUCCESS);
	else
		CHECK_EQUAL(answer->status, refused);
	if (answer->status == IBV_WC_SUCCESS && (operation == PEER_READS || operation == PEER_ADDS))
		CHECK(answer->is_right);
}

static unsigned counts[2]; /* of operations that failed, and that did not */

static void try(enum operation operation, enum away away, enum progress progress,
		uint32_t byte_count, uint32_t offset)
{
	struct side side = side_open(operation, away);
	struct order order = {operation, byte_count, offset, end_of(&side)};
	struct answer answer = {0};
	struct end other;

	give(&order, sizeof(order));
	take(&other, sizeof(other));
	side_connect(&side, &other);
	receive(&side, &order);
	take_away(&side, away);
	give("g", 1);
	if (is_own(operation))
		answer.status = act(&side, &order, &other).status;
	else
		answer = wait_for_answer(&side, progress);
	expect_answer(operation, away, &answer);
	counts[answer.status == IBV_WC_SUCCESS]++;
	if (away == UNMAPPED)
		expect_hole(&side);
	CHECK(has_pattern(side.bytes, 0, offset < GONE_FROM ? offset : GONE_FROM));
	give(&answer, sizeof(answer));
	side_close(&side);
}

static void try_all(void)
{
	static const uint32_t sizes[] = {8, 1000, 4096, 100000};

	for (enum operation operation = 0; operation < OPERATION_COUNT; operation++)
		for (enum away away = 0; away < AWAY_COUNT; away++)
			for (enum progress progress = 0; progress < PROGRESS_COUNT; progress++)
				for (unsigned i = 0; i < 4; i++) {
					uint32_t before = i % 2 ? 504 : 0; /* of the hole */

					if (is_datagram(operation) && sizes[i] > 2048)
						continue;
					try(operation, away, progress, sizes[i],
					    GONE_FROM - before);
				}
}

static sigjmp_buf way_out;
static volatile sig_atomic_t faults;

static void jump_out(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	faults++;
	siglongjmp(way_out, 1);
}

/* A fault of the program itself goes to the program, also in registered memory. */
static void expect_own_fault(void)
{
	static uint8_t *pages;
	static struct ibv_mr *mr;
	int before = faults;

	pages = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED);
	mr = ibv_reg_mr(device.pd, pages, PAGE_BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr);
	CHECK_EQUAL(munmap(pages, PAGE_BYTES), 0);
	if (sigsetjmp(way_out, 1) == 0)
		*(volatile uint8_t *)pages = 1;
	CHECK_EQUAL(faults, before + 1);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
}

/* A handler that is installed later gets the program's faults, and none of ours. */
static void beside_a_handler(void)
{
	struct sigaction action = {.sa_sigaction = jump_out, .sa_flags = SA_SIGINFO}, now;
	time_t end = time(NULL) + POLL_SECONDS_MAX;

	CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
	expect_own_fault();
	/* The progress thread checks when it has anything to do. */
	do {
		try(PEER_WRITES, NO_ACCESS, SLEEPING, 8, 0);
		CHECK_EQUAL(sigaction(SIGSEGV, NULL, &now), 0);
		CHECK(time(NULL) < end);
	} while (now.sa_sigaction == jump_out);
	for (unsigned i = 0; i < 3; i++) {
		int before = faults;

		try(PEER_WRITES, UNMAPPED, POLLING, 1000, GONE_FROM);
		try(OWN_SEND, UNMAPPED, POLLING, 1000, GONE_FROM);
		CHECK_EQUAL(faults, before);
		expect_own_fault();
	}
}

int main(void)
{
	int there[2], back[2], status;

	CHECK_EQUAL(pipe(there), 0);
	CHECK_EQUAL(pipe(back), 0);

	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		close(there[1]), close(back[0]);
		to_other = back[1], from_other = there[0];
		serve();
		return 0;
	}
	close(there[0]), close(back[1]);
	to_other = there[1], from_other = back[0];
	device = device_open();
	try_all();
	beside_a_handler();
	close(to_other);
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK_EQUAL(status, 0);
	device_close(&device);
	printf("ok, %u were refused and %u done\n", counts[0], counts[1]);
	return 0;
}
