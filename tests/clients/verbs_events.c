/* SPDX-License-Identifier: Apache-2.0 */
/* Completion channels and asynchronous events: what wakes a program, what does not, and which calls
 * wait for an acknowledgement. Covers: api/libibverbs/completion_channel.c
 * api/libibverbs/verbs_cq.c api/libibverbs/async_events.c api/libibverbs/verbs_srq.c */
#include "verbs_client.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

enum { QUIET_MS = 30, WAIT_MS = 60000 };

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd item = {.fd = fd, .events = POLLIN};

	return poll(&item, 1, timeout_ms) == 1;
}

static void replace_cq(struct endpoint *endpoint, struct ibv_comp_channel *channel,
		       enum ibv_qp_type type)
{
	CHECK_EQUAL(ibv_destroy_qp(endpoint->qp), 0);
	CHECK_EQUAL(ibv_destroy_cq(endpoint->cq), 0);
	endpoint->cq = ibv_create_cq(endpoint->device->context, 64, endpoint, channel, 0);
	CHECK(endpoint->cq);

	struct ibv_qp_init_attr options = qp_options(endpoint, type);

	endpoint->qp = ibv_create_qp(endpoint->device->pd, &options);
	CHECK(endpoint->qp);
}

static void send_eight_bytes(struct endpoint *a, struct endpoint *b, unsigned flags)
{
	struct ibv_sge sge = sge_of(a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, b, 0);

	post_receive(b, 1, 0, 8);
	wr.send_flags |= flags;
	post(a, &wr);
	expect_status(a->cq, IBV_WC_SUCCESS);
}

static void expect_event(struct ibv_comp_channel *channel, struct endpoint *endpoint)
{
	struct ibv_cq *cq = NULL;
	void *context = NULL;

	CHECK(is_readable(channel->fd, WAIT_MS));
	CHECK_EQUAL(ibv_get_cq_event(channel, &cq, &context), 0);
	CHECK(cq == endpoint->cq);
	CHECK(context == endpoint);
}

static void completion_events(struct device *device)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(device->context);
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(device, IBV_QPT_RC);
	struct ibv_cq *cq;
	void *context;

	CHECK(channel);
	replace_cq(&b, channel, IBV_QPT_RC);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), EBUSY);
	connect_endpoints(&a, &b);

	/* Not armed, no event. */
	send_eight_bytes(&a, &b, 0);
	expect_status(b.cq, IBV_WC_SUCCESS);
	CHECK(!is_readable(channel->fd, QUIET_MS));

	/* Armed once: one event for many completions. The progress thread must bring it: nobody
	 * polls this CQ. */
	CHECK_EQUAL(ibv_req_notify_cq(b.cq, 0), 0);
	send_eight_bytes(&a, &b, 0);
	send_eight_bytes(&a, &b, 0);
	expect_event(channel, &b);
	CHECK(!is_readable(channel->fd, QUIET_MS));
	expect_status(b.cq, IBV_WC_SUCCESS);
	expect_status(b.cq, IBV_WC_SUCCESS);

	/* Armed for solicited ones only. */
	CHECK_EQUAL(ibv_req_notify_cq(b.cq, 1), 0);
	send_eight_bytes(&a, &b, 0);
	expect_status(b.cq, IBV_WC_SUCCESS);
	CHECK(!is_readable(channel->fd, QUIET_MS));
	send_eight_bytes(&a, &b, IBV_SEND_SOLICITED);
	expect_event(channel, &b);
	expect_status(b.cq, IBV_WC_SUCCESS);

	/* A non-blocking channel says EAGAIN. */
	CHECK_EQUAL(fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK), 0);
	CHECK(ibv_get_cq_event(channel, &cq, &context) == -1 && errno == EAGAIN);

	/* An event that nobody fetches dies with its CQ. */
	CHECK_EQUAL(ibv_req_notify_cq(b.cq, 0), 0);
	send_eight_bytes(&a, &b, 0);
	CHECK(is_readable(channel->fd, WAIT_MS));
	ibv_ack_cq_events(b.cq, 2);
	endpoint_close(&b);
	CHECK(!is_readable(channel->fd, 0));
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	endpoint_close(&a);
}

