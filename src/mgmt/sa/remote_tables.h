/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that the manager does not have, or not with their present contents:
 * SLtoVLMappingTableRecord, VLArbitrationTableRecord, MulticastForwardingTableRecord, SMInfoRecord;
 * and writing of GUIDInfoRecords. The SA reads them from the nodes by SMPs and answers when all
 * responses have come (management 2.4, 4.3).
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
	REMOTE_TABLES_SMPS_MAX = 64,	 /* SMPs under way */
	REMOTE_TABLES_REQUESTS_MAX = 16, /* more requests are dropped; the requester repeats them */
	REMOTE_TABLES_BLOCKS_MAX = 16384, /* of one request */
};

MUST_USE int remote_tables_init(struct remote_tables *tables,
				const struct mad_transactions_options *options);
void remote_tables_release(struct remote_tables *tables);

/* Whether the SA reads this attribute from other nodes. */
bool remote_tables_has(uint16_t attribute_id);
/* A Get or GetTable of them. The response is sent later. */
void remote_tables_ask(struct sa *sa, const struct sa_request *request);

/* Writes a block of a port's GUIDs and sends it as the response. before: the contents to restore on
 * failure. Returns MAD_STATUS_OK, or the reason why it did not start. */
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
