/* SPDX-License-Identifier: Apache-2.0 */
/* Publishing and doorbells of a channel, and the detection of a peer that does not read. */
#include "runtime/channel.h"

#include <sys/mman.h>
#include <unistd.h>
#include "ipc/doorbell.h"

void channel_init(struct channel *channel, uint32_t id)
{
	*channel = (struct channel){
		.state = CHANNEL_WANTED,
		.id = id,
		.doorbell = -1,
		.full_since = TIME_NEVER,
	};
	list_init(&channel->waiting);
	list_init(&channel->unpublished);
	rnr_hold_init(&channel->rnr_hold);
	ud_zcopies_init(&channel->zcopies);
}

void channel_open(struct channel *channel, void *out_memory, size_t out_bytes, void *in_memory,
		  size_t in_bytes, int doorbell)
{
	ring_producer_init(&channel->out, out_memory, out_bytes);
	ring_consumer_init(&channel->in, in_memory, in_bytes);
	channel->doorbell = doorbell;
	channel->state = CHANNEL_OPEN;
}

void channel_open_words(struct channel *channel, void *out_memory, void *in_memory)
{
	word_producer_init(&channel->words_out, out_memory);
	word_consumer_init(&channel->words_in, in_memory);
}

void channel_close(struct channel *channel)
{
	assert(list_is_empty(&channel->waiting));
	assert(!list_is_linked(&channel->zcopies.link));
	if (list_is_linked(&channel->unpublished))
		list_remove(&channel->unpublished);
	if (channel->memory)
		munmap(channel->memory, channel->memory_bytes);
	if (channel->doorbell >= 0)
		close(channel->doorbell);
	channel->memory = NULL;
	channel->doorbell = -1;
	rnr_hold_init(&channel->rnr_hold);
	channel->release_in = 0;
	packet_source_release(&channel->source);
	channel->state = CHANNEL_DEAD;
}

void channel_publish(struct channel *channel)
{
	if (unlikely(ring_publish(&channel->out)))
		doorbell_ring(channel->doorbell);
}

bool channel_sleep_end(struct channel *channel)
{
	if (channel_holds_back(channel))
		return channel_has_words(channel);
	if (ring_sleep_end(&channel->in))
		return true;
	if (!channel_has_more(channel))
		return false;
	ring_wake(&channel->in);
	return true;
}

void channel_release(struct channel *channel)
{
	channel->release_in = 0;
	if (unlikely(ring_release(&channel->in)))
		doorbell_ring(channel->doorbell);
}

/* byte_count must be what the caller needs: with less, the ring may have that room already, and the
 * peer would not ring for more. Free bytes suffice, too, where ring_wait_for_room also counts the
 * unused end of the ring. */
bool channel_wait_for_room(struct channel *channel, uint32_t byte_count)
{
	return ring_wait_for_room(&channel->out, byte_count) ||
	       ring_room(&channel->out) >= byte_count;
}

void channel_is_full(struct channel *channel, time_ns now)
{
	if (channel->full_since != TIME_NEVER)
		return;
	channel->full_since = now;
	channel->full_head = channel->out.head_seen;
}

bool channel_should_retry(struct channel *channel, time_ns now, uint64_t byte_count)
{
	uint64_t room = ring_room(&channel->out);

	if (room >= byte_count || channel_is_corrupt(channel)) {
		channel->full_since = TIME_NEVER;
		channel->is_stalled = false;
		return true;
	}
	if (channel->out.head_seen != channel->full_head) {
		channel->full_head = channel->out.head_seen;
		channel->full_since = now;
		channel->is_stalled = false;
		return false;
	}
	if (channel->full_since == TIME_NEVER || now - channel->full_since < CHANNEL_STALL_NS)
		return channel->is_stalled;
	channel->is_stalled = true;
	return true;
}

bool channel_is_underway(struct channel *channel, uint64_t position, time_ns now)
{
	(void)ring_room(&channel->out);
	if (channel_is_corrupt(channel) ||
	    position - channel->out.head_seen > channel->out.data_bytes ||
	    position == channel->out.head_seen)
		return false;
	if (channel->out.head_seen != channel->taken_head) {
		channel->taken_head = channel->out.head_seen;
		channel->taken_at = now;
	}
	return now - channel->taken_at < CHANNEL_UNREAD_NS;
}

time_ns channel_deadline(const struct channel *channel)
{
	if (list_is_empty(&channel->waiting) || channel->full_since == TIME_NEVER)
		return TIME_NEVER;
	return channel->full_since + CHANNEL_STALL_NS;
}
