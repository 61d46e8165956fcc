/* SPDX-License-Identifier: Apache-2.0 */
/* Raw datagrams: each SEND is one packet without transport headers, for whatever the port at its
 * end gives such packets to (vol 1, chapters 9 and 10). */
#ifndef SOFTIB_NET_TRANSPORT_RAW_H
#define SOFTIB_NET_TRANSPORT_RAW_H

#include <stdint.h>
#include "base/time.h"
#include "net/transport/completion.h"
#include "net/transport/qp_state.h"

struct packet;
struct payload;
struct send_slot;

/* The most that one SEND may have: the port's MTU, behind the consumer's own headers. */
uint32_t raw_bytes_max(const struct qp *qp);

/* Why a SEND can't be a packet: its length, then what the consumer wrote as headers. */
enum completion_status raw_check_length(const struct qp *qp, uint32_t byte_count);
enum completion_status raw_check_headers(const struct qp *qp, const struct payload *payload);

/* All but the payload. A request's remote_qpn is the EtherType. */
void raw_address(const struct qp *qp, const struct send_slot *slot, struct packet *ret_packet);

/* A packet of the queue pair's kind. Without a receive request that has room it is lost. */
void raw_receive(struct qp *qp, time_ns now, const struct packet *packet);

#endif
