/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that the responder has already executed (vol 1, chapter 9; transport 5.3). */
#include "net/transport/duplicates.h"

#include "net/memory/memory.h"
#include "net/transport/qp_state.h"
#include "net/transport/responses.h"
#include "wire/packet.h"

/* Acknowledges everything up to now, but not past a READ or atomic: its response may be the one
 * that the peer misses. */
static void repeat_acknowledge(struct qp *qp, const struct packet *packet)
{
	struct psn last = psn_add(packet->bth.psn, packet->packet_count - 1);
	const struct saved_request *saved = responses_first_after(qp, last);

	responses_acknowledge(qp,
			      psn_previous(saved ? saved->first_psn : qp->responder.expected_psn));
}

/* Answers the READ, or its tail, again. The duplicate must end where the original ended. */
static void repeat_read(struct qp *qp, const struct packet *packet)
{
	struct saved_request *saved = responses_find(qp, packet->bth.psn);

	if (!saved || saved->is_atomic || saved->is_placement)
		return;

	uint32_t index = (uint32_t)psn_distance(saved->first_psn, packet->bth.psn);
	uint64_t offset = (uint64_t)index * qp->path_mtu;
	uint8_t *bytes;

	if (packet->reth.address != saved->address + offset || packet->reth.rkey != saved->rkey ||
	    packet->reth.bytes != saved->byte_count - offset)
		return;
	if (packet->reth.bytes &&
	    memory_resolve_remote(qp->environment->memory, responses_domain(qp, saved),
				  responses_qpn(qp, saved), packet->reth.rkey, packet->reth.address,
				  packet->reth.bytes, ACCESS_REMOTE_READ, &bytes) != MEMORY_OK)
		return;
	responses_repeat(qp, saved, index);
}

static void repeat_atomic(struct qp *qp, const struct packet *packet)
{
	struct saved_request *saved = responses_find(qp, packet->bth.psn);

	if (saved && saved->is_atomic)
		responses_repeat(qp, saved, 0);
}

/* Answers again, without a second write. */
static void repeat_placement(struct qp *qp, const struct packet *packet)
{
	struct saved_request *saved = responses_find(qp, packet->bth.psn);

	if (saved && saved->is_placement)
		responses_repeat(qp, saved, 0);
}

void duplicate_receive(struct qp *qp, const struct packet *packet)
{
	enum opcode_kind kind = opcode_info(packet->bth.opcode)->kind;

	/* The peer has gone back, so a gap after this is a new gap and gets a new NAK. */
	qp->responder.nak_was_sent = false;
	if (kind == OPCODE_KIND_READ)
		repeat_read(qp, packet);
	else if (kind == OPCODE_KIND_ATOMIC)
		repeat_atomic(qp, packet);
	else if (kind == OPCODE_KIND_FLUSH || kind == OPCODE_KIND_ATOMIC_WRITE)
		repeat_placement(qp, packet);
	else if (packet->bth.ack_request)
		repeat_acknowledge(qp, packet);
}
