/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of receiving whole messages by zcopy: see fast_path.h. */
#include "net/transport/fast/rx_short.h"
#include "net/transport/responses.h"
#include "net/transport/rma/rma_bypass.h"

static bool has_packets(const struct qp *qp, const struct zcopy_source *pull)
{
	uint64_t mtu = qp->path_mtu;

	return pull->byte_count && pull->byte_count <= pull->packet_count * mtu &&
	       pull->byte_count > (pull->packet_count - 1) * mtu;
}

static struct arrival arrival_of_zcopy(const uint8_t *headers, uint32_t byte_count)
{
	uint64_t bth = get_be64(headers + LRH_BYTES);
	bool has_immediate = bth >> 56 & 1;

	return (struct arrival){
		.lrh = get_be64(headers),
		.bth = bth,
		.has_immediate = has_immediate,
		.payload_offset = FAST_HEADER_BYTES + (has_immediate ? IMMEDIATE_BYTES : 0),
		.payload_bytes = byte_count,
	};
}

static bool takes_zcopy_sends(const struct qp *qp, uint8_t port_number)
{
	return qp->type == QP_RC && arrival_is_taken(qp) && qp->port->number == port_number;
}

static void nak_gap(struct qp *qp)
{
	if (!qp->responder.nak_was_sent)
		responses_nak(qp, qp->responder.expected_psn,
			      aeth_syndrome(AETH_NAK, NAK_PSN_SEQUENCE));
}

void fast_zcopy_failed(struct qp *qp, uint8_t port_number, const uint8_t *headers)
{
	const struct arrival arrival = arrival_of_zcopy(headers, 0);
	struct psn psn = psn_from(get_be32(headers + FAST_PSN_OFFSET));

	if (!takes_zcopy_sends(qp, port_number) || !fast_headers_are_known(qp) ||
	    !arrival_is_from_peer(qp, &arrival))
		return;
	if (qp->responder.placed)
		(void)rma_bypass_catch_up(qp);
	if (!psn_before(psn, qp->responder.expected_psn))
		nak_gap(qp);
}

/* The size of the packet if the payload were in it. */
static uint32_t bytes_of_packet(uint32_t header_bytes, const struct zcopy_source *pull)
{
	return header_bytes + ((pull->byte_count + 3) & ~3u);
}

static bool receive_ud_zcopy(struct qp *qp, time_ns now, uint8_t port_number,
			     const uint8_t *headers, const struct zcopy_source *pull)
{
	const bool has_immediate = headers[LRH_BYTES] & 1;
	const uint32_t header_bytes =
		FAST_HEADER_BYTES + DETH_BYTES + (has_immediate ? IMMEDIATE_BYTES : 0);
	const uint32_t byte_count = bytes_of_packet(header_bytes, pull);

	return !qp->receive_queue->matches_tags && !qp->responder.has_receive &&
	       arrival_is_taken(qp) && qp->port->number == port_number &&
	       arrival_receive_datagram(qp, now, headers, NULL, byte_count, pull);
}

/* Puts the headers into the cache. Not for a train, whose LRH has no valid length. */
static void remember_zcopy(struct qp *qp, uint8_t port_number, const uint8_t *headers,
			   const struct zcopy_source *pull)
{
	const uint32_t byte_count = bytes_of_packet(FAST_HEADER_BYTES, pull);
	struct arrival arrival = {0};

	if (pull->packet_count == 1 &&
	    arrival_read(headers, byte_count, FAST_HEADER_BYTES, &arrival) &&
	    !arrival.has_immediate && arrival.payload_bytes == pull->byte_count)
		arrival_remember(qp, port_number, byte_count, &arrival);
}

/* Receives a message that matches the SEND before it, whether that was a zcopy one or not. */
static IN_LINE bool receive_predicted(struct qp *qp, time_ns now, uint8_t port_number,
				      const uint8_t *headers, const struct zcopy_source *pull,
				      enum qp_type type)
{
	const struct rx_header_cache *cache = rx_header_cache(qp);
	const uint32_t header_bytes = FAST_HEADER_BYTES + (type == QP_UD ? DETH_BYTES : 0);
	const uint32_t room = type == QP_UD ? GRH_BYTES : 0;
	const uint32_t word = get_be32(headers + FAST_PSN_OFFSET);
	struct receive_slot *slot;
	uint8_t *place;

	if (unlikely(pull->packet_count != 1 || cache->payload_bytes != pull->byte_count ||
		     !arrival_is_predicted(qp, cache, port_number, headers,
					   bytes_of_packet(header_bytes, pull)) ||
		     !arrival_is_next(qp, type, word)))
		return false;
	slot = arrival_find_place(qp, room + cache->payload_bytes, &place);
	if (unlikely(!slot))
		return false;
	if (unlikely(!pull->fetch(pull, place + room))) {
		nak_gap(qp);
		return true;
	}
	if (type == QP_RC)
		arrival_take_connected(qp, type, word, cache->payload_bytes);
	arrival_complete_predicted(qp, now, slot->wr_id, cache);
	return true;
}

bool fast_receive_zcopy(struct qp *qp, time_ns now, uint8_t port_number, const uint8_t *headers,
			const struct zcopy_source *pull)
{
	uint32_t word = get_be32(headers + FAST_PSN_OFFSET);
	const struct arrival arrival = arrival_of_zcopy(headers, pull->byte_count);
	struct receive_slot *slot;
	uint8_t *place;

	if (qp->type == QP_UD)
		return receive_predicted(qp, now, port_number, headers, pull, QP_UD) ||
		       receive_ud_zcopy(qp, now, port_number, headers, pull);
	if (qp->type == QP_RC && receive_predicted(qp, now, port_number, headers, pull, QP_RC))
		return true;
	if (unlikely(!takes_zcopy_sends(qp, port_number) || qp->receive_queue->matches_tags ||
		     qp->responder.has_receive || !has_packets(qp, pull)))
		return false;
	slot = arrival_find_connected(qp, &arrival, psn_from(word), &place);
	if (unlikely(!slot))
		return false;
	if (unlikely(!pull->fetch(pull, place))) {
		nak_gap(qp);
		return true;
	}
	word = (word & 0xff000000u) | psn_add(psn_from(word), pull->packet_count - 1).value;
	arrival_take_connected(qp, qp->type, word, pull->byte_count);
	remember_zcopy(qp, port_number, headers, pull);
	arrival_complete(qp, now, headers, slot->wr_id, &arrival, false);
	return true;
}
