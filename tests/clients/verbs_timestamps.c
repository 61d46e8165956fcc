/* SPDX-License-Identifier: Apache-2.0 */
/* Completion timestamps: of one clock with ibv_query_rt_values_ex, not before the request was
 * posted, not after the completion was polled, and never backwards on a CQ, whichever form the
 * requests took. Covers: api/libibverbs/data/poll.c */
#include "verbs_client.h"
#include <pthread.h>

enum { ROUNDS = 4000, LIST = 8, THREAD_ROUNDS = 1500 };

static struct endpoint stamped_open(struct device *device)
{
	struct endpoint endpoint = {.device = device};
	struct ibv_cq_init_attr_ex options = {
		.cqe = 4 * QUEUE_DEPTH,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};

	endpoint_register(&endpoint);
	endpoint.cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(device->context, &options));
	CHECK(endpoint.cq);

	struct ibv_qp_init_attr qp = qp_options(&endpoint, IBV_QPT_RC);

	endpoint.qp = ibv_create_qp(device->pd, &qp);
	CHECK(endpoint.qp);
	return endpoint;
}

static uint64_t nanoseconds(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t raw_clock(const struct device *device)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

	CHECK_EQUAL(ibv_query_rt_values_ex(device->context, &values), 0);
	CHECK_EQUAL(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	return nanoseconds(values.raw_clock);
}

static uint64_t wall_clock(void)
{
	struct timespec now;

	CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
	return nanoseconds(now);
}

/* What a CQ has reported so far. */
struct history {
	uint64_t stamp, wall;
	uint64_t completion_count;
};

static void read_stamps(struct ibv_cq_ex *cq, uint64_t not_before, struct history *history)
{
	uint64_t stamp = ibv_wc_read_completion_ts(cq);
	uint64_t wall = ibv_wc_read_completion_wallclock_ns(cq);

	CHECK_EQUAL(cq->status, IBV_WC_SUCCESS);
	CHECK(stamp >= not_before);
	CHECK(stamp >= history->stamp);
	CHECK(wall >= history->wall);
	CHECK_EQUAL(ibv_wc_read_completion_ts(cq), stamp);
	CHECK_EQUAL(ibv_wc_read_completion_wallclock_ns(cq), wall);
	*history = (struct history){stamp, wall, history->completion_count + 1};
}

/* Waits for this many more. */
static void drain(struct endpoint *endpoint, unsigned count, uint64_t not_before,
		  struct history *history)
{
	struct ibv_cq_ex *cq = (struct ibv_cq_ex *)endpoint->cq;
	struct ibv_poll_cq_attr attr = {0};
	time_t end = time(NULL) + POLL_SECONDS_MAX;

	while (count) {
		int error = ibv_start_poll(cq, &attr);

		CHECK(error == 0 || error == ENOENT);
		CHECK(time(NULL) <= end);
		if (error)
			continue;
		do {
			read_stamps(cq, not_before, history);
			count--;
		} while (count && ibv_next_poll(cq) == 0);
		ibv_end_poll(cq);
		CHECK(history->stamp <= raw_clock(endpoint->device));
		CHECK(history->wall <= wall_clock());
	}
}

static const struct {
	enum ibv_wr_opcode opcode;
	uint32_t byte_count;
	unsigned flags;
	bool is_received;
} kinds[] = {
	{IBV_WR_SEND, 8, 0, true},
	{IBV_WR_SEND, 8, IBV_SEND_INLINE, true},
	{IBV_WR_RDMA_WRITE, 8, 0, false},
	{IBV_WR_SEND, 900, 0, true},
	{IBV_WR_SEND, 20000, 0, true},
	{IBV_WR_RDMA_READ, 64, 0, false},
	{IBV_WR_RDMA_WRITE, 100000, 0, false},
	{IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0, false},
	{IBV_WR_RDMA_WRITE_WITH_IMM, 8, 0, true},
};

/* A few requests of several kinds in a row, so that they take different paths and complete
 * together. */
static unsigned post_some(struct endpoint *a, struct endpoint *b, unsigned round)
{
	unsigned received_count = 0;

	for (unsigned i = 0; i < LIST; i++) {
		unsigned kind = (round / 16 + i * (round % 3)) % (sizeof(kinds) / sizeof(kinds[0]));
		struct ibv_sge sge = sge_of(a, 0, kinds[kind].byte_count);
		struct ibv_send_wr wr = request(kinds[kind].opcode, &sge, b, 0);

		wr.send_flags |= kinds[kind].flags;
		if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr.wr.atomic.remote_addr = (uintptr_t)b->bytes;
			wr.wr.atomic.rkey = b->mr->rkey;
			wr.wr.atomic.compare_add = 1;
		}
		if (kinds[kind].is_received) {
			post_receive(b, i, 0, 1 << 16);
			received_count++;
		}
		post(a, &wr);
	}
	return received_count;
}

static void stamps_of_one_thread(struct device *device)
{
	struct endpoint a = stamped_open(device), b = stamped_open(device);
	struct history of_a = {0}, of_b = {0};

	connect_endpoints(&a, &b);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t before = raw_clock(device);
		unsigned received_count = post_some(&a, &b, round);

		if (round % 2)
			drain(&b, received_count, before, &of_b);
		drain(&a, LIST, before, &of_a);
		if (round % 2 == 0)
			drain(&b, received_count, before, &of_b);
	}
	endpoint_close(&a);
	endpoint_close(&b);
}

/* Two pairs on one CQ each way, driven by two threads: a completion that one of them makes for the
 * other has the time of the thread that holds the lock. */
struct worker {
	struct endpoint a, b;
};

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct history of_a = {0}, of_b = {0};

	for (unsigned round = 0; round < THREAD_ROUNDS; round++) {
		uint64_t before = raw_clock(worker->a.device);
		unsigned received_count = post_some(&worker->a, &worker->b, round);

		drain(&worker->a, LIST, before, &of_a);
		drain(&worker->b, received_count, before, &of_b);
	}
	return NULL;
}

static void stamps_of_several_threads(struct device *device)
{
	enum { THREADS = 3 };
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].a = stamped_open(device);
		workers[i].b = stamped_open(device);
		connect_endpoints(&workers[i].a, &workers[i].b);
		CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	for (unsigned i = 0; i < THREADS; i++) {
		endpoint_close(&workers[i].a);
		endpoint_close(&workers[i].b);
	}
}

int main(void)
{
	struct device device = device_open();

	stamps_of_one_thread(&device);
	stamps_of_several_threads(&device);
	device_close(&device);
	puts("ok");
	return 0;
}
