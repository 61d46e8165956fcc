/* SPDX-License-Identifier: Apache-2.0 */
/* Inline functions for both ways of receiving on the fast path: with the payload in the packet, and
 * by zcopy. */
#ifndef SOFTIB_NET_TRANSPORT_FAST_RX_SHORT_H
#define SOFTIB_NET_TRANSPORT_FAST_RX_SHORT_H

#include <string.h>
#include "base/bytes.h"
#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "net/transport/completion_ring.h"
#include "net/transport/fast/header_cache.h"
#include "net/transport/port_view.h"
#include "net/transport/qp_error.h"
#include "wire/mtu.h"
#include "wire/packet.h"
#include "wire/pkey.h"

/* Header bits that are the same in every SEND: LVer 0 and LNH local; the opcode without its lowest
 * bit, and TVer 0. On a connection SLID and P_Key are the same too. */
#define LRH_FORM_MASK 0x0f03000000000000u
#define BTH_FORM_MASK 0xfe0f000000000000u

/* The headers as numbers, and the layout of the packet as packet_decode would find it. */
struct arrival {
	uint64_t lrh, bth;
	uint64_t deth; /* datagrams only */
	bool has_immediate;
	uint32_t payload_offset;
	uint32_t payload_bytes;
};

/* The caller compares opcode, versions and LNH. false: the lengths do not agree. */
static IN_LINE bool arrival_read(const uint8_t *headers, uint32_t byte_count, uint32_t header_bytes,
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

/* The receive request that the message will use, if it has one SGE with room for byte_count bytes
 * in a region that the fast path covers. */
static IN_LINE struct receive_slot *arrival_find_place(const struct qp *qp, uint32_t byte_count,
						       uint8_t **ret_bytes)
{
	const struct receive_queue *queue = qp->receive_queue;

	if (unlikely(!receive_queue_count(queue)))
		return NULL;

	struct receive_slot *slot = receive_queue_slot(queue, queue->head);

	if (unlikely(slot->sge_count != 1 || slot->sges[0].byte_count < byte_count))
		return NULL;
	*ret_bytes = NULL;
	if (unlikely(!byte_count))
		return slot;
	*ret_bytes = memory_place(qp->environment->memory, queue->pd, slot->sges[0].lkey,
				  slot->sges[0].address, byte_count, ACCESS_LOCAL_WRITE);
	return likely(*ret_bytes) ? slot : NULL;
}

static inline uint8_t arrival_path_bits(const struct qp *qp, const struct arrival *arrival)
{
	return (uint8_t)(arrival->lrh >> 32 & ((1u << qp->port->lmc) - 1));
}

/* headers: only read for immediate data. */
static IN_LINE struct completion arrival_completion(const struct qp *qp, const uint8_t *headers,
						    const struct arrival *arrival, bool is_datagram)
{
	uint32_t immediate = 0;

	if (arrival->has_immediate)
		memcpy(&immediate, headers + arrival->payload_offset - IMMEDIATE_BYTES,
		       IMMEDIATE_BYTES);
	return (struct completion){
		.status = COMPLETION_SUCCESS,
		.opcode = COMPLETED_RECEIVE,
		.flags = arrival->has_immediate ? COMPLETION_HAS_IMMEDIATE : 0,
		.is_solicited = arrival->bth >> 55 & 1,
		.byte_count = arrival->payload_bytes + (is_datagram ? GRH_BYTES : 0),
		.immediate_or_rkey = immediate,
		.qpn = qp->qpn,
		.source_qpn = is_datagram ? (uint32_t)arrival->deth & 0xffffff
					  : qp->attributes.destination_qpn,
		.slid = (uint16_t)arrival->lrh,
		.sl = (uint8_t)(arrival->lrh >> 52 & 15),
		.path_bits = is_datagram ? arrival_path_bits(qp, arrival) : 0,
		.pkey_index = qp->attributes.pkey_index,
	};
}

static IN_LINE void arrival_use_request(struct qp *qp)
{
	struct receive_queue *queue = qp->receive_queue;

	queue->head++;
	if (unlikely(queue != &qp->own_receives))
		qp->environment->shared_receive_taken(qp);
}

/* Reports a completion to the owner, which wants to hear of each one. */
static inline void arrival_report(struct qp *qp, time_ns now, const struct completion *completion)
{
	if (unlikely(!qp->environment->complete(qp, SIDE_RECEIVE, completion))) {
		qp->has_failed_to_report = true;
		qp_settle(qp, now);
	}
}

static IN_LINE void arrival_complete(struct qp *qp, time_ns now, const uint8_t *headers,
				     uint64_t wr_id, const struct arrival *arrival,
				     bool is_datagram)
{
	struct completion_ring *ring = qp->completions[SIDE_RECEIVE];
	struct completion value = arrival_completion(qp, headers, arrival, is_datagram);

	value.wr_id = wr_id;
	value.timestamp_ns = now;
	if (unlikely(!completion_ring_takes(ring))) {
		struct completion here;

		completion_write(&here, value);
		arrival_use_request(qp);
		arrival_report(qp, now, &here);
		return;
	}
	completion_write(completion_ring_place(ring), value);
	arrival_use_request(qp);
	completion_ring_add(ring);
}

/* Completes a message that matches the cache, if the owner wants to hear of each completion. Not
 * inline, so that the common case needs no stack space for the completion. */
void arrival_report_predicted(struct qp *qp, time_ns now, uint64_t wr_id,
			      const struct rx_header_cache *cache);

/* Completes a message that matches the cache. */
static IN_LINE void arrival_complete_predicted(struct qp *qp, time_ns now, uint64_t wr_id,
					       const struct rx_header_cache *cache)
{
	struct completion_ring *ring = qp->completions[SIDE_RECEIVE];

	if (unlikely(!completion_ring_takes(ring))) {
		arrival_report_predicted(qp, now, wr_id, cache);
		return;
	}
	completion_write_from(completion_ring_place(ring), &cache->completion, wr_id, now);
	arrival_use_request(qp);
	completion_ring_add(ring);
}

/* Puts the checked headers of a SEND without immediate data into the cache. The entry holds until
 * something changes at this end. */
static inline void arrival_remember(struct qp *qp, uint8_t port_number, uint32_t byte_count,
				    const struct arrival *arrival)
{
	struct rx_header_cache *cache = rx_header_cache(qp);

	*cache = (struct rx_header_cache){
		.qp = qp,
		.lrh = arrival->lrh,
		.bth = arrival->bth,
		.deth = arrival->deth,
		.byte_count = byte_count,
		.payload_bytes = arrival->payload_bytes,
		.port_number = port_number,
	};
	/* Written separately: in the initializer above the padding bytes would be undefined. */
	completion_write(&cache->completion,
			 arrival_completion(qp, NULL, arrival, qp->type == QP_UD));
	qp->header_cache.changes = qp->environment->port_changes + 1;
}

/* Whether all but the PSN matches the last SEND, so that the checks made then still hold. The DETH
 * of a datagram is compared elsewhere. */
static IN_LINE bool arrival_matches(const struct qp *qp, const struct rx_header_cache *cache,
				    uint8_t port_number, uint64_t lrh, uint64_t bth,
				    uint32_t byte_count)
{
	return cache->lrh == lrh && cache->bth == bth && cache->byte_count == byte_count &&
	       cache->port_number == port_number && cache->qp == qp &&
	       qp->header_cache.changes == qp->environment->port_changes + 1;
}

static IN_LINE bool arrival_is_predicted(const struct qp *qp, const struct rx_header_cache *cache,
					 uint8_t port_number, const uint8_t *headers,
					 uint32_t byte_count)
{
	return arrival_matches(qp, cache, port_number, get_be64(headers),
			       get_be64(headers + LRH_BYTES), byte_count) &&
	       (qp->type != QP_UD || cache->deth == get_be64(headers + FAST_HEADER_BYTES));
}

/* pull: NULL if the payload is in the packet. */
static inline bool arrival_receive_datagram(struct qp *qp, time_ns now, const uint8_t *headers,
					    const uint8_t *bytes, uint32_t byte_count,
					    const struct zcopy_source *pull)
{
	struct arrival arrival;
	uint8_t *place;

	arrival.deth = get_be64(headers + FAST_HEADER_BYTES);
	if (!arrival_read(headers, byte_count, FAST_HEADER_BYTES + DETH_BYTES, &arrival) ||
	    ((arrival.lrh ^ (uint64_t)LNH_LOCAL << 48) & LRH_FORM_MASK) ||
	    ((arrival.bth ^ (uint64_t)(TRANSPORT_UD | OPCODE_SEND_ONLY) << 56) & BTH_FORM_MASK) ||
	    !pkey_matches((uint16_t)(arrival.bth >> 32), qp_pkey(qp)) ||
	    (uint32_t)(arrival.deth >> 32) != qp->attributes.qkey ||
	    /* Datagrams that need a special copy go to the engine. */
	    qp->environment->copy_datagram || !lid_is_unicast((uint16_t)(arrival.lrh >> 32)) ||
	    arrival.payload_bytes > mtu_bytes(qp->port->mtu_code))
		return false;

	struct receive_slot *slot =
		arrival_find_place(qp, GRH_BYTES + arrival.payload_bytes, &place);

	if (!slot || (pull && pull->byte_count != arrival.payload_bytes))
		return false;
	if (pull)
		(void)pull->fetch(pull, place + GRH_BYTES);
	else
		fast_copy(place + GRH_BYTES, bytes + arrival.payload_offset, arrival.payload_bytes);
	if (!arrival.has_immediate)
		arrival_remember(qp, qp->port->number, byte_count, &arrival);
	arrival_complete(qp, now, headers, slot->wr_id, &arrival, true);
	return true;
}

/* A packet from the peer has the peer's LID as source, where our packets have it as destination;
 * its P_Key and opcode are those of our packets to the peer. */
static inline bool arrival_is_from_peer(const struct qp *qp, const struct arrival *arrival)
{
	uint64_t lrh = (uint64_t)LNH_LOCAL << 48 | (uint16_t)(qp->header_cache.lrh >> 32);

	return !((arrival->lrh ^ lrh) & (LRH_FORM_MASK | 0xffff)) &&
	       !((arrival->bth ^ qp->header_cache.bth) & (BTH_FORM_MASK | (uint64_t)0xffff << 32));
}

/* Whether a message may begin with this PSN. */
static IN_LINE bool arrival_is_expected(const struct qp *qp, enum qp_type type, struct psn psn)
{
	const struct responder *responder = &qp->responder;

	return psn_equal(psn, responder->expected_psn) && responder->inbound == INBOUND_IDLE &&
	       (!responder->placed || type == QP_RC);
}

/* The same for a message that matches the cache; word: of a connection, the word of the BTH with
 * the PSN. Datagrams that need a special copy go to the engine. */
static IN_LINE bool arrival_is_next(const struct qp *qp, enum qp_type type, uint32_t word)
{
	if (type == QP_UD)
		return !qp->responder.has_receive && !qp->environment->copy_datagram;
	if (qp->responder.inbound != INBOUND_IDLE || qp->responder.has_receive)
		return false;
	return arrival_is_expected(qp, type, psn_from(word));
}

/* The receive request for a message from the peer that begins with the expected PSN. */
static IN_LINE struct receive_slot *arrival_find_connected(struct qp *qp,
							   const struct arrival *arrival,
							   struct psn psn, uint8_t **ret_bytes)
{
	if (unlikely(!fast_headers_are_known(qp) || !arrival_is_from_peer(qp, arrival) ||
		     !arrival_is_expected(qp, qp->type, psn)))
		return NULL;
	return arrival_find_place(qp, arrival->payload_bytes, ret_bytes);
}

/* The payload is in place. Advances the responder. type: of the queue pair; word: the word of the
 * BTH with the PSN of the message's last packet. */
static IN_LINE void arrival_take_connected(struct qp *qp, enum qp_type type, uint32_t word,
					   uint32_t byte_count)
{
	struct responder *responder = &qp->responder;
	struct psn psn = psn_from(word);

	responder->expected_psn = psn_add(psn, 1);
	responder->inbound_bytes = byte_count;
	if (type == QP_RC) {
		responder->nak_is_due = false;
		responder->nak_was_sent = false;
		responder->msn = (responder->msn + 1) & 0xffffff;
		/* This PSN is later than that of an ACK already due, since it was the expected one.
		 */
		if (word >> 31) {
			responder->ack_is_due = true;
			responder->ack_psn = psn;
		}
	}
}

/* A responder that never sends stays in RTR. Its first packet raises an event, so the engine must
 * receive that one. */
static inline bool arrival_is_taken(const struct qp *qp)
{
	return likely(qp->state == QP_RTS) || (qp->state == QP_RTR && qp->is_established);
}

#endif
