/* SPDX-License-Identifier: Apache-2.0 */
/* The state of subnet administration, with the parts that pruning.c and remote_tables.c own. There
 * is no sa_state.c: sa.c creates it, and the files that answer requests read and change it. */
#ifndef SOFTIB_MGMT_SA_SA_STATE_H
#define SOFTIB_MGMT_SA_SA_STATE_H

#include "mgmt/mad/rmpp_engine.h"
#include "mgmt/mad/transactions.h"
#include "mgmt/sa/alias_guids.h"
#include "mgmt/sa/records.h"
#include "mgmt/sa/reports.h"
#include "mgmt/sa/sa_options.h"
#include "mgmt/subnet/multicast_groups.h"
#include "mgmt/subnet/service_registry.h"
#include "mgmt/subnet/subnet.h"
#include "mgmt/subnet/subscriptions.h"

enum {
	SA_OUTBOX_MESSAGES = 1024,
	SA_OUTBOX_PER_LID = 256, /* so that a flood of one requester leaves room for others */
};

/* All tables that are not acknowledged yet. */
#define SA_TABLE_BYTES_IN_FLIGHT_MAX ((size_t)128 << 20)

/* Of pruning.c. */
struct pruning {
	time_ns ask_at;	  /* the next period; TIME_NEVER: pruning is off */
	time_ns check_at; /* when the first answer is late; TIME_NEVER: none is outstanding */
};

/* Of remote_tables.c. */
struct remote_tables {
	struct mad_transactions transactions;
	struct list requests;
	unsigned request_count;
};

struct sa {
	struct sa_options options;
	struct subnet *subnet; /* a copy; NULL: not serving */
	struct multicast_groups *groups;
	struct service_registry services;
	struct subscriptions subscriptions;
	struct alias_guids alias_guids;
	struct pruning pruning;
	struct reports reports;
	struct remote_tables remote_tables;
	struct rmpp rmpp; /* tables to send and long requests to receive */
	size_t table_bytes_in_flight;
	struct sa_records records;  /* of the present request */
	struct mad_message *outbox; /* a ring buffer */
	unsigned outbox_first, outbox_count;
	uint16_t *outbox_by_lid; /* [LID]: how many responses to it wait */
	uint64_t request_count, dropped_count, pruned_count;
};

#endif
