/* SPDX-License-Identifier: Apache-2.0 */
/* Direct channels: rings with other processes, from softibd's offer to the close. */
#include "ipc/doorbell.h"
#include "runtime/direct_channels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "runtime/runtime_state.h"
#include "runtime/channel_queues.h"
#include "runtime/softibd_connection.h"
#include "ipc/memory_file.h"
#include "runtime/rma/pinned_range.h"
#include "runtime/rma/rma.h"
#include "runtime/rma/rma_target.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/zcopy/ud_zcopy.h"

struct channel *direct_channel_find(const struct process_runtime *runtime, uint32_t id)
{
	for (unsigned i = 0; i < runtime->direct.count; i++)
		if (runtime->direct.channels[i]->id == id)
			return runtime->direct.channels[i];
	return NULL;
}

/* A progress thread that stays out reads it without the lock. */
static void set_wanted_count(struct process_runtime *runtime, unsigned count)
{
	__atomic_store_n(&runtime->direct.wanted_count, count, __ATOMIC_RELAXED);
}

static void set_exposure_count(struct process_runtime *runtime, unsigned count)
{
	__atomic_store_n(&runtime->direct.exposure_count, count, __ATOMIC_RELAXED);
}

static void forget_exposure(struct process_runtime *runtime, struct channel *channel)
{
	if (!channel->has_exposure)
		return;
	channel->has_exposure = false;
	set_exposure_count(runtime, runtime->direct.exposure_count - 1);
}

bool direct_channels_are_due(const struct process_runtime *runtime)
{
	return __atomic_load_n(&runtime->direct.wanted_count, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&runtime->direct.exposure_count, __ATOMIC_RELAXED);
}

struct channel *direct_channel_get(struct process_runtime *runtime, uint32_t id)
{
	struct channel *channel = direct_channel_find(runtime, id);

	if (channel)
		return channel;
	if (runtime->direct.count == runtime->direct.capacity) {
		unsigned capacity = runtime->direct.capacity ? runtime->direct.capacity * 2 : 8;
		struct channel **channels =
			realloc(runtime->direct.channels, capacity * sizeof(struct channel *));

		if (!channels)
			return NULL;
		runtime->direct.channels = channels;
		runtime->direct.capacity = capacity;
	}
	channel = malloc(sizeof(*channel));
	if (!channel)
		return NULL;
	channel_init(channel, id);
	runtime->direct.channels[runtime->direct.count++] = channel;
	set_wanted_count(runtime, runtime->direct.wanted_count + 1);
	/* The caller may be a polling program; the progress thread asks softibd. */
	doorbell_ring(runtime->doorbell);
	return channel;
}

/* A channel whose peer wrote malformed records keeps its place, so that it is not fetched again. */
static void bury_channel(struct process_runtime *runtime, struct channel *channel)
{
	forget_exposure(runtime, channel);
	ud_zcopies_close(runtime, channel, runtime_now());
	rma_target_close(channel);
	pinned_range_close(runtime, channel);
	rma_close(channel);
	waiting_wake(&channel->waiting);
	runtime_invalidate(runtime);
	flow_table_forget_channel(&runtime->flows, channel, waiting_wake_flow, runtime);
	channel_close(channel);
}

static void drop_channel(struct process_runtime *runtime, unsigned index)
{
	struct channel *channel = runtime->direct.channels[index];

	bury_channel(runtime, channel);
	runtime->direct.channels[index] = runtime->direct.channels[--runtime->direct.count];
	free(channel);
}

bool direct_channels_reap(struct process_runtime *runtime)
{
	bool any = false;

	for (unsigned i = runtime->direct.count; i-- > 0;) {
		struct channel *channel = runtime->direct.channels[i];

		if (channel->state != CHANNEL_OPEN)
			continue;
		if (unlikely(channel_is_corrupt(channel))) {
			bury_channel(runtime, channel);
			any = true;
		} else if (unlikely(ring_is_closed(channel->in.shared)) &&
			   !channel_has_more(channel)) {
			drop_channel(runtime, i);
			any = true;
		}
	}
	return any;
}

void direct_channels_drop_all(struct process_runtime *runtime)
{
	while (runtime->direct.count)
		drop_channel(runtime, runtime->direct.count - 1);
	free(runtime->direct.channels);
	runtime->direct.channels = NULL;
	runtime->direct.capacity = 0;
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
	/* A process's ring to itself is written and read in one place. */
	if (!error)
		error = answer_number(answer, "incoming", &incoming);
	if (!error && (outgoing > 1 || incoming > 1 || message.descriptor_count != 2))
		error = -EPROTO;
	if (!error)
		error = memory_file_map(message.descriptors[0], direct_layout().total_bytes,
					&ret_fetched->memory);
	if (!error) {
		ret_fetched->doorbell = control_message_take(&message, 1);
		ret_fetched->outgoing = (unsigned)outgoing;
		ret_fetched->incoming = (unsigned)incoming;
	}
	json_decref(answer);
	control_message_release(&message);
	return error;
}

