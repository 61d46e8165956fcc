/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RDMA WRITE, READ and atomics between two processes, every byte checked.
 *
 *   one_sided target|initiator DIRECTORY MODE [COUNT [SEED]]
 *
 * The two find each other by files in DIRECTORY. Modes: "stress" (random requests, sizes, addresses
 * and queue pairs), "traffic" (WRITEs for ever), "dereg" (the target takes its region back COUNT
 * times while it is written to, and nothing may change afterwards), "errors" (keys, bounds and
 * rights), "fork" (the target forks, and then has a second thread, while it is written to), "short"
 * (the target forks COUNT times while many short WRITEs go to the same pages). Exit code 0: all
 * went well; 3: a completion said no, and its name was printed.
 */
#include "random_messages.h"
#include "verbs_client.h"

#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	RC_QPS = 4,
	QPS = RC_QPS + 1, /* the last is unreliable */
	AREA_BYTES = 256 << 10,
	TARGET_BYTES = QPS * AREA_BYTES,
	ODD = 3, /* offset of the second region in the first */
	SLICE_BYTES = 64 << 10,
	LONG_BYTES = 3 << 20, /* of the third region: more than a cache holds */
	BATCH_MAX = 16,
	RECEIVES = 256,
	WAIT_SECONDS = 100,
	EXIT_COMPLETION_ERROR = 3,
	SHORT_BYTES = 16 << 10, /* about: longer WRITEs take another path than short ones */
	SHORT_AREA_BYTES = 128 << 10,
	SHORT_WRITES = 64,
};

struct side {
	struct device device;
	struct ibv_cq *cq;
	struct ibv_qp *qps[QPS];
	struct ibv_mr *mr, *odd_mr, *long_mr;
	uint8_t *bytes, *long_bytes;
	uint8_t inbox[64];
	struct ibv_mr *inbox_mr;
};

/* What a side publishes about itself. */
struct address {
	unsigned lid, qpns[QPS], key, odd_key, long_key;
	uint64_t bytes, long_bytes;
};

static void open_side(struct side *side)
{
	side->device = device_open();
	side->cq = ibv_create_cq(side->device.context, 4096, NULL, NULL, 0);
	CHECK(side->cq);
	CHECK_EQUAL(posix_memalign((void **)&side->bytes, 4096, TARGET_BYTES), 0);
	memset(side->bytes, 0, TARGET_BYTES);
	side->mr = ibv_reg_mr(side->device.pd, side->bytes, TARGET_BYTES, ALL_ACCESS);
	side->odd_mr =
		ibv_reg_mr(side->device.pd, side->bytes + ODD, TARGET_BYTES - 2 * ODD, ALL_ACCESS);
	CHECK((side->long_bytes = malloc(LONG_BYTES)));
	memset(side->long_bytes, 0, LONG_BYTES);
	side->long_mr = ibv_reg_mr(side->device.pd, side->long_bytes, LONG_BYTES, ALL_ACCESS);
	side->inbox_mr = ibv_reg_mr(side->device.pd, side->inbox, sizeof(side->inbox),
				    IBV_ACCESS_LOCAL_WRITE);
	CHECK(side->mr && side->odd_mr && side->long_mr && side->inbox_mr);
	for (unsigned i = 0; i < QPS; i++) {
		struct ibv_qp_init_attr options = {
			.send_cq = side->cq,
			.recv_cq = side->cq,
			.cap = {64, RECEIVES, 4, 1, 64},
			.qp_type = i < RC_QPS ? IBV_QPT_RC : IBV_QPT_UC,
			.sq_sig_all = 1,
		};

		side->qps[i] = ibv_create_qp(side->device.pd, &options);
		CHECK(side->qps[i]);
	}
}

