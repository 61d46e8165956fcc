/* SPDX-License-Identifier: Apache-2.0 */
/* This process on its fabric: attaching, channels coming and going, and one round of progress. */
#include "host/attachment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "host/connection.h"
#include "host/helper.h"
#include "host/memory_file.h"
#include "host/receive.h"
#include "host/transmit.h"

/* Deadlines this close to the helper's own are not worth a system call. */
#define WAKE_SLACK_NS MILLISECONDS(1)

time_ns attachment_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return SECONDS(now.tv_sec) + (time_ns)now.tv_nsec;
}

/* --- attaching --- */

static void take(struct control_message *message, unsigned index, int *ret_descriptor)
{
	*ret_descriptor = message->descriptors[index];
	message->descriptors[index] = -1;
}

static int map_parts(struct attachment *attachment, struct control_message *message)
{
	struct process_layout layout = process_layout();
	const void *page;
	void *memory;
	int doorbell;

	if (message->descriptor_count != 4)
		return -EPROTO;

	int error = memory_file_map_readonly(message->descriptors[0], sizeof(struct fabric_page), &page);

	/* softibd may have rounded its page up. */
	if (error == -EPROTO)
		error = memory_file_map_readonly(message->descriptors[0], 4096, &page);
	if (!error)
		error = memory_file_map(message->descriptors[1], layout.total_bytes, &memory);
	if (error)
		return error;

	uint8_t *bytes = memory;

	error = flow_table_init(&attachment->flows, (struct flow_counters *)(bytes + layout.flows_offset));
	if (error) {
		munmap(memory, layout.total_bytes);
		return error;
	}
	attachment->fabric_page = page;
	take(message, 2, &attachment->doorbell);
	take(message, 3, &doorbell);
	channel_open(&attachment->softibd, bytes + layout.up_offset, PROCESS_RING_BYTES, bytes + layout.down_offset,
		     PROCESS_RING_BYTES, doorbell);
	return 0;
}

static int attach(struct attachment *attachment)
{
	struct control_message message;
	json_t *answer;
	int error = session_ask(attachment->session, "{\"command\":\"attach\"}", &answer, &message);

	if (error)
		return error;
	json_decref(answer);
	error = map_parts(attachment, &message);
	control_message_release(&message);
	return error;
}

static int create(struct session *session, struct attachment **ret_attachment)
{
	struct attachment *attachment = calloc(1, sizeof(*attachment));
	pthread_mutexattr_t kind;

	if (!attachment)
		return -ENOMEM;
	pthread_mutexattr_init(&kind);
	/* Whoever holds it leaves within microseconds: a short spin beats a sleep. */
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&attachment->lock, &kind);
	pthread_mutexattr_destroy(&kind);
	attachment->session = session;
	attachment->helper_wakes_at = TIME_NEVER;
	list_init(&attachment->dirty);
	channel_init(&attachment->softibd, 0);

	int error = attach(attachment);

	if (!error)
		error = helper_start(attachment);
	if (error) {
		pthread_mutex_destroy(&attachment->lock);
		free(attachment);
		return error;
	}
	*ret_attachment = attachment;
	return 0;
}

int attachment_get(struct session *session, struct attachment **ret_attachment)
{
	int error = 0;

	pthread_mutex_lock(&session->attaching);
	if (!session->attachment)
		error = create(session, &session->attachment);
	if (!error)
		*ret_attachment = session->attachment;
	pthread_mutex_unlock(&session->attaching);
	return error;
}

void attachment_abandon(struct attachment *attachment)
{
	attachment->is_abandoned = true;
	close(attachment->doorbell);
	close(attachment->softibd.doorbell);
	for (unsigned i = 0; i < attachment->channel_count; i++)
		if (attachment->channels[i]->doorbell >= 0)
			close(attachment->channels[i]->doorbell);
	pthread_mutex_init(&attachment->lock, NULL);
}

