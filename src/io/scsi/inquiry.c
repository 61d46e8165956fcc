/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter data of a disk (SPC-4 6.4, 7.5, 7.8; SBC-3 5.12, 6.5). */
#include "io/scsi/inquiry.h"

#include <string.h>
#include "base/bytes.h"

static const char vendor[8] = "SOFTIB  ";
static const char product[16] = "SRP DISK        ";
static const char revision[4] = "1   ";

enum {
	NO_DEVICE = 0x7f, /* peripheral qualifier 3, type 31 */
	VERSION_SPC_4 = 6,
	RESPONSE_FORMAT = 2,
	COMMAND_QUEUING = 1 << 1,
	STANDARD_BYTES = 66,
	PAGE_HEADER_BYTES = 4,
	LIMITS_BYTES = 64,
	PROVISIONING_BYTES = 8,
	UNMAP_GRANULARITY = 4096 / SCSI_BLOCK_BYTES,
};

/* Version descriptors: SAM-5, SRP, SPC-4, SBC-3. */
static const uint16_t standards[] = {0x00a0, 0x0940, 0x0460, 0x04c0};

void scsi_inquiry_standard(const struct scsi_disk *disk, struct scsi_parameters *ret_parameters)
{
	uint8_t *bytes = ret_parameters->bytes;

	memset(bytes, 0, STANDARD_BYTES);
	bytes[0] = disk ? 0 : NO_DEVICE;
	bytes[2] = VERSION_SPC_4;
	bytes[3] = RESPONSE_FORMAT;
	bytes[4] = STANDARD_BYTES - 5;
	bytes[7] = COMMAND_QUEUING;
	memcpy(bytes + 8, vendor, sizeof(vendor));
	memcpy(bytes + 16, product, sizeof(product));
	memcpy(bytes + 32, revision, sizeof(revision));
	for (unsigned index = 0; index < ARRAY_COUNT(standards); index++)
		put_be16(bytes + 58 + 2 * index, standards[index]);
	ret_parameters->byte_count = STANDARD_BYTES;
}

static void put_serial(const struct scsi_disk *disk, struct scsi_parameters *parameters)
{
	size_t length = strlen(disk->serial);

	memcpy(parameters->bytes + PAGE_HEADER_BYTES, disk->serial, length);
	parameters->byte_count = PAGE_HEADER_BYTES + length;
}

/* A locally assigned NAA identifier, and vendor and serial number as text. */
static void put_designators(const struct scsi_disk *disk, struct scsi_parameters *parameters)
{
	uint8_t *bytes = parameters->bytes + PAGE_HEADER_BYTES;
	size_t length = strlen(disk->serial);

	bytes[0] = 1; /* binary */
	bytes[1] = 3; /* NAA, of the logical unit */
	bytes[3] = 8;
	put_be64(bytes + 4, disk->identifier);
	bytes += 12;
	bytes[0] = 2; /* text */
	bytes[1] = 1; /* begins with the vendor */
	bytes[3] = (uint8_t)(sizeof(vendor) + length);
	memcpy(bytes + 4, vendor, sizeof(vendor));
	memcpy(bytes + 4 + sizeof(vendor), disk->serial, length);
	bytes += 4 + sizeof(vendor) + length;
	parameters->byte_count = (size_t)(bytes - parameters->bytes);
}

static void put_limits(struct scsi_parameters *parameters)
{
	uint8_t *bytes = parameters->bytes;

	put_be16(bytes + 6, UNMAP_GRANULARITY);
	put_be32(bytes + 8, SCSI_TRANSFER_BLOCKS_MAX);
	put_be32(bytes + 12, SCSI_TRANSFER_BLOCKS_MAX);
	put_be32(bytes + 20, UINT32_MAX);
	put_be32(bytes + 24, SCSI_UNMAP_EXTENTS_MAX);
	put_be32(bytes + 28, UNMAP_GRANULARITY);
	put_be64(bytes + 36, SCSI_SAME_BLOCKS_MAX);
	parameters->byte_count = LIMITS_BYTES;
}

/* UNMAP and WRITE SAME unmap; unmapped blocks read as zeros. */
static void put_provisioning(struct scsi_parameters *parameters)
{
	parameters->bytes[5] = 1 << 7 | 1 << 6 | 1 << 5 | 1 << 2;
	parameters->bytes[6] = 2; /* thin */
	parameters->byte_count = PROVISIONING_BYTES;
}

bool scsi_inquiry_page(const struct scsi_disk *disk, uint8_t page,
		       struct scsi_parameters *ret_parameters)
{
	static const uint8_t pages[] = {0x00, 0x80, 0x83, 0xb0, 0xb2};