static void write_address(const struct side *side, const char *directory, const char *name)
{
	char finished[512], path[sizeof(finished) + 8];

	snprintf(finished, sizeof(finished), "%s/%s", directory, name);
	snprintf(path, sizeof(path), "%s.part", finished);

	FILE *file = fopen(path, "w");

	CHECK(file);
	fprintf(file, "%u %u %u %u %llu %llu", side->device.port.lid, side->mr->rkey,
		side->odd_mr->rkey, side->long_mr->rkey, (unsigned long long)(uintptr_t)side->bytes,
		(unsigned long long)(uintptr_t)side->long_bytes);
	for (unsigned i = 0; i < QPS; i++)
		fprintf(file, " %u", side->qps[i]->qp_num);
	CHECK_EQUAL(fclose(file), 0);
	CHECK_EQUAL(rename(path, finished), 0);
}

static struct address read_address(const char *directory, const char *name)
{
	time_t give_up = time(NULL) + WAIT_SECONDS;
	struct address address;
	unsigned long long bytes, long_bytes;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	while (!(file = fopen(path, "r"))) {
		CHECK(time(NULL) < give_up);
		poll(NULL, 0, 1);
	}
	CHECK_EQUAL(fscanf(file, "%u %u %u %u %llu %llu", &address.lid, &address.key,
			   &address.odd_key, &address.long_key, &bytes, &long_bytes),
		    6);
	address.bytes = bytes;
	address.long_bytes = long_bytes;
	for (unsigned i = 0; i < QPS; i++)
		CHECK_EQUAL(fscanf(file, "%u", &address.qpns[i]), 1);
	fclose(file);
	unlink(path);
	return address;
}

static void connect_qp(struct ibv_qp *qp, const struct address *peer, unsigned index)
{
	struct ibv_qp_attr attr = connection_to((uint16_t)peer->lid, peer->qpns[index]);

	attr.path_mtu = index % 2 ? IBV_MTU_1024 : IBV_MTU_4096;
	attr.max_rd_atomic = 8;
	attr.max_dest_rd_atomic = 8;
	attr.timeout = SLOW_ACK_TIMEOUT;
	qp_modify_to(qp, IBV_QPS_INIT, attr);
	qp_connect(qp, attr);
}

static void receive_on(struct side *side, struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)side->inbox, sizeof(side->inbox), side->inbox_mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 0, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK_EQUAL(ibv_post_recv(qp, &wr, &bad), 0);
}

static void fail_with(enum ibv_wc_status status)
{
	printf("status: %s\n", ibv_wc_status_str(status));
	fflush(stdout);
	exit(EXIT_COMPLETION_ERROR);
}

static struct ibv_wc next_completion(struct side *side)
{
	struct ibv_wc wc = wait_completion(side->cq);

	if (wc.status != IBV_WC_SUCCESS)
		fail_with(wc.status);
	return wc;
}

/* One request of a batch, with its own slice of local memory. */
struct step {
	struct ibv_send_wr wr;
	struct ibv_sge sges[4];
	uint8_t *local;
	uint8_t *expected; /* of a READ or atomic; NULL otherwise */
	uint32_t byte_count;
};

static void scatter(struct step *step, struct ibv_mr *mr)
{
	uint32_t left = step->byte_count, count = 1 + random_below(4), used = 0;

	for (unsigned i = 0; i < count; i++) {
		uint32_t piece = i + 1 == count ? left : random_below(left + 1);

		step->sges[i] = (struct ibv_sge){(uintptr_t)step->local + used, piece, mr->lkey};
		used += piece;
		left -= piece;
	}
	step->wr.sg_list = step->sges;
	step->wr.num_sge = (int)count;
}

static void make_atomic(struct step *step, const struct address *peer, uint8_t *shadow,
			uint64_t offset)
{
	uint64_t before;

	offset &= ~UINT64_C(7);
	memcpy(&before, shadow + offset, sizeof(before));
	step->byte_count = sizeof(before);
	step->expected = malloc(sizeof(before));
	memcpy(step->expected, &before, sizeof(before));
	step->wr.wr.atomic.remote_addr = peer->bytes + offset;
	step->wr.wr.atomic.rkey = peer->key;
	step->wr.wr.atomic.compare_add = random_below(2) ? before : random_below(1000);
	step->wr.wr.atomic.swap = before * 3 + 1;
	if (random_below(2)) {
		step->wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		before += step->wr.wr.atomic.compare_add;
	} else {
		step->wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		if (before == step->wr.wr.atomic.compare_add)
			before = step->wr.wr.atomic.swap;
	}
	memcpy(shadow + offset, &before, sizeof(before));
}

