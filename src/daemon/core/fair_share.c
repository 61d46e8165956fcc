/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes have taken more than their share of softibd's time. */
#include "daemon/core/fair_share.h"

#define SHARE_DIVISOR  10
#define ALONE_AFTER    MILLISECONDS(50) /* since softibd worked for another process */
#define RESUME_PAUSE   MILLISECONDS(1)
#define RESERVE_TO_ASK MICROSECONDS(500) /* a process that resumes may do this much at least */

void fair_shares_init(struct fair_shares *shares)
{
	*shares = (struct fair_shares){0};
	list_init(&shares->held_back);
}

void fair_shares_release(struct fair_shares *shares)
{
	if (shares->mad_sender)
		account_release(shares->mad_sender);
	fair_shares_init(shares);
}

static void pay(struct account *account, time_ns now)
{
	/* A turn's time may be before that of a request in the turn before. */
	time_ns earned = now > account->paid_at ? (now - account->paid_at) / SHARE_DIVISOR : 0;

	account->time_spent = account->time_spent > earned ? account->time_spent - earned : 0;
	account->paid_at = now > account->paid_at ? now : account->paid_at;
}

void share_spend(struct account *account, time_ns begin, time_ns end)
{
	pay(account, end);
	account->time_spent += end - begin;
}

void share_charge(struct fair_shares *shares, struct account *account, time_ns begin, time_ns end)
{
	share_spend(account, begin, end);
	share_note(shares, account, end);
}

void share_note_mads(struct fair_shares *shares, struct account *account)
{
	if (shares->mad_sender)
		account_release(shares->mad_sender);
	shares->mad_sender = account_share(account);
}

void share_charge_mads(struct fair_shares *shares, time_ns begin, time_ns end)
{
	share_charge(shares, shares->mad_sender, begin, end);
	account_release(shares->mad_sender);
	shares->mad_sender = NULL;
}

static bool is_alone(const struct fair_shares *shares, const struct account *account, time_ns now)
{
	time_ns others_at = account == shares->last ? shares->other_at : shares->last_at;

	return now >= others_at + ALONE_AFTER;
}

bool share_is_used_up(struct fair_shares *shares, struct account *account, time_ns now)
{
	pay(account, now);
	return account->time_spent > SHARE_BURST && !is_alone(shares, account, now);
}

void share_hold_back(struct fair_shares *shares, struct share_hold *hold)
{
	if (!list_is_linked(&hold->link))
		list_append(&shares->held_back, &hold->link);
}

void fair_shares_resume(struct fair_shares *shares, time_ns now)
{
	list_for_each_safe (link, &shares->held_back) {
		struct share_hold *hold = container_of(link, struct share_hold, link);

		pay(hold->account, now);
		if (hold->account->time_spent + RESERVE_TO_ASK > SHARE_BURST &&
		    !is_alone(shares, hold->account, now))
			continue;
		list_remove(link);
		hold->resume(hold);
	}
}

time_ns fair_shares_deadline(const struct fair_shares *shares, time_ns now)
{
	return list_is_empty(&shares->held_back) ? TIME_NEVER : now + RESUME_PAUSE;
}
