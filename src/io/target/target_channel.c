/* SPDX-License-Identifier: Apache-2.0 */
/* A channel's life: memory, queue pair, thread, completions. */
#include "io/target/target_channel.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "base/time.h"
#include "io/target/target_tasks.h"

enum {
	SENDS_MAX = TARGET_TASKS * (SRP_SEGMENTS_MAX + 1) + 1,
	INLINE_BYTES = 64, /* a response with sense data */
	WORK_BATCH = 16,
};

/* The thread polls for so long after its last work before it sleeps: the next commands of a busy
 * initiator come sooner, and a sleep costs two wake-ups and a barrier on all processors. */
#define POLL_NS MILLISECONDS(1)

static time_ns clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return SECONDS(now.tv_sec) + (time_ns)now.tv_nsec;
}

void target_channel_log(const struct target_channel *channel, const char *text)
{
	fprintf(stderr, "softib-srp-target: initiator %016" PRIx64 "%016" PRIx64 ": %s\n",
		channel->login.initiator_extension, channel->login.initiator_guid, text);
}

static void post_receive(struct target_channel *channel, uint32_t receive)
{
	struct ibv_sge sge = {.addr = (uintptr_t)channel->memory->received[receive],
			      .length = sizeof(channel->memory->received[receive]),
			      .lkey = channel->region->lkey};
	struct ibv_recv_wr request = {
		.wr_id = work_id(WORK_RECEIVE, receive), .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	if (ibv_post_recv(channel->id->qp, &request, &bad) != 0)
		channel->end_reason = "cannot post a receive request";
}

static int make_memory(struct target_channel *channel)
{
	void *memory = mmap(NULL, sizeof(*channel->memory), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	channel->memory = memory;
	channel->region = ibv_reg_mr(channel->id->pd, memory, sizeof(*channel->memory),
				     IBV_ACCESS_LOCAL_WRITE);
	return channel->region ? 0 : -errno;
}

static int make_queue_pair(struct target_channel *channel)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = SENDS_MAX,
						.max_recv_wr = TARGET_RECEIVES,
						.max_send_sge = 1,
						.max_recv_sge = 1,
						.max_inline_data = INLINE_BYTES}};

	channel->completions = ibv_create_comp_channel(channel->id->verbs);
	if (!channel->completions)
		return -errno;
	/* When a queue pair fails, its unsignaled requests complete, too. */
	channel->cq = ibv_create_cq(channel->id->verbs, SENDS_MAX + TARGET_RECEIVES, channel,
				    channel->completions, 0);
	if (!channel->cq)
		return -errno;
	attr.send_cq = channel->cq;
	attr.recv_cq = channel->cq;
	if (rdma_create_qp(channel->id, channel->id->pd, &attr) != 0)
		return -errno;
	channel->inline_bytes_max = attr.cap.max_inline_data;
	return 0;
}

/* Everything but the id. */
static void release(struct target_channel *channel)
{
	if (channel->id->qp)
		rdma_destroy_qp(channel->id);
	if (channel->cq)
		ibv_destroy_cq(channel->cq);
	if (channel->completions)
		ibv_destroy_comp_channel(channel->completions);
	if (channel->region)
		ibv_dereg_mr(channel->region);
	if (channel->memory)
		munmap(channel->memory, sizeof(*channel->memory));
	free(channel);
}

int target_channel_create(struct srp_target *target, struct rdma_cm_id *id,
			  const struct srp_login_req *login, struct target_channel **ret_channel)
{
	struct target_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return -ENOMEM;
	channel->target = target;
	channel->id = id;
	channel->login = *login;
	/* Resets before its login are no news. */
	for (uint32_t disk = 0; disk < SCSI_DISKS_MAX; disk++)
		channel->resets_seen[disk] =
			__atomic_load_n(&target->reset_counts[disk], __ATOMIC_ACQUIRE);

	int error = make_memory(channel);

	if (!error)
		error = make_queue_pair(channel);
	for (uint32_t receive = 0; !error && receive < TARGET_RECEIVES; receive++)
		post_receive(channel, receive);
	if (error || channel->end_reason) {
		release(channel);
		return error ? error : -ENOMEM;
	}
	list_append(&target->channels, &channel->link);
	target->channel_count++;
	*ret_channel = channel;
	return 0;
}

