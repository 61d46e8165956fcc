/* SPDX-License-Identifier: Apache-2.0 */
/* This process on its fabric: attaching, channels coming and going, and one round of progress. */
#include "runtime/process_runtime.h"
#include "runtime/channel_queues.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "runtime/softibd_connection.h"
#include "ipc/doorbell.h"
#include "runtime/direct_channels.h"
#include "runtime/fast/short_send.h"
#include "runtime/progress_thread.h"
#include "runtime/key_violations.h"
#include "ipc/memory_file.h"
#include "runtime/rma/pinned_range.h"
#include "runtime/rma/rma_state.h"
#include "runtime/process_fence.h"
#include "runtime/packets/receive.h"
#include "runtime/xrc/xrc_leases.h"
#include "runtime/packets/transmit.h"
#include "runtime/rma/rkey_export.h"
#include "runtime/zcopy/ud_zcopy.h"

/* Deadlines this close to the helper's own are not worth a system call. */
#define WAKE_SLACK_NS MILLISECONDS(1)

enum { PAGE_BYTES = 4096 };

static int map_parts(struct attachment *attachment, struct control_message *message)
{
	struct process_layout layout = process_layout();
	size_t page_bytes = sizeof(struct fabric_page);
	const void *page;
	void *memory;
	int doorbell;

	if (message->descriptor_count != 5)
		return -EPROTO;

	int error = memory_file_map_readonly(message->descriptors[0], page_bytes, &page);

	/* softibd may have rounded its page up. */
	if (error == -EPROTO) {
		page_bytes = PAGE_BYTES;
		error = memory_file_map_readonly(message->descriptors[0], page_bytes, &page);
	}
	if (error)
		return error;
	error = memory_file_map(message->descriptors[1], layout.total_bytes, &memory);
	if (error)
		goto unmap_page;

	uint8_t *bytes = memory;

	error = flow_table_init(&attachment->flows,
				(struct flow_counters *)(bytes + layout.flows_offset));
	if (error)
		goto unmap_memory;
	attachment->fabric_page = page;
	attachment->fabric_page_bytes = page_bytes;
	attachment->doorbell = control_message_take(message, 3);
	doorbell = control_message_take(message, 4);
	/* Without it all goes by packets. */
	if (exposure_open(&attachment->exposure, control_message_take(message, 2)) != 0)
		exposure_close(&attachment->exposure);
	channel_open(&attachment->softibd, bytes + layout.up_offset, PROCESS_RING_BYTES,
		     bytes + layout.down_offset, PROCESS_RING_BYTES, doorbell);
	attachment->softibd.memory = memory;
	attachment->softibd.memory_bytes = layout.total_bytes;
	return 0;

unmap_memory:
	munmap(memory, layout.total_bytes);
unmap_page:
	munmap((void *)(uintptr_t)page, page_bytes);
	return error;
}

static int attach(struct attachment *attachment)
{
	struct control_message message;
	json_t *answer;
	int error = session_reconnect(attachment->session);

	if (!error)
		error = session_ask(attachment->session, "{\"command\":\"attach\"}", &answer,
				    &message);
	if (error)
		return error;
	json_decref(answer);
	error = map_parts(attachment, &message);
	control_message_release(&message);
	return error;
}

/* What attach() got; nobody uses it yet. */
static void detach(struct attachment *attachment)
{
	flow_table_release(&attachment->flows);
	channel_close(&attachment->softibd);
	exposure_close(&attachment->exposure);
	munmap((void *)(uintptr_t)attachment->fabric_page, attachment->fabric_page_bytes);
	close(attachment->doorbell);
}

static int create(struct session *session, struct attachment **ret_attachment)
{
	struct attachment *attachment = calloc(1, sizeof(*attachment));

	if (!attachment)
		return -ENOMEM;
	biased_lock_init(&attachment->lock);
	attachment->session = session;
	attachment->is_fenced = process_fence_register();
	attachment->may_express = express_lane_is_allowed();
	attachment->helper_wakes_at = TIME_NEVER;
	attachment->give_back_at = TIME_NEVER;
	attachment->violations_due = TIME_NEVER;
	list_init(&attachment->dirty);
	list_init(&attachment->lending);
	channel_init(&attachment->softibd, 0);

	int error = attach(attachment);

	if (error)
		goto free_attachment;
	error = helper_start(attachment);
	if (error)
		goto detach;
	*ret_attachment = attachment;
	return 0;

detach:
	detach(attachment);
free_attachment:
	session_hang_up(session);
	biased_lock_destroy(&attachment->lock);
	free(attachment);
	return error;
}

int attachment_get(struct session *session, struct attachment **ret_attachment)
{
	struct attachment *attachment;
	int error = 0;

	pthread_mutex_lock(&session->attaching);
	attachment = session->attachment;
	if (!attachment)
		error = create(session, &attachment);
	if (!error) {
		/* A fork looks at it without the mutex. */
		__atomic_store_n(&session->attachment, attachment, __ATOMIC_RELEASE);
		*ret_attachment = attachment;
	}
	pthread_mutex_unlock(&session->attaching);
	return error;
}

