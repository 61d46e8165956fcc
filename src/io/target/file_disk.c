/* SPDX-License-Identifier: Apache-2.0 */
/* A file as the medium of a disk: pread, pwrite, fallocate, fdatasync. */
#include "io/target/file_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int file_of(const void *context)
{
	return (int)(intptr_t)context;
}

static int read_file(void *context, uint64_t offset, uint8_t *ret_bytes, size_t byte_count)
{
	while (byte_count) {
		ssize_t count = pread(file_of(context), ret_bytes, byte_count, (off_t)offset);

		if (count < 0 && errno == EINTR)
			continue;
		/* 0: somebody cut the file. */
		if (count <= 0)
			return count < 0 ? -errno : -EIO;
		ret_bytes += count;
		offset += (uint64_t)count;
		byte_count -= (size_t)count;
	}
	return 0;
}

static int write_file(void *context, uint64_t offset, const uint8_t *bytes, size_t byte_count)
{
	while (byte_count) {
		ssize_t count = pwrite(file_of(context), bytes, byte_count, (off_t)offset);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return count < 0 ? -errno : -EIO;
		bytes += count;
		offset += (uint64_t)count;
		byte_count -= (size_t)count;
	}
	return 0;
}

static int write_zeros(void *context, uint64_t offset, uint64_t byte_count)
{
	static const uint8_t zeros[1 << 16];
	int error = 0;

	while (byte_count && !error) {
		size_t piece = byte_count < sizeof(zeros) ? byte_count : sizeof(zeros);

		error = write_file(context, offset, zeros, piece);
		offset += piece;
		byte_count -= piece;
	}
	return error;
}

static int discard_file(void *context, uint64_t offset, uint64_t byte_count)
{
	if (fallocate(file_of(context), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
		      (off_t)byte_count) == 0)
		return 0;
	/* A file system without holes: the blocks must read as zeros all the same. */
	return errno == EOPNOTSUPP ? write_zeros(context, offset, byte_count) : -errno;
}

static int synchronize_file(void *context)
{
	return fdatasync(file_of(context)) == 0 ? 0 : -errno;
}

static const struct scsi_backend file_backend = {
	.read = read_file,
	.write = write_file,
	.discard = discard_file,
	.synchronize = synchronize_file,
};

static int open_path(const char *path, uint64_t identifier, bool is_read_only,
		     struct scsi_disk *ret_disk)
{
	int file = open(path, (is_read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);

	if (file < 0)
		return -errno;

	/* Of a block device, too. */
	off_t byte_count = lseek(file, 0, SEEK_END);

	if (byte_count < SCSI_BLOCK_BYTES) {
		int error = byte_count < 0 ? -errno : -ENODATA;

		close(file);
		return error;
	}
	*ret_disk = (struct scsi_disk){
		.block_count = (uint64_t)byte_count / SCSI_BLOCK_BYTES,
		.identifier = identifier,
		.is_read_only = is_read_only,
		.backend = &file_backend,
		.context = (void *)(intptr_t)file,
	};
	snprintf(ret_disk->serial, sizeof(ret_disk->serial), "%016" PRIx64, identifier);
	return 0;
}

int file_disk_open(const char *text, uint64_t identifier, struct scsi_disk *ret_disk)
{
	char *path = strdup(text);
	char *option = path ? strrchr(path, ',') : NULL;
	bool is_read_only = option && strcmp(option, ",ro") == 0;

	if (!path)
		return -ENOMEM;
	if (is_read_only)
		*option = 0;

	int error = open_path(path, identifier, is_read_only, ret_disk);

	free(path);
	return error;
}

void file_disk_close(struct scsi_disk *disk)
{
	close(file_of(disk->context));
	disk->context = (void *)(intptr_t)-1;
}