void target_channel_destroy(struct target_channel *channel)
{
	struct rdma_cm_id *id = channel->id;

	list_remove(&channel->link);
	channel->target->channel_count--;
	/* The queue pair's requests are flushed, which wakes the thread. */
	rdma_disconnect(id);
	if (channel->has_thread)
		pthread_join(channel->thread, NULL);
	release(channel);
	rdma_destroy_id(id);
}

/* Starts what a unit asks for. Its receive request is posted before the response leaves, since the
 * initiator may send the next command as soon as it has the response. */
static void start(struct target_channel *channel, uint32_t receive, uint32_t byte_count)
{
	uint8_t unit[SRP_CMD_BYTES_MAX];

	memcpy(unit, channel->memory->received[receive], byte_count);
	post_receive(channel, receive);
	target_tasks_start(channel, unit, byte_count);
}

static void receive(struct target_channel *channel, uint32_t index, uint32_t byte_count)
{
	if (channel->waiting_count == 0 && target_tasks_has_free(channel)) {
		start(channel, index, byte_count);
		return;
	}

	uint32_t last = (channel->waiting_first + channel->waiting_count++) % TARGET_RECEIVES;

	channel->waiting[last].receive = index;
	channel->waiting[last].byte_count = byte_count;
}

static void start_waiting(struct target_channel *channel)
{
	while (channel->waiting_count && !channel->end_reason && target_tasks_has_free(channel)) {
		uint32_t first = channel->waiting_first;

		channel->waiting_first = (first + 1) % TARGET_RECEIVES;
		channel->waiting_count--;
		start(channel, channel->waiting[first].receive, channel->waiting[first].byte_count);
	}
}

static void complete(struct target_channel *channel, const struct ibv_wc *completion)
{
	uint32_t index = work_index(completion->wr_id);

	if (channel->end_reason)
		return;
	if (completion->status != IBV_WC_SUCCESS) {
		/* A receive request is flushed when the connection has ended, which is no fault. */
		channel->end_reason = completion->status == IBV_WC_WR_FLUSH_ERR
					      ? "the connection has ended"
					      : ibv_wc_status_str(completion->status);
		return;
	}
	switch (work_kind(completion->wr_id)) {
	case WORK_RECEIVE:
		receive(channel, index, completion->byte_len);
		break;
	case WORK_FETCH:
		target_tasks_fetched(channel, index);
		start_waiting(channel); /* an aborted task is free now, without a response */
		break;
	case WORK_RESPONSE:
		target_tasks_answered(channel, index);
		start_waiting(channel);
		break;
	case WORK_LOGOUT:
		break;
	}
}

/* Works on what has arrived. False: there was nothing. */
static bool poll_completions(struct target_channel *channel)
{
	struct ibv_wc completions[WORK_BATCH];
	int count = ibv_poll_cq(channel->cq, WORK_BATCH, completions);

	if (count < 0)
		channel->end_reason = "cannot poll the completion queue";
	for (int index = 0; index < count; index++)
		complete(channel, &completions[index]);
	return count != 0;
}

static void wait_for_completion(struct target_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(channel->completions, &cq, &context) == 0)
		ibv_ack_cq_events(cq, 1);
	else if (errno != EINTR)
		channel->end_reason = "cannot wait for completions";
}

/* A completion before the queue is armed makes no event, so it is looked for once more. */
static void arm_and_wait(struct target_channel *channel)
{
	if (ibv_req_notify_cq(channel->cq, 0) != 0)
		channel->end_reason = "cannot wait for completions";
	else if (!poll_completions(channel))
		wait_for_completion(channel);
}

static void *work(void *context)
{
	struct target_channel *channel = context;
	const uint64_t one = 1;

	time_ns worked_at = clock_now();

	while (!channel->end_reason) {
		if (poll_completions(channel))
			worked_at = clock_now();
		else if (clock_now() - worked_at < POLL_NS)
			sched_yield();
		else
			arm_and_wait(channel);
	}
	target_channel_log(channel, channel->end_reason);
	__atomic_store_n(&channel->has_ended, true, __ATOMIC_RELEASE);
	if (write(channel->target->ended_file, &one, sizeof(one)) != sizeof(one))
		target_channel_log(channel, "cannot tell the main thread");
	return NULL;
}

int target_channel_start(struct target_channel *channel)
{
	int error = pthread_create(&channel->thread, NULL, work, channel);

	channel->has_thread = error == 0;
	return -error;
}