/* Fills in a random request in the queue pair's own area, and applies it to the shadow. */
static void make_step(struct step *step, struct side *side, const struct address *peer,
		      uint8_t *shadow, unsigned qp_index, bool follows_read)
{
	static const uint32_t size_limits[] = {9, 9, 257, 4097, SLICE_BYTES};
	uint32_t size = random_below(size_limits[random_below(5)]);
	uint64_t offset = qp_index * AREA_BYTES + 16 + random_below(AREA_BYTES - 32 - size);
	unsigned kind = qp_index < RC_QPS ? random_below(20) : 0;
	bool is_odd = random_below(4) == 0;

	*step = (struct step){.local = step->local, .byte_count = size};
	step->wr.send_flags = follows_read ? IBV_SEND_FENCE : 0;
	step->wr.wr.rdma.remote_addr = peer->bytes + offset;
	step->wr.wr.rdma.rkey = is_odd ? peer->odd_key : peer->key;
	if (kind >= 18) {
		step->wr.opcode = IBV_WR_SEND;
		step->byte_count = size % 60;
	} else if (kind >= 15) {
		make_atomic(step, peer, shadow, offset);
	} else if (kind >= 11) {
		step->wr.opcode = IBV_WR_RDMA_READ;
		step->expected = malloc(size + 1);
		CHECK(step->expected);
		memcpy(step->expected, shadow + offset, size);
	} else {
		step->wr.opcode = kind == 10 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
		for (uint32_t i = 0; i < size; i++)
			step->local[i] = (uint8_t)random_below(256);
		memcpy(shadow + offset, step->local, size);
	}
	scatter(step, side->mr);
	/* Small requests that carry data may be inline. */
	if (!step->expected && step->byte_count <= 64 && random_below(3) == 0)
		step->wr.send_flags |= IBV_SEND_INLINE;
}

static void run_batch(struct side *side, const struct address *peer, uint8_t *shadow,
		      struct step *steps)
{
	unsigned qp_index = random_below(QPS), count = 1 + random_below(BATCH_MAX);
	bool as_list = random_below(2), follows_read = false;
	struct ibv_send_wr *bad;

	for (unsigned i = 0; i < count; i++) {
		make_step(&steps[i], side, peer, shadow, qp_index, follows_read);
		follows_read |= steps[i].expected != NULL;
		if (as_list && i)
			steps[i - 1].wr.next = &steps[i].wr;
		if (!as_list)
			CHECK_EQUAL(ibv_post_send(side->qps[qp_index], &steps[i].wr, &bad), 0);
	}
	if (as_list)
		CHECK_EQUAL(ibv_post_send(side->qps[qp_index], &steps[0].wr, &bad), 0);
	for (unsigned i = 0; i < count; i++)
		next_completion(side);
	for (unsigned i = 0; i < count; i++) {
		if (steps[i].expected)
			CHECK_EQUAL(memcmp(steps[i].local, steps[i].expected, steps[i].byte_count),
				    0);
		free(steps[i].expected);
	}
}

static void read_target(struct side *side, const struct address *peer, unsigned area,
			uint8_t *local)
{
	struct ibv_sge sge = {(uintptr_t)local, AREA_BYTES, side->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ}, *bad;

	wr.wr.rdma.remote_addr = peer->bytes + area * AREA_BYTES;
	wr.wr.rdma.rkey = peer->key;
	CHECK_EQUAL(ibv_post_send(side->qps[0], &wr, &bad), 0);
	next_completion(side);
}

/* Unreliable WRITEs arrive here, but nothing says when. */
static void check_all(struct side *side, const struct address *peer, const uint8_t *shadow)
{
	time_t give_up = time(NULL) + WAIT_SECONDS;
	uint8_t *local = side->bytes + 4 * AREA_BYTES;

	for (unsigned area = 0; area < QPS; area++) {
		do
			read_target(side, peer, area, local);
		while (memcmp(local, shadow + area * AREA_BYTES, AREA_BYTES) != 0 &&
		       area >= RC_QPS && time(NULL) < give_up);
		CHECK_EQUAL(memcmp(local, shadow + area * AREA_BYTES, AREA_BYTES), 0);
	}
}

