/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a channel: completions that come as the test says, and units that wait for a task.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "io/target/target_tasks.h"
#include "support/target_rig.h"

enum { STEPS_MAX = 128, BLOCK = SCSI_BLOCK_BYTES };

/* A completion, the unit that comes with it, and how many sends were posted when the next one was
 * polled. */
struct step {
	enum work_kind kind;
	uint32_t index; /* of WORK_FETCH and WORK_RESPONSE: the task's */
	bool is_flushed;
	uint8_t unit[SRP_CMD_BYTES + SRP_DESCRIPTOR_BYTES];
	size_t byte_count;
	unsigned post_count;
};

static struct srp_target target;
static struct target_channel channel;
static struct rig_queue queue;
static struct ibv_cq cq;
static uint8_t memory[BLOCK];
static struct step steps[STEPS_MAX];
static unsigned step_count, next_step;
/* Receive requests in the order in which they were posted. */
static uint32_t receives[2 * STEPS_MAX];
static unsigned receive_count, next_receive;

static int post_receive(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
	(void)qp;
	(void)bad;
	assert(receive_count < ARRAY_COUNT(receives));
	receives[receive_count++] = work_index(request->wr_id);
	return 0;
}

/* One step a poll. The last one flushes, so the thread ends. */
static int poll_step(struct ibv_cq *polled, int count, struct ibv_wc *ret_completion)
{
	(void)polled;
	(void)count;
	if (next_step)
		steps[next_step - 1].post_count = queue.post_count;
	assert(next_step < step_count);

	struct step *step = &steps[next_step++];
	uint32_t index = step->index;

	if (step->kind == WORK_RECEIVE) {
		assert(next_receive < receive_count);
		index = receives[next_receive++];
		memcpy(channel.memory->received[index], step->unit, step->byte_count);
	}
	*ret_completion =
		(struct ibv_wc){.wr_id = work_id(step->kind, index),
				.status = step->is_flushed ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS,
				.byte_len = (uint32_t)step->byte_count};
	return 1;
}

static int set_up(void **state)
{
	(void)state;
	rig_reset(&target);
	rig_queue_init(&queue);
	queue.context.ops.post_recv = post_receive;
	queue.context.ops.poll_cq = poll_step;
	cq.context = &queue.context;
	target.ended_file = eventfd(0, EFD_CLOEXEC);
	memset(steps, 0, sizeof(steps));
	step_count = next_step = next_receive = 0;
	channel = (struct target_channel){.target = &target,
					  .id = &queue.id,
					  .cq = &cq,
					  .region = &queue.region,
					  .memory = calloc(1, sizeof(struct channel_memory)),
					  .inline_bytes_max = 64};
	for (receive_count = 0; receive_count < TARGET_RECEIVES; receive_count++)
		receives[receive_count] = receive_count;
	return target.ended_file < 0 || !channel.memory;
}

static int tear_down(void **state)
{
	(void)state;
	close(target.ended_file);
	free(channel.memory);
	return 0;
}

static struct step *add(enum work_kind kind, uint32_t index)
{
	assert_true(step_count < STEPS_MAX);
	steps[step_count] = (struct step){.kind = kind, .index = index};
	return &steps[step_count++];
}

/* A write of one block, to the block of its tag. */
static void add_write(uint64_t tag)
{
	const struct srp_segment segment = rig_segment(memory, BLOCK);
	struct step *step = add(WORK_RECEIVE, 0);
	uint8_t unit[SRP_CMD_BYTES_MAX];

	step->byte_count =
		rig_command(SCSI_WRITE_16, tag, (struct scsi_extent){tag, 1, 0}, &segment, 1, unit);
	memcpy(step->unit, unit, step->byte_count);
}

static void run_until_flushed(void)
{
	add(WORK_RECEIVE, 0)->is_flushed = true;
	assert_int_equal(target_channel_start(&channel), 0);
	assert_int_equal(pthread_join(channel.thread, NULL), 0);
	assert_true(channel.has_ended);
	assert_string_equal(channel.end_reason, "the connection has ended");
}

static unsigned fetches_until(unsigned post_count)
{
	unsigned count = 0;

	for (unsigned i = 0; i < post_count; i++)
		count += queue.posts[i].opcode == IBV_WR_RDMA_READ;
	return count;
}

static void test_units_beyond_the_tasks_wait_in_order(void **state)
{
	enum { WAITING = TARGET_RECEIVES - TARGET_TASKS };

	(void)state;
	for (unsigned i = 0; i < TARGET_RECEIVES; i++)
		add_write(i);
	for (uint32_t i = 0; i < WAITING; i++) {
		add(WORK_FETCH, i);
		add(WORK_RESPONSE, i);
	}
	run_until_flushed();
	assert_int_equal(fetches_until(steps[TARGET_RECEIVES - 1].post_count), TARGET_TASKS);
	/* A task is free when its response has been sent. */
	for (unsigned i = 0; i < WAITING; i++) {
		const struct step *fetched = &steps[TARGET_RECEIVES + 2 * i];

		assert_int_equal(fetches_until(fetched[0].post_count), TARGET_TASKS + i);
		assert_int_equal(fetches_until(fetched[1].post_count), TARGET_TASKS + i + 1);
		assert_int_equal(channel.tasks[i].tag, TARGET_TASKS + i);
	}
	/* Each receive request went back before its command was started. */
	assert_int_equal(receive_count, 2 * TARGET_RECEIVES);
	assert_int_equal(channel.waiting_count, 0);
}

/* An aborted task has no response, but its slot is free all the same. */
static void test_unit_that_waits_gets_the_task_of_an_aborted_one(void **state)
{
	uint8_t unit[SRP_TSK_MGMT_BYTES];
	struct step *step;

	(void)state;
	for (unsigned i = 0; i < TARGET_TASKS - 1; i++)
		add_write(i);
	rig_management(SRP_ABORT_TASK_SET, 1000, 0, unit);
	step = add(WORK_RECEIVE, 0);
	memcpy(step->unit, unit, sizeof(unit));
	step->byte_count = sizeof(unit);
	add_write(500);
	step = add(WORK_FETCH, 3);
	run_until_flushed();
	assert_int_equal(fetches_until(step->post_count), TARGET_TASKS);
	assert_int_equal(channel.tasks[3].tag, 500);
	assert_int_equal(channel.waiting_count, 0);
}

static void test_nothing_is_executed_behind_the_end(void **state)
{
	(void)state;
	add_write(1);
	add(WORK_FETCH, 0)->is_flushed = true;
	run_until_flushed();
	assert_int_equal(queue.post_count, 1);
	assert_int_equal(channel.tasks[0].state, TASK_FETCHING);
}

static void test_logout_ends_the_channel(void **state)
{
	struct step *step = NULL;

	(void)state;
	step = add(WORK_RECEIVE, 0);
	srp_short_encode(&(struct srp_short){.opcode = SRP_I_LOGOUT}, step->unit);
	step->byte_count = SRP_SHORT_BYTES;
	assert_int_equal(target_channel_start(&channel), 0);
	assert_int_equal(pthread_join(channel.thread, NULL), 0);
	assert_string_equal(channel.end_reason, "logged out");
	assert_int_equal(queue.post_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_units_beyond_the_tasks_wait_in_order),
		TEST(test_unit_that_waits_gets_the_task_of_an_aborted_one),
		TEST(test_nothing_is_executed_behind_the_end),
		TEST(test_logout_ends_the_channel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
