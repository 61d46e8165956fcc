/* SPDX-License-Identifier: Apache-2.0 */
/* A logical unit: a disk of blocks, and the calls by which its owner keeps the blocks. */
#ifndef SOFTIB_IO_SCSI_DISK_H
#define SOFTIB_IO_SCSI_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCSI_BLOCK_BYTES = 512,
	SCSI_TRANSFER_BYTES_MAX = 1 << 20, /* of one READ, WRITE or VERIFY */
	SCSI_TRANSFER_BLOCKS_MAX = SCSI_TRANSFER_BYTES_MAX / SCSI_BLOCK_BYTES,
	SCSI_SAME_BLOCKS_MAX = 1 << 16, /* of one WRITE SAME without unmapping */
	SCSI_UNMAP_EXTENTS_MAX = 64,
	SCSI_SERIAL_BYTES = 20,
	SCSI_DISKS_MAX = 64,
};

/* Each returns 0 or a negative errno. All bytes are read or written, or it is an error. */
struct scsi_backend {
	int (*read)(void *context, uint64_t offset, uint8_t *ret_bytes, size_t byte_count);
	int (*write)(void *context, uint64_t offset, const uint8_t *bytes, size_t byte_count);
	/* The bytes read as zeros afterwards, and need no room. */
	int (*discard)(void *context, uint64_t offset, uint64_t byte_count);
	/* What was written is on the medium afterwards. */
	int (*synchronize)(void *context);
};

struct scsi_disk {
	uint64_t block_count; /* at least 1 */
	uint64_t identifier;  /* NAA designator, unique in the fabric */
	char serial[SCSI_SERIAL_BYTES + 1];
	bool is_read_only;
	const struct scsi_backend *backend;
	void *context;
};

#endif
