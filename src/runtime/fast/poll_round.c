/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane, where it looks in each round: see express_lane.h. */
#include "runtime/fast/short_send.h"

#include "runtime/packets/ack_words.h"
#include "runtime/fast/flow_cache.h"
#include "runtime/channel_queues.h"
#include "runtime/fast/short_receive.h"
#include "runtime/packets/transmit.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "net/transport/responses.h"

enum {
	/* Peers that sent something lately are looked at in each round, the others in turn. */
	BUSY_CHANNELS = 4,
	IDLE_CHANNELS_PER_ROUND = 4,
};

/* Those that sent something lately stand first. */
static void move_forward(struct attachment *attachment, unsigned index)
{
	unsigned to = attachment->busy_next++ % BUSY_CHANNELS;
	struct channel *channel = attachment->channels[index];

	attachment->channels[index] = attachment->channels[to];
	attachment->channels[to] = channel;
}

enum news { NO_NEWS, NEWS_OF_RECORDS, NEWS_OF_ACKS };

/* Of one that is open. */
static inline enum news look_for_news(const struct attachment *attachment,
				      const struct channel *channel)
{
	if (!dialogue_awaits_ack(&channel->dialogue, attachment->quick_polls) &&
	    ring_has_stamped(&channel->in))
		return NEWS_OF_RECORDS;
	return word_ring_is_empty(&channel->words_in) ? NO_NEWS : NEWS_OF_ACKS;
}

/* Whoever takes turns with its peer does nothing but wait for it: a few looks more in this call
 * find what comes sooner than the next call would. Not in line: see express_records.c. */
__attribute__((noinline)) static enum news look_on(const struct attachment *attachment,
						   struct channel *channel)
{
	bool has_waited = dialogue_wait(&channel->dialogue);
	enum news news = look_for_news(attachment, channel);

	if (has_waited)
		dialogue_learn(&channel->dialogue, news != NO_NEWS);
	for (unsigned i = 0; i < DIALOGUE_LOOKS && news == NO_NEWS; i++)
		news = look_for_news(attachment, channel);
	return news;
}

static bool take_acks(struct attachment *attachment, struct channel *channel, time_ns now)
{
	bool any = ack_words_take(attachment, channel, now);

	/* The message has come, or will soon. */
	if (dialogue_is_held(&channel->dialogue))
		__builtin_prefetch(channel->in.stamp_at);
	return any;
}

static inline bool take_news(struct attachment *attachment, struct channel *channel, enum news news,
			     time_ns now)
{
	/* Nothing but an ACK: what it completes is waited for. */
	return news == NEWS_OF_RECORDS ? express_records_take(attachment, channel, now)
				       : take_acks(attachment, channel, now);
}

/* Somebody waits for what was read here. Not in line: see express_records.c. */
__attribute__((noinline)) static void pass_idle_round(struct channel *channel)
{
	if (--channel->release_in == 0)
		channel_release(channel);
}

static bool look_at(struct attachment *attachment, unsigned index, time_ns now)
{
	struct channel *channel = attachment->channels[index];
	enum news news =
		channel->state == CHANNEL_OPEN ? look_for_news(attachment, channel) : NO_NEWS;

	if (likely(news == NO_NEWS)) {
		if (unlikely(channel->release_in))
			pass_idle_round(channel);
		return false;
	}

	bool any = take_news(attachment, channel, news, now);

	if (unlikely(index >= BUSY_CHANNELS) && any)
		move_forward(attachment, index);
	return any;
}

static bool take_channels(struct attachment *attachment, time_ns now)
{
	unsigned count = attachment->channel_count;
	bool any = false;

	for (unsigned i = 0; i < count && i < BUSY_CHANNELS; i++)
		any |= look_at(attachment, i, now);
	for (unsigned i = 0; i < IDLE_CHANNELS_PER_ROUND && count > BUSY_CHANNELS; i++)
		any |= look_at(attachment,
			       BUSY_CHANNELS + attachment->idle_next++ % (count - BUSY_CHANNELS),
			       now);
	return any;
}

/* What those that received something owe. false: there is more than words can say. */
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

static inline bool softibd_is_silent(const struct attachment *attachment)
{
	const struct ring_consumer *in = &attachment->softibd.in;

	return likely(__atomic_load_n(&in->shared->tail, __ATOMIC_ACQUIRE) == in->head) ||
	       ring_is_empty(in);
}

/* A round of a process that has several peers or adapters, or something left to do. Not in line:
 * see express_records.c. any: whether there was something already. */
__attribute__((noinline)) static enum express_round go_round(struct attachment *attachment,
							     bool any)
{
	bool is_done = true;

	any |= take_channels(attachment, lane_time(attachment));
	if (unlikely(!list_is_empty(&attachment->lending)))
		any |= datagram_loans_return(attachment, lane_time(attachment));
	for (unsigned i = 0; i < attachment->adapter_limit; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca &&
		    unlikely(!list_is_empty(&attachment->adapters[i]->hca.ready)))
			is_done &= acknowledge_all(attachment->adapters[i]);
	if (unlikely(!list_is_empty(&attachment->dirty)))
		publish_all(attachment);
	if (!is_done)
		return EXPRESS_LONG_WAY;
	return any ? EXPRESS_DONE : EXPRESS_NOTHING;
}

/* The commonest case: whoever waits for its one peer hears of a message the sooner, the less there
 * is to a look. */
static inline bool has_one_peer(const struct attachment *attachment)
{
	return attachment->channel_count == 1 && attachment->adapter_limit == 1 &&
	       attachment->channels[0]->state == CHANNEL_OPEN && attachment->adapters[0]->has_hca;
}

static inline bool has_work_left(const struct attachment *attachment)
{
	return attachment->channels[0]->release_in || !list_is_empty(&attachment->lending) ||
	       !list_is_empty(&attachment->dirty) ||
	       !list_is_empty(&attachment->adapters[0]->hca.ready);
}

enum express_round express_lane_round(struct attachment *attachment)
{
	bool any = false;

	if (!attachment_is_express(attachment) || !softibd_is_silent(attachment))
		return EXPRESS_LONG_WAY;
	if (unlikely(!has_one_peer(attachment)))
		return go_round(attachment, false);

	struct channel *channel = attachment->channels[0];
	enum news news = dialogue_is_held(&channel->dialogue) ? look_on(attachment, channel)
							      : look_for_news(attachment, channel);

	if (news != NO_NEWS)
		any = take_news(attachment, channel, news, lane_time(attachment));
	if (unlikely(has_work_left(attachment)))
		return go_round(attachment, any);
	return any ? EXPRESS_DONE : EXPRESS_NOTHING;
}
