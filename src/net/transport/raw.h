/* SPDX-License-Identifier: Apache-2.0 */
/* Raw datagrams: each SEND is one packet without transport headers, delivered to the raw queue pair
 * of the destination port (vol 1, chapters 9 and 10; transport 9.4). */
#ifndef SOFTIB_NET_TRANSPORT_RAW_H
#define SOFTIB_NET_TRANSPORT_RAW_H

#include <stdint.h>
#include "base/time.h"
#include "net/transport/completion.h"
#include "net/transport/qp_state.h"

struct packet;
struct payload;
struct send_slot;

/* The most payload bytes of one SEND: the port's MTU, plus the consumer's own headers. */
uint32_t raw_bytes_max(const struct qp *qp);

/* Why a SEND can't be sent: its length, then the headers that the consumer wrote. */
enum completion_status raw_check_length(const struct qp *qp, uint32_t byte_count);
enum completion_status raw_check_headers(const struct qp *qp, const struct payload *payload);

/* Fills everything but the payload. A request's remote_qpn is the EtherType. */
void raw_address(const struct qp *qp, const struct send_slot *slot, struct packet *ret_packet);

/* Receives a packet of the queue pair's kind. Without a receive request that has room the packet is
 * lost. */
void raw_receive(struct qp *qp, time_ns now, const struct packet *packet);

#endif
