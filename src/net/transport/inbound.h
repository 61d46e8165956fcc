/* SPDX-License-Identifier: Apache-2.0 */
/* Request packets on the responder's side: the checks that RC and UC share, in their order, and
 * execution (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_INBOUND_H
#define SOFTIB_NET_TRANSPORT_INBOUND_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/transport/verdict.h"

struct packet;
struct qp;

void inbound_init(struct inbound *inbound, const struct packet *packet);

/* Drops the first packet_count packets of the train, which were received before. */
void inbound_trim(struct inbound *inbound, uint32_t packet_count, uint32_t mtu);

enum verdict inbound_check_sequence(const struct qp *qp, const struct inbound *inbound);
/* An XRC target takes the queue that the first packet of a message names, for the whole message. */
enum verdict inbound_choose_queue(struct qp *qp, const struct inbound *inbound);
/* Rights, a receive request, length and key, in this order. */
enum verdict inbound_check_request(struct qp *qp, struct inbound *inbound);
/* One of these checks: whether the payload length fits the opcode and the message. */
enum verdict inbound_check_length(const struct qp *qp, const struct inbound *inbound);

/* How many PSNs an accepted request uses. */
uint32_t inbound_psn_count(const struct qp *qp, const struct inbound *inbound);

/* Executes the request; it has passed all checks above. */
MUST_USE enum verdict inbound_execute(struct qp *qp, time_ns now, const struct inbound *inbound);

#endif