enum { WAITS = 400, LATE_EVERY = 100 };

struct answerer {
	struct endpoint *from, *to;
	sem_t is_awaited;
	pid_t waiter;
};

static bool is_asleep(pid_t thread)
{
	char path[64], line[512];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);

	FILE *file = fopen(path, "r");

	CHECK(file && fgets(line, sizeof(line), file));
	fclose(file);

	/* The state comes after the name, which may have anything in it. */
	const char *end = strrchr(line, ')');

	CHECK(end && end[1] == ' ');
	return end[2] == 'S';
}

/* Most answers come while the waiting thread still polls, some when it is asleep. */
static void *answer(void *argument)
{
	struct answerer *answerer = argument;

	for (unsigned i = 1; i <= WAITS; i++) {
		CHECK_EQUAL(sem_wait(&answerer->is_awaited), 0);
		while (i % LATE_EVERY == 0 && !is_asleep(answerer->waiter))
			sched_yield();
		send_eight_bytes(answerer->from, answerer->to, 0);
	}
	return NULL;
}

static bool arming_is_strict(void)
{
	const char *setting = getenv("SOFTIB_EVENTS");

	return setting && strcmp(setting, "strict") == 0;
}

/* Arms a CQ that holds completions which count for the arming. Returns the number of events. */
static unsigned arm_with_present(struct ibv_comp_channel *channel, struct endpoint *endpoint,
				 int solicited_only)
{
	CHECK_EQUAL(ibv_req_notify_cq(endpoint->cq, solicited_only), 0);
	if (arming_is_strict())
		return 0;
	expect_event(channel, endpoint);
	CHECK(!is_readable(channel->fd, 0));
	return 1;
}

/* Completions for which an event was raised already, and that were not polled since. Waiting brings
 * the event again, and so does arming once more. */
enum insistence { ARM_AND_WAIT, ARM_TWICE };

static unsigned arm_with_announced(struct ibv_comp_channel *channel, struct endpoint *endpoint,
				   enum insistence insistence)
{
	struct ibv_cq *cq;
	void *context;

	CHECK_EQUAL(ibv_req_notify_cq(endpoint->cq, 0), 0);
	CHECK(!is_readable(channel->fd, QUIET_MS));
	if (arming_is_strict())
		return 0;
	if (insistence == ARM_TWICE) {
		CHECK_EQUAL(ibv_req_notify_cq(endpoint->cq, 0), 0);
		CHECK(is_readable(channel->fd, WAIT_MS));
	}
	CHECK_EQUAL(ibv_get_cq_event(channel, &cq, &context), 0);
	CHECK(cq == endpoint->cq);
	return 1;
}

/* A CQ that is armed while it holds unpolled completions raises the event at once, as adapters do;
 * with SOFTIB_EVENTS=strict only what is added later does (vol 1, 11.4.2.2). */
static void present_completions(struct device *device)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(device->context);
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(device, IBV_QPT_RC);
	unsigned event_count = 0;

	CHECK(channel);
	replace_cq(&b, channel, IBV_QPT_RC);
	connect_endpoints(&a, &b);

	send_eight_bytes(&a, &b, 0);
	send_eight_bytes(&a, &b, 0);
	CHECK_EQUAL(ibv_req_notify_cq(b.cq, 1), 0); /* neither was solicited */
	CHECK(!is_readable(channel->fd, QUIET_MS));
	event_count += arm_with_present(channel, &b, 0);
	event_count += arm_with_announced(channel, &b, ARM_AND_WAIT);
	event_count += arm_with_announced(channel, &b, ARM_TWICE);
	expect_status(b.cq, IBV_WC_SUCCESS);
	event_count += arm_with_announced(channel, &b, ARM_AND_WAIT); /* one of the two is left */
	expect_status(b.cq, IBV_WC_SUCCESS);

	/* An empty queue waits for the next one. */
	CHECK_EQUAL(ibv_req_notify_cq(b.cq, 0), 0);
	CHECK(!is_readable(channel->fd, QUIET_MS));
	send_eight_bytes(&a, &b, 0);
	expect_event(channel, &b);
	event_count++;
	expect_status(b.cq, IBV_WC_SUCCESS);
	ibv_ack_cq_events(b.cq, event_count);
	endpoint_close(&b);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	endpoint_close(&a);
}

