/* SPDX-License-Identifier: Apache-2.0 */
/* An adapter at work in this process. */
#include "host/adapter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "host/attachment.h"
#include "host/connection.h"
#include "host/express_lane.h"
#include "host/placement.h"
#include "host/placement_target.h"
#include "host/receive.h"
#include "host/target_loans.h"
#include "host/transmit.h"

/* Keys of processes that run at the same time are rarely the same: who imports a region can use its
 * key. */
enum {
	PORTS_WAIT_MS = 5000,
	KEYS_PER_PROCESS = 509,
	QUICK_ROUNDS = 128, /* some 5 us */
	POSTS_PER_ROUND = 16,
	COPY_ROUNDS = 16,
};

static void ignore_event(void *context, const struct hca_event *event)
{
	(void)context;
	(void)event;
}

static void ignore_cq(void *context, struct cq *cq)
{
	(void)context;
	(void)cq;
}

const struct hca_owner adapter_nobody = {.event = ignore_event, .cq_notify = ignore_cq};

/* --- opening --- */

static int get_adapter(struct attachment *attachment, const struct adapter_description *description,
		       struct adapter **ret_adapter)
{
	struct adapter **place = &attachment->adapters[description->index];

	if (!*place) {
		struct adapter *adapter = calloc(1, sizeof(*adapter));

		if (!adapter)
			return -ENOMEM;
		adapter->attachment = attachment;
		adapter->description = description;
		*place = adapter;
		if (attachment->adapter_limit <= description->index)
			attachment->adapter_limit = description->index + 1;
	}
	*ret_adapter = *place;
	return 0;
}

static void end_placing(struct qp *qp)
{
	placement_target_end(qp);
	placement_forget(qp);
}

static int start_hca(struct adapter *adapter, const struct hca_owner *owner)
{
	const struct adapter_description *description = adapter->description;
	int error = hca_init(&adapter->hca, &hca_limits_default, owner, description->node_guid,
			     description->port_count);

	if (error)
		return error;
	adapter->hca.system_image_guid = description->system_image_guid;
	memory_begin_keys(&adapter->hca.memory, (uint32_t)getpid() * KEYS_PER_PROCESS);
	adapter->hca.environment.is_underway = transmit_is_underway;
	adapter->hca.environment.end_placing = end_placing;
	exposure_watch(adapter);
	/* What softibd gave when the adapter was open before is still ours. */
	for (unsigned i = 0; i < adapter->grant_count && !error; i++)
		error = hca_add_qpns(&adapter->hca, adapter->grants[i].first,
				     adapter->grants[i].count);
	if (error)
		hca_release(&adapter->hca);
	else
		adapter->has_hca = true;
	return error;
}

static int ask_for_ports(struct adapter *adapter)
{
	json_t *answer;
	char text[64];

	snprintf(text, sizeof(text), "{\"command\":\"port\",\"adapter\":%u}",
		 adapter->description->index);

	int error = session_ask_plain(adapter->attachment->session, text, &answer);

	if (!error)
		json_decref(answer);
	return error;
}

static bool ports_are_known(const struct hca *hca)
{
	for (unsigned i = 0; i < hca->port_count; i++)
		if (hca->ports[i].number == 0)
			return false;
	return true;
}

/* The updates are in the ring by the time softibd has answered, but another ring may have to be
 * fetched before they are read. */