/* --- queue pairs that wait --- */

void attachment_give_back(struct list *waiting)
{
	struct list *link;

	while ((link = list_pop(waiting))) {
		struct qp *qp = container_of(link, struct qp, ready_link);

		hca_ready_add(container_of(qp, struct qp_object, qp)->hca, qp);
	}
}

static void wake_flow(void *context, struct flow *flow)
{
	(void)context;
	attachment_give_back(&flow->waiting);
}

static bool retry_full(struct channel *channel, time_ns now)
{
	if (likely(list_is_empty(&channel->waiting)) || !channel_should_retry(channel, now, TRANSMIT_ROOM_BYTES))
		return false;
	attachment_give_back(&channel->waiting);
	return true;
}

/* --- direct channels --- */

static struct channel *find_channel(const struct attachment *attachment, uint32_t id)
{
	for (unsigned i = 0; i < attachment->channel_count; i++)
		if (attachment->channels[i]->id == id)
			return attachment->channels[i];
	return NULL;
}

struct channel *attachment_channel(struct attachment *attachment, uint32_t id)
{
	struct channel *channel = find_channel(attachment, id);

	if (channel)
		return channel;
	if (attachment->channel_count == attachment->channel_capacity) {
		unsigned capacity = attachment->channel_capacity ? attachment->channel_capacity * 2 : 8;
		struct channel **channels = realloc(attachment->channels, capacity * sizeof(struct channel *));

		if (!channels)
			return NULL;
		attachment->channels = channels;
		attachment->channel_capacity = capacity;
	}
	channel = malloc(sizeof(*channel));
	if (!channel)
		return NULL;
	channel_init(channel, id);
	attachment->channels[attachment->channel_count++] = channel;
	attachment->wanted_count++;
	/* Whoever finds the record may be a polling program; the helper does the asking. */
	doorbell_ring(attachment->doorbell);
	return channel;
}

static void drop_channel(struct attachment *attachment, unsigned index)
{
	struct channel *channel = attachment->channels[index];

	attachment_give_back(&channel->waiting);
	flow_table_forget_channel(&attachment->flows, channel, wake_flow, attachment);
	channel_close(channel);
	attachment->channels[index] = attachment->channels[--attachment->channel_count];
	free(channel);
}

/* One that wrote nonsense keeps its place, so that it is not fetched again. */
static void bury_channel(struct attachment *attachment, struct channel *channel)
{
	attachment_give_back(&channel->waiting);
	flow_table_forget_channel(&attachment->flows, channel, wake_flow, attachment);
	channel_close(channel);
}

static bool reap_channels(struct attachment *attachment)
{
	bool any = false;

	for (unsigned i = attachment->channel_count; i-- > 0;) {
		struct channel *channel = attachment->channels[i];

		if (channel->state != CHANNEL_OPEN)
			continue;
		if (unlikely(channel_is_corrupt(channel))) {
			bury_channel(attachment, channel);
			any = true;
		} else if (unlikely(ring_is_closed(channel->in.shared)) && ring_is_empty(&channel->in)) {
			drop_channel(attachment, i);
			any = true;
		}
	}
	return any;
}

struct fetched {
	int doorbell;
	void *memory;
	unsigned outgoing;
	unsigned incoming;
};

static int fetch(struct session *session, uint32_t id, struct fetched *ret_fetched)
{
	struct control_message message;
	uint64_t outgoing, incoming;
	json_t *answer;
	char text[64];

	snprintf(text, sizeof(text), "{\"command\":\"ring\",\"id\":%u}", id);

	int error = session_ask(session, text, &answer, &message);

	if (error)
		return error;
	error = answer_number(answer, "outgoing", &outgoing);
	/* A process's ring to itself is written and read in the same place. */
	if (!error)
		error = answer_number(answer, "incoming", &incoming);
	if (!error && (outgoing > 1 || incoming > 1 || message.descriptor_count != 2))
		error = -EPROTO;
	if (!error)
		error = memory_file_map(message.descriptors[0], direct_layout().total_bytes, &ret_fetched->memory);
	if (!error) {
		take(&message, 1, &ret_fetched->doorbell);
		ret_fetched->outgoing = (unsigned)outgoing;
		ret_fetched->incoming = (unsigned)incoming;
	}
	json_decref(answer);
	control_message_release(&message);
	return error;
}

