/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and task management of a channel (T10 SRP r16a, chapters 5 and 6). */
#include "io/target/target_tasks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static uint32_t index_of(const struct target_channel *channel, const struct target_task *task)
{
	return (uint32_t)(task - channel->tasks);
}

static struct target_task *find_free(struct target_channel *channel)
{
	for (uint32_t index = 0; index < TARGET_TASKS; index++)
		if (channel->tasks[index].state == TASK_FREE)
			return &channel->tasks[index];
	return NULL;
}

bool target_tasks_has_free(const struct target_channel *channel)
{
	for (uint32_t index = 0; index < TARGET_TASKS; index++)
		if (channel->tasks[index].state == TASK_FREE)
			return true;
	return false;
}

static void post(struct target_channel *channel, struct ibv_send_wr *request)
{
	struct ibv_send_wr *bad;

	if (ibv_post_send(channel->id->qp, request, &bad) != 0)
		channel->end_reason = "cannot post a send request";
}

/* Moves the first bytes of the task's data to or from the initiator's segments. */
static void post_data(struct target_channel *channel, const struct target_task *task,
		      const struct srp_data_buffer *buffer, uint64_t byte_count,
		      enum ibv_wr_opcode opcode)
{
	uint32_t index = index_of(channel, task);
	uint64_t done = 0;

	for (uint32_t i = 0; i < buffer->segment_count && done < byte_count; i++) {
		const struct srp_segment *segment = &buffer->segments[i];
		uint64_t rest = byte_count - done;
		uint32_t piece = segment->byte_count < rest ? segment->byte_count : (uint32_t)rest;
		bool is_last = done + piece == byte_count;
		struct ibv_sge sge = {.addr = (uintptr_t)channel->memory->data[index] + done,
				      .length = piece,
				      .lkey = channel->region->lkey};
		struct ibv_send_wr request = {
			.wr_id = work_id(WORK_FETCH, index),
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = opcode,
			/* Data in complete with the response behind them. */
			.send_flags = opcode == IBV_WR_RDMA_READ && is_last ? IBV_SEND_SIGNALED : 0,
			.wr.rdma = {.remote_addr = segment->address, .rkey = segment->rkey}};

		if (piece)
			post(channel, &request);
		done += piece;
	}
}

static void post_response(struct target_channel *channel, struct target_task *task,
			  const struct srp_response *response)
{
	uint32_t index = index_of(channel, task);
	uint8_t *bytes = channel->memory->responses[index];
	size_t byte_count = srp_response_encode(response, bytes);
	struct ibv_sge sge = {.addr = (uintptr_t)bytes,
			      .length = (uint32_t)byte_count,
			      .lkey = channel->region->lkey};
	struct ibv_send_wr request = {
		.wr_id = work_id(WORK_RESPONSE, index),
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED |
			      (byte_count <= channel->inline_bytes_max ? IBV_SEND_INLINE : 0u)};

	task->state = TASK_ANSWERING;
	post(channel, &request);
}

/* Sends the answer of a command: its data in, then its status. */
static void answer_command(struct target_channel *channel, struct target_task *task,
			   const struct scsi_answer *answer)
{
	struct srp_response response = {.rsp = {.request_limit_delta = 1,
						.tag = task->tag,
						.status = (uint8_t)answer->status}};
	uint32_t out_bytes = answer->status == SCSI_GOOD ? task->work.data_out_bytes : 0;

	if (answer->data_in_bytes)
		post_data(channel, task, &task->in, answer->data_in_bytes, IBV_WR_RDMA_WRITE);
	if (answer->status == SCSI_CHECK_CONDITION) {
		scsi_sense_encode(&answer->sense, response.sense);
		response.sense_byte_count = SCSI_SENSE_BYTES;
	}
	if (task->in.byte_count > answer->data_in_bytes) {
		response.rsp.flags |= SRP_RSP_IN_UNDER;
		response.rsp.in_residual = (uint32_t)(task->in.byte_count - answer->data_in_bytes);
	}
	if (task->out.byte_count > out_bytes) {
		response.rsp.flags |= SRP_RSP_OUT_UNDER;
		response.rsp.out_residual = (uint32_t)(task->out.byte_count - out_bytes);
	}
	post_response(channel, task, &response);
}

