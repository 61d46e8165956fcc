/* SPDX-License-Identifier: Apache-2.0 */
/* Sends an ACK as a word, in line: see runtime/packets/ack_words.h. There is no ack_word_put.c. */
#ifndef SOFTIB_RUNTIME_FAST_ACK_WORD_PUT_H
#define SOFTIB_RUNTIME_FAST_ACK_WORD_PUT_H

#include "net/transport/fast/fast_send.h"
#include "runtime/fast/send_flow.h"
#include "runtime/packets/ack_words.h"
#include "wire/packet.h"

/* LRH, BTH, AETH and ICRC, in words of a link. */
enum { ACK_WORDS = (LRH_BYTES + BTH_BYTES + AETH_BYTES + ICRC_BYTES) / 4 };

/* Sends the ACK that a reliable connection owes by the flow of its send template, which is valid.
 * Returns the channel; NULL: nothing was done. */
static IN_LINE struct channel *ack_word_put(const struct process_runtime *runtime, struct qp *qp)
{
	struct flow *flow = qp->templates->send.route;
	struct psn psn;

	if (unlikely(!flow_is_direct(runtime, flow) ||
		     !word_ring_has_room(&flow->channel->words_out) || !fast_take_ack(qp, &psn)))
		return NULL;
	word_ring_put(&flow->channel->words_out,
		      (uint64_t)psn.value << ACK_WORD_QPN_BITS | qp->attributes.destination_qpn);
	flow_count(flow, 1, ACK_WORDS);
	return flow->channel;
}

#endif
