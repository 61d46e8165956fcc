/* SPDX-License-Identifier: Apache-2.0 */
/* Two connected adapters on a fake softibd, shared by the tests of the runtime. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/process_runtime.h"
#include "runtime/rma/kernel_ring.h"
#include "unit/runtime/runtime_pair.h"
#include "wire/mtu.h"

struct runtime_pair pair;

static pthread_mutex_t told_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told_changed = PTHREAD_COND_INITIALIZER;

static void on_event(void *context, const struct hca_event *event)
{
	(void)context;
	pthread_mutex_lock(&told_mutex);
	pair.told_fatal += event->type == HCA_EVENT_DEVICE_FATAL;
	pthread_cond_broadcast(&told_changed);
	pthread_mutex_unlock(&told_mutex);
}

static void on_cq(void *context, struct cq *cq)
{
	(void)context;
	(void)cq;
	pthread_mutex_lock(&told_mutex);
	pair.told_cqs++;
	pthread_cond_broadcast(&told_changed);
	pthread_mutex_unlock(&told_mutex);
}

const struct hca_owner pair_owner = {.event = on_event, .cq_notify = on_cq};

void pair_wait_until_told(const unsigned *count, unsigned at_least)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PAIR_PATIENCE_S;
	pthread_mutex_lock(&told_mutex);
	while (*count < at_least && pthread_cond_timedwait(&told_changed, &told_mutex, &end) == 0)
		;
	unsigned reached = *count;

	pthread_mutex_unlock(&told_mutex);
	assert_true(reached >= at_least);
}

bool pair_is_overdue(time_ns start)
{
	return runtime_now() - start > SECONDS(PAIR_PATIENCE_S);
}

void pair_poll_one(struct pair_end *end, struct completion *ret_completion)
{
	time_ns start = runtime_now();

	for (;;) {
		adapter_lock(end->adapter);
		if (!cq_first(end->cq))
			adapter_progress(end->adapter, adapter_now(end->adapter));

		const struct completion *completion = cq_first(end->cq);

		if (completion) {
			*ret_completion = *completion;
			cq_advance(end->cq);
		}
		adapter_unlock(end->adapter);
		if (completion)
			return;
		assert_false(pair_is_overdue(start));
		sched_yield();
	}
}

static void make_qp(struct pair_end *end, enum qp_type type)
{
	struct qp_options options = {
		.type = type,
		.pd = end->pd,
		.send_cq = end->cq,
		.receive_cq = end->cq,
		.capabilities = {.send_requests_max = 64,
				 .receive_requests_max = 64,
				 .send_sges_max = 2,
				 .receive_sges_max = 1,
				 .inline_bytes_max = 64},
	};

	adapter_lock(end->adapter);

	int error = qp_object_create(adapter_hca(end->adapter), &options, &end->qp);

	/* The first queue pair has no number yet. */
	if (error == -EAGAIN) {
		assert_int_equal(adapter_more_qpns(end->adapter), 0);
		error = qp_object_create(adapter_hca(end->adapter), &options, &end->qp);
	}
	adapter_unlock(end->adapter);
	assert_int_equal(error, 0);
}

static void modify(struct pair_end *end, const struct qp_attributes *attributes, uint32_t mask)
{
	adapter_lock(end->adapter);
	int error = qp_object_modify(end->qp, adapter_now(end->adapter), attributes, mask);

	adapter_unlock(end->adapter);
	assert_int_equal(error, 0);
}

