/* SPDX-License-Identifier: Apache-2.0 */
/* nbdkit-softib-srp-plugin.so: a disk of an SRP target as a network block device. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "base/bytes.h"
#include "io/nbdkit/srp_session.h"
#include "io/scsi/cdb.h"
#include "io/scsi/disk.h"
#include "io/scsi/sense.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

enum { TIMEOUT_MS_USUAL = 30000, LUN_MAX = 0x3fff, PARAMETER_BYTES = 64, TRIES = 3 };

static struct {
	struct srp_target_text target;
	bool has_target;
	uint64_t lun;
	int timeout_ms;
	struct srp_session session;
	bool has_session;
	uint64_t block_count;
	bool is_read_only;
	bool can_unmap;
	uint32_t transfer_blocks_max;
} plugin = {.timeout_ms = TIMEOUT_MS_USUAL};

static int srp_config(const char *key, const char *value)
{
	const char *problem;
	unsigned number;

	if (strcmp(key, "target") == 0) {
		if (!srp_target_text_read(value, &plugin.target, &problem)) {
			nbdkit_error("target: %s is missing or wrong", problem);
			return -1;
		}
		plugin.has_target = true;
		return 0;
	}
	if (strcmp(key, "lun") == 0) {
		if (nbdkit_parse_unsigned("lun", value, &number) != 0)
			return -1;
		if (number > LUN_MAX) {
			nbdkit_error("lun is at most %d", LUN_MAX);
			return -1;
		}
		plugin.lun = scsi_lun_encode(number);
		return 0;
	}
	if (strcmp(key, "timeout") == 0) {
		if (nbdkit_parse_unsigned("timeout", value, &number) != 0)
			return -1;
		if (!number || number > 3600) {
			nbdkit_error("timeout is 1 to 3600 seconds");
			return -1;
		}
		plugin.timeout_ms = (int)number * 1000;
		return 0;
	}
	nbdkit_error("unknown parameter \"%s\"", key);
	return -1;
}

static int srp_config_complete(void)
{
	if (plugin.has_target)
		return 0;
	nbdkit_error("target=id_ext=...,ioc_guid=...,dgid=...,pkey=...,service_id=... is needed; "
		     "ibsrpdm -c prints it");
	return -1;
}

#define srp_config_help                                                                            \
	"target=TEXT    (required) The target, as \"ibsrpdm -c\" prints it.\n"                     \
	"lun=N          Number of the logical unit, default 0.\n"                                  \
	"timeout=N      Seconds until a command or login has failed, default 30."

/* What a failed command means for its caller. */
static int errno_of(const struct srp_response *response)
{
	struct scsi_sense sense;

	if (response->rsp.status != SCSI_CHECK_CONDITION ||
	    !scsi_sense_decode(response->sense, response->sense_byte_count, &sense))
		return EIO;
	if (sense.code == SCSI_SPACE_ALLOCATION_FAILED)
		return ENOSPC;
	if (sense.key == SCSI_DATA_PROTECT)
		return EROFS;
	return sense.key == SCSI_ILLEGAL_REQUEST ? EINVAL : EIO;
}

/* Whether the command should be repeated: the target only had to say something first. */
static bool is_attention(const struct srp_response *response)
{
	struct scsi_sense sense;

	return response->rsp.status == SCSI_TASK_ABORTED || response->rsp.status == SCSI_BUSY ||
	       response->rsp.status == SCSI_TASK_SET_FULL ||
	       (response->rsp.status == SCSI_CHECK_CONDITION &&
		scsi_sense_decode(response->sense, response->sense_byte_count, &sense) &&
		sense.key == SCSI_UNIT_ATTENTION);
}

/* 0, or -1 with errno; *ret_byte_count: of data in that came. */
static int command(struct srp_request *request, const struct session_data *data,
		   uint32_t *ret_byte_count)
{
	struct srp_response response;

	request->lun = plugin.lun;
	for (int tries = 0; tries < TRIES; tries++) {
		int error = srp_session_command(&plugin.session, request, data, &response);

		if (error) {
			errno = error == -ETIMEDOUT ? ETIMEDOUT : EIO;
			return -1;
		}
		if (!is_attention(&response))
			break;
	}
	if (response.rsp.status != SCSI_GOOD) {
		errno = errno_of(&response);
		return -1;
	}
	if (ret_byte_count) {
		uint32_t missing =
			response.rsp.flags & SRP_RSP_IN_UNDER ? response.rsp.in_residual : 0;

		*ret_byte_count = missing < data->byte_count ? data->byte_count - missing : 0;
	}
	return 0;
}

/* A command that returns parameter data. */
static int ask(const uint8_t cdb[static SCSI_CDB_BYTES], uint8_t *ret_bytes, uint32_t byte_count,
	       uint32_t *ret_byte_count)
{
	struct srp_request request = {.direction = SRP_DATA_IN};
	const struct session_data data = {ret_bytes, byte_count};

	memcpy(request.cdb, cdb, SCSI_CDB_BYTES);
	return command(&request, &data, ret_byte_count);
}

