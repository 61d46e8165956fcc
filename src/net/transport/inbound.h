/* SPDX-License-Identifier: Apache-2.0 */
/* Request packets on the responder's side: the checks that RC and UC share, in their order, and
 * execution (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_INBOUND_H
#define SOFTIB_NET_TRANSPORT_INBOUND_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/opcode.h"

struct packet;
struct protection_domain;
struct qp;

enum verdict {
	VERDICT_ACCEPT,
	VERDICT_DUPLICATE,
	VERDICT_AHEAD,		 /* a packet before it is missing */
	VERDICT_NOT_READY,	 /* no receive request */
	VERDICT_BAD_SEQUENCE,	 /* opcode can't follow the one before */
	VERDICT_INVALID_REQUEST, /* not enabled, no resources, misaligned */
	VERDICT_BAD_LENGTH,
	VERDICT_REMOTE_ACCESS,	  /* R_Key */
	VERDICT_LOCAL_PROTECTION, /* L_Key of the receive request */
	VERDICT_INVALIDATE_REFUSED,
	VERDICT_INVALID_RD_REQUEST, /* no such queue pair in the RD domain, or another Q_Key */
	VERDICT_STILL_REFUSED,	    /* an EE context waits for a RESYNC */
};

/* A request packet or train, or what of it is new. */
struct inbound {
	const struct packet *packet;
	const struct opcode_info *info; /* of the new part */
	uint32_t packet_count;
	size_t from; /* in the payload */
	size_t byte_count;
	uint32_t header_bytes; /* of them, which a queue that matches tags has used up */
	uint8_t *target; /* where a WRITE, READ or atomic acts; valid once the key was checked */
};

void inbound_init(struct inbound *inbound, const struct packet *packet);

/* Drops the packets at its front that were received before, as if it had been cut there. */
void inbound_trim(struct inbound *inbound, uint32_t packet_count, uint32_t mtu);

enum verdict inbound_check_sequence(const struct qp *qp, const struct inbound *inbound);
/* An XRC target takes the queue that the first packet of a message names, for all of it. */
enum verdict inbound_choose_queue(struct qp *qp, const struct inbound *inbound);
/* Rights, a receive request, length and key, in this order. */
enum verdict inbound_check_request(struct qp *qp, struct inbound *inbound);
/* Of them: whether the payload is as long as its opcode and message allow. */
enum verdict inbound_check_length(const struct qp *qp, const struct inbound *inbound);

/* Where the peer's keys must be registered, and the queue pair that it talks to. */
const struct protection_domain *inbound_domain(const struct qp *qp);
uint32_t inbound_qpn(const struct qp *qp);

/* How many PSNs an accepted request uses. */
uint32_t inbound_psn_count(const struct qp *qp, const struct inbound *inbound);

/* Does what the packet asks; all checks above were passed. */
MUST_USE enum verdict inbound_execute(struct qp *qp, time_ns now, const struct inbound *inbound);

#endif
