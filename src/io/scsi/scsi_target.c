/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a SCSI target: checks before the data, execution behind them. */
#include "io/scsi/scsi_target.h"

#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "io/scsi/inquiry.h"

enum operation_flag {
	WITHOUT_DISK = 1 << 0, /* also for a logical unit that is not there */
	NO_ATTENTION = 1 << 1, /* a unit attention waits for another command */
	MEDIUM = 1 << 2,       /* addresses blocks */
	WRITES = 1 << 3,
	DATA_IN = 1 << 4,      /* all its blocks */
	DATA_OUT = 1 << 5,     /* all its blocks */
	LENGTH_LIMIT = 1 << 6, /* at most SCSI_TRANSFER_BLOCKS_MAX blocks */
};

struct scsi_operation {
	uint8_t code;
	uint8_t flags;
	void (*execute)(const struct scsi_target *target, const struct scsi_work *work,
			uint8_t *data, struct scsi_answer *ret_answer);
};

static void fail(struct scsi_answer *answer, enum scsi_sense_key key, enum scsi_sense_code code)
{
	*answer = (struct scsi_answer){.status = SCSI_CHECK_CONDITION,
				       .sense = {.key = (uint8_t)key, .code = (uint16_t)code}};
}

static void fail_medium(struct scsi_answer *answer, const struct scsi_work *work, int error,
			enum scsi_sense_code code)
{
	if (error == -ENOSPC || error == -EDQUOT) {
		fail(answer, SCSI_DATA_PROTECT, SCSI_SPACE_ALLOCATION_FAILED);
		return;
	}
	fail(answer, SCSI_MEDIUM_ERROR, code);
	answer->sense.has_lba = true;
	answer->sense.lba = work->extent.lba;
}

/* Returns parameter data, cut to the allocation length and to the initiator's buffer. */
static void give(const struct scsi_parameters *parameters, uint64_t allocation,
		 const struct scsi_work *work, uint8_t *data, struct scsi_answer *answer)
{
	uint64_t byte_count = parameters->byte_count;

	if (byte_count > allocation)
		byte_count = allocation;
	if (byte_count > work->command->data_in_room)
		byte_count = work->command->data_in_room;
	memcpy(data, parameters->bytes, byte_count);
	answer->data_in_bytes = (uint32_t)byte_count;
}

static void execute_nothing(const struct scsi_target *target, const struct scsi_work *work,
			    uint8_t *data, struct scsi_answer *ret_answer)
{
	(void)target;
	(void)work;
	(void)data;
	(void)ret_answer;
}

static void execute_inquiry(const struct scsi_target *target, const struct scsi_work *work,
			    uint8_t *data, struct scsi_answer *ret_answer)
{
	const uint8_t *cdb = work->command->cdb;
	bool wants_page = cdb[1] & 1;
	struct scsi_parameters parameters;

	(void)target;
	if (cdb[1] & 2 || (!wants_page && cdb[2]) || (wants_page && !work->disk)) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
		return;
	}
	if (!wants_page)
		scsi_inquiry_standard(work->disk, &parameters);
	else if (!scsi_inquiry_page(work->disk, cdb[2], &parameters)) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
		return;
	}
	give(&parameters, get_be16(cdb + 3), work, data, ret_answer);
}

/* Sense data come with each status, so none are ever left. */
static void execute_request_sense(const struct scsi_target *target, const struct scsi_work *work,
				  uint8_t *data, struct scsi_answer *ret_answer)
{
	struct scsi_parameters parameters = {.byte_count = SCSI_SENSE_BYTES};
	struct scsi_sense sense = {.key = SCSI_NO_SENSE};

	(void)target;
	if (!work->disk)
		sense = (struct scsi_sense){.key = SCSI_ILLEGAL_REQUEST,
					    .code = SCSI_LUN_NOT_SUPPORTED};
	scsi_sense_encode(&sense, parameters.bytes);
	give(&parameters, work->command->cdb[4], work, data, ret_answer);
}

