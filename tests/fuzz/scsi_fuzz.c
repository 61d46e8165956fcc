/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: CDBs and parameter lists that an initiator sends to a SCSI target, and sense data
 * that it gets. */
#include "fuzz/fuzz.h"

#include <string.h>
#include "io/scsi/scsi_target.h"

enum { BLOCKS = 3000 };

static uint8_t data[SCSI_TRANSFER_BYTES_MAX];

static void must_be_inside(uint64_t offset, uint64_t byte_count)
{
	const uint64_t end = (uint64_t)BLOCKS * SCSI_BLOCK_BYTES;

	MUST_HOLD(offset <= end && byte_count <= end - offset);
}

static int read_nothing(void *context, uint64_t offset, uint8_t *ret_bytes, size_t byte_count)
{
	(void)context;
	must_be_inside(offset, byte_count);
	MUST_HOLD(byte_count <= sizeof(data));
	ret_bytes[byte_count - 1] = 0;
	return 0;
}

static int write_nothing(void *context, uint64_t offset, const uint8_t *bytes, size_t byte_count)
{
	(void)context;
	must_be_inside(offset, byte_count);
	MUST_HOLD(byte_count <= sizeof(data));
	return bytes[byte_count - 1] == 0x55 ? -1 : 0;
}

static int discard_nothing(void *context, uint64_t offset, uint64_t byte_count)
{
	(void)context;
	must_be_inside(offset, byte_count);
	return 0;
}

static int synchronize_nothing(void *context)
{
	(void)context;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct scsi_backend backend = {read_nothing, write_nothing, discard_nothing,
						    synchronize_nothing};
	static struct scsi_target target = {
		.disk_count = 1,
		.disks = {{.block_count = BLOCKS, .serial = "F", .backend = &backend}}};
	struct scsi_nexus nexus = {{0}};
	struct scsi_command command = {0};
	struct scsi_answer answer;
	struct scsi_sense sense;
	struct scsi_work work;

	if (scsi_sense_decode(bytes, byte_count, &sense))
		MUST_HOLD(sense.key <= 0xf);
	if (byte_count < SCSI_CDB_BYTES + 4)
		return 0;
	memcpy(command.cdb, bytes, SCSI_CDB_BYTES);
	command.lun = bytes[16] & 1 ? 0 : (uint64_t)bytes[16] << 48;
	command.data_in_room = (uint64_t)bytes[17] << 9;
	command.data_out_bytes = (uint64_t)bytes[18] << 9;
	/* The blocks of half of the inputs are near the disk. */
	if (bytes[19] & 1)
		memset(command.cdb + 2, 0, 6);
	byte_count -= SCSI_CDB_BYTES + 4;
	if (byte_count > sizeof(data))
		byte_count = sizeof(data);
	if (byte_count)
		memcpy(data, bytes + SCSI_CDB_BYTES + 4, byte_count);
	if (scsi_prepare(&target, &nexus, &command, &work, &answer)) {
		MUST_HOLD(work.data_out_bytes <= command.data_out_bytes);
		MUST_HOLD(work.data_out_bytes <= sizeof(data));
		scsi_execute(&target, &work, data, &answer);
	}
	MUST_HOLD(answer.data_in_bytes <= command.data_in_room);
	return 0;
}
