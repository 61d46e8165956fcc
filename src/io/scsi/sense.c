/* SPDX-License-Identifier: Apache-2.0 */
/* Sense data: written in fixed format, read in both formats (SPC-4 4.5). */
#include "io/scsi/sense.h"

#include <string.h>
#include "base/bytes.h"

enum { FIXED_CURRENT = 0x70, DESCRIPTOR_CURRENT = 0x72, VALID = 0x80 };

void scsi_sense_encode(const struct scsi_sense *sense, uint8_t ret_bytes[static SCSI_SENSE_BYTES])
{
	memset(ret_bytes, 0, SCSI_SENSE_BYTES);
	ret_bytes[0] = FIXED_CURRENT;
	ret_bytes[2] = sense->key;
	if (sense->has_lba && sense->lba <= UINT32_MAX) {
		ret_bytes[0] |= VALID;
		put_be32(ret_bytes + 3, (uint32_t)sense->lba);
	}
	ret_bytes[7] = SCSI_SENSE_BYTES - 8;
	put_be16(ret_bytes + 12, sense->code);
}

bool scsi_sense_decode(const uint8_t *bytes, size_t byte_count, struct scsi_sense *ret_sense)
{
	if (byte_count < 4)
		return false;

	uint8_t format = bytes[0] & 0x7e;

	*ret_sense = (struct scsi_sense){0};
	if (format == (DESCRIPTOR_CURRENT & 0x7e)) {
		ret_sense->key = bytes[1] & 0xf;
		ret_sense->code = get_be16(bytes + 2);
		return true;
	}
	if (format != (FIXED_CURRENT & 0x7e) || byte_count < 8)
		return false;
	ret_sense->key = bytes[2] & 0xf;
	ret_sense->has_lba = (bytes[0] & VALID) != 0;
	ret_sense->lba = ret_sense->has_lba ? get_be32(bytes + 3) : 0;
	if (byte_count >= 14)
		ret_sense->code = get_be16(bytes + 12);
	return true;
}