static void execute_report_luns(const struct scsi_target *target, const struct scsi_work *work,
				uint8_t *data, struct scsi_answer *ret_answer)
{
	const uint8_t *cdb = work->command->cdb;
	uint32_t allocation = get_be32(cdb + 6);
	struct scsi_parameters parameters = {.byte_count = 8};

	/* 1: the well-known logical units, of which there are none. */
	if (allocation < 16 || cdb[2] > 2) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
		return;
	}
	for (uint32_t index = 0; cdb[2] != 1 && index < target->disk_count; index++) {
		put_be64(parameters.bytes + parameters.byte_count, scsi_lun_encode(index));
		parameters.byte_count += 8;
	}
	put_be32(parameters.bytes, (uint32_t)parameters.byte_count - 8);
	give(&parameters, allocation, work, data, ret_answer);
}

static void execute_mode_sense(const struct scsi_target *target, const struct scsi_work *work,
			       uint8_t *data, struct scsi_answer *ret_answer)
{
	const uint8_t *cdb = work->command->cdb;
	bool is_short = cdb[0] == SCSI_MODE_SENSE_6;
	uint8_t control = cdb[2] >> 6;
	const struct scsi_mode_request request = {
		.header = is_short ? SCSI_MODE_HEADER_6 : SCSI_MODE_HEADER_10,
		.page = cdb[2] & 0x3f,
		.has_descriptor = !(cdb[1] & 1 << 3),
		.is_changeable = control == 1,
	};
	struct scsi_parameters parameters;

	(void)target;
	if (control == 3)
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_SAVING_NOT_SUPPORTED);
	else if ((cdb[3] && cdb[3] != 0xff) || !scsi_mode_pages(work->disk, &request, &parameters))
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
	else
		give(&parameters, is_short ? cdb[4] : get_be16(cdb + 7), work, data, ret_answer);
}

static void execute_capacity_10(const struct scsi_target *target, const struct scsi_work *work,
				uint8_t *data, struct scsi_answer *ret_answer)
{
	struct scsi_parameters parameters;

	(void)target;
	scsi_capacity_10(work->disk, &parameters);
	give(&parameters, parameters.byte_count, work, data, ret_answer);
}

static void execute_capacity_16(const struct scsi_target *target, const struct scsi_work *work,
				uint8_t *data, struct scsi_answer *ret_answer)
{
	const uint8_t *cdb = work->command->cdb;
	struct scsi_parameters parameters;

	(void)target;
	if ((cdb[1] & 0x1f) != SCSI_READ_CAPACITY_16_ACTION) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
		return;
	}
	scsi_capacity_16(work->disk, &parameters);
	give(&parameters, get_be32(cdb + 10), work, data, ret_answer);
}

static int synchronize(const struct scsi_disk *disk)
{
	return disk->backend->synchronize(disk->context);
}

static void execute_synchronize(const struct scsi_target *target, const struct scsi_work *work,
				uint8_t *data, struct scsi_answer *ret_answer)
{
	(void)target;
	(void)data;

	int error = work->disk->is_read_only ? 0 : synchronize(work->disk);

	if (error)
		fail_medium(ret_answer, work, error, SCSI_WRITE_ERROR);
}

/* A file has no motor. A unit that is stopped has its cache written. */
static void execute_start_stop(const struct scsi_target *target, const struct scsi_work *work,
			       uint8_t *data, struct scsi_answer *ret_answer)
{
	const uint8_t *cdb = work->command->cdb;

	if (cdb[4] >> 4 || cdb[4] & 2) /* power conditions; ejecting */
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
	else if (!(cdb[4] & 1))
		execute_synchronize(target, work, data, ret_answer);
}

static uint64_t extent_offset(const struct scsi_work *work)
{
	return work->extent.lba * SCSI_BLOCK_BYTES;
}

static size_t extent_bytes(const struct scsi_work *work)
{
	return (size_t)work->extent.block_count * SCSI_BLOCK_BYTES;
}

static void execute_read(const struct scsi_target *target, const struct scsi_work *work,
			 uint8_t *data, struct scsi_answer *ret_answer)
{
	const struct scsi_disk *disk = work->disk;
	size_t byte_count = extent_bytes(work);

	(void)target;

	int error = byte_count ? disk->backend->read(disk->context, extent_offset(work), data,
						     byte_count)
			       : 0;

	if (error)
		fail_medium(ret_answer, work, error, SCSI_UNRECOVERED_READ_ERROR);
	else
		ret_answer->data_in_bytes = (uint32_t)byte_count;
}

