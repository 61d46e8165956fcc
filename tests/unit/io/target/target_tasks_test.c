/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and task management of a channel: what is posted, in which order, and what reaches the
 * disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <errno.h>
#include <stdlib.h>
#include "io/target/target_tasks.h"
#include "support/target_rig.h"

enum { BLOCK = SCSI_BLOCK_BYTES };

static struct srp_target target;
static struct initiator {
	struct rig_queue queue;
	struct target_channel channel;
} first, second;
static uint8_t memory[8 * BLOCK]; /* the initiator's */
static char logged[256];

/* In place of target_channel.c. */
void target_channel_log(const struct target_channel *channel, const char *text)
{
	(void)channel;
	strncpy(logged, text, sizeof(logged) - 1);
}

static void make_channel(struct initiator *initiator)
{
	struct channel_memory *channel_memory = initiator->channel.memory;

	rig_queue_init(&initiator->queue);
	if (!channel_memory)
		channel_memory = calloc(1, sizeof(*channel_memory));
	assert_non_null(channel_memory);
	initiator->channel = (struct target_channel){.target = &target,
						     .id = &initiator->queue.id,
						     .region = &initiator->queue.region,
						     .memory = channel_memory,
						     .inline_bytes_max = 64};
}

static int set_up(void **state)
{
	(void)state;
	rig_reset(&target);
	make_channel(&first);
	make_channel(&second);
	memset(memory, 0xee, sizeof(memory));
	logged[0] = 0;
	return 0;
}

static int free_memory(void **state)
{
	(void)state;
	free(first.channel.memory);
	free(second.channel.memory);
	return 0;
}

static const struct rig_post *post_of(const struct initiator *initiator, unsigned index)
{
	assert_true(index < initiator->queue.post_count);
	return &initiator->queue.posts[index];
}

static void start(struct initiator *initiator, enum scsi_operation_code operation, uint64_t tag,
		  struct scsi_extent extent, const struct srp_segment *segments, unsigned count)
{
	uint8_t unit[SRP_CMD_BYTES_MAX];
	size_t byte_count = rig_command(operation, tag, extent, segments, count, unit);

	target_tasks_start(&initiator->channel, unit, byte_count);
}

/* A write of one block from memory, at the block of this number. */
static void start_write(struct initiator *initiator, uint64_t tag)
{
	const struct srp_segment segment = rig_segment(memory, BLOCK);

	start(initiator, SCSI_WRITE_16, tag, (struct scsi_extent){tag, 1, 0}, &segment, 1);
}

static struct srp_response manage(struct initiator *initiator, enum srp_task_function function,
				  uint64_t task_tag)
{
	uint8_t unit[SRP_TSK_MGMT_BYTES];

	rig_management(function, 1000 + task_tag, task_tag, unit);
	target_tasks_start(&initiator->channel, unit, sizeof(unit));

	const struct rig_post *post = post_of(initiator, initiator->queue.post_count - 1);
	struct srp_response response = rig_response(post);

	assert_true(response.has_response_code);
	assert_int_equal(response.rsp.tag, 1000 + task_tag);
	target_tasks_answered(&initiator->channel, work_index(post->work));
	return response;
}

/* The adapter ends this RDMA READ. */
static void fetch(struct initiator *initiator, unsigned index)
{
	const struct rig_post *post = post_of(initiator, index);

	assert_int_equal(post->opcode, IBV_WR_RDMA_READ);
	rig_move(post);
	if (!(post->flags & IBV_SEND_SIGNALED))
		return;
	assert_int_equal(work_kind(post->work), WORK_FETCH);
	target_tasks_fetched(&initiator->channel, work_index(post->work));
}

static enum task_state state_of(const struct initiator *initiator, unsigned index)
{
	return initiator->channel.tasks[index].state;
}

static bool is_on_disk(uint64_t block, uint8_t byte)
{
	for (unsigned i = 0; i < BLOCK; i++)
		if (rig_disk[block * BLOCK + i] != byte)
			return false;
	return true;
}

