/* SPDX-License-Identifier: Apache-2.0 */
/* A request packet on the responder's side, and the results of its checks (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_VERDICT_H
#define SOFTIB_NET_TRANSPORT_VERDICT_H

#include <stddef.h>
#include <stdint.h>
#include "wire/opcode.h"

struct packet;

enum verdict {
	VERDICT_ACCEPT,
	VERDICT_DUPLICATE,
	VERDICT_AHEAD,		 /* a packet before it is missing */
	VERDICT_NOT_READY,	 /* no receive request */
	VERDICT_BAD_SEQUENCE,	 /* the opcode can't follow the one before */
	VERDICT_INVALID_REQUEST, /* not enabled, no resources, misaligned */
	VERDICT_BAD_LENGTH,
	VERDICT_REMOTE_ACCESS,	  /* R_Key */
	VERDICT_LOCAL_PROTECTION, /* L_Key of the receive request */
	VERDICT_INVALIDATE_REFUSED,
	VERDICT_INVALID_RD_REQUEST, /* no such queue pair in the RD domain, or a wrong Q_Key */
	VERDICT_STILL_REFUSED,	    /* an EE context waits for a RESYNC */
};

/* A request packet or train, or the part of it that is new. */
struct inbound {
	const struct packet *packet;
	const struct opcode_info *info; /* of the new part */
	uint32_t packet_count;
	size_t from; /* in the payload */
	size_t byte_count;
	uint32_t header_bytes; /* of the payload: used up by tag matching */
	uint8_t *target; /* where a WRITE, READ or atomic acts; valid once the key was checked */
};

#endif