static void move_long(struct side *side, const struct address *peer, enum ibv_wr_opcode opcode,
		      uint32_t offset, uint32_t byte_count)
{
	struct ibv_sge sge = {(uintptr_t)side->long_bytes, byte_count, side->long_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;

	wr.wr.rdma.remote_addr = peer->long_bytes + offset;
	wr.wr.rdma.rkey = peer->long_key;
	CHECK_EQUAL(ibv_post_send(side->qps[0], &wr, &bad), 0);
	next_completion(side);
}

/* A message of some MiB there and back. */
static void check_long(struct side *side, const struct address *peer)
{
	uint32_t offset = random_below(100), byte_count = LONG_BYTES - 200 + random_below(100);
	uint8_t *before = malloc(byte_count);

	CHECK(before);
	for (uint32_t i = 0; i < byte_count; i++)
		side->long_bytes[i] = (uint8_t)random_below(256);
	memcpy(before, side->long_bytes, byte_count);
	move_long(side, peer, IBV_WR_RDMA_WRITE, offset, byte_count);
	memset(side->long_bytes, 0, byte_count);
	move_long(side, peer, IBV_WR_RDMA_READ, offset, byte_count);
	CHECK_EQUAL(memcmp(before, side->long_bytes, byte_count), 0);
	free(before);
}

static void stress(struct side *side, const struct address *peer, unsigned count)
{
	uint8_t *shadow = calloc(1, TARGET_BYTES);
	struct step steps[BATCH_MAX];

	CHECK(shadow);
	for (unsigned i = 0; i < BATCH_MAX; i++)
		steps[i].local = side->bytes + i * SLICE_BYTES;
	for (unsigned i = 0; i < count; i++) {
		run_batch(side, peer, shadow, steps);
		if (i % 64 == 63)
			check_all(side, peer, shadow);
	}
	check_all(side, peer, shadow);
	check_long(side, peer);
	free(shadow);
}

static enum ibv_wc_status do_one(struct side *side, enum ibv_wr_opcode opcode, uint64_t address,
				 uint32_t key, uint32_t byte_count)
{
	struct ibv_sge sge = {(uintptr_t)side->bytes, byte_count, side->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = address;
		wr.wr.atomic.rkey = key;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = address;
		wr.wr.rdma.rkey = key;
	}
	CHECK_EQUAL(ibv_post_send(side->qps[0], &wr, &bad), 0);
	return wait_completion(side->cq).status;
}

static void say(struct side *side, uint32_t word)
{
	struct ibv_sge sge = {(uintptr_t)side->bytes, 4, side->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	memcpy(side->bytes, &word, sizeof(word));
	CHECK_EQUAL(ibv_post_send(side->qps[0], &wr, &bad), 0);
	next_completion(side);
}

static void write_for_ever(struct side *side, const struct address *peer)
{
	for (uint64_t i = 0;; i++) {
		enum ibv_wc_status status =
			do_one(side, i % 8 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
			       peer->bytes + i % 1000 * 8, peer->key,
			       1 + random_below(i % 64 ? 64 : 65536));

		if (status != IBV_WC_SUCCESS)
			fail_with(status);
		if (i == 1000)
			printf("flows\n");
		if (i % 1000 == 0) {
			printf("%llu requests\n", (unsigned long long)i);
			fflush(stdout);
		}
	}
}

static void reconnect(struct side *side, const struct address *peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_wc wc;

	CHECK_EQUAL(ibv_modify_qp(side->qps[0], &attr, IBV_QP_STATE), 0);
	while (ibv_poll_cq(side->cq, 1, &wc) > 0)
		;
	connect_qp(side->qps[0], peer, 0);
}

/* Each case twice: by packets, and by RMA after requests that succeeded. */
static void errors(struct side *side, const char *directory, struct address peer)
{
	const struct {
		enum ibv_wr_opcode opcode;
		int64_t offset;
		uint32_t key_change, byte_count;
		enum ibv_wc_status status;
	} cases[] = {
		{IBV_WR_RDMA_WRITE, 0, 1, 8, IBV_WC_REM_ACCESS_ERR},
		{IBV_WR_RDMA_WRITE, 0, 256, 8, IBV_WC_REM_ACCESS_ERR},
		{IBV_WR_RDMA_WRITE, -1, 0, 8, IBV_WC_REM_ACCESS_ERR},
		{IBV_WR_RDMA_WRITE, TARGET_BYTES - 7, 0, 8, IBV_WC_REM_ACCESS_ERR},
		{IBV_WR_RDMA_READ, 0, 1, 8, IBV_WC_REM_ACCESS_ERR},
		{IBV_WR_RDMA_READ, TARGET_BYTES - 7, 0, 8, IBV_WC_REM_ACCESS_ERR},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 1, 8, IBV_WC_REM_ACCESS_ERR},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, 4, 0, 8, IBV_WC_REM_INV_REQ_ERR},
		{IBV_WR_RDMA_WRITE, 0, 0, 0, IBV_WC_SUCCESS},
		{IBV_WR_RDMA_WRITE, TARGET_BYTES - 8, 0, 8, IBV_WC_SUCCESS},
		{IBV_WR_RDMA_READ, 0, 0, 0, IBV_WC_SUCCESS},
	};

	for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned warm_count = i % 2 ? 300 : 0;

		for (unsigned j = 0; j < warm_count; j++)
			CHECK_EQUAL(do_one(side, j % 3 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
					   peer.bytes, peer.key, 8),
				    IBV_WC_SUCCESS);
		CHECK_EQUAL(do_one(side, cases[i / 2].opcode, peer.bytes + cases[i / 2].offset,
				   peer.key ^ cases[i / 2].key_change, cases[i / 2].byte_count),
			    cases[i / 2].status);
		write_address(side, directory, "again");
		peer = read_address(directory, "ready");
		reconnect(side, &peer);
	}
}

