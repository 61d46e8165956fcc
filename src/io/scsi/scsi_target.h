/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SCSI target with disks as logical units (SAM-5, SPC-4, SBC-3).
 *
 * A command takes two steps, between which its owner fetches the data out:
 *
 *	if (scsi_prepare(...))			false: the answer is there already
 *		... fetch work.data_out_bytes into data ...
 *		scsi_execute(...)		data in lie in data now
 *
 * data has room for SCSI_TRANSFER_BYTES_MAX bytes.
 */
#ifndef SOFTIB_IO_SCSI_SCSI_TARGET_H
#define SOFTIB_IO_SCSI_SCSI_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "io/scsi/cdb.h"
#include "io/scsi/disk.h"
#include "io/scsi/sense.h"

struct scsi_target {
	struct scsi_disk disks[SCSI_DISKS_MAX];
	uint32_t disk_count;
};

/* An initiator's relation to the disks: what it must be told with its next command. */
struct scsi_nexus {
	uint16_t attention[SCSI_DISKS_MAX]; /* enum scsi_sense_code; 0: nothing */
};

struct scsi_command {
	uint64_t lun;
	uint8_t cdb[SCSI_CDB_BYTES];
	uint64_t data_in_room; /* bytes of the initiator's buffers */
	uint64_t data_out_bytes;
};

struct scsi_answer {
	enum scsi_status status;
	struct scsi_sense sense; /* with SCSI_CHECK_CONDITION */
	uint32_t data_in_bytes;
};

struct scsi_operation;
struct scsi_work {
	const struct scsi_operation *operation;
	const struct scsi_disk *disk; /* NULL: no such logical unit */
	const struct scsi_command *command;
	struct scsi_extent extent;
	uint32_t data_out_bytes; /* to be fetched */
};

/* The command must stay until scsi_execute(). */
MUST_USE bool scsi_prepare(const struct scsi_target *target, struct scsi_nexus *nexus,
			   const struct scsi_command *command, struct scsi_work *ret_work,
			   struct scsi_answer *ret_answer);
void scsi_execute(const struct scsi_target *target, const struct scsi_work *work, uint8_t *data,
		  struct scsi_answer *ret_answer);

/* NULL: there is no such disk. */
const struct scsi_disk *scsi_target_find(const struct scsi_target *target, uint64_t lun,
					 uint32_t *ret_index);

#endif
