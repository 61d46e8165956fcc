/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads on one device: each with its own queue pairs, and all of them on one CQ. */
#include "verbs_client.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 2000, MESSAGE_BYTES = 3000 };

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

/* Every thread posts writes and takes whatever completion comes; each is taken once. */
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

int main(void)
{
	struct device device = device_open();
	struct worker workers[THREADS];
	struct crowd crowd = {endpoint_open(&device, IBV_QPT_RC),
			      endpoint_open(&device, IBV_QPT_RC), 0};
	struct ibv_wc wc;

	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.device = &device, .number = i};
		CHECK_EQUAL(pthread_create(&workers[i].thread, NULL, exchange, &workers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQUAL(pthread_join(workers[i].thread, NULL), 0);

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