/* The last post is the answer of the command: its sense data. */
static struct scsi_sense expect_sense(const struct initiator *initiator)
{
	struct srp_response response =
		rig_response(post_of(initiator, initiator->queue.post_count - 1));
	struct scsi_sense sense = {0};

	assert_int_equal(response.rsp.status, SCSI_CHECK_CONDITION);
	assert_true(scsi_sense_decode(response.sense, response.sense_byte_count, &sense));
	return sense;
}

static void test_read_fills_the_segments_in_order(void **state)
{
	const struct srp_segment segments[] = {rig_segment(memory + 2000, 1000),
					       rig_segment(memory, 0), rig_segment(memory, 24)};
	unsigned count;

	(void)state;
	start(&first, SCSI_READ_16, 5, (struct scsi_extent){7, 2, 0}, segments, 3);
	count = first.queue.post_count;
	assert_int_equal(count, 3);
	for (unsigned i = 0; i < 2; i++) {
		const struct rig_post *post = post_of(&first, i);

		assert_int_equal(post->opcode, IBV_WR_RDMA_WRITE);
		assert_false(post->flags & IBV_SEND_SIGNALED);
		rig_move(post);
	}
	assert_memory_equal(memory + 2000, rig_disk + 7 * BLOCK, 1000);
	assert_memory_equal(memory, rig_disk + 7 * BLOCK + 1000, 24);
	assert_int_equal(memory[24], 0xee);
	assert_int_equal(memory[1999], 0xee);
	assert_int_equal(memory[3000], 0xee);

	const struct rig_post *answer = post_of(&first, 2);
	struct srp_response response = rig_response(answer);

	assert_true(answer->flags & IBV_SEND_SIGNALED && answer->flags & IBV_SEND_INLINE);
	assert_int_equal(response.rsp.status, SCSI_GOOD);
	assert_int_equal(response.rsp.tag, 5);
	assert_int_equal(response.rsp.request_limit_delta, 1);
	assert_int_equal(response.rsp.flags, 0);
	assert_int_equal(state_of(&first, 0), TASK_ANSWERING);
	target_tasks_answered(&first.channel, work_index(answer->work));
	assert_int_equal(state_of(&first, 0), TASK_FREE);
}

static void test_room_that_is_left_is_told_as_residual(void **state)
{
	const struct srp_segment segments[] = {rig_segment(memory, BLOCK + 100),
					       rig_segment(memory + 4 * BLOCK, BLOCK)};
	struct srp_response response;

	(void)state;
	start(&first, SCSI_READ_16, 1, (struct scsi_extent){0, 1, 0}, segments, 2);
	assert_int_equal(first.queue.post_count, 2);
	assert_int_equal(post_of(&first, 0)->byte_count, BLOCK);
	response = rig_response(post_of(&first, 1));
	assert_int_equal(response.rsp.flags, SRP_RSP_IN_UNDER);
	assert_int_equal(response.rsp.in_residual, BLOCK + 100);
	/* Of data out. */
	start(&second, SCSI_WRITE_16, 1, (struct scsi_extent){0, 1, 0}, segments, 2);
	assert_int_equal(second.queue.post_count, 1);
	assert_int_equal(post_of(&second, 0)->byte_count, BLOCK);
	fetch(&second, 0);
	response = rig_response(post_of(&second, 1));
	assert_int_equal(response.rsp.flags, SRP_RSP_OUT_UNDER);
	assert_int_equal(response.rsp.out_residual, BLOCK + 100);
}

