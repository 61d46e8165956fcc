/* SPDX-License-Identifier: Apache-2.0 */
/* The process runtime: attaching, failing, one round of progress. */
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
#include "runtime/xrc/leased_targets.h"
#include "runtime/packets/transmit.h"
#include "runtime/rma/rkey_export.h"
#include "runtime/zcopy/ud_zcopy.h"

/* A deadline this close to the progress thread's own is not worth a system call. */
#define WAKE_SLACK_NS MILLISECONDS(1)

enum { PAGE_BYTES = 4096 };

static int map_parts(struct process_runtime *runtime, struct control_message *message)
{
	struct process_layout layout = process_layout();
	size_t page_bytes = sizeof(struct fabric_page);
	const void *page;
	void *memory;
	int doorbell;

	if (message->descriptor_count != 5)
		return -EPROTO;

	int error = memory_file_map_readonly(message->descriptors[0], page_bytes, &page);

	/* softibd may have rounded the page's size up. */
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

	error = flow_table_init(&runtime->flows,
				(struct flow_counters *)(bytes + layout.flows_offset));
	if (error)
		goto unmap_memory;
	runtime->fabric_page = page;
	runtime->fabric_page_bytes = page_bytes;
	runtime->doorbell = control_message_take(message, 3);
	doorbell = control_message_take(message, 4);
	/* Without exported rkeys everything goes by packets. */
	if (rkey_export_open(&runtime->rkey_export, control_message_take(message, 2)) != 0)
		rkey_export_close(&runtime->rkey_export);
	channel_open(&runtime->softibd, bytes + layout.up_offset, PROCESS_RING_BYTES,
		     bytes + layout.down_offset, PROCESS_RING_BYTES, doorbell);
	runtime->softibd.memory = memory;
	runtime->softibd.memory_bytes = layout.total_bytes;
	return 0;

unmap_memory:
	munmap(memory, layout.total_bytes);
unmap_page:
	munmap((void *)(uintptr_t)page, page_bytes);
	return error;
}

static int attach(struct process_runtime *runtime)
{
	struct control_message message;
	json_t *answer;
	int error = session_reconnect(runtime->session);

	if (!error)
		error = session_ask(runtime->session, "{\"command\":\"attach\"}", &answer,
				    &message);
	if (error)
		return error;
	json_decref(answer);
	error = map_parts(runtime, &message);
	control_message_release(&message);
	return error;
}

/* Undoes attach(); nothing uses the parts yet. */
static void detach(struct process_runtime *runtime)
{
	flow_table_release(&runtime->flows);
	channel_close(&runtime->softibd);
	rkey_export_close(&runtime->rkey_export);
	munmap((void *)(uintptr_t)runtime->fabric_page, runtime->fabric_page_bytes);
	close(runtime->doorbell);
}

static int create(struct session *session, struct process_runtime **ret_runtime)
{
	struct process_runtime *runtime = calloc(1, sizeof(*runtime));

	if (!runtime)
		return -ENOMEM;
	biased_lock_init(&runtime->lock);
	runtime->session = session;
	runtime->is_fenced = process_fence_register();
	runtime->may_go_fast = fast_path_is_allowed();
	runtime->forms = send_forms_allowed();
	runtime->progress.wakes_at = TIME_NEVER;
	runtime->xrc_debts.give_back_at = TIME_NEVER;
	runtime->violations.due = TIME_NEVER;
	list_init(&runtime->unpublished);
	list_init(&runtime->zcopy_channels);
	channel_init(&runtime->softibd, 0);
	runtime->softibd.source = packet_source_fabric;

	int error = attach(runtime);

	if (error)
		goto free_runtime;
	error = progress_thread_start(runtime);
	if (error)
		goto detach;
	*ret_runtime = runtime;
	return 0;

detach:
	detach(runtime);
free_runtime:
	session_hang_up(session);
	biased_lock_destroy(&runtime->lock);
	free(runtime);
	return error;
}

int runtime_get(struct session *session, struct process_runtime **ret_runtime)
{
	struct process_runtime *runtime;
	int error = 0;

	pthread_mutex_lock(&session->attaching);
	runtime = session->runtime;
	if (session->is_retired)
		error = -ENODEV;
	else if (!runtime)
		error = create(session, &runtime);
	if (!error) {
		/* before_fork reads it without the mutex. */
		__atomic_store_n(&session->runtime, runtime, __ATOMIC_RELEASE);
		*ret_runtime = runtime;
	}
	pthread_mutex_unlock(&session->attaching);
	return error;
}

bool runtime_has_open_adapters(const struct process_runtime *runtime)
{
	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->open_count)
			return true;
	return false;
}

void runtime_retire(struct process_runtime *runtime)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	/* softibd has hung up, so it ends soon. */
	while (!__atomic_load_n(&runtime->progress.has_ended, __ATOMIC_ACQUIRE))
		nanosleep(&pause, NULL);
	/* Objects that the program left behind may still point to the channels. */
	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->has_hca)
			return;
	runtime_lock(runtime);
	rkey_export_end_sharing(runtime);
	direct_channels_drop_all(runtime);
	detach(runtime);
	runtime->doorbell = -1;
	runtime_unlock(runtime);
}