/* The event is taken, the CQ armed, and only then polled, as perftest does: one event for each. */
static void polling_after_arming(struct device *device)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(device->context);
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(device, IBV_QPT_RC);

	CHECK(channel);
	replace_cq(&b, channel, IBV_QPT_RC);
	connect_endpoints(&a, &b);
	CHECK_EQUAL(ibv_req_notify_cq(b.cq, 0), 0);
	for (unsigned i = 0; i < 10; i++) {
		send_eight_bytes(&a, &b, 0);
		expect_event(channel, &b);
		ibv_ack_cq_events(b.cq, 1);
		CHECK_EQUAL(ibv_req_notify_cq(b.cq, 0), 0);
		expect_status(b.cq, IBV_WC_SUCCESS);
		CHECK(!is_readable(channel->fd, 0));
	}
	endpoint_close(&b);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	endpoint_close(&a);
}

/* Arming for solicited completions finds a solicited one, or a failed one, behind others. */
static void present_solicited(struct device *device)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(device->context);
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(device, IBV_QPT_RC);
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	unsigned event_count = 0;

	CHECK(channel);
	replace_cq(&b, channel, IBV_QPT_RC);
	connect_endpoints(&a, &b);

	send_eight_bytes(&a, &b, 0);
	send_eight_bytes(&a, &b, IBV_SEND_SOLICITED);
	event_count += arm_with_present(channel, &b, 1);
	expect_status(b.cq, IBV_WC_SUCCESS);
	expect_status(b.cq, IBV_WC_SUCCESS);

	/* A flushed receive counts too; where arming is strict, it is the event of the arming
	 * above. */
	send_eight_bytes(&a, &b, 0);
	post_receive(&b, 2, 0, 8);
	CHECK_EQUAL(ibv_modify_qp(b.qp, &error, IBV_QP_STATE), 0);
	if (arming_is_strict()) {
		expect_event(channel, &b);
		event_count++;
	}
	event_count += arm_with_present(channel, &b, 1);
	expect_status(b.cq, IBV_WC_SUCCESS);
	expect_status(b.cq, IBV_WC_WR_FLUSH_ERR);
	ibv_ack_cq_events(b.cq, event_count);
	endpoint_close(&b);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	endpoint_close(&a);
}

static void soon_and_late_events(struct device *device)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(device->context);
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(device, IBV_QPT_RC);
	struct answerer answerer = {.from = &a, .to = &b, .waiter = gettid()};
	struct ibv_cq *cq;
	void *context;
	pthread_t thread;

	CHECK(channel);
	replace_cq(&b, channel, IBV_QPT_RC);
	connect_endpoints(&a, &b);
	CHECK_EQUAL(sem_init(&answerer.is_awaited, 0, 0), 0);
	CHECK_EQUAL(pthread_create(&thread, NULL, answer, &answerer), 0);
	for (unsigned i = 0; i < WAITS; i++) {
		CHECK_EQUAL(ibv_req_notify_cq(b.cq, 0), 0);
		CHECK_EQUAL(sem_post(&answerer.is_awaited), 0);
		CHECK_EQUAL(ibv_get_cq_event(channel, &cq, &context), 0);
		CHECK(cq == b.cq && context == &b);
		expect_status(b.cq, IBV_WC_SUCCESS);
	}
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	ibv_ack_cq_events(b.cq, WAITS);
	/* A program that found its events itself has left nothing behind. */
	CHECK(!is_readable(channel->fd, 0));

	/* And the progress thread serves the next wait on the descriptor. */
	CHECK_EQUAL(ibv_req_notify_cq(b.cq, 0), 0);
	send_eight_bytes(&a, &b, 0);
	expect_event(channel, &b);
	ibv_ack_cq_events(b.cq, 1);
	endpoint_close(&b);
	CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	endpoint_close(&a);
	sem_destroy(&answerer.is_awaited);
}

static void expect_async(struct device *device, enum ibv_event_type type, const void *element,
			 struct ibv_async_event *ret_event)
{
	CHECK(is_readable(device->context->async_fd, WAIT_MS));
	CHECK_EQUAL(ibv_get_async_event(device->context, ret_event), 0);
	CHECK_EQUAL(ret_event->event_type, type);
	CHECK(ret_event->element.qp == element);
}

