/* SPDX-License-Identifier: Apache-2.0 */
/* Inside remote_tables: a request that waits for other nodes, and the SMPs for each kind of record.
 * remote_kinds.c and remote_tables.c implement it. */
#ifndef SOFTIB_MGMT_SA_REMOTE_REQUEST_H
#define SOFTIB_MGMT_SA_REMOTE_REQUEST_H

#include "mgmt/sa/request.h"
#include "wire/sa_records.h"
#include "wire/smp_tables.h"

/* A block to read, and later its contents. */
struct remote_block {
	uint16_t lid;
	uint64_t mkey;
	uint32_t modifier;
	uint8_t id[BLOCK_RECORD_BLOCK_OFFSET]; /* the fields of the record that identify the block
						*/
	uint8_t bytes[SMP_DATA_BYTES];
	bool has_answer;
};

struct remote_request {
	struct list link;
	struct sa_request request;
	uint8_t data[SA_DATA_BYTES];
	uint16_t smp_attribute_id;
	size_t block_bytes; /* in the record */
	struct remote_block *blocks;
	uint32_t block_count, block_capacity;
	uint32_t asked_count, ended_count;
	bool is_too_large;
	/* For writing GUIDs. */
	bool is_write;
	uint64_t port_guid;
	uint64_t before[GUIDS_PER_BLOCK];
};

/* The differences between the kinds of records. */
struct remote_kind {
	uint16_t attribute_id;
	uint16_t smp_attribute_id;
	uint16_t record_bytes;
	size_t id_bytes, block_bytes;
	const struct sa_components *components;
	void (*add_blocks)(struct sa *sa, struct remote_request *remote,
			   const struct subnet_port *port);
};

/* NULL: none for this attribute. */
const struct remote_kind *remote_kind_find(uint16_t attribute_id);

/* Adds a block of this port. NULL: too many, or no memory; the request is marked too large. */
struct remote_block *remote_request_add(struct remote_request *remote,
					const struct subnet_port *end_port, uint32_t modifier);

#endif
