/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One poll without the clock (poll_round_run in short_send.h): looks for records and ACK words on
 * the direct channels, takes them, and sends the ACKs that are due.
 *
 * A process with one peer and one adapter reads one or two cache lines and is done; others go
 * through the channels. The round returns POLL_ROUND_FULL, and the caller runs runtime_progress, if
 * the fast path is off, if softibd has written to the down ring, or if a queue pair has more to
 * send than an ACK word.
 */
#include "runtime/fast/short_send.h"

#include "runtime/packets/ack_words.h"
#include "runtime/fast/send_flow.h"
#include "runtime/channel_queues.h"
#include "runtime/fast/short_receive.h"
#include "runtime/packets/transmit.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "net/transport/responses.h"

enum {
	/* Each round looks at the peers that sent something lately; the other peers take turns. */
	BUSY_CHANNELS = 4,
	IDLE_CHANNELS_PER_ROUND = 4,
};

/* Peers that sent something lately stand first. */
static void move_forward(struct process_runtime *runtime, unsigned index)
{
	unsigned to = runtime->rounds.busy_next++ % BUSY_CHANNELS;
	struct channel *channel = runtime->direct.channels[index];

	runtime->direct.channels[index] = runtime->direct.channels[to];
	runtime->direct.channels[to] = channel;
}

enum news { NO_NEWS, NEWS_OF_RECORDS, NEWS_OF_ACKS };

/* For an open channel. */
static inline enum news look_for_news(const struct process_runtime *runtime,
				      const struct channel *channel)
{
	if (!pingpong_awaits_ack(&channel->pingpong, runtime->rounds.quick_polls) &&
	    ring_has_stamped(&channel->in))
		return NEWS_OF_RECORDS;
	return word_ring_is_empty(&channel->words_in) ? NO_NEWS : NEWS_OF_ACKS;
}

/* A program that takes turns with its peer only waits for it. A few more looks in this call find
 * the message sooner than the next call would. Not inlined: see short_receive_take. */
__attribute__((noinline)) static enum news look_on(const struct process_runtime *runtime,
						   struct channel *channel)
{
	bool has_waited = pingpong_wait(&channel->pingpong);
	enum news news = look_for_news(runtime, channel);

	if (has_waited)
		pingpong_learn(&channel->pingpong, news != NO_NEWS);
	for (unsigned i = 0; i < PINGPONG_LOOKS && news == NO_NEWS; i++)
		news = look_for_news(runtime, channel);
	return news;
}

static bool take_acks(struct process_runtime *runtime, struct channel *channel, time_ns now)
{
	bool any = ack_words_take(runtime, channel, now);

	/* The peer's message has come, or will come soon. */
	if (pingpong_is_held(&channel->pingpong))
		__builtin_prefetch(channel->in.stamp_at);
	return any;
}

static inline bool take_news(struct process_runtime *runtime, struct channel *channel,
			     enum news news, time_ns now)
{
	/* With nothing but an ACK, the program waits for the completion that the ACK brings. */
	return news == NEWS_OF_RECORDS ? short_receive_take(runtime, channel, now)
				       : take_acks(runtime, channel, now);
}

/* The peer may wait for the room of the records that were read. Not inlined: see
 * short_receive_take. */
__attribute__((noinline)) static void pass_idle_round(struct channel *channel)
{
	if (--channel->release_in == 0)
		channel_release(channel);
}

static bool look_at(struct process_runtime *runtime, unsigned index, time_ns now)
{
	struct channel *channel = runtime->direct.channels[index];
	enum news news = channel->state == CHANNEL_OPEN ? look_for_news(runtime, channel) : NO_NEWS;

	if (likely(news == NO_NEWS)) {
		if (unlikely(channel->release_in))
			pass_idle_round(channel);
		return false;
	}

	bool any = take_news(runtime, channel, news, now);

	if (unlikely(index >= BUSY_CHANNELS) && any)
		move_forward(runtime, index);
	return any;
}

static bool take_channels(struct process_runtime *runtime, time_ns now)
{
	unsigned count = runtime->direct.count;
	bool any = false;

	for (unsigned i = 0; i < count && i < BUSY_CHANNELS; i++)
		any |= look_at(runtime, i, now);
	for (unsigned i = 0; i < IDLE_CHANNELS_PER_ROUND && count > BUSY_CHANNELS; i++)
		any |= look_at(
			runtime,
			BUSY_CHANNELS + runtime->rounds.idle_next++ % (count - BUSY_CHANNELS), now);
	return any;
}

/* Sends the ACKs that queue pairs owe. false: a queue pair owes more than ACK words can say. */
static bool acknowledge_all(struct adapter *adapter)
{
	struct qp *qp;

	while ((qp = hca_ready_first(&adapter->hca))) {
		(void)ack_word_write(adapter, qp);
		if (responses_are_due(qp) || qp->requester.cursor != qp->requester.queue.tail)
			return false;
		hca_ready_remove(&adapter->hca, qp);
	}
	return true;
}

static inline bool softibd_is_silent(const struct process_runtime *runtime)
{
	const struct ring_consumer *in = &runtime->softibd.in;

	return likely(__atomic_load_n(&in->shared->tail, __ATOMIC_ACQUIRE) == in->head) ||
	       ring_is_empty(in);
}

/* A round of a process that has several peers or adapters, or work left. Not inlined: see
 * short_receive_take. any: whether something was found already. */
__attribute__((noinline)) static enum poll_round go_round(struct process_runtime *runtime, bool any)
{
	bool is_done = true;

	any |= take_channels(runtime, fast_path_time(runtime));
	if (unlikely(!list_is_empty(&runtime->zcopy_channels)))
		any |= ud_zcopies_return(runtime, fast_path_time(runtime));
	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->has_hca &&
		    unlikely(!list_is_empty(&runtime->adapters[i]->hca.ready)))
			is_done &= acknowledge_all(runtime->adapters[i]);
	if (unlikely(!list_is_empty(&runtime->unpublished)))
		publish_all(runtime);
	if (!is_done)
		return POLL_ROUND_FULL;
	return any ? POLL_ROUND_DONE : POLL_ROUND_IDLE;
}

/* The most frequent case. The fewer steps a look has, the sooner a program that waits for its one
 * peer gets the message. */
static inline bool has_one_peer(const struct process_runtime *runtime)
{
	return runtime->direct.count == 1 && runtime->adapter_limit == 1 &&
	       runtime->direct.channels[0]->state == CHANNEL_OPEN && runtime->adapters[0]->has_hca;
}

static inline bool has_work_left(const struct process_runtime *runtime)
{
	return runtime->direct.channels[0]->release_in ||
	       !list_is_empty(&runtime->zcopy_channels) || !list_is_empty(&runtime->unpublished) ||
	       !list_is_empty(&runtime->adapters[0]->hca.ready);
}

enum poll_round poll_round_run(struct process_runtime *runtime)
{
	bool any = false;

	if (!runtime_is_fast(runtime) || !softibd_is_silent(runtime))
		return POLL_ROUND_FULL;
	if (unlikely(!has_one_peer(runtime)))
		return go_round(runtime, false);

	struct channel *channel = runtime->direct.channels[0];
	enum news news = pingpong_is_held(&channel->pingpong) ? look_on(runtime, channel)
							      : look_for_news(runtime, channel);

	if (news != NO_NEWS)
		any = take_news(runtime, channel, news, fast_path_time(runtime));
	if (unlikely(has_work_left(runtime)))
		return go_round(runtime, any);
	return any ? POLL_ROUND_DONE : POLL_ROUND_IDLE;
}
