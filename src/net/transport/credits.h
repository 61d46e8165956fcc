/* SPDX-License-Identifier: Apache-2.0 */
/* End-to-end credits: a responder tells how many receive requests it has, and the requester does
 * not send more messages than that (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_CREDITS_H
#define SOFTIB_NET_TRANSPORT_CREDITS_H

#include <stdbool.h>
#include <stdint.h>

struct packet;
struct qp;
struct send_slot;

/* The syndrome of an ACK that this queue pair's responder sends now. */
uint8_t credits_syndrome(const struct qp *qp);

/* What an ACK, or an answer that acknowledges, says of the peer's receive requests. */
void credits_take(struct qp *qp, const struct packet *packet);

/* Whether the peer has room for the next message. One more than it has room for may go, so that its
 * answer brings the news. */
bool credits_allow(const struct qp *qp, const struct send_slot *slot);

/* A message begins: the next in the count that the peer's MSN follows. */
void credits_use(struct qp *qp, const struct send_slot *slot);

#endif