/* Writes until the key is invalid, over and over. */
static void written_to_death(struct side *side, const char *directory, struct address peer,
			     unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		enum ibv_wc_status status;

		do
			status = do_one(side, IBV_WR_RDMA_WRITE,
					peer.bytes + random_below(AREA_BYTES), peer.key,
					1 + random_below(i % 2 ? 8 : 65536));
		while (status == IBV_WC_SUCCESS);
		CHECK_EQUAL(status, IBV_WC_REM_ACCESS_ERR);
		write_address(side, directory, "again");
		peer = read_address(directory, "ready");
		reconnect(side, &peer);
	}
}

static bool has_come(const char *directory, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return access(path, F_OK) == 0;
}

/* WRITEs to two blocks of memory, and the number of WRITEs to the first word, until the target has
 * enough. */
static void write_short(struct side *side, const char *directory, const struct address *peer)
{
	uint8_t *shadow = calloc(1, AREA_BYTES), *local = side->bytes + 4 * AREA_BYTES;
	uint64_t count = 0;

	while (!has_come(directory, "enough")) {
		for (unsigned i = 0; i < SHORT_WRITES; i++) {
			uint32_t size = 1 + random_below(random_below(4) ? 64 : SHORT_BYTES);
			uint64_t offset = 16 + random_below(SHORT_AREA_BYTES - 16 - size);

			for (uint32_t j = 0; j < size; j++)
				side->bytes[j] = shadow[offset + j] = (uint8_t)random_below(256);
			CHECK_EQUAL(do_one(side, IBV_WR_RDMA_WRITE, peer->bytes + offset, peer->key,
					   size),
				    IBV_WC_SUCCESS);
			count++;
			memcpy(side->bytes, &count, sizeof(count));
			memcpy(shadow, &count, sizeof(count));
			CHECK_EQUAL(do_one(side, IBV_WR_RDMA_WRITE, peer->bytes, peer->key,
					   sizeof(count)),
				    IBV_WC_SUCCESS);
		}
		read_target(side, peer, 0, local);
		CHECK_EQUAL(memcmp(local, shadow, AREA_BYTES), 0);
	}
	free(shadow);
}