/* Reads the blocks and returns none of them. Comparing with data of the initiator is not supported.
 */
static void execute_verify(const struct scsi_target *target, const struct scsi_work *work,
			   uint8_t *data, struct scsi_answer *ret_answer)
{
	if (work->extent.flags & SCSI_FLAGS_BYTE_CHECK) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
		return;
	}
	execute_read(target, work, data, ret_answer);
	ret_answer->data_in_bytes = 0;
}

static void execute_write(const struct scsi_target *target, const struct scsi_work *work,
			  uint8_t *data, struct scsi_answer *ret_answer)
{
	const struct scsi_disk *disk = work->disk;
	size_t byte_count = extent_bytes(work);

	(void)target;

	int error = byte_count ? disk->backend->write(disk->context, extent_offset(work), data,
						      byte_count)
			       : 0;

	if (!error && work->extent.flags & SCSI_FLAG_FUA)
		error = synchronize(disk);
	if (error)
		fail_medium(ret_answer, work, error, SCSI_WRITE_ERROR);
}

/* Writes one block to all blocks of the extent; data has room for many copies of the block. */
static int write_copies(const struct scsi_work *work, uint8_t *data)
{
	const struct scsi_disk *disk = work->disk;
	uint64_t offset = extent_offset(work), rest = extent_bytes(work);
	size_t piece = rest < SCSI_TRANSFER_BYTES_MAX ? rest : SCSI_TRANSFER_BYTES_MAX;
	int error = 0;

	for (size_t at = SCSI_BLOCK_BYTES; at < piece; at += SCSI_BLOCK_BYTES)
		memcpy(data + at, data, SCSI_BLOCK_BYTES);
	while (rest && !error) {
		if (piece > rest)
			piece = rest;
		error = disk->backend->write(disk->context, offset, data, piece);
		offset += piece;
		rest -= piece;
	}
	return error;
}

static void execute_write_same(const struct scsi_target *target, const struct scsi_work *work,
			       uint8_t *data, struct scsi_answer *ret_answer)
{
	static const uint8_t zeros[SCSI_BLOCK_BYTES];
	const struct scsi_disk *disk = work->disk;
	int error;

	(void)target;
	if (!work->data_out_bytes)
		memset(data, 0, SCSI_BLOCK_BYTES);

	bool is_unmapped =
		work->extent.flags & SCSI_FLAG_UNMAP && memcmp(data, zeros, sizeof(zeros)) == 0;

	if (is_unmapped) {
		error = disk->backend->discard(disk->context, extent_offset(work),
					       (uint64_t)work->extent.block_count *
						       SCSI_BLOCK_BYTES);
	} else if (work->extent.block_count > SCSI_SAME_BLOCKS_MAX) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
		return;
	} else {
		error = write_copies(work, data);
	}
	if (error)
		fail_medium(ret_answer, work, error, SCSI_WRITE_ERROR);
}

static bool is_within(const struct scsi_disk *disk, uint64_t lba, uint64_t block_count)
{
	return lba <= disk->block_count && block_count <= disk->block_count - lba;
}

static void execute_unmap(const struct scsi_target *target, const struct scsi_work *work,
			  uint8_t *data, struct scsi_answer *ret_answer)
{
	const struct scsi_disk *disk = work->disk;
	uint32_t extent_count;
	int error = 0;

	(void)target;
	if (work->data_out_bytes < 8)
		return;
	extent_count = get_be16(data + 2) / 16;
	if (get_be16(data + 2) + 8u > work->data_out_bytes ||
	    extent_count > SCSI_UNMAP_EXTENTS_MAX) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_PARAMETERS);
		return;
	}
	/* All are checked before the first is unmapped. */
	for (uint32_t index = 0; index < extent_count; index++) {
		const uint8_t *extent = data + 8 + 16 * index;

		if (!is_within(disk, get_be64(extent), get_be32(extent + 8))) {
			fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_LBA_OUT_OF_RANGE);
			return;
		}
	}
	for (uint32_t index = 0; index < extent_count && !error; index++) {
		const uint8_t *extent = data + 8 + 16 * index;
		uint64_t byte_count = (uint64_t)get_be32(extent + 8) * SCSI_BLOCK_BYTES;

		if (byte_count)
			error = disk->backend->discard(
				disk->context, get_be64(extent) * SCSI_BLOCK_BYTES, byte_count);
	}
	if (error)
		fail_medium(ret_answer, work, error, SCSI_WRITE_ERROR);
}

