/* SPDX-License-Identifier: Apache-2.0 */
/* Disks whose blocks are in files or block devices of this machine. */
#ifndef SOFTIB_IO_TARGET_FILE_DISK_H
#define SOFTIB_IO_TARGET_FILE_DISK_H

#include <stdint.h>
#include "base/attributes.h"
#include "io/scsi/disk.h"

/* Opens "PATH" or "PATH,ro". A rest of less than a block at the end of the file is not part of the
 * disk. Returns 0 or a negative errno; -ENODATA: the file has no block. */
MUST_USE int file_disk_open(const char *text, uint64_t identifier, struct scsi_disk *ret_disk);
void file_disk_close(struct scsi_disk *disk);

#endif
