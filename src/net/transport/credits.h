/* SPDX-License-Identifier: Apache-2.0 */
/* End-to-end credits: a responder reports how many receive requests it has, and the requester does
 * not send more messages than that (vol 1, chapter 9; transport 3.6). */
#ifndef SOFTIB_NET_TRANSPORT_CREDITS_H
#define SOFTIB_NET_TRANSPORT_CREDITS_H

#include <stdbool.h>
#include <stdint.h>

struct packet;
struct qp;
struct send_slot;

/* The syndrome of an ACK that this queue pair's responder sends now. */
uint8_t credits_syndrome(const struct qp *qp);

/* Takes the credits of an ACK, or of a response that acknowledges. */
void credits_take(struct qp *qp, const struct packet *packet);

/* Whether the peer has a receive request for the next message. One message beyond the limit may
 * start, so that its ACK brings new credits (transport 3.6). */
bool credits_allow(const struct qp *qp, const struct send_slot *slot);

/* A message starts: it gets the next SSN, which the peer's MSN follows. */
void credits_use(struct qp *qp, const struct send_slot *slot);

#endif
