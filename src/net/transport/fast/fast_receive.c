/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of receiving a SEND: see fast_receive.h. */
#include "net/transport/fast/fast_receive.h"

#include "net/transport/responses.h"
#include "net/transport/rma/rma_bypass.h"

/* Completes a message for an owner that wants to hear of each completion. Not inline, so that the
 * common case needs no stack space for the completion. */
void arrival_report(struct qp *qp, time_ns now, struct completion value)
{
	struct completion completion;

	completion_write(&completion, value);
	arrival_use_request(qp);
	if (unlikely(!qp->environment->complete(qp, SIDE_RECEIVE, &completion))) {
		qp->has_failed_to_report = true;
		qp_settle(qp, now);
	}
}

static IN_LINE void complete(struct qp *qp, time_ns now, uint64_t wr_id,
			     const struct arrival *arrival, bool is_datagram)
{
	struct completion_ring *ring = qp->completions[SIDE_RECEIVE];
	struct completion value = arrival_completion(qp, arrival, is_datagram);

	value.wr_id = wr_id;
	value.timestamp_ns = now;
	if (unlikely(!completion_ring_takes(ring))) {
		arrival_report(qp, now, value);
		return;
	}
	completion_write(completion_ring_place(ring), value);
	arrival_use_request(qp);
	completion_ring_add(ring);
}

/* Whether the next message is likely to have this length: the first one, or two in a row had it. */
static inline bool is_worth_remembering(struct receive_template *template, uint32_t byte_count)
{
	const uint32_t last = template->last_byte_count;

	template->last_byte_count = byte_count;
	return last == 0 || last == byte_count;
}

/* Remembers the headers, which the template admits, for receive_by_template. */
static void remember(struct qp *qp, const struct arrival *arrival, uint32_t byte_count)
{
	struct receive_template *template = &qp->templates->receive;

	template->lrh = arrival->lrh;
	template->bth = arrival->bth;
	template->byte_count = arrival->bth &BTH_WORD_IMMEDIATE ? 0 : byte_count;
	template->payload_bytes = arrival->payload_bytes;
	completion_write(&template->completion, arrival_completion(qp, arrival, false));
}

static IN_LINE bool receive(struct qp *qp, time_ns now, uint8_t port_number,
			    const struct packet_source *source, const uint8_t *bytes,
			    uint32_t byte_count, bool is_datagram)
{
	struct arrival arrival = arrival_read(bytes, is_datagram);
	const uint32_t room = arrival_room(is_datagram);
	struct receive_slot *slot;
	uint8_t *place;

	if (unlikely(!arrival_measure(&arrival, byte_count) ||
		     !receive_template_admits(qp, port_number, source, arrival.lrh, arrival.bth) ||
		     !arrival_is_next(qp, &arrival, is_datagram) ||
		     arrival.payload_bytes > qp->templates->receive.mtu))
		return false;
	slot = arrival_find_place(qp, room + arrival.payload_bytes, &place);
	if (unlikely(!slot))
		return false;
	if (likely(place))
		fast_copy(place + room, bytes + arrival.payload_offset, arrival.payload_bytes);
	if (!is_datagram) {
		arrival_accept(qp, &arrival, 1);
		if (is_worth_remembering(&qp->templates->receive, byte_count))
			remember(qp, &arrival, byte_count);
	}
	complete(qp, now, slot->wr_id, &arrival, is_datagram);
	return true;
}

bool fast_receive_datagram(struct qp *qp, time_ns now, uint8_t port_number,
			   const struct packet_source *source, const uint8_t *bytes,
			   uint32_t byte_count)
{
	return receive(qp, now, port_number, source, bytes, byte_count, true);
}

bool fast_receive_connected(struct qp *qp, time_ns now, uint8_t port_number,
			    const struct packet_source *source, const uint8_t *bytes,
			    uint32_t byte_count)
{
	return receive(qp, now, port_number, source, bytes, byte_count, false);
}

static void nak_gap(struct qp *qp)
{
	if (!qp->responder.nak_was_sent)
		responses_nak(qp, qp->responder.expected_psn,
			      aeth_syndrome(AETH_NAK, NAK_PSN_SEQUENCE));
}

/* Whether the message has as many packets as its length says. The LRH of several packets has no
 * length; that of one packet has the length that it would have with the payload in it. */
static bool has_its_packets(const struct qp *qp, const struct arrival *arrival,
			    const struct zcopy_source *source)
{
	const uint64_t mtu = qp->templates->receive.mtu;
	const uint64_t packet_bytes =
		arrival->payload_offset + ((source->byte_count + 3) & ~3u) + ICRC_BYTES;

	if (source->packet_count == 1)
		return source->byte_count && source->byte_count <= mtu &&
		       lrh_word_bytes(arrival->lrh) == packet_bytes &&
		       (arrival->bth & BTH_WORD_PAD) == bth_word_pad(source->byte_count);
	return qp->type == QP_RC && source->byte_count <= source->packet_count * mtu &&
	       source->byte_count > (source->packet_count - 1) * mtu;
}

bool fast_receive_zcopy(struct qp *qp, time_ns now, uint8_t port_number,
			const struct packet_source *packets, const uint8_t *headers,
			const struct zcopy_source *source)
{
	const bool is_datagram = qp->type == QP_UD;
	struct arrival arrival = arrival_read(headers, is_datagram);
	const uint32_t room = arrival_room(is_datagram);
	struct receive_slot *slot;
	uint8_t *place;

	arrival.payload_bytes = source->byte_count;
	if (unlikely(qp->type == QP_UC ||
		     !receive_template_admits(qp, port_number, packets, arrival.lrh, arrival.bth) ||
		     !has_its_packets(qp, &arrival, source) ||
		     !arrival_is_next(qp, &arrival, is_datagram)))
		return false;
	slot = arrival_find_place(qp, room + arrival.payload_bytes, &place);
	if (unlikely(!slot))
		return false;
	if (unlikely(!source->fetch(source, place + room)) && !is_datagram) {
		nak_gap(qp);
		return true;
	}
	if (!is_datagram)
		arrival_accept(qp, &arrival, source->packet_count);
	complete(qp, now, slot->wr_id, &arrival, is_datagram);
	return true;
}

void fast_zcopy_failed(struct qp *qp, uint8_t port_number, const struct packet_source *packets,
		       const uint8_t *headers)
{
	const struct arrival arrival = arrival_read(headers, false);

	if (qp->type != QP_RC ||
	    !receive_template_admits(qp, port_number, packets, arrival.lrh, arrival.bth))
		return;
	if (qp->responder.placed)
		(void)rma_bypass_catch_up(qp);
	if (!psn_before(psn_from(arrival.psn_word), qp->responder.expected_psn))
		nak_gap(qp);
}
