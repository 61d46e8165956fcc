/* SPDX-License-Identifier: Apache-2.0 */
/* Duplicate requests: the responder has already executed them, but the response was lost or late,
 * so it answers again (vol 1, chapter 9; transport 5.3). */
#ifndef SOFTIB_NET_TRANSPORT_DUPLICATES_H
#define SOFTIB_NET_TRANSPORT_DUPLICATES_H

struct packet;
struct qp;

/* Answers without executing again. A duplicate that can't be answered is dropped, never NAKed. */
void duplicate_receive(struct qp *qp, const struct packet *packet);

#endif