static int read_capacity(void)
{
	const uint8_t cdb[SCSI_CDB_BYTES] = {SCSI_SERVICE_ACTION_IN_16,
					     SCSI_READ_CAPACITY_16_ACTION, [13] = 32};
	uint8_t bytes[PARAMETER_BYTES];
	uint32_t byte_count;

	if (ask(cdb, bytes, 32, &byte_count) != 0)
		return -1;
	plugin.block_count = get_be64(bytes) + 1;
	plugin.can_unmap = bytes[14] >> 7;
	if (byte_count < 32 || get_be32(bytes + 8) != SCSI_BLOCK_BYTES || !plugin.block_count ||
	    plugin.block_count > INT64_MAX / SCSI_BLOCK_BYTES) {
		nbdkit_error("the disk has no blocks of %d bytes", SCSI_BLOCK_BYTES);
		errno = EINVAL;
		return -1;
	}
	return 0;
}

/* The write protect bit of the mode parameter header, and the longest transfer of VPD page B0. */
static int read_limits(void)
{
	const uint8_t mode[SCSI_CDB_BYTES] = {SCSI_MODE_SENSE_6, 1 << 3, 0x3f, 0, PARAMETER_BYTES};
	const uint8_t page[SCSI_CDB_BYTES] = {SCSI_INQUIRY, 1, 0xb0, 0, PARAMETER_BYTES};
	uint8_t bytes[PARAMETER_BYTES];
	uint32_t byte_count;

	if (ask(mode, bytes, sizeof(bytes), &byte_count) != 0)
		return -1;
	plugin.is_read_only = byte_count >= 4 && bytes[2] >> 7;
	plugin.transfer_blocks_max = SCSI_TRANSFER_BLOCKS_MAX;
	if (ask(page, bytes, sizeof(bytes), &byte_count) == 0 && byte_count >= 12 &&
	    get_be32(bytes + 8) && get_be32(bytes + 8) < plugin.transfer_blocks_max)
		plugin.transfer_blocks_max = get_be32(bytes + 8);
	return 0;
}

/* Behind the fork: a child has no verbs of its parent. */
static int srp_after_fork(void)
{
	const char *problem;

	if (srp_session_open(&plugin.session, &plugin.target, plugin.timeout_ms, &problem) != 0) {
		nbdkit_error("cannot log in to the target: %s", problem);
		return -1;
	}
	plugin.has_session = true;
	if (read_capacity() != 0 || read_limits() != 0) {
		nbdkit_error("cannot read the capacity of the disk: %m");
		return -1;
	}
	nbdkit_debug("disk of %" PRIu64 " blocks%s", plugin.block_count,
		     plugin.is_read_only ? ", read-only" : "");
	return 0;
}

static void srp_cleanup(void)
{
	if (plugin.has_session)
		srp_session_close(&plugin.session);
	plugin.has_session = false;
}

