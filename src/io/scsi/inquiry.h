/* SPDX-License-Identifier: Apache-2.0 */
/* What a disk says of itself: INQUIRY data, vital product data, mode pages, capacity. */
#ifndef SOFTIB_IO_SCSI_INQUIRY_H
#define SOFTIB_IO_SCSI_INQUIRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "io/scsi/disk.h"

enum { SCSI_PARAMETER_BYTES_MAX = 1024 };

/* Parameter data that a command returns. */
struct scsi_parameters {
	size_t byte_count;
	uint8_t bytes[SCSI_PARAMETER_BYTES_MAX];
};

/* disk NULL: no such logical unit. */
void scsi_inquiry_standard(const struct scsi_disk *disk, struct scsi_parameters *ret_parameters);
/* False: there is no such page. */
MUST_USE bool scsi_inquiry_page(const struct scsi_disk *disk, uint8_t page,
				struct scsi_parameters *ret_parameters);

enum scsi_mode_header { SCSI_MODE_HEADER_6 = 4, SCSI_MODE_HEADER_10 = 8 };
struct scsi_mode_request {
	enum scsi_mode_header header;
	uint8_t page;	     /* 0x3f: all */
	bool has_descriptor; /* of the block size */
	bool is_changeable;  /* which bits can be changed: none */
};
MUST_USE bool scsi_mode_pages(const struct scsi_disk *disk, const struct scsi_mode_request *request,
			      struct scsi_parameters *ret_parameters);

void scsi_capacity_10(const struct scsi_disk *disk, struct scsi_parameters *ret_parameters);
void scsi_capacity_16(const struct scsi_disk *disk, struct scsi_parameters *ret_parameters);

#endif
