/* SPDX-License-Identifier: Apache-2.0 */
/* Command descriptor blocks: operation codes, and the CDBs that address blocks (SPC-4, SBC-3). */
#ifndef SOFTIB_IO_SCSI_CDB_H
#define SOFTIB_IO_SCSI_CDB_H

#include <stdbool.h>
#include <stdint.h>

enum { SCSI_CDB_BYTES = 16 };

enum scsi_operation_code {
	SCSI_TEST_UNIT_READY = 0x00,
	SCSI_REQUEST_SENSE = 0x03,
	SCSI_READ_6 = 0x08,
	SCSI_WRITE_6 = 0x0a,
	SCSI_INQUIRY = 0x12,
	SCSI_MODE_SENSE_6 = 0x1a,
	SCSI_START_STOP_UNIT = 0x1b,
	SCSI_READ_CAPACITY_10 = 0x25,
	SCSI_READ_10 = 0x28,
	SCSI_WRITE_10 = 0x2a,
	SCSI_VERIFY_10 = 0x2f,
	SCSI_SYNCHRONIZE_CACHE_10 = 0x35,
	SCSI_WRITE_SAME_10 = 0x41,
	SCSI_UNMAP = 0x42,
	SCSI_MODE_SENSE_10 = 0x5a,
	SCSI_READ_16 = 0x88,
	SCSI_WRITE_16 = 0x8a,
	SCSI_VERIFY_16 = 0x8f,
	SCSI_SYNCHRONIZE_CACHE_16 = 0x91,
	SCSI_WRITE_SAME_16 = 0x93,
	SCSI_SERVICE_ACTION_IN_16 = 0x9e,
	SCSI_REPORT_LUNS = 0xa0,
	SCSI_READ_12 = 0xa8,
	SCSI_WRITE_12 = 0xaa,
};

enum { SCSI_READ_CAPACITY_16_ACTION = 0x10 };

/* Of READ, WRITE, VERIFY, SYNCHRONIZE CACHE and WRITE SAME. */
struct scsi_extent {
	uint64_t lba;
	uint32_t block_count;
	uint8_t flags; /* byte 1 of the CDB; 0 for the CDBs of 6 bytes */
};

enum {
	SCSI_FLAG_FUA = 1 << 3,
	SCSI_FLAG_UNMAP = 1 << 3,   /* of WRITE SAME */
	SCSI_FLAG_NO_DATA = 1 << 0, /* of WRITE SAME(16): the block is zeros and not sent */
	SCSI_FLAGS_BYTE_CHECK = 3 << 1,
	SCSI_FLAGS_PROTECT = 7 << 5,
};

/* The blocks that a CDB of 6, 10, 12 or 16 bytes addresses; the operation code says which. */
void scsi_extent_decode(const uint8_t cdb[static SCSI_CDB_BYTES], struct scsi_extent *ret_extent);
/* Writes a CDB of 16 bytes. */
void scsi_extent_encode(enum scsi_operation_code operation, const struct scsi_extent *extent,
			uint8_t ret_cdb[static SCSI_CDB_BYTES]);

/* The number of a logical unit from its 8 bytes: peripheral or flat space addressing, one level
 * (SAM-5 4.7). */
bool scsi_lun_decode(uint64_t lun, uint32_t *ret_number);
uint64_t scsi_lun_encode(uint32_t number);

#endif
