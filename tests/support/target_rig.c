/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs that only keep what is posted, and disks in memory. */
#include "support/target_rig.h"

#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

uint8_t rig_disk[RIG_BLOCKS * SCSI_BLOCK_BYTES];
int rig_disk_error;

static int read_disk(void *context, uint64_t offset, uint8_t *ret_bytes, size_t byte_count)
{
	(void)context;
	assert(offset + byte_count <= sizeof(rig_disk));
	memcpy(ret_bytes, rig_disk + offset, byte_count);
	return rig_disk_error;
}

static int write_disk(void *context, uint64_t offset, const uint8_t *bytes, size_t byte_count)
{
	(void)context;
	assert(offset + byte_count <= sizeof(rig_disk));
	memcpy(rig_disk + offset, bytes, byte_count);
	return rig_disk_error;
}

static const struct scsi_backend backend = {.read = read_disk, .write = write_disk};

void rig_reset(struct srp_target *target)
{
	memset(target, 0, sizeof(*target));
	list_init(&target->channels);
	target->scsi.disk_count = 2;
	for (unsigned i = 0; i < target->scsi.disk_count; i++)
		target->scsi.disks[i] = (struct scsi_disk){.block_count = RIG_BLOCKS,
							   .serial = "R",
							   .is_read_only = i == 1,
							   .backend = &backend};
	rig_disk_error = 0;
	for (size_t i = 0; i < sizeof(rig_disk); i++)
		rig_disk[i] = (uint8_t)(i / SCSI_BLOCK_BYTES + i % SCSI_BLOCK_BYTES);
}

static int keep_post(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
	struct rig_queue *queue = qp->qp_context;
	struct rig_post *post = &queue->posts[queue->post_count];

	(void)bad;
	assert(queue->post_count < RIG_POSTS_MAX);
	queue->post_count++;
	assert(request->num_sge == 1 && !request->next);
	*post = (struct rig_post){.work = request->wr_id,
				  .opcode = request->opcode,
				  .flags = request->send_flags,
				  .local = (uint8_t *)(uintptr_t)request->sg_list->addr,
				  .byte_count = request->sg_list->length,
				  .remote = request->wr.rdma.remote_addr,
				  .rkey = request->wr.rdma.rkey};
	if (request->opcode != IBV_WR_SEND)
		return 0;
	assert(post->byte_count <= sizeof(post->bytes));
	memcpy(post->bytes, post->local, post->byte_count);
	return 0;
}

void rig_queue_init(struct rig_queue *queue)
{
	memset(queue, 0, sizeof(*queue));
	queue->context.ops.post_send = keep_post;
	queue->qp.context = &queue->context;
	queue->qp.qp_context = queue;
	queue->id.qp = &queue->qp;
}

struct srp_segment rig_segment(const void *bytes, uint32_t byte_count)
{
	return (struct srp_segment){(uintptr_t)bytes, RIG_RKEY, byte_count};
}

size_t rig_command(enum scsi_operation_code operation, uint64_t tag, struct scsi_extent extent,
		   const struct srp_segment *segments, unsigned segment_count,
		   uint8_t ret_unit[static SRP_CMD_BYTES_MAX])
{
	bool is_indirect = segment_count > 1;
	uint8_t format = is_indirect ? SRP_BUFFER_INDIRECT : SRP_BUFFER_DIRECT;
	bool is_read = operation == SCSI_READ_16;
	const struct srp_cmd cmd = {
		.opcode = SRP_CMD,
		.tag = tag,
		.out_format = is_read ? 0 : format,
		.in_format = is_read ? format : 0,
		.out_descriptor_count = is_indirect && !is_read ? (uint8_t)segment_count : 0,
		.in_descriptor_count = is_indirect && is_read ? (uint8_t)segment_count : 0};
	uint8_t *at = ret_unit + SRP_CMD_BYTES;
	uint32_t byte_count = 0;

	srp_cmd_encode(&cmd, ret_unit);
	scsi_extent_encode(operation, &extent, at - SRP_CDB_BYTES);
	if (is_indirect)
		at += SRP_TABLE_HEADER_BYTES;
	for (unsigned i = 0; i < segment_count; i++, at += SRP_DESCRIPTOR_BYTES) {
		srp_segment_encode(&segments[i], at);
		byte_count += segments[i].byte_count;
	}
	if (is_indirect) {
		srp_segment_encode(
			&(struct srp_segment){.byte_count = segment_count * SRP_DESCRIPTOR_BYTES},
			ret_unit + SRP_CMD_BYTES);
		put_be32(ret_unit + SRP_CMD_BYTES + SRP_DESCRIPTOR_BYTES, byte_count);
	}
	return (size_t)(at - ret_unit);
}

void rig_management(enum srp_task_function function, uint64_t tag, uint64_t task_tag,
		    uint8_t ret_unit[static SRP_TSK_MGMT_BYTES])
{
	const struct srp_tsk_mgmt request = {.opcode = SRP_TSK_MGMT,
					     .tag = tag,
					     .function = (uint8_t)function,
					     .task_tag = task_tag};

	srp_tsk_mgmt_encode(&request, ret_unit);
}

void rig_move(const struct rig_post *post)
{
	uint8_t *remote = (uint8_t *)(uintptr_t)post->remote;

	assert(post->rkey == RIG_RKEY);
	if (post->opcode == IBV_WR_RDMA_READ)
		memcpy(post->local, remote, post->byte_count);
	else
		memcpy(remote, post->local, post->byte_count);
}

struct srp_response rig_response(const struct rig_post *post)
{
	struct srp_response response;

	assert(post->opcode == IBV_WR_SEND);
	if (!srp_response_decode(post->bytes, post->byte_count, &response))
		abort();
	return response;
}
