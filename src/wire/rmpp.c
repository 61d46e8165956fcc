/* SPDX-License-Identifier: Apache-2.0 */
/* The RMPP header inside a MAD (vol 1, chapter 13; management 1.8). */
#include "wire/rmpp.h"

#include "base/bytes.h"

void rmpp_header_encode(const struct rmpp_header *header, uint8_t ret_mad[static MAD_BYTES])
{
	uint8_t *bytes = ret_mad + RMPP_OFFSET;

	bytes[0] = header->version;
	bytes[1] = header->type;
	bytes[2] = (uint8_t)(header->resp_time << 3 | (header->flags & 7));
	bytes[3] = header->status;
	put_be32(bytes + 4, header->segment_number);
	put_be32(bytes + 8, header->length_or_last);
}

void rmpp_header_decode(const uint8_t mad[static MAD_BYTES], struct rmpp_header *ret_header)
{
	const uint8_t *bytes = mad + RMPP_OFFSET;

	*ret_header = (struct rmpp_header){
		.version = bytes[0],
		.type = bytes[1],
		.resp_time = bytes[2] >> 3,
		.flags = bytes[2] & 7,
		.status = bytes[3],
		.segment_number = get_be32(bytes + 4),
		.length_or_last = get_be32(bytes + 8),
	};
}

bool rmpp_class_has_header(uint8_t management_class)
{
	return management_class == MAD_CLASS_SUBNET_ADMINISTRATION ||
	       management_class == MAD_CLASS_DEVICE_ADMINISTRATION ||
	       management_class == MAD_CLASS_BOOT_INFORMATION ||
	       mad_class_has_oui(management_class);
}

bool rmpp_mad_is_active(const uint8_t mad[static MAD_BYTES])
{
	return rmpp_class_has_header(mad[1]) && (mad[RMPP_OFFSET + 2] & RMPP_FLAG_ACTIVE);
}

size_t rmpp_data_offset(uint8_t management_class)
{
	enum { SUBNET_ADMINISTRATION = 56, DEVICE_ADMINISTRATION = 64, VENDOR2 = 40 };

	if (management_class == MAD_CLASS_SUBNET_ADMINISTRATION)
		return SUBNET_ADMINISTRATION;
	if (management_class == MAD_CLASS_DEVICE_ADMINISTRATION ||
	    management_class == MAD_CLASS_BOOT_INFORMATION)
		return DEVICE_ADMINISTRATION;
	if (mad_class_has_oui(management_class))
		return VENDOR2;
	return RMPP_SEGMENT_OFFSET;
}