/* The descriptor's number may soon belong to another file. */
static void close_doorbell(int *doorbell)
{
	if (*doorbell >= 0)
		close(*doorbell);
	*doorbell = -1;
}

void runtime_abandon(struct process_runtime *runtime)
{
	runtime->is_abandoned = true;
	runtime->may_go_fast = false;
	close_doorbell(&runtime->doorbell);
	close_doorbell(&runtime->softibd.doorbell);
	for (unsigned i = 0; i < runtime->direct.count; i++) {
		close_doorbell(&runtime->direct.channels[i]->doorbell);
		pinned_range_abandon(runtime->direct.channels[i]);
		if (runtime->direct.channels[i]->peer)
			pinned_write_abandon(&runtime->direct.channels[i]->peer->pinned);
		/* The RMA areas are the parent's. */
		runtime->direct.channels[i]->rma_in = NULL;
		runtime->direct.channels[i]->rma_out = NULL;
	}
	biased_lock_init(&runtime->lock);
	/* A child that polls finds the parent's requests flushed. No events are raised: the
	 * descriptors for them are the parent's, too. */
	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i])
			runtime->adapters[i]->hca.owner = adapter_nobody;
	runtime_fail(runtime, runtime_now());
}

static bool retry_full(struct channel *channel, time_ns now)
{
	if (likely(list_is_empty(&channel->waiting)) ||
	    !channel_should_retry(channel, now, TRANSMIT_ROOM_BYTES))
		return false;
	waiting_wake(&channel->waiting);
	return true;
}

void runtime_fail(struct process_runtime *runtime, time_ns now)
{
	if (runtime->is_failed)
		return;
	runtime->is_failed = true;
	runtime->may_go_fast = false;
	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->has_hca)
			hca_fail(&runtime->adapters[i]->hca, now);
}

static bool expire(struct process_runtime *runtime, time_ns now)
{
	bool any = false;

	for (unsigned i = 0; i < runtime->adapter_limit; i++) {
		struct adapter *adapter = runtime->adapters[i];

		if (adapter && adapter->has_hca)
			hca_date(&adapter->hca, now);
		if (adapter && adapter->has_hca && hca_deadline(&adapter->hca) <= now) {
			hca_expire(&adapter->hca, now);
			any = true;
		}
	}
	if (unlikely(!list_is_empty(&runtime->flows.holding)))
		flow_table_expire(&runtime->flows, now, waiting_wake_flow, runtime);
	any |= retry_full(&runtime->softibd, now);
	for (unsigned i = 0; i < runtime->direct.count; i++)
		if (runtime->direct.channels[i]->state == CHANNEL_OPEN)
			any |= retry_full(runtime->direct.channels[i], now);
	return any;
}

bool runtime_progress(struct process_runtime *runtime, time_ns now)
{
	if (unlikely(!runtime_is_usable(runtime)))
		return false;

	runtime->last_now = now;
	runtime->rounds.quick_polls = 0;
	runtime->rounds.quick_posts = 0;

	bool any = receive_all(runtime, now);

	runtime->rounds.rma_bytes = 0;

	if (unlikely(!list_is_empty(&runtime->zcopy_channels)))
		any |= ud_zcopies_watch(runtime, now);
	any |= direct_channels_reap(runtime);
	any |= expire(runtime, now);
	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->has_hca)
			any |= transmit_adapter(runtime->adapters[i], now);
	if (unlikely(runtime_has_xrc_leases(runtime)))
		xrc_leases_return_idle(runtime, now);
	if (unlikely(runtime->violations.due <= now))
		key_violations_tell(runtime, now);
	publish_all(runtime);
	return any;
}

time_ns runtime_deadline(const struct process_runtime *runtime)
{
	time_ns deadline =
		time_earlier(channel_deadline(&runtime->softibd), runtime->xrc_debts.give_back_at);

	deadline = time_earlier(deadline, runtime->violations.due);

	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->has_hca)
			deadline = time_earlier(deadline, hca_deadline(&runtime->adapters[i]->hca));
	for (unsigned i = 0; i < runtime->direct.count; i++)
		deadline = time_earlier(deadline, channel_deadline(runtime->direct.channels[i]));
	return time_earlier(deadline, flow_table_deadline(&runtime->flows));
}

void runtime_wake_progress_thread(struct process_runtime *runtime)
{
	if (likely(runtime->progress.mode != PROGRESS_LISTENING))
		return;
	if (likely(!runtime_has_more_rma(runtime)) &&
	    runtime_deadline(runtime) > runtime->progress.wakes_at - WAKE_SLACK_NS)
		return;
	/* The doorbell was rung already. */
	if (runtime->progress.wakes_at == 0)
		return;
	runtime->progress.wakes_at = 0;
	doorbell_ring(runtime->doorbell);
}

void runtime_call_progress_thread(struct process_runtime *runtime)
{
	__atomic_store_n(&runtime->progress.call_count, runtime->progress.call_count + 1,
			 __ATOMIC_RELAXED);
	if (runtime->progress.mode != PROGRESS_STAYING_OUT ||
	    __atomic_exchange_n(&runtime->progress.is_called, true, __ATOMIC_ACQ_REL))
		return;
	doorbell_ring(runtime->doorbell);
}
