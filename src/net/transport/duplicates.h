/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that come again because their answer was lost or late: the responder has already
 * executed them, and answers once more (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_DUPLICATES_H
#define SOFTIB_NET_TRANSPORT_DUPLICATES_H

struct packet;
struct qp;

/* Answers without executing again; what can't be answered is dropped, never NAKed. */
void duplicate_receive(struct qp *qp, const struct packet *packet);

#endif
