/* SPDX-License-Identifier: Apache-2.0 */
/* The records that answer one request, concatenated as they will be sent. */
#ifndef SOFTIB_MGMT_SA_RECORDS_H
#define SOFTIB_MGMT_SA_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/sa_components.h"

struct sa;
struct sa_request;
struct subnet_port;

/* Of one table. */
#define SA_TABLE_BYTES_MAX ((size_t)16 << 20)

struct sa_records {
	uint8_t *bytes; /* room for a MAD up to its data, then the records */
	size_t capacity;
	size_t record_bytes;
	size_t stride; /* record_bytes rounded up to the units of AttributeOffset */
	size_t count;
	size_t count_max;	 /* the search ends at this number */
	bool is_part_of_refusal; /* sent although the status is an error */
	bool is_too_large;	 /* for one table, or no memory */
};

void sa_records_init(struct sa_records *records);
void sa_records_release(struct sa_records *records);

/* Starts a request without records. */
void sa_records_begin(struct sa_records *records, size_t record_bytes, size_t count_max);

static inline bool sa_records_wants_more(const struct sa_records *records)
{
	return records->count < records->count_max && !records->is_too_large;
}

/* Zeroed room for one more record of the stride's length. sa_records_keep() adds it. NULL: too
 * large. */
uint8_t *sa_records_place(struct sa_records *records);

static inline void sa_records_keep(struct sa_records *records)
{
	records->count++;
}

uint8_t *sa_records_at(const struct sa_records *records, size_t index);

#endif