enum {
	ALL_BLOCKS_IN = MEDIUM | DATA_IN | LENGTH_LIMIT,
	ALL_BLOCKS_OUT = MEDIUM | WRITES | DATA_OUT | LENGTH_LIMIT,
	EVEN_WITHOUT = WITHOUT_DISK | NO_ATTENTION,
};

static const struct scsi_operation operations[] = {
	{SCSI_TEST_UNIT_READY, 0, execute_nothing},
	{SCSI_REQUEST_SENSE, EVEN_WITHOUT, execute_request_sense},
	{SCSI_READ_6, ALL_BLOCKS_IN, execute_read},
	{SCSI_WRITE_6, ALL_BLOCKS_OUT, execute_write},
	{SCSI_INQUIRY, EVEN_WITHOUT, execute_inquiry},
	{SCSI_MODE_SENSE_6, 0, execute_mode_sense},
	{SCSI_START_STOP_UNIT, 0, execute_start_stop},
	{SCSI_READ_CAPACITY_10, 0, execute_capacity_10},
	{SCSI_READ_10, ALL_BLOCKS_IN, execute_read},
	{SCSI_WRITE_10, ALL_BLOCKS_OUT, execute_write},
	{SCSI_VERIFY_10, MEDIUM | LENGTH_LIMIT, execute_verify},
	{SCSI_SYNCHRONIZE_CACHE_10, MEDIUM, execute_synchronize},
	{SCSI_WRITE_SAME_10, MEDIUM | WRITES, execute_write_same},
	{SCSI_UNMAP, WRITES, execute_unmap},
	{SCSI_MODE_SENSE_10, 0, execute_mode_sense},
	{SCSI_READ_16, ALL_BLOCKS_IN, execute_read},
	{SCSI_WRITE_16, ALL_BLOCKS_OUT, execute_write},
	{SCSI_VERIFY_16, MEDIUM | LENGTH_LIMIT, execute_verify},
	{SCSI_SYNCHRONIZE_CACHE_16, MEDIUM, execute_synchronize},
	{SCSI_WRITE_SAME_16, MEDIUM | WRITES, execute_write_same},
	{SCSI_SERVICE_ACTION_IN_16, 0, execute_capacity_16},
	{SCSI_REPORT_LUNS, EVEN_WITHOUT, execute_report_luns},
	{SCSI_READ_12, ALL_BLOCKS_IN, execute_read},
	{SCSI_WRITE_12, ALL_BLOCKS_OUT, execute_write},
};

static const struct scsi_operation *find_operation(uint8_t code)
{
	for (unsigned index = 0; index < ARRAY_COUNT(operations); index++)
		if (operations[index].code == code)
			return &operations[index];
	return NULL;
}

/* How many bytes of data out the operation takes. */
static uint64_t data_out_wanted(const struct scsi_work *work)
{
	const uint8_t *cdb = work->command->cdb;

	if (work->operation->flags & DATA_OUT)
		return extent_bytes(work);
	switch (cdb[0]) {
	case SCSI_UNMAP:
		return get_be16(cdb + 7);
	case SCSI_WRITE_SAME_16:
		return cdb[1] & SCSI_FLAG_NO_DATA ? 0 : SCSI_BLOCK_BYTES;
	case SCSI_WRITE_SAME_10:
		return SCSI_BLOCK_BYTES;
	default:
		return 0;
	}
}