static int wait_for_ports(struct adapter *adapter)
{
	struct attachment *attachment = adapter->attachment;
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int waited_ms = 0; waited_ms < PORTS_WAIT_MS; waited_ms++) {
		attachment_lock(attachment);
		attachment_progress(attachment, attachment_now());

		bool are_known = ports_are_known(&adapter->hca);
		bool is_usable = attachment_is_usable(attachment);

		attachment_unlock(attachment);
		if (are_known)
			return 0;
		if (!is_usable)
			return -ENODEV;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

/* Opening is rare and asks softibd, so openers go one by one; the session's mutex for attaching
 * serves. */
static int open_first(struct adapter *adapter, const struct hca_owner *owner)
{
	struct attachment *attachment = adapter->attachment;
	int error = 0;

	attachment_lock(attachment);
	if (adapter->has_hca)
		adapter->hca.owner = *owner;
	else
		error = start_hca(adapter, owner);
	attachment_unlock(attachment);
	if (!error)
		error = ask_for_ports(adapter);
	if (!error)
		error = wait_for_ports(adapter);
	attachment_lock(attachment);
	if (error && adapter->has_hca) {
		hca_release(&adapter->hca);
		adapter->has_hca = false;
	}
	attachment_unlock(attachment);
	return error;
}

int adapter_open(struct session *session, unsigned index, const struct hca_owner *owner,
		 struct adapter **ret_adapter)
{
	const struct adapter_description *description = session_adapter(session, index);
	struct attachment *attachment;
	struct adapter *adapter = NULL;

	if (!description)
		return -EINVAL;

	int error = attachment_get(session, &attachment);

	if (error)
		return error;
	pthread_mutex_lock(&session->attaching);
	attachment_lock(attachment);
	error = attachment_is_usable(attachment) ? get_adapter(attachment, description, &adapter)
						 : -ENODEV;
	attachment_unlock(attachment);
	if (!error && adapter->open_count == 0)
		error = open_first(adapter, owner);
	if (!error) {
		adapter->open_count++;
		*ret_adapter = adapter;
	}
	pthread_mutex_unlock(&session->attaching);
	return error;
}

void adapter_close(struct adapter *adapter)
{
	struct session *session = adapter->attachment->session;
	struct hca *hca = &adapter->hca;

	pthread_mutex_lock(&session->attaching);
	assert(adapter->open_count > 0);
	if (--adapter->open_count == 0) {
		attachment_lock(adapter->attachment);
		hca->owner = adapter_nobody;
		/* What a program did not destroy stays until it exits, as it would with a kernel
		 * that has no close yet. */
		if (hca->qp_count == 0 && hca->cq_count == 0 && hca->srq_count == 0 &&
		    hca->pd_count == 0 && hca->rdd_count == 0) {
			hca_release(hca);
			adapter->has_hca = false;
		}
		attachment_unlock(adapter->attachment);
	}
	pthread_mutex_unlock(&session->attaching);
}

/* --- at work --- */

struct hca *adapter_hca(struct adapter *adapter)
{
	return &adapter->hca;
}

void adapter_lock(struct adapter *adapter)
{
	attachment_lock(adapter->attachment);
}

void adapter_unlock(struct adapter *adapter)
{
	attachment_unlock(adapter->attachment);
}

time_ns adapter_now(const struct adapter *adapter)
{
	(void)adapter;
	return attachment_now();
}

/* Written under the lock, read by the helper without. */
static void count_poll(struct attachment *attachment)
{
	__atomic_store_n(&attachment->poll_count, attachment->poll_count + 1, __ATOMIC_RELAXED);
}

void adapter_last_answers(struct adapter *adapter, struct qp_object *qp, time_ns now)
{
	struct attachment *attachment = adapter->attachment;

	/* What has arrived was there before the queue pair stopped: a peer that acknowledged and then
	 * disconnected is no reason to flush what it acknowledged. */
	if (attachment_is_usable(attachment)) {
		receive_all(attachment, now);
		adapter_transmit(adapter, now);
	}
	transmit_last_answers(adapter, &qp->qp, now);
}

static void transmit_round(struct adapter *adapter, time_ns now)
{
	struct attachment *attachment = adapter->attachment;

	attachment->placed_bytes = 0;
	if (unlikely(!attachment_is_usable(attachment)))
		return;
	/* A program that posts much and polls little takes its acknowledgements here, or the helper
	 * would be woken for them and fight it for the lock. */
	count_poll(attachment);
	if (receive_has_more(attachment))
		receive_all(attachment, now);
	transmit_adapter(adapter, now);
	if (unlikely(attachment_has_loans(attachment)))
		target_loans_return_idle(attachment, now);
	transmit_flush(attachment);
}

void adapter_transmit(struct adapter *adapter, time_ns now)
{
	transmit_round(adapter, now);
	attachment_wake_helper(adapter->attachment);
}

void adapter_send(struct adapter *adapter, struct qp_object *qp)
{
	struct attachment *attachment = adapter->attachment;

	if (likely(placement_is_next(&qp->qp) ? placement_send(adapter, &qp->qp)
					      : express_lane_send(adapter, &qp->qp))) {
		count_poll(attachment);
		if (likely(++attachment->quick_posts % POSTS_PER_ROUND))
			return;
		/* A program that posts much and polls little takes its acknowledgements here, and
		 * looks after its timers. */
		if (attachment->quick_posts < QUICK_ROUNDS &&
		    express_lane_round(attachment) != EXPRESS_LONG_WAY)
			return;
		(void)adapter_progress(adapter, attachment_now());
		return;
	}
	hca_ready_add(&adapter->hca, &qp->qp);
	transmit_round(adapter, attachment_now());
	/* Whoever posts much copies it, but for the others' sake not in one go. */
	for (unsigned round = 0;
	     round < COPY_ROUNDS && unlikely(attachment_has_more_to_place(attachment)); round++) {
		adapter_unlock(adapter);
		adapter_lock(adapter);
		transmit_round(adapter, attachment_now());
	}
	attachment_wake_helper(attachment);
}

bool adapter_sends_through_softibd(const struct adapter *adapter)
{
	return adapter->attachment->sends_through_softibd;
}

void adapter_expect_silence(struct adapter *adapter)
{
	attachment_call_helper(adapter->attachment);
}

bool adapter_progress(struct adapter *adapter, time_ns now)
{
	struct attachment *attachment = adapter->attachment;

	count_poll(attachment);

	bool any = attachment_progress(attachment, now);

	attachment_wake_helper(attachment);
	return any;
}

bool adapter_poll(struct adapter *adapter)
{
	struct attachment *attachment = adapter->attachment;

	/* Timers, full rings and peers that go are looked after now and then. */
	if (likely(++attachment->quick_polls < QUICK_ROUNDS)) {
		enum express_round round = express_lane_round(attachment);

		if (likely(round != EXPRESS_LONG_WAY)) {
			count_poll(attachment);
			return round == EXPRESS_DONE;
		}
	}
	return adapter_progress(adapter, attachment_now());
}

void adapter_want_time(struct adapter *adapter)
{
	adapter->attachment->wants_time = true;
}

static int remember_grant(struct adapter *adapter, struct qpn_grant grant)
{
	struct qpn_grant *grants =
		realloc(adapter->grants, (adapter->grant_count + 1) * sizeof(*grants));

	if (!grants)
		return -ENOMEM;
	grants[adapter->grant_count++] = grant;
	adapter->grants = grants;
	return 0;
}

static int ask_for_qpns(struct adapter *adapter, struct qpn_grant *ret_grant)
{
	uint64_t first, count;
	json_t *answer;
	char text[96];

	snprintf(text, sizeof(text), "{\"command\":\"qpns\",\"adapter\":%u,\"count\":%d}",
		 adapter->description->index, QPN_BLOCK);

	int error = session_ask_plain(adapter->attachment->session, text, &answer);

	if (error)
		return error;
	error = answer_number(answer, "first", &first);
	if (!error)
		error = answer_number(answer, "count", &count);
	json_decref(answer);
	if (!error && (first > 0xffffff || count > 0xffffff))
		error = -EPROTO;
	if (!error)
		*ret_grant = (struct qpn_grant){.first = (uint32_t)first, .count = (uint32_t)count};
	return error;
}

int adapter_more_qpns(struct adapter *adapter)
{
	struct qpn_grant grant = {0};

	if (!attachment_is_usable(adapter->attachment))
		return -ENODEV;
	adapter_unlock(adapter);

	int error = ask_for_qpns(adapter, &grant);

	adapter_lock(adapter);
	if (!error)
		error = hca_add_qpns(&adapter->hca, grant.first, grant.count);
	if (!error)
		error = remember_grant(adapter, grant);
	return error;
}