/* The number may soon be another file's. */
static void close_doorbell(int *doorbell)
{
	if (*doorbell >= 0)
		close(*doorbell);
	*doorbell = -1;
}

void attachment_abandon(struct attachment *attachment)
{
	attachment->is_abandoned = true;
	attachment->may_express = false;
	attachment_forget_requests(attachment); /* the rings are the parent's */
	close_doorbell(&attachment->doorbell);
	close_doorbell(&attachment->softibd.doorbell);
	for (unsigned i = 0; i < attachment->channel_count; i++) {
		close_doorbell(&attachment->channels[i]->doorbell);
		pinned_window_abandon(attachment->channels[i]);
		if (attachment->channels[i]->peer)
			pinned_write_abandon(&attachment->channels[i]->peer->pinned);
		/* What is written there is the parent's. */
		attachment->channels[i]->placed_in = NULL;
		attachment->channels[i]->placed_out = NULL;
	}
	biased_lock_init(&attachment->lock);
	/* Whoever polls what the parent posted finds it flushed. No events: the descriptors that
	 * tell of them are the parent's too. */
	for (unsigned i = 0; i < attachment->adapter_limit; i++)
		if (attachment->adapters[i])
			attachment->adapters[i]->hca.owner = adapter_nobody;
	attachment_fail(attachment, attachment_now());
}

static bool retry_full(struct channel *channel, time_ns now)
{
	if (likely(list_is_empty(&channel->waiting)) ||
	    !channel_should_retry(channel, now, TRANSMIT_ROOM_BYTES))
		return false;
	waiting_wake(&channel->waiting);
	return true;
}

void attachment_fail(struct attachment *attachment, time_ns now)
{
	if (attachment->is_failed)
		return;
	attachment->is_failed = true;
	attachment->may_express = false;
	for (unsigned i = 0; i < attachment->adapter_limit; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca)
			hca_fail(&attachment->adapters[i]->hca, now);
}

static bool expire(struct attachment *attachment, time_ns now)
{
	bool any = false;

	for (unsigned i = 0; i < attachment->adapter_limit; i++) {
		struct adapter *adapter = attachment->adapters[i];

		if (adapter && adapter->has_hca)
			hca_date(&adapter->hca, now);
		if (adapter && adapter->has_hca && hca_deadline(&adapter->hca) <= now) {
			hca_expire(&adapter->hca, now);
			any = true;
		}
	}
	if (unlikely(!list_is_empty(&attachment->flows.holding)))
		flow_table_expire(&attachment->flows, now, waiting_wake_flow, attachment);
	any |= retry_full(&attachment->softibd, now);
	for (unsigned i = 0; i < attachment->channel_count; i++)
		if (attachment->channels[i]->state == CHANNEL_OPEN)
			any |= retry_full(attachment->channels[i], now);
	return any;
}

bool attachment_progress(struct attachment *attachment, time_ns now)
{
	if (unlikely(!attachment_is_usable(attachment)))
		return false;

	attachment->last_now = now;
	attachment->quick_polls = 0;
	attachment->quick_posts = 0;

	bool any = receive_all(attachment, now);

	attachment->placed_bytes = 0;

	if (unlikely(!list_is_empty(&attachment->lending)))
		any |= datagram_loans_watch(attachment, now);
	any |= direct_channels_reap(attachment);
	any |= expire(attachment, now);
	for (unsigned i = 0; i < attachment->adapter_limit; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca)
			any |= transmit_adapter(attachment->adapters[i], now);
	if (unlikely(attachment_has_loans(attachment)))
		target_loans_return_idle(attachment, now);
	if (unlikely(attachment->violations_due <= now))
		key_violations_tell(attachment, now);
	publish_all(attachment);
	return any;
}

time_ns attachment_deadline(const struct attachment *attachment)
{
	time_ns deadline =
		time_earlier(channel_deadline(&attachment->softibd), attachment->give_back_at);

	deadline = time_earlier(deadline, attachment->violations_due);

	for (unsigned i = 0; i < attachment->adapter_limit; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca)
			deadline =
				time_earlier(deadline, hca_deadline(&attachment->adapters[i]->hca));
	for (unsigned i = 0; i < attachment->channel_count; i++)
		deadline = time_earlier(deadline, channel_deadline(attachment->channels[i]));
	return time_earlier(deadline, flow_table_deadline(&attachment->flows));
}

void attachment_wake_helper(struct attachment *attachment)
{
	if (likely(attachment->helper_mode != HELPER_LISTENING))
		return;
	if (likely(!attachment_has_more_to_place(attachment)) &&
	    attachment_deadline(attachment) > attachment->helper_wakes_at - WAKE_SLACK_NS)
		return;
	/* It was rung for already. */
	if (attachment->helper_wakes_at == 0)
		return;
	attachment->helper_wakes_at = 0;
	doorbell_ring(attachment->doorbell);
}

void attachment_call_helper(struct attachment *attachment)
{
	if (attachment->helper_mode != HELPER_STAYING_OUT ||
	    __atomic_exchange_n(&attachment->helper_is_called, true, __ATOMIC_ACQ_REL))
		return;
	doorbell_ring(attachment->doorbell);
}
