/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storage controller without fabric: two disks in memory, channels whose queue pairs keep what is
 * posted, and the information units of an initiator. RDMA happens when the test says so.
 */
#ifndef SOFTIB_TESTS_TARGET_RIG_H
#define SOFTIB_TESTS_TARGET_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include "io/scsi/cdb.h"
#include "io/srp/responses.h"
#include "io/target/target_channel.h"

enum { RIG_BLOCKS = 4096, RIG_POSTS_MAX = 256, RIG_RKEY = 77 };

/* A send request. */
struct rig_post {
	uint64_t work;
	enum ibv_wr_opcode opcode;
	unsigned flags;
	uint8_t *local;
	uint32_t byte_count;
	uint64_t remote;
	uint32_t rkey;
	uint8_t bytes[SRP_RSP_BYTES_MAX]; /* of a SEND */
};

struct rig_queue {
	struct rdma_cm_id id;
	struct ibv_context context;
	struct ibv_qp qp;
	struct ibv_mr region;
	unsigned post_count;
	struct rig_post posts[RIG_POSTS_MAX];
};

extern uint8_t rig_disk[RIG_BLOCKS * SCSI_BLOCK_BYTES];
extern int rig_disk_error; /* of the next accesses */

/* Disk 0, and disk 1 that is read-only, both over rig_disk. */
void rig_reset(struct srp_target *target);
/* A queue pair that keeps what is posted, for channel->id. */
void rig_queue_init(struct rig_queue *queue);

/* SRP_CMD for so many blocks, with an indirect table if there is more than one segment. Returns its
 * bytes. */
size_t rig_command(enum scsi_operation_code operation, uint64_t tag, struct scsi_extent extent,
		   const struct srp_segment *segments, unsigned segment_count,
		   uint8_t ret_unit[static SRP_CMD_BYTES_MAX]);
void rig_management(enum srp_task_function function, uint64_t tag, uint64_t task_tag,
		    uint8_t ret_unit[static SRP_TSK_MGMT_BYTES]);
/* A segment of the initiator's memory, which is this process's. */
struct srp_segment rig_segment(const void *bytes, uint32_t byte_count);

/* The adapter carries out an RDMA request. */
void rig_move(const struct rig_post *post);
/* What a SEND says. */
struct srp_response rig_response(const struct rig_post *post);

#endif