static void *srp_open(int readonly)
{
	(void)readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t srp_get_size(void *handle)
{
	(void)handle;
	return (int64_t)(plugin.block_count * SCSI_BLOCK_BYTES);
}

static int srp_can_write(void *handle)
{
	(void)handle;
	return !plugin.is_read_only;
}

static int srp_can_trim(void *handle)
{
	(void)handle;
	return plugin.can_unmap;
}

static int srp_can_fua(void *handle)
{
	(void)handle;
	return NBDKIT_FUA_NATIVE;
}

/* All connections of clients share one channel and one cache, which is the target's. */
static int srp_can_multi_conn(void *handle)
{
	(void)handle;
	return 1;
}

static int srp_block_size(void *handle, uint32_t *minimum, uint32_t *preferred, uint32_t *maximum)
{
	(void)handle;
	*minimum = SCSI_BLOCK_BYTES;
	*preferred = 4096;
	*maximum = UINT32_MAX;
	return 0;
}

/* Requests within blocks come only from clients that ignore the block size. */
static bool check_blocks(uint64_t offset, uint64_t byte_count)
{
	if (offset % SCSI_BLOCK_BYTES == 0 && byte_count % SCSI_BLOCK_BYTES == 0)
		return true;
	nbdkit_error("offset and length must be multiples of %d", SCSI_BLOCK_BYTES);
	nbdkit_set_error(EINVAL);
	return false;
}

/* Reads or writes in pieces that the target takes. */
static int transfer(enum scsi_operation_code operation, uint8_t *bytes, uint32_t byte_count,
		    uint64_t offset, uint8_t flags)
{
	uint32_t piece_max = plugin.transfer_blocks_max * SCSI_BLOCK_BYTES;

	if (!check_blocks(offset, byte_count))
		return -1;
	while (byte_count) {
		uint32_t piece = byte_count < piece_max ? byte_count : piece_max;
		const struct scsi_extent extent = {.lba = offset / SCSI_BLOCK_BYTES,
						   .block_count = piece / SCSI_BLOCK_BYTES,
						   .flags = flags};
		const struct session_data data = {bytes, piece};
		struct srp_request request = {
			.direction = operation == SCSI_READ_16 ? SRP_DATA_IN : SRP_DATA_OUT};
		uint32_t came = piece;

		scsi_extent_encode(operation, &extent, request.cdb);
		if (command(&request, &data, operation == SCSI_READ_16 ? &came : NULL) != 0 ||
		    came != piece) {
			nbdkit_error("SCSI command of %u bytes at %" PRIu64 ": %m", piece, offset);
			nbdkit_set_error(errno ? errno : EIO);
			return -1;
		}
		bytes += piece;
		offset += piece;
		byte_count -= piece;
	}
	return 0;
}

static int srp_pread(void *handle, void *buf, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	(void)flags;
	return transfer(SCSI_READ_16, buf, count, offset, 0);
}

static int srp_pwrite(void *handle, const void *buf, uint32_t count, uint64_t offset,
		      uint32_t flags)
{
	(void)handle;
	/* The region of a write is only read. */
	return transfer(SCSI_WRITE_16, (uint8_t *)(uintptr_t)buf, count, offset,
			flags & NBDKIT_FLAG_FUA ? SCSI_FLAG_FUA : 0);
}

static int fail(const char *what)
{
	nbdkit_error("%s: %m", what);
	nbdkit_set_error(errno);
	return -1;
}

static int srp_flush(void *handle, uint32_t flags)
{
	const struct scsi_extent all = {0};
	struct srp_request request = {.direction = SRP_NO_DATA};

	(void)handle;
	(void)flags;
	scsi_extent_encode(SCSI_SYNCHRONIZE_CACHE_16, &all, request.cdb);
	return command(&request, NULL, NULL) == 0 ? 0 : fail("SYNCHRONIZE CACHE");
}

static int srp_trim(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	struct srp_request request = {.direction = SRP_DATA_OUT, .cdb = {SCSI_UNMAP, [8] = 24}};
	uint8_t list[24] = {0};
	const struct session_data data = {list, sizeof(list)};

	if (!check_blocks(offset, count))
		return -1;
	put_be16(list, sizeof(list) - 2);
	put_be16(list + 2, 16);
	put_be64(list + 8, offset / SCSI_BLOCK_BYTES);
	put_be32(list + 16, count / SCSI_BLOCK_BYTES);
	if (command(&request, &data, NULL) != 0)
		return fail("UNMAP");
	return flags & NBDKIT_FLAG_FUA ? srp_flush(handle, 0) : 0;
}

/* One zeroed block for all, by WRITE SAME. */
static int srp_zero(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	const uint32_t blocks_max = SCSI_SAME_BLOCKS_MAX;
	uint32_t left = count / SCSI_BLOCK_BYTES;
	uint64_t lba = offset / SCSI_BLOCK_BYTES;

	if (!check_blocks(offset, count))
		return -1;
	while (left) {
		uint8_t zeros[SCSI_BLOCK_BYTES] = {0};
		const struct session_data data = {zeros, sizeof(zeros)};
		const struct scsi_extent extent = {
			.lba = lba,
			.block_count = left < blocks_max ? left : blocks_max,
			.flags = flags & NBDKIT_FLAG_MAY_TRIM ? SCSI_FLAG_UNMAP : 0};
		struct srp_request request = {.direction = SRP_DATA_OUT};

		scsi_extent_encode(SCSI_WRITE_SAME_16, &extent, request.cdb);
		if (command(&request, &data, NULL) != 0)
			return fail("WRITE SAME");
		lba += extent.block_count;
		left -= extent.block_count;
	}
	return flags & NBDKIT_FLAG_FUA ? srp_flush(handle, 0) : 0;
}

static struct nbdkit_plugin description = {
	.name = "softib-srp",
	.longname = "nbdkit softib SRP plugin",
	.description = "A disk of an SRP target on a softib fabric",
	.config = srp_config,
	.config_complete = srp_config_complete,
	.config_help = srp_config_help,
	.magic_config_key = "target",
	.after_fork = srp_after_fork,
	.cleanup = srp_cleanup,
	.open = srp_open,
	.get_size = srp_get_size,
	.can_write = srp_can_write,
	.can_trim = srp_can_trim,
	.can_fua = srp_can_fua,
	.can_multi_conn = srp_can_multi_conn,
	.block_size = srp_block_size,
	.pread = srp_pread,
	.pwrite = srp_pwrite,
	.flush = srp_flush,
	.trim = srp_trim,
	.zero = srp_zero,
	.errno_is_preserved = 1,
};

/* The macro defines this function without declaring it. */
NBDKIT_DLL_PUBLIC struct nbdkit_plugin *plugin_init(void);

NBDKIT_REGISTER_PLUGIN(description)
