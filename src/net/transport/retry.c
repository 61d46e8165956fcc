/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's timers and retries (vol 1, chapter 9; transport 4.4). */
#include "net/transport/retry.h"

#include "net/transport/rd/rd_hooks.h"
#include "net/transport/migration.h"
#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"
#include "net/transport/report.h"

enum { RNR_RETRY_FOREVER = 7 };

/* RNR NAK timer codes, in units of 10 us (transport 3.3). */
static const uint32_t rnr_times_10us[32] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

time_ns rnr_time(unsigned code)
{
	return MICROSECONDS(10) * rnr_times_10us[code & 31];
}

/* Moves the timer only to an earlier time. A later deadline is set when the timer fires, since
 * nearly every response would move it otherwise. */
void retry_wake_at(struct qp *qp, time_ns deadline)
{
	if (!timer_is_armed(&qp->timer) || deadline < qp->timer.deadline)
		timer_queue_arm(qp->environment->timers, &qp->timer, deadline);
}

static void restart(struct qp *qp, time_ns now)
{
	/* Code 0: no timeout (transport 4.4). */
	if (qp->attributes.timeout == 0)
		return;
	qp->requester.retry_deadline = now + time_from_code(qp->attributes.timeout);
	retry_wake_at(qp, qp->requester.retry_deadline);
}

void retry_watch(struct qp *qp, time_ns now)
{
	if (qp->requester.retry_deadline == TIME_NEVER)
		restart(qp, now);
}

void retry_date(struct qp *qp, time_ns now)
{
	if (qp->requester.retry_deadline == RETRY_UNDATED)
		restart(qp, now);
}

/* The PSN at the cursor. */
static struct psn retry_cursor_psn(const struct qp *qp)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	if (requester->cursor == queue->started)
		return requester->next_psn;
	/* The request is already completed and its slot may be reused: any PSN before the oldest
	 * will do. */
	if ((int32_t)(requester->cursor - queue->done) < 0)
		return psn_previous(requester->oldest_psn);
	return psn_add(send_queue_slot(queue, requester->cursor)->first_psn,
		       requester->cursor_packet);
}

/* Moves the cursor to a PSN that was used, or to the next one. */
static void retry_move_cursor(struct qp *qp, struct psn psn)
{
	struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	for (uint32_t position = queue->done; position != queue->started; position++) {
		const struct send_slot *slot = send_queue_slot(queue, position);
		int32_t packet = psn_distance(slot->first_psn, psn);

		if (packet < (int32_t)slot->packet_count) {
			requester->cursor = position;
			requester->cursor_packet = packet > 0 ? (uint32_t)packet : 0;
			return;
		}
	}
	requester->cursor = queue->started;
	requester->cursor_packet = 0;
}

void retry_progress(struct qp *qp, time_ns now)
{
	struct requester *requester = &qp->requester;

	requester->retries_left = qp->attributes.retry_count;
	requester->rnr_retries_left = qp->attributes.rnr_retry;
	requester->is_awaiting = false;
	requester->retry_deadline = TIME_NEVER;
	if (!psn_equal(requester->oldest_psn, requester->next_psn))
		restart(qp, now);
	/* Packets that were acknowledged while they waited for retransmission need not be sent
	 * again. */
	if (psn_before(retry_cursor_psn(qp), requester->oldest_psn))
		retry_move_cursor(qp, requester->oldest_psn);
}

void retry_from(struct qp *qp, time_ns now, struct psn psn)
{
	struct requester *requester = &qp->requester;

	if (requester->retries_left)
		requester->retries_left--;
	else if (migration_switch(qp))
		/* The alternate path starts with the full retry count (transport 4.4). */
		requester->retries_left = qp->attributes.retry_count;
	else {
		qp_fail_send(qp, now, COMPLETION_RETRY_EXCEEDED);
		return;
	}
	requester->retry_deadline = TIME_NEVER;
	requester->rnr_deadline = TIME_NEVER;
	retry_move_cursor(qp, psn);
}

bool retry_is_asked(const struct qp *qp)
{
	const struct requester *requester = &qp->requester;
	int32_t asked = psn_distance(requester->oldest_psn, requester->asked_psn);

	return asked > 0 && asked <= psn_distance(requester->oldest_psn, requester->next_psn);
}

void retry_ask(struct qp *qp)
{
	const struct requester *requester = &qp->requester;

	/* Retransmitted packets ask anyway. */
	if (!qp_is_reliable(qp) || psn_equal(requester->oldest_psn, requester->next_psn) ||
	    requester->cursor != requester->queue.started || retry_is_asked(qp))
		return;
	retry_move_cursor(qp, psn_previous(requester->next_psn));
}

/* On an EE context the message belongs to the source queue pair, and so does its retry counter. */
static struct requester *counting_requester(struct qp *qp)
{
	if (likely(qp->type != QP_EEC))
		return &qp->requester;
	return qp->eec->source ? &qp->eec->source->qp->requester : NULL;
}

void retry_after_rnr(struct qp *qp, time_ns now, struct psn psn, unsigned rnr_code)
{
	struct requester *requester = &qp->requester;
	struct requester *counting = counting_requester(qp);

	/* A RESYNC needs no receive request, so an RNR NAK for it is ignored. */
	if (unlikely(!counting))
		return;
	if (qp->attributes.rnr_retry != RNR_RETRY_FOREVER) {
		if (counting->rnr_retries_left == 0) {
			qp_fail_send(qp, now, COMPLETION_RNR_RETRY_EXCEEDED);
			return;
		}
		counting->rnr_retries_left--;
	}
	if (unlikely(qp->type == QP_EEC)) {
		qp->environment->rd->request_not_ready(qp, now, rnr_time(rnr_code));
		return;
	}
	requester->retry_deadline = TIME_NEVER;
	requester->rnr_deadline = now + rnr_time(rnr_code);
	retry_wake_at(qp, requester->rnr_deadline);
	retry_move_cursor(qp, psn);
}

static bool is_underway(const struct qp *qp, time_ns now)
{
	const struct qp_environment *environment = qp->environment;

	return environment->is_underway && environment->is_underway(qp, now);
}

void retry_expire(struct qp *qp, time_ns now)
{
	struct requester *requester = &qp->requester;

	if (requester->rnr_deadline <= now)
		requester->rnr_deadline = TIME_NEVER;
	if (requester->pacing_deadline <= now)
		requester->pacing_deadline = TIME_NEVER;
	if (requester->retry_deadline <= now && is_underway(qp, now)) {
		restart(qp, now);
	} else if (requester->retry_deadline <= now && !retry_is_asked(qp)) {
		/* No packet is known to be lost, since none asked for an ACK. */
		requester->retry_deadline = TIME_NEVER;
		retry_ask(qp);
	} else if (requester->retry_deadline <= now) {
		requester->is_awaiting = false;
		retry_from(qp, now, requester->oldest_psn);
	}

	time_ns next = time_earlier(requester->rnr_deadline, requester->retry_deadline);

	next = time_earlier(next, requester->pacing_deadline);
	if (next != TIME_NEVER)
		retry_wake_at(qp, next);
}