static void initiate(struct side *side, const char *directory, const struct address *peer,
		     const char *mode, unsigned count)
{
	if (strcmp(mode, "stress") == 0)
		stress(side, peer, count);
	else if (strcmp(mode, "traffic") == 0)
		write_for_ever(side, peer);
	else if (strcmp(mode, "errors") == 0)
		errors(side, directory, *peer);
	else if (strcmp(mode, "dereg") == 0)
		written_to_death(side, directory, *peer, count);
	else if (strcmp(mode, "short") == 0)
		write_short(side, directory, peer);
	else
		stress(side, peer, count);
	if (strcmp(mode, "stress") == 0 || strcmp(mode, "fork") == 0)
		say(side, 0xffffffff);
	write_address(side, directory, "finished");
}

/* Regions that nobody writes to come and go, and the program sleeps most of the time. */
static void rest(struct side *side)
{
	static uint8_t other[8][8192] __attribute__((aligned(4096)));
	struct ibv_mr *mrs[8];
	struct ibv_wc wc;

	for (unsigned i = 0; i < 8; i++)
		CHECK((mrs[i] = ibv_reg_mr(side->device.pd, other[i], 8192, ALL_ACCESS)));
	for (unsigned i = 0; i < 8; i++)
		CHECK_EQUAL(ibv_dereg_mr(mrs[i]), 0);
	while (ibv_poll_cq(side->cq, 1, &wc) > 0) {
		CHECK_EQUAL(wc.status, IBV_WC_SUCCESS);
		for (unsigned i = 0; i < QPS; i++)
			if (side->qps[i]->qp_num == wc.qp_num)
				receive_on(side, side->qps[i]);
	}
	poll(NULL, 0, 2);
}

/* The objects of the next round: a new key, and queue pairs that start anew. */
static void answer_again(struct side *side, const char *directory)
{
	struct address peer = read_address(directory, "again");

	reconnect(side, &peer);
	for (unsigned i = 0; i < RECEIVES; i++)
		receive_on(side, side->qps[0]);
	write_address(side, directory, "ready");
}

static void take_back(struct side *side, const char *directory, unsigned count)
{
	uint8_t *after = malloc(TARGET_BYTES);

	for (unsigned i = 0; i < count; i++) {
		poll(NULL, 0, (int)random_below(4));
		for (unsigned spin = random_below(20000); spin; spin--)
			__asm__ volatile("");
		CHECK_EQUAL(ibv_dereg_mr(side->odd_mr), 0);
		CHECK_EQUAL(ibv_dereg_mr(side->mr), 0);
		memcpy(after, side->bytes, TARGET_BYTES);
		while (!has_come(directory, "again")) {
			CHECK_EQUAL(memcmp(after, side->bytes, TARGET_BYTES), 0);
			poll(NULL, 0, 1);
		}
		CHECK_EQUAL(memcmp(after, side->bytes, TARGET_BYTES), 0);
		side->mr = ibv_reg_mr(side->device.pd, side->bytes, TARGET_BYTES, ALL_ACCESS);
		side->odd_mr = ibv_reg_mr(side->device.pd, side->bytes + ODD,
					  TARGET_BYTES - 2 * ODD, ALL_ACCESS);
		CHECK(side->mr && side->odd_mr);
		answer_again(side, directory);
	}
	free(after);
}

static void *look_on(void *context)
{
	(void)context;
	return NULL;
}

/* The child's memory stays as it was, whatever is written to the parent's, and the other way round.
 */
static void fork_and_look(struct side *side)
{
	uint8_t *before = malloc(TARGET_BYTES);
	int ends[2], status;
	pthread_t thread;

	CHECK_EQUAL(pipe(ends), 0);

	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		char byte;

		memcpy(before, side->bytes, TARGET_BYTES);
		CHECK_EQUAL(write(ends[1], "x", 1), 1);
		poll(NULL, 0, 100);
		byte = (char)(memcmp(before, side->bytes, TARGET_BYTES) != 0);
		memset(side->bytes, 0xee, TARGET_BYTES);
		_exit(byte);
	}
	char byte;

	CHECK_EQUAL(read(ends[0], &byte, 1), 1);
	for (unsigned i = 0; i < 50; i++)
		rest(side);
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK_EQUAL(status, 0);
	CHECK_EQUAL(pthread_create(&thread, NULL, look_on, NULL), 0);
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	free(before);
}