static void connect_to(struct pair_end *end, uint16_t dlid, uint32_t qpn)
{
	const bool is_reliable = end->qp->qp.type == QP_RC;
	struct qp_attributes attributes = {
		.state = QP_INIT,
		.port_number = 1,
		.access = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ,
	};

	modify(end, &attributes, QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_ACCESS);
	attributes = (struct qp_attributes){
		.state = QP_RTR,
		.path_mtu_code = MTU_1024,
		.destination_qpn = qpn,
		.rq_psn = psn_from(pair.first_psn),
		.responder_resources = 4,
		.min_rnr_timer = 12,
		.address = {.dlid = dlid, .port_number = 1},
	};
	modify(end, &attributes,
	       QP_HAS_STATE | QP_HAS_ADDRESS | QP_HAS_PATH_MTU | QP_HAS_DESTINATION_QPN |
		       QP_HAS_RQ_PSN |
		       (is_reliable ? QP_HAS_RESPONDER_RESOURCES | QP_HAS_MIN_RNR_TIMER : 0u));
	/* Timeout 17 is 0.5 s: a thread without a processor must not be taken for a lost packet. */
	attributes = (struct qp_attributes){.state = QP_RTS,
					    .sq_psn = psn_from(pair.first_psn),
					    .timeout = 17,
					    .retry_count = 7,
					    .rnr_retry = 7,
					    .initiator_depth = 4};
	modify(end, &attributes,
	       QP_HAS_STATE | QP_HAS_SQ_PSN |
		       (is_reliable ? QP_HAS_TIMEOUT | QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY |
					      QP_HAS_INITIATOR_DEPTH
				    : 0u));
}

static void start_datagrams(struct pair_end *end)
{
	const struct qp_attributes steps[] = {
		{.state = QP_INIT, .port_number = 1, .qkey = PAIR_QKEY},
		{.state = QP_RTR},
		{.state = QP_RTS, .sq_psn = psn_from(pair.first_psn)},
	};
	static const uint32_t masks[] = {
		QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_QKEY,
		QP_HAS_STATE,
		QP_HAS_STATE | QP_HAS_SQ_PSN,
	};

	for (unsigned i = 0; i < ARRAY_COUNT(steps); i++)
		modify(end, &steps[i], masks[i]);
}

void pair_post_receive(struct pair_end *end, uint64_t wr_id, uint32_t byte_count)
{
	struct sge sge = {.address = (uint64_t)(uintptr_t)end->buffer,
			  .byte_count = byte_count,
			  .lkey = end->region->key};
	struct receive_request request = {.wr_id = wr_id, .sge_count = 1, .sges = &sge};

	adapter_lock(end->adapter);
	assert_int_equal(qp_object_post_receive(end->qp, adapter_now(end->adapter), &request), 0);
	adapter_unlock(end->adapter);
}

void pair_post_send(struct pair_end *end, enum send_opcode opcode, uint64_t wr_id,
		    uint32_t byte_count)
{
	struct pair_end *other = &pair.ends[end == &pair.ends[0]];
	struct sge sge = {.address = (uint64_t)(uintptr_t)end->buffer,
			  .byte_count = byte_count,
			  .lkey = end->region->key};
	struct send_request request = {
		.wr_id = wr_id,
		.opcode = opcode,
		.flags = SEND_SIGNALED,
		.remote_address = (uint64_t)(uintptr_t)other->buffer,
		.remote_key = other->region->key,
		.sge_count = 1,
		.sges = &sge,
	};

	adapter_lock(end->adapter);

	time_ns now = adapter_now(end->adapter);

	assert_int_equal(qp_object_post_send(end->qp, now, &request), 0);
	adapter_transmit(end->adapter, now);
	adapter_unlock(end->adapter);
}

void pair_fill(uint8_t *bytes, uint32_t byte_count, uint32_t seed)
{
	for (uint32_t i = 0; i < byte_count; i++)
		bytes[i] = (uint8_t)((i * 31 + seed) ^ i >> 8);
}

/* As api/libibverbs/data/post.c does. */
bool pair_carry_out(struct pair_end *end, const struct send_request *request)
{
	const struct remote_place remote = {request->remote_address, request->remote_key};
	const struct rma_request rma = {
		.wr_id = request->wr_id,
		.flags = request->flags,
		.is_read = request->opcode == SEND_RDMA_READ,
		.remote = &remote,
	};

	if (request->sge_count != 1)
		return false;
	if (request->opcode == SEND_RDMA_WRITE || request->opcode == SEND_RDMA_READ)
		return adapter_rma(end->adapter, end->qp, &rma, request->sges);
	return adapter_post(end->adapter, end->qp, request);
}

