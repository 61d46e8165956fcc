/* SPDX-License-Identifier: Apache-2.0 */
/* The commonest case of what arrives: a SEND of one packet. See express.h. */
#include <string.h>
#include "base/bytes.h"
#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "net/transport/completion_ring.h"
#include "net/transport/express_headers.h"
#include "net/transport/port_view.h"
#include "net/transport/responses.h"
#include "net/transport/shortcut.h"
#include "wire/mtu.h"
#include "wire/packet.h"
#include "wire/pkey.h"

/* What must be so in the headers of every SEND: LVer 0 and LNH local; the opcode but for its lowest
 * bit, and TVer 0. Of a connection's, SLID and P_Key too. */
#define LRH_FORM_MASK 0x0f03000000000000u
#define BTH_FORM_MASK 0xfe0f000000000000u

/* What the headers say, as numbers, and how the packet is laid out, as packet_decode would find it.
 */
struct arrival {
	uint64_t lrh, bth;
	bool has_immediate;
	uint32_t payload_offset;
	uint32_t payload_bytes;
};

/* Opcode, versions and LNH are compared by the caller. false: lengths that do not agree. */
static inline bool read_arrival(const uint8_t *headers, uint32_t byte_count, uint32_t header_bytes,
				struct arrival *ret_arrival)
{
	uint64_t lrh = get_be64(headers), bth = get_be64(headers + LRH_BYTES);
	bool has_immediate = bth >> 56 & 1;
	uint32_t pad = bth >> 52 & 3;
	uint32_t offset = header_bytes + (has_immediate ? IMMEDIATE_BYTES : 0);

	ret_arrival->lrh = lrh;
	ret_arrival->bth = bth;
	ret_arrival->has_immediate = has_immediate;
	ret_arrival->payload_offset = offset;
	ret_arrival->payload_bytes = byte_count - offset - pad;
	return byte_count >= offset + pad &&
	       (uint32_t)(lrh >> 16 & 0x7ff) * 4 == byte_count + ICRC_BYTES;
}

/* The request that the message will use, if its bytes are the first ones of one region about which
 * nothing is unusual. */
static inline struct receive_slot *find_place(const struct qp *qp, uint32_t byte_count,
					      uint8_t **ret_bytes)
{
	const struct receive_queue *queue = qp->receive_queue;
	struct receive_slot *slot = receive_queue_first(queue);

	if (unlikely(!slot || slot->sge_count != 1 || slot->sges[0].byte_count < byte_count))
		return NULL;
	*ret_bytes = NULL;
	if (unlikely(!byte_count))
		return slot;
	*ret_bytes = memory_place(qp->environment->memory, queue->pd, slot->sges[0].lkey,
				  slot->sges[0].address, byte_count, ACCESS_LOCAL_WRITE);
	return likely(*ret_bytes) ? slot : NULL;
}

static inline uint8_t path_bits_of(const struct qp *qp, const struct arrival *arrival)
{
	return (uint8_t)(arrival->lrh >> 32 & ((1u << qp->port->lmc) - 1));
}

static IN_LINE void complete(struct qp *qp, time_ns now, const uint8_t *headers, uint64_t wr_id,
			    const struct arrival *arrival, bool is_datagram)
{
	struct completion_ring *ring = qp->completions[SIDE_RECEIVE];
	struct completion *place = completion_ring_next(ring), here;
	struct completion *completion = likely(place) ? place : &here;
	uint32_t immediate = 0;

	if (arrival->has_immediate)
		memcpy(&immediate, headers + arrival->payload_offset - IMMEDIATE_BYTES,
		       IMMEDIATE_BYTES);
	*completion = (struct completion){
		.wr_id = wr_id,
		.status = COMPLETION_SUCCESS,
		.opcode = COMPLETED_RECEIVE,
		.flags = arrival->has_immediate ? COMPLETION_HAS_IMMEDIATE : 0,
		.is_solicited = arrival->bth >> 55 & 1,
		.byte_count = arrival->payload_bytes + (is_datagram ? GRH_BYTES : 0),
		.immediate_or_rkey = immediate,
		.qpn = qp->qpn,
		.source_qpn = is_datagram ? get_be32(headers + EXPRESS_HEADER_BYTES + 4) & 0xffffff
					  : qp->attributes.destination_qpn,
		.slid = (uint16_t)arrival->lrh,
		.sl = (uint8_t)(arrival->lrh >> 52 & 15),
		.path_bits = is_datagram ? path_bits_of(qp, arrival) : 0,
		.pkey_index = qp->attributes.pkey_index,
		.timestamp_ns = now,
	};
	qp->receive_queue->head++;
	if (unlikely(qp_is_shared(qp)))
		qp->environment->shared_receive_taken(qp);
	if (likely(place)) {
		completion_ring_add(ring);
		return;
	}
	if (unlikely(!qp->environment->complete(qp, SIDE_RECEIVE, completion))) {
		qp->has_failed_to_report = true;
		qp_settle(qp, now);
	}
}

