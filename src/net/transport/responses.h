/* SPDX-License-Identifier: Apache-2.0 */
/* The responder's packets: ACKs, NAKs, and the responses to READs and atomics, in request order
 * (vol 1, chapter 9; transport 5.2). */
#ifndef SOFTIB_NET_TRANSPORT_RESPONSES_H
#define SOFTIB_NET_TRANSPORT_RESPONSES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/packet.h"

struct protection_domain;
struct qp;
struct saved_request;

/* Makes room for saved_count READs and atomics, keeping the newest saved ones. */
MUST_USE int responses_resize(struct qp *qp, uint8_t saved_count);
void responses_release(struct qp *qp);

/* Whether one more READ or atomic can be accepted. */
bool responses_have_room(const struct qp *qp);

/* Saves an executed request, to be answered. */
void responses_save_read(struct qp *qp, const struct packet *packet, uint32_t packet_count);
void responses_save_atomic(struct qp *qp, const struct packet *packet, uint64_t result);
/* FLUSH and ATOMIC WRITE: answered with an empty READ response (transport 5.2). */
void responses_save_placement(struct qp *qp, const struct packet *packet);

/* The saved request that used this PSN; NULL when none did. */
struct saved_request *responses_find(const struct qp *qp, struct psn psn);

/* The protection domain of its key. NULL, which matches no key: its XRC SRQ is gone. */
const struct protection_domain *responses_domain(const struct qp *qp,
						 const struct saved_request *saved);

/* The number of the queue pair that it was for. */
uint32_t responses_qpn(const struct qp *qp, const struct saved_request *saved);

/* Answers it again, from this packet on. */
void responses_repeat(struct qp *qp, struct saved_request *saved, uint32_t first_packet);

/* The first saved request after this PSN; NULL when there is none. */
const struct saved_request *responses_first_after(const struct qp *qp, struct psn psn);

/* Makes an ACK for everything up to this PSN due. */
void responses_acknowledge(struct qp *qp, struct psn psn);

/* Makes a NAK due, after all earlier responses. */
void responses_nak(struct qp *qp, struct psn psn, uint8_t syndrome);

bool responses_are_due(const struct qp *qp);
unsigned responses_transmit(struct qp *qp, time_ns now, unsigned packets_max,
			    uint32_t train_bytes_max, struct packet ret_packets[]);

#endif