static void refuse_command(struct target_channel *channel, struct target_task *task,
			   enum srp_buffer_verdict verdict)
{
	const struct scsi_answer answer = {
		.status = SCSI_CHECK_CONDITION,
		.sense = {.key = SCSI_ILLEGAL_REQUEST, .code = SCSI_INVALID_FIELD_IN_CDB}};

	target_channel_log(channel, srp_buffer_verdict_text(verdict));
	task->in.byte_count = 0;
	task->out.byte_count = 0;
	answer_command(channel, task, &answer);
}

static void execute(struct target_channel *channel, struct target_task *task)
{
	uint8_t *data = channel->memory->data[index_of(channel, task)];
	struct scsi_answer answer;

	scsi_execute(&channel->target->scsi, &task->work, data, &answer);
	answer_command(channel, task, &answer);
}

static uint32_t count_of(const uint32_t *count)
{
	return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

/* What other initiators did to the disk: a reset is told with the next command. */
static void note_others(struct target_channel *channel, struct target_task *task)
{
	struct srp_target *target = channel->target;
	uint32_t disk;

	task->abort_count = 0;
	if (!scsi_target_find(&target->scsi, task->command.lun, &disk))
		return;
	task->abort_count = count_of(&target->abort_counts[disk]);
	if (channel->resets_seen[disk] == count_of(&target->reset_counts[disk]))
		return;
	channel->resets_seen[disk] = count_of(&target->reset_counts[disk]);
	channel->nexus.attention[disk] = SCSI_BUS_DEVICE_RESET;
}

static bool is_aborted_by_other(const struct target_channel *channel,
				const struct target_task *task)
{
	uint32_t disk;

	return scsi_target_find(&channel->target->scsi, task->command.lun, &disk) &&
	       task->abort_count != count_of(&channel->target->abort_counts[disk]);
}

static void start_command(struct target_channel *channel, const uint8_t *unit, size_t byte_count)
{
	struct target_task *task = find_free(channel);
	struct scsi_answer answer;
	struct srp_cmd cmd;

	assert(task);
	srp_cmd_decode(unit, &cmd);
	task->tag = cmd.tag;
	task->is_aborted = false;
	task->work.data_out_bytes = 0;

	enum srp_buffer_verdict verdict =
		srp_data_buffers_decode(&cmd, unit, byte_count, &task->out, &task->in);

	if (verdict != SRP_BUFFERS_GOOD) {
		refuse_command(channel, task, verdict);
		return;
	}
	task->command = (struct scsi_command){.lun = cmd.lun,
					      .data_in_room = task->in.byte_count,
					      .data_out_bytes = task->out.byte_count};
	memcpy(task->command.cdb, unit + SRP_CMD_BYTES - SRP_CDB_BYTES, SRP_CDB_BYTES);
	note_others(channel, task);
	if (!scsi_prepare(&channel->target->scsi, &channel->nexus, &task->command, &task->work,
			  &answer)) {
		answer_command(channel, task, &answer);
	} else if (task->work.data_out_bytes) {
		task->state = TASK_FETCHING;
		post_data(channel, task, &task->out, task->work.data_out_bytes, IBV_WR_RDMA_READ);
	} else {
		execute(channel, task);
	}
}

void target_tasks_fetched(struct target_channel *channel, uint32_t index)
{
	struct target_task *task = &channel->tasks[index];
	const struct scsi_answer aborted = {.status = SCSI_TASK_ABORTED};

	if (task->is_aborted)
		task->state = TASK_FREE;
	else if (is_aborted_by_other(channel, task))
		answer_command(channel, task, &aborted);
	else
		execute(channel, task);
}

void target_tasks_answered(struct target_channel *channel, uint32_t index)
{
	channel->tasks[index].state = TASK_FREE;
}

/* An aborted task gives its request back with the response of the management request. */
static uint32_t abort_tasks(struct target_channel *channel, const struct srp_tsk_mgmt *request)
{
	uint32_t count = 0;

	for (uint32_t index = 0; index < TARGET_TASKS; index++) {
		struct target_task *task = &channel->tasks[index];
		bool is_meant =
			request->function == SRP_ABORT_TASK ? task->tag == request->task_tag : true;

		/* What is being answered can't be stopped, and its response is on the way. */
		if (task->state != TASK_FETCHING || task->is_aborted || !is_meant ||
		    task->command.lun != request->lun)
			continue;
		task->is_aborted = true;
		count++;
	}
	return count;
}

/* All initiators' tasks of the disk end: those of others with TASK ABORTED, when their data have
 * been fetched. */
static void abort_others(struct target_channel *channel, uint8_t function, uint32_t disk)
{
	struct srp_target *target = channel->target;

	__atomic_add_fetch(&target->abort_counts[disk], 1, __ATOMIC_ACQ_REL);
	if (function != SRP_LOGICAL_UNIT_RESET)
		return;
	__atomic_add_fetch(&target->reset_counts[disk], 1, __ATOMIC_ACQ_REL);
	channel->resets_seen[disk]++; /* its own reset is no news */
}

static void start_management(struct target_channel *channel, const uint8_t *unit)
{
	struct target_task *task = find_free(channel);
	struct srp_tsk_mgmt request;
	struct srp_response response = {.rsp = {.request_limit_delta = 1},
					.has_response_code = true};
	uint32_t disk_index;

	assert(task);
	srp_tsk_mgmt_decode(unit, &request);
	response.rsp.tag = request.tag;

	bool is_unit = scsi_target_find(&channel->target->scsi, request.lun, &disk_index) != NULL;

	switch (request.function) {
	case SRP_ABORT_TASK:
	case SRP_ABORT_TASK_SET:
	case SRP_CLEAR_TASK_SET:
	case SRP_LOGICAL_UNIT_RESET:
		response.response_code = is_unit ? SRP_RESPONSE_DONE : SRP_RESPONSE_INVALID_FIELDS;
		break;
	case SRP_CLEAR_ACA: /* no unit has an auto contingent allegiance */
	default:
		response.response_code = SRP_RESPONSE_NOT_SUPPORTED;
		break;
	}
	if (response.response_code == SRP_RESPONSE_DONE) {
		response.rsp.request_limit_delta += abort_tasks(channel, &request);
		if (request.function == SRP_CLEAR_TASK_SET ||
		    request.function == SRP_LOGICAL_UNIT_RESET)
			abort_others(channel, request.function, disk_index);
	}
	post_response(channel, task, &response);
}

void target_tasks_start(struct target_channel *channel, const uint8_t *unit, size_t byte_count)
{
	if (!byte_count || !srp_iu_bytes_min(unit[0]) || byte_count < srp_iu_bytes_min(unit[0])) {
		channel->end_reason = "an information unit that is not SRP's";
		return;
	}
	switch (unit[0]) {
	case SRP_CMD:
		start_command(channel, unit, byte_count);
		break;
	case SRP_TSK_MGMT:
		start_management(channel, unit);
		break;
	case SRP_I_LOGOUT:
		channel->end_reason = "logged out";
		break;
	case SRP_CRED_RSP:
	case SRP_AER_RSP:
		break;
	default:
		channel->end_reason = "an information unit that no initiator sends";
		break;
	}
}

void target_channel_logout(struct target_channel *channel)
{
	uint8_t bytes[SRP_SHORT_BYTES];
	struct ibv_sge sge = {.addr = (uintptr_t)bytes, .length = sizeof(bytes)};
	struct ibv_send_wr request = {.wr_id = work_id(WORK_LOGOUT, 0),
				      .sg_list = &sge,
				      .num_sge = 1,
				      .opcode = IBV_WR_SEND,
				      .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};

	srp_short_encode(&(struct srp_short){.opcode = SRP_T_LOGOUT}, bytes);
	post(channel, &request);
}