static void test_write_reaches_the_disk_when_all_is_fetched(void **state)
{
	const struct srp_segment segments[] = {rig_segment(memory, BLOCK),
					       rig_segment(memory + 3 * BLOCK, BLOCK / 2),
					       rig_segment(memory + 2 * BLOCK, BLOCK / 2)};

	(void)state;
	memset(memory, 0x11, BLOCK);
	memset(memory + 2 * BLOCK, 0x22, 2 * BLOCK);
	start(&first, SCSI_WRITE_16, 9, (struct scsi_extent){20, 2, 0}, segments, 3);
	assert_int_equal(first.queue.post_count, 3);
	assert_int_equal(state_of(&first, 0), TASK_FETCHING);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(!!(post_of(&first, i)->flags & IBV_SEND_SIGNALED), i == 2);
		assert_false(is_on_disk(20, 0x11));
		fetch(&first, i);
	}
	assert_true(is_on_disk(20, 0x11));
	assert_true(is_on_disk(21, 0x22));
	assert_int_equal(first.queue.post_count, 4);
	assert_int_equal(rig_response(post_of(&first, 3)).rsp.status, SCSI_GOOD);
}

static void test_failed_disk_moves_no_data(void **state)
{
	const struct srp_segment segment = rig_segment(memory, BLOCK);
	struct srp_response response;

	(void)state;
	rig_disk_error = -EIO;
	start(&first, SCSI_READ_16, 1, (struct scsi_extent){3, 1, 0}, &segment, 1);
	assert_int_equal(first.queue.post_count, 1);
	assert_int_equal(expect_sense(&first).key, SCSI_MEDIUM_ERROR);
	response = rig_response(post_of(&first, 0));
	assert_int_equal(response.rsp.flags, SRP_RSP_IN_UNDER | SRP_RSP_HAS_SENSE);
	assert_int_equal(response.rsp.in_residual, BLOCK);
	/* With sense data it is as long as this channel sends inline, or longer. */
	assert_int_equal(!!(post_of(&first, 0)->flags & IBV_SEND_INLINE),
			 post_of(&first, 0)->byte_count <= 64);
	start_write(&first, 4);
	fetch(&first, 1);
	assert_int_equal(expect_sense(&first).key, SCSI_MEDIUM_ERROR);
}

static void test_write_to_a_read_only_disk_fetches_nothing(void **state)
{
	const struct srp_segment segment = rig_segment(memory, BLOCK);
	uint8_t unit[SRP_CMD_BYTES_MAX];
	size_t byte_count =
		rig_command(SCSI_WRITE_16, 1, (struct scsi_extent){0, 1, 0}, &segment, 1, unit);

	(void)state;
	unit[21] = 1; /* the second byte of the LUN */
	target_tasks_start(&first.channel, unit, byte_count);
	assert_int_equal(first.queue.post_count, 1);
	assert_int_equal(expect_sense(&first).key, SCSI_DATA_PROTECT);
}

static void expect_refused(const uint8_t *unit, size_t byte_count, const char *text)
{
	unsigned count = first.queue.post_count;

	target_tasks_start(&first.channel, unit, byte_count);
	assert_int_equal(first.queue.post_count, count + 1);
	assert_int_equal(expect_sense(&first).code, SCSI_INVALID_FIELD_IN_CDB);
	assert_string_equal(logged, text);
	assert_null(first.channel.end_reason);
}

static void test_refused_buffers_are_not_touched(void **state)
{
	const struct srp_segment segments[] = {rig_segment(memory, BLOCK),
					       rig_segment(memory, BLOCK)};
	uint8_t unit[SRP_CMD_BYTES_MAX];
	size_t byte_count =
		rig_command(SCSI_READ_16, 1, (struct scsi_extent){0, 2, 0}, segments, 2, unit);

	(void)state;
	expect_refused(unit, byte_count - 1, srp_buffer_verdict_text(SRP_BUFFERS_CUT));
	unit[SRP_CMD_BYTES + SRP_DESCRIPTOR_BYTES + 3]++; /* the table's length */
	expect_refused(unit, byte_count, srp_buffer_verdict_text(SRP_BUFFERS_LENGTHS_DIFFER));
	rig_command(SCSI_READ_16, 1, (struct scsi_extent){0, 2, 0}, segments, 2, unit);
	unit[7] = 1; /* descriptors in the unit */
	expect_refused(unit, byte_count, srp_buffer_verdict_text(SRP_BUFFERS_TABLE_ELSEWHERE));
	unit[5] = 7;
	expect_refused(unit, byte_count, srp_buffer_verdict_text(SRP_BUFFERS_FORMAT_UNKNOWN));
}