bool pair_post_at_once(struct pair_end *end, const struct send_request *request)
{
	adapter_lock(end->adapter);

	const bool is_posted = pair_carry_out(end, request);

	if (is_posted)
		adapter_posted(end->adapter);
	adapter_unlock(end->adapter);
	return is_posted;
}

bool pair_post_as_verbs(uint32_t byte_count, uint32_t flags, uint32_t seed)
{
	struct pair_end *end = &pair.ends[0];
	const struct sge sge = {(uintptr_t)end->buffer, byte_count, end->region->key};
	const struct send_request request = {
		.wr_id = seed,
		.opcode = SEND_SEND,
		.flags = SEND_SIGNALED | flags,
		.sge_count = 1,
		.sges = &sge,
	};

	pair_fill(end->buffer, byte_count, seed);
	if (pair_post_at_once(end, &request))
		return true;
	adapter_lock(end->adapter);
	assert_int_equal(qp_post_send(&end->qp->qp, adapter_now(end->adapter), &request), 0);
	adapter_send(end->adapter, end->qp);
	adapter_unlock(end->adapter);
	return false;
}

void pair_take_both(uint32_t byte_count, uint32_t seed)
{
	struct completion completion;
	uint8_t *expected = malloc(byte_count + 1);

	pair_poll_one(&pair.ends[1], &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(completion.byte_count, byte_count);
	pair_fill(expected, byte_count, seed);
	assert_memory_equal(pair.ends[1].buffer, expected, byte_count);
	pair_poll_one(&pair.ends[0], &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(completion.wr_id, seed);
	free(expected);
}

/* A connection shares the pages of both ends, but the progress thread fetches them: whether it was
 * quick must not decide what a test does next. */
static void await_pages(void)
{
	time_ns start = runtime_now();
	bool is_waiting = true;

	while (is_waiting) {
		adapter_lock(pair.ends[0].adapter);

		const struct direct_channels *direct = &pair_runtime()->direct;
		const struct channel *channel = direct->count ? direct->channels[0] : NULL;

		is_waiting = channel && channel->state == CHANNEL_OPEN && channel->is_exposed &&
			     !channel->peer;
		adapter_unlock(pair.ends[0].adapter);
		assert_false(pair_is_overdue(start));
		sched_yield();
	}
}

void pair_send_and_check(uint32_t byte_count, uint32_t seed)
{
	struct completion sent, received;

	pair_fill(pair.ends[0].buffer, byte_count, seed);
	memset(pair.ends[1].buffer, 0, byte_count);
	pair_post_receive(&pair.ends[1], seed, PAIR_BUFFER_BYTES);
	pair_post_send(&pair.ends[0], SEND_SEND, seed, byte_count);
	pair_poll_one(&pair.ends[1], &received);
	pair_poll_one(&pair.ends[0], &sent);
	assert_int_equal(sent.status, COMPLETION_SUCCESS);
	assert_int_equal(sent.wr_id, seed);
	assert_int_equal(received.status, COMPLETION_SUCCESS);
	assert_int_equal(received.wr_id, seed);
	assert_int_equal(received.byte_count, byte_count);
	assert_memory_equal(pair.ends[0].buffer, pair.ends[1].buffer, byte_count);
	await_pages();
}

void pair_set_verdict(enum resolve_verdict verdict)
{
	__atomic_store_n(&pair.softibd.verdict, verdict, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&pair.softibd.page->generation, 1, __ATOMIC_SEQ_CST);
}

uint32_t pair_fabric_packets(void)
{
	return __atomic_load_n(&pair.softibd.packet_count, __ATOMIC_SEQ_CST);
}

int pair_start_session(void **state)
{
	(void)state;

	int error = fake_softibd_start(&pair.softibd);

	return error ? error : session_get(&pair.session);
}

static void prepare(struct pair_end *end)
{
	struct hca *hca = adapter_hca(end->adapter);

	end->buffer = aligned_alloc(64, PAIR_BUFFER_BYTES);
	adapter_lock(end->adapter);
	assert_int_equal(hca_pd_alloc(hca, &end->pd), 0);
	assert_int_equal(cq_create(hca, 256, NULL, &end->cq), 0);
	assert_int_equal(
		region_register(&hca->memory, end->pd, end->buffer, PAIR_BUFFER_BYTES,
				(uint64_t)(uintptr_t)end->buffer,
				ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ,
				&end->region),
		0);
	adapter_unlock(end->adapter);
	make_qp(end, QP_RC);
}

int pair_start_connected(void **state)
{
	if (pair_start_session(state) != 0)
		return -1;
	for (unsigned i = 0; i < 2; i++) {
		if (adapter_open(pair.session, i, &pair_owner, &pair.ends[i].adapter) != 0)
			return -1;
		prepare(&pair.ends[i]);
	}
	connect_to(&pair.ends[0], 2, pair.ends[1].qp->qp.qpn);
	connect_to(&pair.ends[1], 1, pair.ends[0].qp->qp.qpn);
	return 0;
}

void pair_connect_another(struct pair_end ret_ends[static 2])
{
	pair_connect_another_as(QP_RC, ret_ends);
}

void pair_make_datagram_ends(struct pair_end ret_ends[static 2])
{
	for (unsigned i = 0; i < 2; i++) {
		ret_ends[i] = pair.ends[i];
		make_qp(&ret_ends[i], QP_UD);
		start_datagrams(&ret_ends[i]);
	}
}

void pair_connect_another_as(enum qp_type type, struct pair_end ret_ends[static 2])
{
	for (unsigned i = 0; i < 2; i++) {
		ret_ends[i] = pair.ends[i];
		make_qp(&ret_ends[i], type);
	}
	for (unsigned i = 0; i < 2; i++) {
		connect_to(&ret_ends[i], (uint16_t)(2 - i), ret_ends[1 - i].qp->qp.qpn);
		adapter_lock(ret_ends[i].adapter);
		adapter_prepare(ret_ends[i].adapter, ret_ends[i].qp,
				adapter_now(ret_ends[i].adapter));
		adapter_unlock(ret_ends[i].adapter);
	}
}

void pair_share_buffer(struct pair_end *end)
{
	struct rkey_export *rkey_export = &end->adapter->runtime->rkey_export;
	void *buffer = mmap(NULL, PAIR_BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			    rkey_export->file, (off_t)rkey_export_layout().shared_offset);

	assert_true(buffer != MAP_FAILED);
	assert_int_equal(region_register(&adapter_hca(end->adapter)->memory, end->pd, buffer,
					 PAIR_BUFFER_BYTES, (uintptr_t)buffer, ACCESS_LOCAL_WRITE,
					 &end->region),
			 0);
	end->buffer = buffer;
	rkey_export->header->shared_is_off = 0;
	rkey_export->shared_mr->is_on = true;
	rkey_export->shared_mr->range_count = 1;
	rkey_export->shared_mr->ranges[0] = (struct shared_mr_range){
		.address = buffer, .byte_count = PAIR_BUFFER_BYTES, .users = 1};
}

int pair_start_with_kernel_ring(void **state)
{
	int file = kernel_ring_create();

	/* A kernel that has no io_uring, or does not allow it: there is nothing to test. */
	if (file < 0)
		exit(77);
	close(file);
	if (pair_start_connected(state) != 0)
		return -1;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);
	return 0;
}

int pair_end_all(void **state)
{
	(void)state;
	fake_softibd_remove(&pair.softibd);
	return 0;
}