/* pull: NULL if the payload is among the bytes. */
static inline bool receive_datagram(struct qp *qp, time_ns now, const uint8_t *headers,
				    const uint8_t *bytes, uint32_t byte_count,
				    const struct express_pull *pull)
{
	struct arrival arrival;
	uint8_t *place;

	if (!read_arrival(headers, byte_count, EXPRESS_HEADER_BYTES + DETH_BYTES, &arrival) ||
	    ((arrival.lrh ^ (uint64_t)LNH_LOCAL << 48) & LRH_FORM_MASK) ||
	    ((arrival.bth ^ (uint64_t)(TRANSPORT_UD | OPCODE_SEND_ONLY) << 56) & BTH_FORM_MASK) ||
	    !pkey_matches((uint16_t)(arrival.bth >> 32), qp_pkey(qp)) ||
	    get_be32(headers + EXPRESS_HEADER_BYTES) != qp->attributes.qkey ||
	    /* Who copies in a way of its own does so the long way. */
	    qp->environment->copy_datagram || !lid_is_unicast((uint16_t)(arrival.lrh >> 32)) ||
	    arrival.payload_bytes > mtu_bytes(qp->port->mtu_code))
		return false;

	struct receive_slot *slot = find_place(qp, GRH_BYTES + arrival.payload_bytes, &place);

	if (!slot || (pull && pull->byte_count != arrival.payload_bytes))
		return false;
	if (pull)
		(void)pull->fetch(pull, place + GRH_BYTES);
	else
		express_copy(place + GRH_BYTES, bytes + arrival.payload_offset,
			     arrival.payload_bytes);
	complete(qp, now, headers, slot->wr_id, &arrival, true);
	return true;
}

/* What comes from the peer has its LID where ours have it as destination; P_Key and opcode are like
 * those of what goes there. */
static inline bool is_from_peer(const struct qp *qp, const struct arrival *arrival)
{
	uint64_t lrh = (uint64_t)LNH_LOCAL << 48 | (uint16_t)(qp->express.lrh >> 32);

	return !((arrival->lrh ^ lrh) & (LRH_FORM_MASK | 0xffff)) &&
	       !((arrival->bth ^ qp->express.bth) & (BTH_FORM_MASK | (uint64_t)0xffff << 32));
}

/* Whether a message may begin with this PSN. */
static inline bool is_expected(const struct qp *qp, struct psn psn)
{
	const struct responder *responder = &qp->responder;

	return psn_equal(psn, responder->expected_psn) && responder->inbound == INBOUND_IDLE &&
	       (!responder->placed || qp->type == QP_RC);
}

/* The request for a message from the peer that begins with the PSN that is expected. */
static inline struct receive_slot *find_connected(struct qp *qp, const struct arrival *arrival,
						  struct psn psn, uint8_t **ret_bytes)
{
	if (unlikely(!express_headers_are_known(qp) || !is_from_peer(qp, arrival) ||
		     !is_expected(qp, psn)))
		return NULL;
	return find_place(qp, arrival->payload_bytes, ret_bytes);
}

/* The message is in its place; word: of the BTH, with the PSN of its last packet. */
static inline void take_connected(struct qp *qp, uint32_t word)
{
	struct responder *responder = &qp->responder;
	struct psn psn = psn_from(word);

	responder->expected_psn = psn_add(psn, 1);
	if (qp->type == QP_RC) {
		responder->nak_is_due = false;
		responder->nak_was_sent = false;
		responder->msn = (responder->msn + 1) & 0xffffff;
		/* Later than any that is due already, since it is the one expected. */
		if (word >> 31) {
			responder->ack_is_due = true;
			responder->ack_psn = psn;
		}
	}
}