/* SRP 6.7: the request of the aborted task comes back with the answer of the abort. */
static void test_aborted_write_is_fetched_and_forgotten(void **state)
{
	(void)state;
	start_write(&first, 1);
	start_write(&first, 2);
	/* Another tag. */
	assert_int_equal(manage(&first, SRP_ABORT_TASK, 3).rsp.request_limit_delta, 1);
	assert_int_equal(manage(&first, SRP_ABORT_TASK, 1).rsp.request_limit_delta, 2);
	/* It counts once. */
	assert_int_equal(manage(&first, SRP_ABORT_TASK, 1).rsp.request_limit_delta, 1);

	unsigned count = first.queue.post_count;

	/* Until the adapter has written to them, the task's data are no other task's. */
	assert_int_equal(state_of(&first, 0), TASK_FETCHING);
	fetch(&first, 0);
	assert_int_equal(state_of(&first, 0), TASK_FREE);
	assert_int_equal(first.queue.post_count, count);
	assert_false(is_on_disk(1, 0xee));
	fetch(&first, 1);
	assert_true(is_on_disk(2, 0xee));
	/* Its slot is as good as new. */
	target_tasks_answered(&first.channel, 1);
	start_write(&first, 3);
	fetch(&first, first.queue.post_count - 1);
	assert_true(is_on_disk(3, 0xee));
}

static void test_task_that_is_being_answered_is_not_aborted(void **state)
{
	(void)state;
	start_write(&first, 1);
	fetch(&first, 0);
	assert_int_equal(state_of(&first, 0), TASK_ANSWERING);

	struct srp_response response = manage(&first, SRP_ABORT_TASK, 1);

	assert_int_equal(response.response_code, SRP_RESPONSE_DONE);
	assert_int_equal(response.rsp.request_limit_delta, 1);
	assert_int_equal(state_of(&first, 0), TASK_ANSWERING);
}

static void test_abort_task_set_is_the_initiators_own(void **state)
{
	(void)state;
	start_write(&first, 1);
	start_write(&first, 2);
	start_write(&second, 3);
	assert_int_equal(manage(&first, SRP_ABORT_TASK_SET, 0).rsp.request_limit_delta, 3);
	fetch(&first, 0);
	fetch(&first, 1);
	fetch(&second, 0);
	assert_false(is_on_disk(1, 0xee));
	assert_false(is_on_disk(2, 0xee));
	assert_true(is_on_disk(3, 0xee));
}

static void test_cleared_task_set_ends_the_tasks_of_others(void **state)
{
	(void)state;
	start_write(&first, 1);
	start_write(&second, 2);
	manage(&second, SRP_CLEAR_TASK_SET, 0);
	fetch(&first, 0);
	assert_int_equal(rig_response(post_of(&first, 1)).rsp.status, SCSI_TASK_ABORTED);
	assert_false(is_on_disk(1, 0xee));
	/* It was no reset, and later commands are executed. */
	target_tasks_answered(&first.channel, 0);
	start_write(&first, 3);
	fetch(&first, 2);
	assert_true(is_on_disk(3, 0xee));
}

