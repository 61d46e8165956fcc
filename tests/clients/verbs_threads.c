/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads on one device: each with its own queue pairs, and all of them on one CQ; queue
 * pairs that come and go meanwhile; and a process that ends in the middle of it. */
#include "verbs_client.h"
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 2000, MESSAGE_BYTES = 3000, CHURNS = 40, ROUNDS_BEFORE_EXIT = 200 };

struct worker {
	pthread_t thread;
	struct device *device;
	unsigned number;
};

static void *exchange(void *argument)
{
	struct worker *worker = argument;
	struct endpoint a = endpoint_open(worker->device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(worker->device, IBV_QPT_RC);

	connect_endpoints(&a, &b);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct ibv_sge sge = sge_of(&a, 0, MESSAGE_BYTES);
		struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &b, 0);

		fill(a.bytes, MESSAGE_BYTES, worker->number + round);
		post_receive(&b, round, 0, MESSAGE_BYTES);
		post(&a, &wr);
		expect_status(a.cq, IBV_WC_SUCCESS);
		CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).wr_id, round);
		CHECK(memcmp(a.bytes, b.bytes, MESSAGE_BYTES) == 0);
	}
	endpoint_close(&a);
	endpoint_close(&b);
	return NULL;
}

struct crowd {
	struct endpoint a, b;
	unsigned polled;
};

/* Every thread posts writes and polls any completion; each completion is polled once. */
static void *share(void *argument)
{
	struct crowd *crowd = argument;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct ibv_sge sge = sge_of(&crowd->a, 0, 8);
		struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &crowd->b, 0);

		post(&crowd->a, &wr);
		expect_status(crowd->a.cq, IBV_WC_SUCCESS);
		__atomic_add_fetch(&crowd->polled, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Connects, leaves requests unfinished on both sides, and destroys everything. */
static void *churn(void *argument)
{
	struct worker *worker = argument;

	for (unsigned round = 0; round < CHURNS; round++) {
		struct endpoint a = endpoint_open(worker->device, IBV_QPT_RC);
		struct endpoint b = endpoint_open(worker->device, IBV_QPT_RC);
		struct ibv_sge sge = sge_of(&a, 0, MESSAGE_BYTES);
		struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &b, 0);

		connect_endpoints(&a, &b);
		post_receive(&b, round, 0, MESSAGE_BYTES);
		for (unsigned i = 0; i < 3; i++)
			post(&a, &wr);
		endpoint_close(&a);
		endpoint_close(&b);
	}
	return NULL;
}

struct watch {
	struct ibv_cq *cq;
	bool is_over;
	unsigned bad;
};

static void *poll_until_over(void *argument)
{
	struct watch *watch = argument;
	struct ibv_wc wc;

	while (!__atomic_load_n(&watch->is_over, __ATOMIC_ACQUIRE)) {
		int count = ibv_poll_cq(watch->cq, 1, &wc);

		if (count < 0)
			__atomic_add_fetch(&watch->bad, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Queue pairs are destroyed with requests outstanding while others poll the CQ that these complete
 * into. */
static void destroy_under_pollers(struct device *device)
{
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct watch watch = {.cq = a.cq};
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, poll_until_over, &watch), 0);
	for (unsigned round = 0; round < CHURNS; round++) {
		struct endpoint b = endpoint_open(device, IBV_QPT_RC);
		struct ibv_qp_init_attr options = qp_options(&a, IBV_QPT_RC);
		struct ibv_sge sge = sge_of(&a, 0, MESSAGE_BYTES);
		struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &b, 0);

		connect_endpoints(&a, &b);
		for (unsigned i = 0; i < 8; i++)
			post(&a, &wr);
		/* Every other time the peer goes first: then nobody answers. */
		if (round % 2)
			endpoint_close(&b);
		CHECK_EQUAL(ibv_destroy_qp(a.qp), 0);
		if (round % 2 == 0)
			endpoint_close(&b);
		a.qp = ibv_create_qp(device->pd, &options);
		CHECK(a.qp);
	}
	__atomic_store_n(&watch.is_over, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
	CHECK_EQUAL(watch.bad, 0);
	endpoint_close(&a);
}

static unsigned rounds_done;

static void *exchange_for_ever(void *argument)
{
	struct device *device = argument;
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(device, IBV_QPT_RC);

	connect_endpoints(&a, &b);
	for (;;) {
		struct ibv_sge sge = sge_of(&a, 0, MESSAGE_BYTES);
		struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &b, 0);

		post(&a, &wr);
		expect_status(a.cq, IBV_WC_SUCCESS);
		__atomic_add_fetch(&rounds_done, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* In a process of its own, which must end as if nothing were open. */
static void exit_in_the_middle(void)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		struct device device = device_open();
		pthread_t thread;

		for (unsigned i = 0; i < THREADS; i++)
			CHECK_EQUAL(pthread_create(&thread, NULL, exchange_for_ever, &device), 0);
		while (__atomic_load_n(&rounds_done, __ATOMIC_RELAXED) < ROUNDS_BEFORE_EXIT)
			sched_yield();
		exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQUAL(status, 0);
}

int main(void)
{
	exit_in_the_middle();

	struct device device = device_open();
	struct worker workers[THREADS], churner;
	struct crowd crowd = {endpoint_open(&device, IBV_QPT_RC),
			      endpoint_open(&device, IBV_QPT_RC), 0};
	struct ibv_wc wc;

	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.device = &device, .number = i};
		CHECK_EQUAL(pthread_create(&workers[i].thread, NULL, exchange, &workers[i]), 0);
	}
	churner = (struct worker){.device = &device};
	CHECK_EQUAL(pthread_create(&churner.thread, NULL, churn, &churner), 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQUAL(pthread_join(workers[i].thread, NULL), 0);
	CHECK_EQUAL(pthread_join(churner.thread, NULL), 0);
	destroy_under_pollers(&device);

	connect_endpoints(&crowd.a, &crowd.b);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQUAL(pthread_create(&workers[i].thread, NULL, share, &crowd), 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQUAL(pthread_join(workers[i].thread, NULL), 0);
	CHECK_EQUAL(crowd.polled, THREADS * ROUNDS);
	CHECK_EQUAL(ibv_poll_cq(crowd.a.cq, 1, &wc), 0);
	endpoint_close(&crowd.a);
	endpoint_close(&crowd.b);
	device_close(&device);
	puts("ok");
	return 0;
}
