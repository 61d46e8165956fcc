/* SPDX-License-Identifier: Apache-2.0 */
/* Sends ACKs as words beside a direct ring: see ack_words.h. */
#include "runtime/packets/ack_words.h"

#include "runtime/fast/flow_cache.h"
#include "runtime/channel_queues.h"
#include "net/transport/fast/fast_path.h"
#include "net/transport/fast/header_cache.h"
#include "wire/packet.h"

/* LRH, BTH, AETH and ICRC, in words of a link. */
enum { ACK_WORDS = (LRH_BYTES + BTH_BYTES + AETH_BYTES + ICRC_BYTES) / 4 };

/* By that flow, for a queue pair whose headers are known. */
static inline struct channel *send_by(struct flow *flow, struct qp *qp)
{
	struct channel *channel = flow->channel;
	struct psn psn;

	if (unlikely(!word_ring_has_room(&channel->words_out) || !fast_take_ack(qp, &psn)))
		return NULL;
	word_ring_put(&channel->words_out,
		      (uint64_t)psn.value << ACK_WORD_QPN_BITS | qp->attributes.destination_qpn);
	flow_count(flow, 1, ACK_WORDS);
	return channel;
}

struct channel *ack_word_send(struct adapter *adapter, struct qp *qp)
{
	if (unlikely(!adapter->runtime->may_go_fast || !qp->owner_route || !fast_is_known(qp)))
		return NULL;

	struct flow *flow = connected_flow(adapter, qp);

	return likely(flow) ? send_by(flow, qp) : NULL;
}

struct channel *ack_word_answer(const struct process_runtime *runtime, struct qp *qp)
{
	struct flow *flow = known_flow(runtime, qp);

	return likely(flow) ? send_by(flow, qp) : NULL;
}

bool ack_word_write(struct adapter *adapter, struct qp *qp)
{
	struct channel *channel = ack_word_send(adapter, qp);

	if (!channel)
		return false;
	publish_later(adapter->runtime, channel);
	return true;
}