static void open_channel(struct attachment *attachment, struct channel *channel, const struct fetched *fetched)
{
	struct direct_layout layout = direct_layout();
	uint8_t *memory = fetched->memory;

	channel->memory = memory;
	channel->memory_bytes = layout.total_bytes;
	channel_open(channel, memory + layout.offset[fetched->outgoing], DIRECT_RING_BYTES,
		     memory + layout.offset[fetched->incoming], DIRECT_RING_BYTES, fetched->doorbell);
	flow_table_channel_opened(&attachment->flows, channel, wake_flow, attachment);
}

void attachment_fetch_channels(struct attachment *attachment)
{
	for (unsigned i = 0; attachment->wanted_count && i < attachment->channel_count; i++) {
		struct channel *channel = attachment->channels[i];
		struct fetched fetched;

		if (channel->state != CHANNEL_WANTED)
			continue;
		/* Only the helper fetches and reaping leaves wanted ones alone, so the channel stays while the lock is away;
		 * the array may move. */
		attachment_unlock(attachment);

		int error = fetch(attachment->session, channel->id, &fetched);

		attachment_lock(attachment);
		attachment->wanted_count--;
		if (!error)
			open_channel(attachment, channel, &fetched);
		else
			bury_channel(attachment, channel);
		/* Others may have come and gone meanwhile. */
		i = (unsigned)-1;
	}
}

/* --- progress --- */

void attachment_fail(struct attachment *attachment, time_ns now)
{
	if (attachment->is_failed)
		return;
	attachment->is_failed = true;
	for (unsigned i = 0; i < SESSION_ADAPTERS_MAX; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca)
			hca_fail(&attachment->adapters[i]->hca, now);
}

static bool expire(struct attachment *attachment, time_ns now)
{
	bool any = false;

	for (unsigned i = 0; i < SESSION_ADAPTERS_MAX; i++) {
		struct adapter *adapter = attachment->adapters[i];

		if (adapter && adapter->has_hca && hca_deadline(&adapter->hca) <= now) {
			hca_expire(&adapter->hca, now);
			any = true;
		}
	}
	if (unlikely(!list_is_empty(&attachment->flows.holding)))
		flow_table_expire(&attachment->flows, now, wake_flow, attachment);
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

	bool any = receive_all(attachment, now);

	any |= reap_channels(attachment);
	any |= expire(attachment, now);
	for (unsigned i = 0; i < SESSION_ADAPTERS_MAX; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca)
			any |= transmit_adapter(attachment->adapters[i], now);
	transmit_flush(attachment);
	return any;
}

time_ns attachment_deadline(const struct attachment *attachment)
{
	time_ns deadline = channel_deadline(&attachment->softibd);

	for (unsigned i = 0; i < SESSION_ADAPTERS_MAX; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca)
			deadline = time_earlier(deadline, hca_deadline(&attachment->adapters[i]->hca));
	for (unsigned i = 0; i < attachment->channel_count; i++)
		deadline = time_earlier(deadline, channel_deadline(attachment->channels[i]));
	return time_earlier(deadline, flow_table_deadline(&attachment->flows));
}

void attachment_wake_helper(struct attachment *attachment)
{
	if (likely(attachment->helper_mode != HELPER_LISTENING))
		return;
	if (attachment_deadline(attachment) > attachment->helper_wakes_at - WAKE_SLACK_NS)
		return;
	attachment->helper_wakes_at = 0;
	doorbell_ring(attachment->doorbell);
}
