/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One initiator's channel at the target: its queue pair, its memory, its tasks, and the thread that
 * works on them. So a slow disk or initiator delays nobody else.
 *
 * A task is an SRP_CMD from its arrival until its response has been sent. Data out are fetched by
 * RDMA READ and only then written to the disk, so a write whose initiator dies is done completely
 * or not at all. The response follows the data by the same queue pair.
 */
#ifndef SOFTIB_IO_TARGET_TARGET_CHANNEL_H
#define SOFTIB_IO_TARGET_TARGET_CHANNEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <rdma/rdma_cma.h>
#include "base/attributes.h"
#include "base/list.h"
#include "io/scsi/scsi_target.h"
#include "io/srp/data_buffers.h"
#include "io/srp/responses.h"

enum {
	TARGET_REQUEST_LIMIT = 32,
	TARGET_TASKS = TARGET_REQUEST_LIMIT,
	/* I_LOGOUT and answers to the target take no request. */
	TARGET_RECEIVES = TARGET_REQUEST_LIMIT + 8,
	TARGET_CHANNELS_MAX = 64,
};

enum task_state {
	TASK_FREE,
	TASK_FETCHING,	/* data out */
	TASK_ANSWERING, /* the response, and data in before it, are in the send queue */
};

struct target_task {
	enum task_state state;
	bool is_aborted;      /* no response */
	uint32_t abort_count; /* of its disk, when the command arrived */
	uint64_t tag;
	struct scsi_command command;
	struct scsi_work work;
	struct srp_data_buffer out;
	struct srp_data_buffer in;
};

/* Memory that the adapter reads and writes, in one region. */
struct channel_memory {
	uint8_t data[TARGET_TASKS][SCSI_TRANSFER_BYTES_MAX];
	uint8_t received[TARGET_RECEIVES][SRP_CMD_BYTES_MAX];
	uint8_t responses[TARGET_TASKS][SRP_RSP_BYTES_MAX];
};

struct target_channel {
	struct list link;
	struct srp_target *target;
	struct rdma_cm_id *id;
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	struct ibv_mr *region;
	struct channel_memory *memory;
	uint32_t inline_bytes_max;
	struct srp_login_req login;
	pthread_t thread;
	bool has_thread;
	bool has_ended; /* set by its thread, which ends then */
	/* From here on its thread's own. end_reason: something went wrong, or the initiator left.
	 */
	const char *end_reason;
	struct scsi_nexus nexus;
	uint32_t resets_seen[SCSI_DISKS_MAX];
	struct target_task tasks[TARGET_TASKS];
	/* Received units that wait for a free task, oldest first. */
	uint32_t waiting_count;
	uint32_t waiting_first;
	struct {
		uint32_t receive;
		uint32_t byte_count;
	} waiting[TARGET_RECEIVES];
};

struct srp_target {
	struct scsi_target scsi;
	struct list channels; /* of the main thread */
	unsigned channel_count;
	int ended_file; /* an eventfd: a channel has ended */
	/* Task management of one initiator concerns the others: how often all tasks of a disk were
	 * aborted, and how often the disk was reset. Atomic. */
	uint32_t abort_counts[SCSI_DISKS_MAX];
	uint32_t reset_counts[SCSI_DISKS_MAX];
};

/* A channel for a connection request. Returns 0 or a negative errno; the id stays the caller's on
 * errors. */
MUST_USE int target_channel_create(struct srp_target *target, struct rdma_cm_id *id,
				   const struct srp_login_req *login,
				   struct target_channel **ret_channel);
/* Starts its thread, when the connection is accepted. */
MUST_USE int target_channel_start(struct target_channel *channel);
/* Breaks the connection, waits for the thread, and destroys the id, too. */
void target_channel_destroy(struct target_channel *channel);

/* Tells the initiator that the target ends the channel. */
void target_channel_logout(struct target_channel *channel);

/* A line for the operator about this initiator. */
void target_channel_log(const struct target_channel *channel, const char *text);

#endif
