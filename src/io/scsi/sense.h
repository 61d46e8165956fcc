/* SPDX-License-Identifier: Apache-2.0 */
/* SCSI status and fixed-format sense data (SAM-5, SPC-4 4.5.3). */
#ifndef SOFTIB_IO_SCSI_SENSE_H
#define SOFTIB_IO_SCSI_SENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

enum scsi_status {
	SCSI_GOOD = 0x00,
	SCSI_CHECK_CONDITION = 0x02,
	SCSI_BUSY = 0x08,
	SCSI_TASK_SET_FULL = 0x28,
	SCSI_TASK_ABORTED = 0x40,
};

enum scsi_sense_key {
	SCSI_NO_SENSE = 0x0,
	SCSI_MEDIUM_ERROR = 0x3,
	SCSI_HARDWARE_ERROR = 0x4,
	SCSI_ILLEGAL_REQUEST = 0x5,
	SCSI_UNIT_ATTENTION = 0x6,
	SCSI_DATA_PROTECT = 0x7,
	SCSI_ABORTED_COMMAND = 0xb,
};

/* Additional sense code and its qualifier. */
enum scsi_sense_code {
	SCSI_NO_ADDITIONAL_SENSE = 0x0000,
	SCSI_WRITE_ERROR = 0x0c00,
	SCSI_INFORMATION_UNIT_TOO_LONG = 0x0e02,
	SCSI_UNRECOVERED_READ_ERROR = 0x1100,
	SCSI_PARAMETER_LIST_LENGTH_ERROR = 0x1a00,
	SCSI_INVALID_OPERATION_CODE = 0x2000,
	SCSI_LBA_OUT_OF_RANGE = 0x2100,
	SCSI_INVALID_FIELD_IN_CDB = 0x2400,
	SCSI_LUN_NOT_SUPPORTED = 0x2500,
	SCSI_INVALID_FIELD_IN_PARAMETERS = 0x2600,
	SCSI_WRITE_PROTECTED = 0x2700,
	SCSI_SPACE_ALLOCATION_FAILED = 0x2707,
	SCSI_BUS_DEVICE_RESET = 0x2903,
	SCSI_SAVING_NOT_SUPPORTED = 0x3900,
	SCSI_INTERNAL_TARGET_FAILURE = 0x4400,
	SCSI_DATA_PHASE_ERROR = 0x4b00,
};

enum { SCSI_SENSE_BYTES = 18 };

struct scsi_sense {
	uint8_t key;   /* enum scsi_sense_key */
	uint16_t code; /* enum scsi_sense_code */
	bool has_lba;  /* the first bad block, if it fits into 32 bits */
	uint64_t lba;
};

void scsi_sense_encode(const struct scsi_sense *sense, uint8_t ret_bytes[static SCSI_SENSE_BYTES]);
/* Fixed and descriptor format. */
MUST_USE bool scsi_sense_decode(const uint8_t *bytes, size_t byte_count,
				struct scsi_sense *ret_sense);

#endif
