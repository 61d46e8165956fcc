/* SPDX-License-Identifier: Apache-2.0 */
/* The responder of an EE context: for which queue pair a request is, and faults that end the
 * request and not the context (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_RD_RD_RESPONDER_H
#define SOFTIB_NET_TRANSPORT_RD_RD_RESPONDER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"
#include "net/transport/inbound.h"

struct eec;
struct packet;
struct protection_domain;
struct qp;

/* A request packet that has passed admission. */
void rd_responder_receive(struct qp *channel, time_ns now, const struct packet *packet);

/* Whether the queue pair that the request names exists, is of this service and domain, takes
 * requests and has this Q_Key; and none was refused before it. */
enum verdict rd_check_destination(struct qp *channel, const struct inbound *inbound);
/* Its queue, rights and protection domain are used for the whole message. */
enum verdict rd_choose_destination(struct qp *channel, const struct inbound *inbound);

/* From now on everything at the expected PSN gets this answer, until a RESYNC: the requester gives
 * the message up, so that no late copy of it may be executed. */
void rd_refuse(struct qp *channel, uint8_t syndrome);
void rd_refuse_again(struct qp *channel);
/* A request that can't be executed. */
void rd_fault(struct qp *channel, time_ns now, const struct inbound *inbound, enum verdict verdict,
	      unsigned nak_code);

/* The message that comes in is forgotten, and its receive request with it; its destination stops.
 */
void rd_lose_destination(struct eec *eec, time_ns now);
/* The same, but the sender gave up. */
void rd_abort_inbound(struct eec *eec, time_ns now);

/* Where the key of an executed READ must be registered; NULL: its queue pair is gone. */
const struct protection_domain *rd_saved_domain(const struct qp *channel, uint32_t qpn);

#endif
