/* SPDX-License-Identifier: Apache-2.0 */
/* End-to-end credits (vol 1, chapter 9). */
#include "net/transport/credits.h"

#include "net/transport/qp_state.h"
#include "wire/packet.h"

/* The credit count of each code; code 31 means that there is no limit (transport 3.2). */
static const uint16_t credit_counts[AETH_CREDITS_UNLIMITED] = {
	0,    1,    2,	  3,	4,    6,     8,	    12,	   16,	  24,	32,
	48,   64,   96,	  128,	192,  256,   384,   512,   768,	  1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

/* Only requests of the queue pair's own receive queue can be promised to this peer. */
static uint32_t receives_to_promise(const struct qp *qp)
{
	return receive_queue_count(&qp->own_receives) - (qp->responder.has_receive ? 1 : 0);
}

uint8_t credits_syndrome(const struct qp *qp)
{
	unsigned code = AETH_CREDITS_UNLIMITED;

	if (likely(!qp->promises_receives) || qp_is_shared(qp) || qp->type != QP_RC)
		return aeth_syndrome(AETH_ACK, code);

	uint32_t receives = receives_to_promise(qp);

	/* Rounded down, since the peer relies on the number (transport 3.2). */
	do
		code--;
	while (credit_counts[code] > receives);
	return aeth_syndrome(AETH_ACK, code);
}

void credits_take(struct qp *qp, const struct packet *packet)
{
	struct requester *requester = &qp->requester;
	unsigned code = aeth_value(packet->aeth.syndrome);

	if (likely(code == AETH_CREDITS_UNLIMITED)) {
		requester->credits = CREDITS_UNLIMITED;
		return;
	}
	/* A peer that once reported no limit stays without one; XRC has no credits. */
	if (requester->credits == CREDITS_UNLIMITED || qp->type != QP_RC)
		return;

	struct psn limit = psn_add(psn_from(packet->aeth.msn), credit_counts[code]);

	/* Message sequence numbers wrap at 24 bits as PSNs do. */
	if (requester->credits == CREDITS_UNKNOWN || psn_before(requester->message_limit, limit))
		requester->message_limit = limit;
	requester->credits = CREDITS_COUNTED;
}

bool credits_takes_receive(const struct send_slot *slot)
{
	enum {
		TAKE = 1 << SEND_SEND | 1 << SEND_SEND_IMMEDIATE | 1 << SEND_SEND_INVALIDATE |
		       1 << SEND_RDMA_WRITE_IMMEDIATE
	};

	return TAKE >> slot->opcode & 1;
}

bool credits_allow(const struct qp *qp, const struct send_slot *slot)
{
	const struct requester *requester = &qp->requester;

	if (likely(requester->credits != CREDITS_COUNTED) || !credits_takes_receive(slot))
		return true;
	/* At messages_started == limit one more message may start. */
	return !psn_before(requester->message_limit, requester->messages_started);
}
