/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports on their way to subscribers: sent until acknowledged or out of tries (vol 1, chapter 13).
 *
 * A few per subscription are on the wire at once, the others wait in its own bounded line, and
 * subscriptions take turns: one that does not answer delays nobody else. Who does not acknowledge
 * several reports in a row is forgotten.
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
	REPORTS_WINDOW = 256,			 /* on the wire, all together */
	REPORTS_ON_WIRE_PER_LINE = 4,		 /* of one subscription */
	REPORTS_WAITING_PER_LINE = 256,		 /* the oldest goes when there are more */
	REPORTS_FAILURES_MAX = 8,		 /* in a row */
	REPORT_NOTICE_BYTES = NOTICE_BYTES + 16, /* with IssuerGID */
};

struct report_notice;

struct reports {
	struct mad_transactions transactions;
	struct subscriptions *subscriptions;
	struct list lines;
	struct list ready; /* lines that may send */
	uint64_t sent_count, failed_count;
};

MUST_USE int reports_init(struct reports *reports, struct subscriptions *subscriptions,
			  const struct mad_transactions_options *options);
void reports_release(struct reports *reports);

/* One notice for any number of subscribers. NULL without memory. */
struct report_notice *report_notice_make(const struct notice *notice, const struct gid *issuer);
void report_notice_release(struct report_notice *notice);

/* Without memory the subscriber does not hear of it. */
void reports_send(struct reports *reports, struct subscription *subscription,
		  struct report_notice *notice);
/* Before a subscription goes. */
void reports_forget(struct reports *reports, struct subscription *subscription);

/* A response that came to QP1: ignored unless it acknowledges a report. */
void reports_receive(struct reports *reports, const struct mad_message *message);
unsigned reports_transmit(struct reports *reports, time_ns now, unsigned messages_max,
			  struct mad_message ret_messages[]);
time_ns reports_deadline(const struct reports *reports);

#endif