static uint64_t count_of(const struct side *side)
{
	return __atomic_load_n((const uint64_t *)(const void *)side->bytes, __ATOMIC_ACQUIRE);
}

static void wait_for_writes(const struct side *side, uint64_t more)
{
	time_t give_up = time(NULL) + WAIT_SECONDS;
	uint64_t enough = count_of(side) + more;

	while (count_of(side) < enough) {
		CHECK(time(NULL) < give_up);
		poll(NULL, 0, 1);
	}
}

/* Writes to the parent's memory continue, and the child, which has its own memory, sees none of
 * them. */
static void fork_while_written_to(struct side *side)
{
	uint8_t *before = malloc(SHORT_AREA_BYTES);
	int ends[2], status;

	CHECK_EQUAL(pipe(ends), 0);
	wait_for_writes(side, 2 * SHORT_WRITES);

	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		char byte;

		memcpy(before, side->bytes, SHORT_AREA_BYTES);
		close(ends[1]);
		CHECK_EQUAL(read(ends[0], &byte, 1), 1);
		byte = (char)(memcmp(before, side->bytes, SHORT_AREA_BYTES) != 0);
		memset(side->bytes, 0xee, SHORT_AREA_BYTES);
		_exit(byte);
	}
	wait_for_writes(side, 2 * SHORT_WRITES);
	CHECK_EQUAL(write(ends[1], "x", 1), 1);
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK_EQUAL(status, 0);
	close(ends[0]);
	close(ends[1]);
	free(before);
}

static void touch(const char *directory, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", directory, name);

	FILE *file = fopen(path, "w");

	CHECK(file);
	CHECK_EQUAL(fclose(file), 0);
}

static void serve(struct side *side, const char *directory, const char *mode, unsigned count)
{
	time_t give_up = time(NULL) + 10 * WAIT_SECONDS;

	for (unsigned i = 0; i < QPS; i++)
		for (unsigned j = 0; j < RECEIVES; j++)
			receive_on(side, side->qps[i]);
	write_address(side, directory, "ready");
	if (strcmp(mode, "dereg") == 0)
		take_back(side, directory, count);
	if (strcmp(mode, "fork") == 0)
		fork_and_look(side);
	if (strcmp(mode, "short") == 0) {
		for (unsigned i = 0; i < count; i++)
			fork_while_written_to(side);
		touch(directory, "enough");
	}
	while (!has_come(directory, "finished") && time(NULL) < give_up) {
		if (strcmp(mode, "errors") == 0 && has_come(directory, "again"))
			answer_again(side, directory);
		else if (strcmp(mode, "stress") == 0 || strcmp(mode, "fork") == 0)
			rest(side);
		else
			poll(NULL, 0, 1);
	}
	CHECK(has_come(directory, "finished"));
}

int main(int argument_count, char **arguments)
{
	struct side side = {0};

	CHECK(argument_count >= 4);

	bool is_target = strcmp(arguments[1], "target") == 0;
	const char *directory = arguments[2], *mode = arguments[3];
	unsigned count = argument_count > 4 ? (unsigned)strtoul(arguments[4], NULL, 10) : 100;

	if (argument_count > 5)
		random_state = strtoul(arguments[5], NULL, 10);
	open_side(&side);
	write_address(&side, directory, is_target ? "target" : "initiator");

	struct address peer = read_address(directory, is_target ? "initiator" : "target");

	for (unsigned i = 0; i < QPS; i++)
		connect_qp(side.qps[i], &peer, i);
	if (is_target) {
		serve(&side, directory, mode, count);
	} else {
		struct address ready = read_address(directory, "ready");

		initiate(&side, directory, &ready, mode, count);
	}
	return 0;
}