/* slot: found for it, with its place. */
static inline void take_message(struct qp *qp, time_ns now, const uint8_t *headers,
				const uint8_t *bytes, const struct arrival *arrival,
				const struct receive_slot *slot, uint8_t *place)
{
	express_copy(place, bytes + arrival->payload_offset, arrival->payload_bytes);
	take_connected(qp, get_be32(headers + LRH_BYTES + 8));
	qp->responder.inbound_bytes = arrival->payload_bytes;
	complete(qp, now, headers, slot->wr_id, arrival, false);
}

static bool receive_connected(struct qp *qp, time_ns now, uint8_t port_number,
			      const uint8_t *headers, const uint8_t *bytes, uint32_t byte_count)
{
	struct receive_slot *slot;
	struct arrival arrival;
	uint8_t *place;

	if (unlikely(!read_arrival(headers, byte_count, EXPRESS_HEADER_BYTES, &arrival) ||
		     arrival.payload_bytes > qp->path_mtu))
		return false;
	slot = find_connected(qp, &arrival, psn_from(get_be32(headers + LRH_BYTES + 8)), &place);
	if (unlikely(!slot))
		return false;
	if (!arrival.has_immediate)
		*express_seen(qp) = (struct express_seen){
			.qp = qp,
			.lrh = arrival.lrh,
			.bth = arrival.bth,
			.byte_count = byte_count,
			.payload_bytes = arrival.payload_bytes,
			.port_number = port_number,
		};
	take_message(qp, now, headers, bytes, &arrival, slot, place);
	return true;
}

/* Whether all but the PSN is as in the SEND before, so that what was found about it then still holds.
 */
static inline bool is_foreseen(const struct qp *qp, const struct express_seen *seen,
			       uint8_t port_number, const uint8_t *headers, uint32_t byte_count)
{
	return seen->lrh == get_be64(headers) && seen->bth == get_be64(headers + LRH_BYTES) &&
	       seen->byte_count == byte_count && seen->port_number == port_number &&
	       seen->qp == qp && qp->express.changes == qp->environment->port_changes + 1;
}

static inline bool receive_foreseen(struct qp *qp, const struct express_seen *seen, time_ns now,
				    const uint8_t *headers, const uint8_t *bytes)
{
	const struct arrival arrival = {
		.lrh = seen->lrh,
		.bth = seen->bth,
		.payload_offset = EXPRESS_HEADER_BYTES,
		.payload_bytes = seen->payload_bytes,
	};
	struct receive_slot *slot;
	uint8_t *place;

	if (unlikely(qp->responder.has_receive ||
		     !is_expected(qp, psn_from(get_be32(headers + LRH_BYTES + 8)))))
		return false;
	slot = find_place(qp, arrival.payload_bytes, &place);
	if (unlikely(!slot))
		return false;
	take_message(qp, now, headers, bytes, &arrival, slot, place);
	return true;
}

/* A server that never sends stays in RTR; its first packet is told as an event. */
static inline bool takes_requests(const struct qp *qp)
{
	return likely(qp->state == QP_RTS) || (qp->state == QP_RTR && qp->is_established);
}

/* With the rest, sufficient for admission_check to say ADMITTED, and for nothing else to happen in
 * it. */
bool express_receive(struct qp *qp, time_ns now, uint8_t port_number, const uint8_t *headers,
		     const uint8_t *bytes, uint32_t byte_count)
{
	const struct express_seen *seen = express_seen(qp);

	if (likely(is_foreseen(qp, seen, port_number, headers, byte_count)))
		return receive_foreseen(qp, seen, now, headers, bytes);
	if (unlikely(!express_is_plain_type(qp) || qp->receive_queue->matches_tags ||
		     qp->responder.has_receive || !takes_requests(qp) ||
		     qp->port->number != port_number))
		return false;
	return qp->type == QP_UD ? receive_datagram(qp, now, headers, bytes, byte_count, NULL)
				 : receive_connected(qp, now, port_number, headers, bytes,
						     byte_count);
}