/* WRITE SAME of 0 blocks means all that are left. */
static void complete_extent(struct scsi_work *work)
{
	uint8_t code = work->operation->code;

	scsi_extent_decode(work->command->cdb, &work->extent);
	if ((code == SCSI_WRITE_SAME_10 || code == SCSI_WRITE_SAME_16) &&
	    !work->extent.block_count && work->extent.lba < work->disk->block_count) {
		uint64_t rest = work->disk->block_count - work->extent.lba;

		work->extent.block_count = rest < UINT32_MAX ? (uint32_t)rest : UINT32_MAX;
	}
}

static bool check_extent(const struct scsi_work *work, struct scsi_answer *ret_answer)
{
	const struct scsi_extent *extent = &work->extent;
	uint8_t flags = work->operation->flags;

	if (!is_within(work->disk, extent->lba, extent->block_count)) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_LBA_OUT_OF_RANGE);
		ret_answer->sense.has_lba = true;
		ret_answer->sense.lba = extent->lba;
		return false;
	}
	if (extent->flags & SCSI_FLAGS_PROTECT ||
	    (flags & LENGTH_LIMIT && extent->block_count > SCSI_TRANSFER_BLOCKS_MAX) ||
	    (flags & DATA_IN && extent_bytes(work) > work->command->data_in_room)) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_FIELD_IN_CDB);
		return false;
	}
	return true;
}

const struct scsi_disk *scsi_target_find(const struct scsi_target *target, uint64_t lun,
					 uint32_t *ret_index)
{
	uint32_t index;

	if (!scsi_lun_decode(lun, &index) || index >= target->disk_count)
		return NULL;
	*ret_index = index;
	return &target->disks[index];
}

/* The logical unit, and what its initiator has to hear first. */
static bool check_unit(const struct scsi_target *target, struct scsi_nexus *nexus,
		       struct scsi_work *work, struct scsi_answer *ret_answer)
{
	uint32_t index = 0;

	work->disk = scsi_target_find(target, work->command->lun, &index);
	if (!work->disk) {
		if (work->operation && work->operation->flags & WITHOUT_DISK)
			return true;
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_LUN_NOT_SUPPORTED);
		return false;
	}
	if (nexus->attention[index] &&
	    !(work->operation && work->operation->flags & NO_ATTENTION)) {
		fail(ret_answer, SCSI_UNIT_ATTENTION,
		     (enum scsi_sense_code)nexus->attention[index]);
		nexus->attention[index] = 0;
		return false;
	}
	return true;
}

bool scsi_prepare(const struct scsi_target *target, struct scsi_nexus *nexus,
		  const struct scsi_command *command, struct scsi_work *ret_work,
		  struct scsi_answer *ret_answer)
{
	*ret_answer = (struct scsi_answer){.status = SCSI_GOOD};
	*ret_work = (struct scsi_work){.command = command,
				       .operation = find_operation(command->cdb[0])};
	if (!check_unit(target, nexus, ret_work, ret_answer))
		return false;
	if (!ret_work->operation) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST, SCSI_INVALID_OPERATION_CODE);
		return false;
	}
	if (ret_work->operation->flags & MEDIUM) {
		complete_extent(ret_work);
		if (!check_extent(ret_work, ret_answer))
			return false;
	}
	if (ret_work->operation->flags & WRITES && ret_work->disk->is_read_only) {
		fail(ret_answer, SCSI_DATA_PROTECT, SCSI_WRITE_PROTECTED);
		return false;
	}

	uint64_t wanted = data_out_wanted(ret_work);

	if (wanted > command->data_out_bytes) {
		fail(ret_answer, SCSI_ILLEGAL_REQUEST,
		     command->cdb[0] == SCSI_UNMAP ? SCSI_PARAMETER_LIST_LENGTH_ERROR
						   : SCSI_INVALID_FIELD_IN_CDB);
		return false;
	}
	ret_work->data_out_bytes = (uint32_t)wanted;
	return true;
}

void scsi_execute(const struct scsi_target *target, const struct scsi_work *work, uint8_t *data,
		  struct scsi_answer *ret_answer)
{
	*ret_answer = (struct scsi_answer){.status = SCSI_GOOD};
	work->operation->execute(target, work, data, ret_answer);
}
