/* SPDX-License-Identifier: Apache-2.0 */
/* The records that answer one request. */
#include "mgmt/sa/records.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that are kept between requests. */
enum { RECORDS_BYTES_KEPT = 1 << 16 };

void sa_records_init(struct sa_records *records)
{
	memset(records, 0, sizeof(*records));
}

void sa_records_release(struct sa_records *records)
{
	free(records->bytes);
	sa_records_init(records);
}

void sa_records_begin(struct sa_records *records, size_t record_bytes, size_t count_max)
{
	if (records->capacity > RECORDS_BYTES_KEPT)
		sa_records_release(records);
	records->record_bytes = record_bytes;
	records->stride = (record_bytes + SA_RECORD_UNIT - 1) / SA_RECORD_UNIT * SA_RECORD_UNIT;
	records->count = 0;
	records->count_max = count_max;
	records->is_too_large = false;
	records->is_part_of_refusal = false;
}

static bool make_room(struct sa_records *records, size_t byte_count)
{
	size_t capacity = records->capacity ? records->capacity : RECORDS_BYTES_KEPT;

	while (capacity < byte_count)
		capacity *= 2;

	uint8_t *bytes = realloc(records->bytes, capacity);

	if (!bytes)
		return false;
	records->bytes = bytes;
	records->capacity = capacity;
	return true;
}

uint8_t *sa_records_place(struct sa_records *records)
{
	size_t start = SA_DATA_OFFSET + records->count * records->stride;
	size_t end = start + records->stride;

	assert(records->stride);
	if (end > SA_TABLE_BYTES_MAX || (end > records->capacity && !make_room(records, end))) {
		records->is_too_large = true;
		return NULL;
	}
	memset(records->bytes + start, 0, records->stride);
	return records->bytes + start;
}

uint8_t *sa_records_at(const struct sa_records *records, size_t index)
{
	assert(index < records->count);
	return records->bytes + SA_DATA_OFFSET + index * records->stride;
}