	memset(ret_parameters->bytes, 0, sizeof(ret_parameters->bytes));
	switch (page) {
	case 0x00:
		memcpy(ret_parameters->bytes + PAGE_HEADER_BYTES, pages, sizeof(pages));
		ret_parameters->byte_count = PAGE_HEADER_BYTES + sizeof(pages);
		break;
	case 0x80:
		put_serial(disk, ret_parameters);
		break;
	case 0x83:
		put_designators(disk, ret_parameters);
		break;
	case 0xb0:
		put_limits(ret_parameters);
		break;
	case 0xb2:
		put_provisioning(ret_parameters);
		break;
	default:
		return false;
	}
	ret_parameters->bytes[1] = page;
	put_be16(ret_parameters->bytes + 2,
		 (uint16_t)(ret_parameters->byte_count - PAGE_HEADER_BYTES));
	return true;
}

enum { CACHING_PAGE = 0x08, CONTROL_PAGE = 0x0a, ALL_PAGES = 0x3f };

/* What was written may be lost until SYNCHRONIZE CACHE; commands that another initiator aborted end
 * with TASK ABORTED. */
static const uint8_t caching_page[20] = {CACHING_PAGE, 18, 1 << 2};
static const uint8_t control_page[12] = {CONTROL_PAGE, 10, 0, 1 << 4, 0, 1 << 6};

static void add_page(const uint8_t *page, size_t byte_count, bool is_changeable,
		     struct scsi_parameters *parameters)
{
	uint8_t *end = parameters->bytes + parameters->byte_count;

	/* Nothing can be changed, so that mask is zeros behind the two bytes of the page's header.
	 */
	memcpy(end, page, is_changeable ? 2 : byte_count);
	parameters->byte_count += byte_count;
}

static void add_descriptor(const struct scsi_disk *disk, struct scsi_parameters *parameters)
{
	uint8_t *end = parameters->bytes + parameters->byte_count;
	bool fits = disk->block_count <= UINT32_MAX;

	put_be32(end, fits ? (uint32_t)disk->block_count : UINT32_MAX);
	put_be32(end + 4, SCSI_BLOCK_BYTES);
	parameters->byte_count += 8;
}

bool scsi_mode_pages(const struct scsi_disk *disk, const struct scsi_mode_request *request,
		     struct scsi_parameters *ret_parameters)
{
	const uint8_t device = (uint8_t)((disk->is_read_only ? 1 << 7 : 0) | 1 << 4); /* FUA */
	uint8_t page = request->page;

	if (page != CACHING_PAGE && page != CONTROL_PAGE && page != ALL_PAGES)
		return false;
	memset(ret_parameters->bytes, 0, sizeof(ret_parameters->bytes));
	ret_parameters->byte_count = request->header;
	if (request->has_descriptor)
		add_descriptor(disk, ret_parameters);
	if (page != CONTROL_PAGE)
		add_page(caching_page, sizeof(caching_page), request->is_changeable,
			 ret_parameters);
	if (page != CACHING_PAGE)
		add_page(control_page, sizeof(control_page), request->is_changeable,
			 ret_parameters);

	uint8_t *bytes = ret_parameters->bytes;

	if (request->header == SCSI_MODE_HEADER_6) {
		bytes[0] = (uint8_t)(ret_parameters->byte_count - 1);
		bytes[2] = device;
		bytes[3] = request->has_descriptor ? 8 : 0;
	} else {
		put_be16(bytes, (uint16_t)(ret_parameters->byte_count - 2));
		bytes[3] = device;
		bytes[7] = request->has_descriptor ? 8 : 0;
	}
	return true;
}

void scsi_capacity_10(const struct scsi_disk *disk, struct scsi_parameters *ret_parameters)
{
	uint64_t last = disk->block_count - 1;

	put_be32(ret_parameters->bytes, last < UINT32_MAX ? (uint32_t)last : UINT32_MAX);
	put_be32(ret_parameters->bytes + 4, SCSI_BLOCK_BYTES);
	ret_parameters->byte_count = 8;
}

void scsi_capacity_16(const struct scsi_disk *disk, struct scsi_parameters *ret_parameters)
{
	uint8_t *bytes = ret_parameters->bytes;

	memset(bytes, 0, 32);
	put_be64(bytes, disk->block_count - 1);
	put_be32(bytes + 8, SCSI_BLOCK_BYTES);
	bytes[14] = 1 << 7 | 1 << 6; /* blocks can be unmapped, and then read as zeros */
	ret_parameters->byte_count = 32;
}
