/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports to subscribers: sent until acknowledged or out of tries (management 4.8).
 *
 * A few reports per subscription are under way at once. The others wait in the subscription's own
 * bounded line, and subscriptions take turns, so one that does not answer delays no other. A
 * subscription with several consecutive reports that are not acknowledged is removed.
 */
#ifndef SOFTIB_MGMT_SA_REPORTS_H
#define SOFTIB_MGMT_SA_REPORTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "mgmt/mad/transactions.h"
#include "mgmt/subnet/subscriptions.h"

enum {
	REPORTS_UNDER_WAY_MAX = 256,		 /* under way, all together */
	REPORTS_ON_WIRE_PER_LINE = 4,		 /* of one subscription */
	REPORTS_WAITING_PER_LINE = 256,		 /* the oldest is dropped when there are more */
	REPORTS_FAILURES_MAX = 8,		 /* consecutive */
	REPORT_NOTICE_BYTES = NOTICE_BYTES + 16, /* with IssuerGID */
};

struct report_notice;

/* The class whose manager reports. */
struct report_class {
	uint8_t management_class;
	uint8_t class_version;
	uint8_t data_offset; /* of the Notice in its MADs */
};

struct reports {
	struct report_class class;
	struct mad_transactions transactions;
	struct subscriptions *subscriptions;
	struct list lines;
	struct list ready; /* lines that may send */
	uint64_t sent_count, failed_count;
};

/* Reports of subnet administration. */
MUST_USE int reports_init(struct reports *reports, struct subscriptions *subscriptions,
			  const struct mad_transactions_options *options);
/* Reports of another class. */
MUST_USE int reports_init_for_class(struct reports *reports, const struct report_class *class,
				    struct subscriptions *subscriptions,
				    const struct mad_transactions_options *options);
void reports_release(struct reports *reports);

/* One notice for any number of subscribers. NULL: no memory. */
struct report_notice *report_notice_make(const struct notice *notice, const struct gid *issuer);
void report_notice_release(struct report_notice *notice);

/* Without memory the subscriber does not get the report. */
void reports_send(struct reports *reports, struct subscription *subscription,
		  struct report_notice *notice);
/* Call it before a subscription is removed. */
void reports_forget(struct reports *reports, struct subscription *subscription);

/* Takes a response at QP1; ignored unless it acknowledges a report. */
void reports_receive(struct reports *reports, const struct mad_message *message);
unsigned reports_transmit(struct reports *reports, time_ns now, unsigned messages_max,
			  struct mad_message ret_messages[]);
time_ns reports_deadline(const struct reports *reports);

#endif