/* softibd counts a ring as fetched once it has answered. If we could not keep the ring (out of
 * descriptors, say), nobody would read it: softibd closes it and relays the packets. */
static void refuse(struct session *session, uint32_t id)
{
	json_t *answer;
	char text[64];

	snprintf(text, sizeof(text), "{\"command\":\"refuse\",\"id\":%u}", id);
	/* A softibd that does not answer is about to exit. */
	if (session_ask_plain(session, text, &answer) == 0)
		json_decref(answer);
}

static void open_channel(struct process_runtime *runtime, struct channel *channel,
			 const struct fetched *fetched)
{
	struct direct_layout layout = direct_layout();
	uint8_t *memory = fetched->memory;

	channel->memory = memory;
	channel->memory_bytes = layout.total_bytes;
	channel_open(channel, memory + layout.offset[fetched->outgoing], DIRECT_RING_BYTES,
		     memory + layout.offset[fetched->incoming], DIRECT_RING_BYTES,
		     fetched->doorbell);
	channel_open_words(channel, memory + layout.words_offset[fetched->outgoing],
			   memory + layout.words_offset[fetched->incoming]);
	channel->out.is_fenced = runtime->is_fenced;
	__atomic_store_n(&channel->in.shared->consumer_fences, runtime->is_fenced,
			 __ATOMIC_RELEASE);
	channel->rma_out =
		(struct rma_area *)(void *)(memory + layout.area_offset[fetched->outgoing]);
	channel->rma_in =
		(struct rma_area *)(void *)(memory + layout.area_offset[fetched->incoming]);
	flow_table_channel_opened(&runtime->flows, channel, waiting_wake_flow, runtime);
}

void direct_channel_exposed(struct process_runtime *runtime, uint32_t id)
{
	struct channel *channel = direct_channel_find(runtime, id);

	if (!channel || channel->has_exposure || channel->peer || channel->state == CHANNEL_DEAD)
		return;
	channel->has_exposure = true;
	set_exposure_count(runtime, runtime->direct.exposure_count + 1);
	doorbell_ring(runtime->doorbell);
}

/* Returns the file; negative: the peer is gone. */
static int ask_for_exposure(struct session *session, uint32_t id)
{
	struct control_message message;
	json_t *answer;
	char text[64];
	int file;

	snprintf(text, sizeof(text), "{\"command\":\"exposure\",\"id\":%u}", id);

	int error = session_ask(session, text, &answer, &message);

	if (error)
		return error;
	file = message.descriptor_count == 1 ? control_message_take(&message, 0) : -EPROTO;
	json_decref(answer);
	control_message_release(&message);
	return file;
}

static void fetch_exposure(struct process_runtime *runtime, struct channel *channel)
{
	const uint32_t id = channel->id;
	int file;

	forget_exposure(runtime, channel);
	runtime_unlock(runtime);
	file = ask_for_exposure(runtime->session, id);
	runtime_lock(runtime);
	/* Open channels may have been dropped meanwhile. */
	channel = direct_channel_find(runtime, id);
	if (file >= 0 && channel && channel->state == CHANNEL_OPEN && !channel->peer) {
		rma_open(channel, file);
		zcopy_open(runtime, channel);
	} else if (file >= 0) {
		close(file);
	}
}

static void fetch_exposures(struct process_runtime *runtime)
{
	for (unsigned i = 0; runtime->direct.exposure_count && i < runtime->direct.count; i++) {
		struct channel *channel = runtime->direct.channels[i];

		if (channel->state != CHANNEL_OPEN || !channel->has_exposure)
			continue;
		fetch_exposure(runtime, channel);
		i = (unsigned)-1;
	}
}

void direct_channels_fetch(struct process_runtime *runtime)
{
	for (unsigned i = 0; runtime->direct.wanted_count && i < runtime->direct.count; i++) {
		struct channel *channel = runtime->direct.channels[i];
		struct fetched fetched;

		if (channel->state != CHANNEL_WANTED)
			continue;
		/* The channel stays while the lock is released: only the progress thread fetches,
		 * and reaping leaves wanted channels alone. The array may move. */
		runtime_unlock(runtime);

		int error = fetch(runtime->session, channel->id, &fetched);

		/* -ENOENT: the peer is gone, and the ring with it. */
		if (error && error != -ENOENT)
			refuse(runtime->session, channel->id);
		runtime_lock(runtime);
		set_wanted_count(runtime, runtime->direct.wanted_count - 1);
		if (!error)
			open_channel(runtime, channel, &fetched);
		else
			bury_channel(runtime, channel);
		/* Other channels may have come and gone meanwhile. */
		i = (unsigned)-1;
	}
	fetch_exposures(runtime);
}
