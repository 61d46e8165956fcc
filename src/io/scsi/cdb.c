/* SPDX-License-Identifier: Apache-2.0 */
/* CDBs that address blocks, and logical unit numbers. */
#include "io/scsi/cdb.h"

#include <string.h>
#include "base/bytes.h"

/* The three high bits of an operation code say how long the CDB is (SPC-4 4.2.5). */
enum { GROUP_6 = 0, GROUP_10 = 1, GROUP_10_MORE = 2, GROUP_16 = 4, GROUP_12 = 5 };
enum { BLOCKS_OF_ZERO = 256, PERIPHERAL_MAX = 0xff, FLAT_MAX = 0x3fff };

void scsi_extent_decode(const uint8_t cdb[static SCSI_CDB_BYTES], struct scsi_extent *ret_extent)
{
	*ret_extent = (struct scsi_extent){.flags = cdb[1]};
	switch (cdb[0] >> 5) {
	case GROUP_6:
		ret_extent->lba = get_be24(cdb + 1) & 0x1fffff;
		ret_extent->block_count = cdb[4] ? cdb[4] : BLOCKS_OF_ZERO;
		ret_extent->flags = 0;
		break;
	case GROUP_10:
	case GROUP_10_MORE:
		ret_extent->lba = get_be32(cdb + 2);
		ret_extent->block_count = get_be16(cdb + 7);
		break;
	case GROUP_12:
		ret_extent->lba = get_be32(cdb + 2);
		ret_extent->block_count = get_be32(cdb + 6);
		break;
	case GROUP_16:
		ret_extent->lba = get_be64(cdb + 2);
		ret_extent->block_count = get_be32(cdb + 10);
		break;
	default:
		break;
	}
}

void scsi_extent_encode(enum scsi_operation_code operation, const struct scsi_extent *extent,
			uint8_t ret_cdb[static SCSI_CDB_BYTES])
{
	memset(ret_cdb, 0, SCSI_CDB_BYTES);
	ret_cdb[0] = (uint8_t)operation;
	ret_cdb[1] = extent->flags;
	put_be64(ret_cdb + 2, extent->lba);
	put_be32(ret_cdb + 10, extent->block_count);
}

bool scsi_lun_decode(uint64_t lun, uint32_t *ret_number)
{
	uint16_t first = (uint16_t)(lun >> 48);

	if (lun << 16)
		return false;
	if (first <= PERIPHERAL_MAX)
		*ret_number = first;
	else if (first >> 14 == 1)
		*ret_number = first & FLAT_MAX;
	else
		return false;
	return true;
}

uint64_t scsi_lun_encode(uint32_t number)
{
	uint64_t first = number <= PERIPHERAL_MAX ? number : 0x4000 | (number & FLAT_MAX);

	return first << 48;
}
