/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of device management (vol 1, chapter 16.3; management 6.3). */
#include "wire/device_management.h"

#include <assert.h>
#include <string.h>
#include "base/bytes.h"
#include "wire/notice.h"

#define ATTRIBUTE_SUBJECT struct io_unit_info
ATTRIBUTE_DEFINE(io_unit_info, IO_UNIT_INFO_FIELDS, IO_UNIT_INFO_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct io_controller_profile
ATTRIBUTE_DEFINE(io_controller_profile, IO_CONTROLLER_PROFILE_FIELDS, IO_CONTROLLER_PROFILE_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct diagnostic_timeout
ATTRIBUTE_DEFINE(diagnostic_timeout, DIAGNOSTIC_TIMEOUT_FIELDS, DIAGNOSTIC_TIMEOUT_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct diag_code
ATTRIBUTE_DEFINE(diag_code, DIAG_CODE_FIELDS, DIAG_CODE_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct ready_to_test_details
ATTRIBUTE_DEFINE(ready_to_test_details, READY_TO_TEST_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct io_unit_change_details
ATTRIBUTE_DEFINE(io_unit_change_details, IO_UNIT_CHANGE_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

/* Slot 1 is the high half of the first byte. */
static unsigned shift_of(unsigned slot)
{
	return slot % 2 ? 4 : 0;
}

static unsigned byte_of(unsigned slot)
{
	assert(slot >= 1 && slot <= IO_SLOTS_MAX);
	return IO_CONTROLLER_LIST_OFFSET + (slot - 1) / 2;
}

unsigned io_slot_state_get(const uint8_t data[static IO_UNIT_INFO_TOTAL_BYTES], unsigned slot)
{
	return data[byte_of(slot)] >> shift_of(slot) & 0xf;
}

void io_slot_state_put(uint8_t data[static IO_UNIT_INFO_TOTAL_BYTES], unsigned slot,
		       enum io_slot_state state)
{
	uint8_t *byte = &data[byte_of(slot)];

	*byte = (uint8_t)((*byte & ~(0xfu << shift_of(slot))) | (unsigned)state << shift_of(slot));
}

void io_service_entry_encode(const struct io_service_entry *entry,
			     uint8_t ret_bytes[static IO_SERVICE_ENTRY_BYTES])
{
	size_t name_bytes = strnlen(entry->name, IO_SERVICE_NAME_BYTES - 1);

	memset(ret_bytes, 0, IO_SERVICE_NAME_BYTES);
	memcpy(ret_bytes, entry->name, name_bytes);
	put_be64(ret_bytes + IO_SERVICE_NAME_BYTES, entry->id);
}

static bool is_printable(uint8_t byte)
{
	return byte >= ' ' && byte <= '~';
}

bool io_service_entry_decode(const uint8_t bytes[static IO_SERVICE_ENTRY_BYTES],
			     struct io_service_entry *ret_entry)
{
	struct io_service_entry entry = {.id = get_be64(bytes + IO_SERVICE_NAME_BYTES)};
	unsigned length = 0;

	while (length < IO_SERVICE_NAME_BYTES && bytes[length]) {
		if (!is_printable(bytes[length]))
			return false;
		entry.name[length] = (char)bytes[length];
		length++;
	}
	if (length == IO_SERVICE_NAME_BYTES)
		return false;
	*ret_entry = entry;
	return true;
}

void io_text_decode(const uint8_t *bytes, size_t byte_count, char *ret_text)
{
	size_t length = 0;

	for (; length < byte_count && bytes[length]; length++)
		ret_text[length] = is_printable(bytes[length]) ? (char)bytes[length] : '?';
	ret_text[length] = '\0';
}

uint32_t io_service_range_encode(const struct io_service_range *range)
{
	return (uint32_t)range->slot << 16 | (uint32_t)range->last << 8 | range->first;
}

bool io_service_range_decode(uint32_t modifier, struct io_service_range *ret_range)
{
	const struct io_service_range range = {.slot = (uint8_t)(modifier >> 16),
					       .last = (uint8_t)(modifier >> 8),
					       .first = (uint8_t)modifier};

	if (modifier >> 24 || range.last < range.first ||
	    range.last - range.first >= IO_SERVICES_PER_MAD)
		return false;
	*ret_range = range;
	return true;
}
