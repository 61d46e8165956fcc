/* SPDX-License-Identifier: Apache-2.0 */
/* End-to-end credits: a responder reports how many receive requests it has, and the requester does
 * not send more messages than that (vol 1, chapter 9; transport 3.6). */
#ifndef SOFTIB_NET_TRANSPORT_CREDITS_H
#define SOFTIB_NET_TRANSPORT_CREDITS_H

#include <stdbool.h>
#include <stdint.h>
#include "net/transport/qp_state.h"

/* The syndrome of an ACK that this queue pair's responder sends now. */
uint8_t credits_syndrome(const struct qp *qp);

/* Takes the credits of an ACK, or of a response that acknowledges. */
void credits_take(struct qp *qp, const struct packet *packet);

/* Whether the peer has a receive request for the next message. One message beyond the limit may
 * start, so that its ACK brings new credits (transport 3.6). */
bool credits_allow(const struct qp *qp, const struct send_slot *slot);

/* Whether the request uses one of the peer's receive requests. */
bool credits_takes_receive(const struct send_slot *slot);

/* A message starts: it gets the next SSN, which the peer's MSN follows. */
static inline void credits_use(struct requester *requester, bool takes_receive)
{
	requester->messages_started = psn_add(requester->messages_started, 1);
	if (!takes_receive && requester->credits == CREDITS_COUNTED)
		requester->message_limit = psn_add(requester->message_limit, 1);
}

#endif
