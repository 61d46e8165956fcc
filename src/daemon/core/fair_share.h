/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softibd has one thread, so the time that it spends on one process's requests is time that others
 * wait. A process may take SHARE_BURST at once and a tenth of the time for ever; beyond that its
 * sockets are not read while softibd works for processes that took less. So a process that is alone
 * is never held back, nor several that all take much.
 */
#ifndef SOFTIB_DAEMON_CORE_FAIR_SHARE_H
#define SOFTIB_DAEMON_CORE_FAIR_SHARE_H

#include <stdbool.h>
#include "base/list.h"
#include "base/time.h"
#include "daemon/core/limits.h"

#define SHARE_BURST MILLISECONDS(200)

struct fair_shares {
	struct list held_back; /* struct share_hold */
	/* The two processes within their share that softibd worked for last. */
	const struct account *last;
	time_ns last_at;
	time_ns other_at;	    /* when it last worked for another than `last` */
	struct account *mad_sender; /* the last one in this turn; NULL: none */
};

/* Lies in the object whose socket is not read. */
struct share_hold {
	struct list link;
	struct account *account;
	void (*resume)(struct share_hold *hold); /* reads the socket again */
};

void fair_shares_init(struct fair_shares *shares);
void fair_shares_release(struct fair_shares *shares);

/* softibd works for this process at this time. */
static inline void share_note(struct fair_shares *shares, const struct account *account,
			      time_ns now)
{
	if (account->time_spent > SHARE_BURST)
		return;
	if (account != shares->last) {
		shares->other_at = shares->last_at;
		shares->last = account;
	}
	shares->last_at = now;
}

/* It has worked from `begin` to `end` for clients that come and go, which keep nobody waiting. */
void share_spend(struct account *account, time_ns begin, time_ns end);
/* It has worked for the process from `begin` to `end`. */
void share_charge(struct fair_shares *shares, struct account *account, time_ns begin, time_ns end);
/* The process sent MADs: what agents and managers do about them in this turn counts as its own. It
 * holds a reference until then. */
void share_note_mads(struct fair_shares *shares, struct account *account);
void share_charge_mads(struct fair_shares *shares, time_ns begin, time_ns end);
/* Whether the process has to wait; then the caller stops reading its socket and calls
 * share_hold_back().
 */
bool share_is_used_up(struct fair_shares *shares, struct account *account, time_ns now);
void share_hold_back(struct fair_shares *shares, struct share_hold *hold);
/* Resumes those that need not wait any more. */
void fair_shares_resume(struct fair_shares *shares, time_ns now);
/* When that has to be called next. */
time_ns fair_shares_deadline(const struct fair_shares *shares, time_ns now);

#endif
