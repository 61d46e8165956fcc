/* SPDX-License-Identifier: Apache-2.0 */
/* Inside remote_tables: a request that waits for other nodes, and what each kind of record asks
 * them. */
#ifndef SOFTIB_MGMT_SA_REMOTE_REQUEST_H
#define SOFTIB_MGMT_SA_REMOTE_REQUEST_H

#include "mgmt/sa/request.h"
#include "wire/sa_records.h"
#include "wire/smp_tables.h"

/* A block to be asked for, and then what it holds. */
struct remote_block {
	uint16_t lid;
	uint64_t mkey;
	uint32_t modifier;
	uint8_t id[BLOCK_RECORD_BLOCK_OFFSET]; /* the record's own fields, or fewer */
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
	/* Of GUIDs that are written. */
	bool is_write;
	uint64_t port_guid;
	uint64_t before[GUIDS_PER_BLOCK];
};

/* What is different about the kinds of table. */
struct remote_kind {
	uint16_t attribute_id;
	uint16_t smp_attribute_id;
	uint16_t record_bytes;
	size_t id_bytes, block_bytes;
	const struct sa_components *components;
	void (*add_blocks)(struct sa *sa, struct remote_request *remote,
			   const struct subnet_port *port);
};

/* NULL when there is none for this attribute. */
const struct remote_kind *remote_kind_find(uint16_t attribute_id);

/* One more to ask this port for; NULL: too many, or no memory, and the request is too large. */
struct remote_block *remote_request_add(struct remote_request *remote,
					const struct subnet_port *end_port, uint32_t modifier);

#endif
