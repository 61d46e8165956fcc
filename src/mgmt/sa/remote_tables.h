/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of what the manager does not keep, or not as it is right now: SLtoVLMappingTableRecord,
 * VLArbitrationTableRecord, MulticastForwardingTableRecord, SMInfoRecord; and GUIDInfoRecords that
 * are to be written. The SA asks the nodes
 * themselves by SMPs and answers when it has heard of all of them (vol 1, chapters 14 and 15).
 */
#ifndef SOFTIB_MGMT_SA_REMOTE_TABLES_H
#define SOFTIB_MGMT_SA_REMOTE_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "mgmt/mad/transactions.h"
#include "wire/smp_tables.h"

struct sa;
struct remote_tables;
struct sa_request;
struct subnet_port;

enum {
	REMOTE_TABLES_WINDOW = 64, /* SMPs on the wire */
	REMOTE_TABLES_REQUESTS_MAX =
		16, /* under way; more are dropped, and repeated by who asked */
	REMOTE_TABLES_BLOCKS_MAX = 16384, /* of one request */
};

MUST_USE int remote_tables_init(struct remote_tables *tables,
				const struct mad_transactions_options *options);
void remote_tables_release(struct remote_tables *tables);

/* Whether these are records of such an attribute. */
bool remote_tables_has(uint16_t attribute_id);
/* A Get or GetTable of them; it is answered later. */
void remote_tables_ask(struct sa *sa, const struct sa_request *request);

/* Writes a block of a port's GUIDs and answers with it; before: what the block has again if that
 * fails. Returns MAD_STATUS_OK, or why it did not begin. */
uint16_t remote_tables_write_guids(struct sa *sa, const struct sa_request *request,
				   const struct subnet_port *port, unsigned block,
				   const uint64_t guids[static GUIDS_PER_BLOCK],
				   const uint64_t before[static GUIDS_PER_BLOCK]);

/* An SMP response. */
void remote_tables_receive(struct sa *sa, const struct mad_message *message);
unsigned remote_tables_transmit(struct sa *sa, time_ns now, unsigned messages_max,
				struct mad_message ret_messages[]);
time_ns remote_tables_deadline(const struct remote_tables *tables);

#endif