static void test_reset_by_another_initiator_is_told_once(void **state)
{
	const struct srp_segment segment = rig_segment(memory, BLOCK);

	(void)state;
	start_write(&first, 1);
	manage(&second, SRP_LOGICAL_UNIT_RESET, 0);
	fetch(&first, 0);
	assert_int_equal(rig_response(post_of(&first, 1)).rsp.status, SCSI_TASK_ABORTED);
	assert_false(is_on_disk(1, 0xee));
	start(&first, SCSI_READ_16, 2, (struct scsi_extent){0, 1, 0}, &segment, 1);
	assert_int_equal(first.queue.post_count, 3);
	assert_int_equal(expect_sense(&first).key, SCSI_UNIT_ATTENTION);
	assert_int_equal(expect_sense(&first).code, SCSI_BUS_DEVICE_RESET);
	start(&first, SCSI_READ_16, 3, (struct scsi_extent){0, 1, 0}, &segment, 1);
	assert_int_equal(rig_response(post_of(&first, 4)).rsp.status, SCSI_GOOD);
	/* Its own reset is no news. */
	start(&second, SCSI_READ_16, 4, (struct scsi_extent){0, 1, 0}, &segment, 1);
	assert_int_equal(rig_response(post_of(&second, 2)).rsp.status, SCSI_GOOD);
}

static void test_management_that_cannot_be(void **state)
{
	uint8_t unit[SRP_TSK_MGMT_BYTES];

	(void)state;
	assert_int_equal(manage(&first, SRP_CLEAR_ACA, 0).response_code,
			 SRP_RESPONSE_NOT_SUPPORTED);
	rig_management(SRP_LOGICAL_UNIT_RESET, 1, 0, unit);
	unit[21] = 9; /* the second byte of the LUN */
	target_tasks_start(&first.channel, unit, sizeof(unit));
	assert_int_equal(rig_response(post_of(&first, 1)).response_code,
			 SRP_RESPONSE_INVALID_FIELDS);
	assert_int_equal(target.reset_counts[0], 0);
}

static void test_each_command_needs_a_task(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TARGET_TASKS; i++) {
		assert_true(target_tasks_has_free(&first.channel));
		start_write(&first, i);
	}
	assert_false(target_tasks_has_free(&first.channel));
	fetch(&first, 11);
	assert_false(target_tasks_has_free(&first.channel));
	target_tasks_answered(&first.channel, 11);
	assert_true(target_tasks_has_free(&first.channel));
	assert_true(is_on_disk(11, 0xee));
}

static void test_units_that_end_the_channel(void **state)
{
	uint8_t unit[SRP_CMD_BYTES] = {SRP_CMD};

	(void)state;
	target_tasks_start(&first.channel, unit, SRP_CMD_BYTES - 1);
	assert_non_null(first.channel.end_reason);
	target_tasks_start(&second.channel, unit, 0);
	assert_non_null(second.channel.end_reason);
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		bool is_good = opcode == SRP_CMD || opcode == SRP_TSK_MGMT ||
			       opcode == SRP_CRED_RSP || opcode == SRP_AER_RSP;
		uint8_t long_unit[SRP_LOGIN_REQ_BYTES] = {(uint8_t)opcode};

		set_up(NULL);
		target_tasks_start(&first.channel, long_unit, sizeof(long_unit));
		assert_int_equal(first.channel.end_reason == NULL, is_good);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_read_fills_the_segments_in_order),
		TEST(test_room_that_is_left_is_told_as_residual),
		TEST(test_write_reaches_the_disk_when_all_is_fetched),
		TEST(test_failed_disk_moves_no_data),
		TEST(test_write_to_a_read_only_disk_fetches_nothing),
		TEST(test_refused_buffers_are_not_touched),
		TEST(test_aborted_write_is_fetched_and_forgotten),
		TEST(test_task_that_is_being_answered_is_not_aborted),
		TEST(test_abort_task_set_is_the_initiators_own),
		TEST(test_cleared_task_set_ends_the_tasks_of_others),
		TEST(test_reset_by_another_initiator_is_told_once),
		TEST(test_management_that_cannot_be),
		TEST(test_each_command_needs_a_task),
		TEST(test_units_that_end_the_channel),
	};

	return cmocka_run_group_tests(tests, NULL, free_memory);
}