static void use_srq(struct endpoint *endpoint)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 16, .max_sge = 1}};

	CHECK_EQUAL(ibv_destroy_qp(endpoint->qp), 0);
	endpoint->srq = ibv_create_srq(endpoint->device->pd, &attr);
	CHECK(endpoint->srq);

	struct ibv_qp_init_attr options = qp_options(endpoint, IBV_QPT_RC);

	endpoint->qp = ibv_create_qp(endpoint->device->pd, &options);
	CHECK(endpoint->qp);
}

static void shared_queue_events(struct device *device)
{
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(device, IBV_QPT_RC);
	struct ibv_srq_attr attr = {.srq_limit = 2};
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct ibv_async_event event;

	use_srq(&b);
	connect_endpoints(&a, &b);
	for (uint64_t i = 0; i < 2; i++)
		post_receive(&b, i, 0, 8);
	CHECK_EQUAL(ibv_modify_srq(b.srq, &attr, IBV_SRQ_LIMIT), 0);
	send_eight_bytes(&a, &b, 0); /* posts one more first: two are left */
	CHECK(!is_readable(device->context->async_fd, QUIET_MS));

	struct ibv_sge sge = sge_of(&a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &b, 0);

	post(&a, &wr);
	expect_status(a.cq, IBV_WC_SUCCESS);
	expect_async(device, IBV_EVENT_SRQ_LIMIT_REACHED, b.srq, &event);
	ibv_ack_async_event(&event);
	CHECK_EQUAL(ibv_query_srq(b.srq, &attr), 0);
	CHECK_EQUAL(attr.srq_limit, 0);
	CHECK_EQUAL(attr.max_wr, 16);

	CHECK_EQUAL(ibv_modify_qp(b.qp, &error, IBV_QP_STATE), 0);
	expect_async(device, IBV_EVENT_QP_LAST_WQE_REACHED, b.qp, &event);
	ibv_ack_async_event(&event);
	endpoint_close(&a);
	endpoint_close(&b);
}

static bool is_acknowledged;

static void *acknowledge(void *argument)
{
	__atomic_store_n(&is_acknowledged, true, __ATOMIC_RELEASE);
	ibv_ack_async_event(argument);
	return NULL;
}

/* Destroying waits for the acknowledgement of fetched events; events that were not fetched go. */
static void destroy_waits(struct device *device)
{
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(device, IBV_QPT_RC);
	struct ibv_sge sge = sge_of(&a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &b, 0);
	struct ibv_async_event event;
	pthread_t thread;

	connect_endpoints(&a, &b);
	wr.wr.rdma.rkey = 1;
	post(&a, &wr);
	expect_status(a.cq, IBV_WC_REM_ACCESS_ERR);
	expect_async(device, IBV_EVENT_QP_ACCESS_ERR, b.qp, &event);
	CHECK_EQUAL(pthread_create(&thread, NULL, acknowledge, &event), 0);
	endpoint_close(&b);
	CHECK(__atomic_load_n(&is_acknowledged, __ATOMIC_ACQUIRE));
	CHECK_EQUAL(pthread_join(thread, NULL), 0);
	endpoint_close(&a);
	CHECK(!is_readable(device->context->async_fd, 0));
}

static void drained(struct device *device)
{
	struct endpoint a = endpoint_open(device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(device, IBV_QPT_RC);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	struct ibv_async_event event;

	connect_endpoints(&a, &b);
	send_eight_bytes(&a, &b, 0);
	CHECK_EQUAL(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	expect_async(device, IBV_EVENT_SQ_DRAINED, a.qp, &event);
	ibv_ack_async_event(&event);
	endpoint_close(&a);
	endpoint_close(&b);
}

int main(void)
{
	struct device device = device_open();

	completion_events(&device);
	present_completions(&device);
	polling_after_arming(&device);
	present_solicited(&device);
	soon_and_late_events(&device);
	shared_queue_events(&device);
	destroy_waits(&device);
	drained(&device);
	device_close(&device);
	puts("ok");
	return 0;
}