bool express_receive_foreseen(struct qp *qp, time_ns now, uint8_t port_number, const uint8_t *bytes,
			      uint32_t byte_count)
{
	const struct express_seen *seen = express_seen(qp);
	uint8_t headers[EXPRESS_HEADER_BYTES + 4];

	memcpy(headers, bytes, sizeof(headers));
	__asm__ volatile("" : : "r"(headers) : "memory");
	return is_foreseen(qp, seen, port_number, headers, byte_count) &&
	       receive_foreseen(qp, seen, now, headers, bytes);
}

static bool has_packets(const struct qp *qp, const struct express_pull *pull)
{
	uint64_t mtu = qp->path_mtu;

	return pull->byte_count && pull->byte_count <= pull->packet_count * mtu &&
	       pull->byte_count > (pull->packet_count - 1) * mtu;
}

static struct arrival arrival_of_pulled(const uint8_t *headers, uint32_t byte_count)
{
	uint64_t bth = get_be64(headers + LRH_BYTES);
	bool has_immediate = bth >> 56 & 1;

	return (struct arrival){
		.lrh = get_be64(headers),
		.bth = bth,
		.has_immediate = has_immediate,
		.payload_offset = EXPRESS_HEADER_BYTES + (has_immediate ? IMMEDIATE_BYTES : 0),
		.payload_bytes = byte_count,
	};
}

static bool takes_pulled(const struct qp *qp, uint8_t port_number)
{
	return qp->type == QP_RC && takes_requests(qp) && qp->port->number == port_number;
}

static void nak_gap(struct qp *qp)
{
	if (!qp->responder.nak_was_sent)
		responses_nak(qp, qp->responder.expected_psn,
			      aeth_syndrome(AETH_NAK, NAK_PSN_SEQUENCE));
}

void express_pull_failed(struct qp *qp, uint8_t port_number, const uint8_t *headers)
{
	const struct arrival arrival = arrival_of_pulled(headers, 0);
	struct psn psn = psn_from(get_be32(headers + LRH_BYTES + 8));

	if (!takes_pulled(qp, port_number) || !express_headers_are_known(qp) ||
	    !is_from_peer(qp, &arrival))
		return;
	if (qp->responder.placed)
		(void)shortcut_catch_up(qp);
	if (!psn_before(psn, qp->responder.expected_psn))
		nak_gap(qp);
}

static bool receive_lent(struct qp *qp, time_ns now, uint8_t port_number, const uint8_t *headers,
			 const struct express_pull *pull)
{
	const bool has_immediate = headers[LRH_BYTES] & 1;
	const uint32_t header_bytes =
		EXPRESS_HEADER_BYTES + DETH_BYTES + (has_immediate ? IMMEDIATE_BYTES : 0);

	return !qp->receive_queue->matches_tags && !qp->responder.has_receive &&
	       takes_requests(qp) && qp->port->number == port_number &&
	       receive_datagram(qp, now, headers, NULL,
				header_bytes + ((pull->byte_count + 3) & ~3u), pull);
}

bool express_receive_pulled(struct qp *qp, time_ns now, uint8_t port_number,
			    const uint8_t *headers, const struct express_pull *pull)
{
	uint32_t word = get_be32(headers + LRH_BYTES + 8);
	const struct arrival arrival = arrival_of_pulled(headers, pull->byte_count);
	struct receive_slot *slot;
	uint8_t *place;

	if (qp->type == QP_UD)
		return receive_lent(qp, now, port_number, headers, pull);
	if (unlikely(!takes_pulled(qp, port_number) || qp->receive_queue->matches_tags ||
		     qp->responder.has_receive || !has_packets(qp, pull)))
		return false;
	slot = find_connected(qp, &arrival, psn_from(word), &place);
	if (unlikely(!slot))
		return false;
	if (unlikely(!pull->fetch(pull, place))) {
		nak_gap(qp);
		return true;
	}
	word = (word & 0xff000000u) |
	       psn_add(psn_from(word), pull->packet_count - 1).value;
	take_connected(qp, word);
	qp->responder.inbound_bytes = pull->byte_count;
	complete(qp, now, headers, slot->wr_id, &arrival, false);
	return true;
}
