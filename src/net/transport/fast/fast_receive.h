/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path of receiving a SEND: of one packet, or whole by reference (vol 1, chapter 9).
 *
 * As in fast_send.h there are no rules of the transport here. A function that returns false has
 * changed nothing, and the engine takes the packet.
 */
#ifndef SOFTIB_NET_TRANSPORT_FAST_FAST_RECEIVE_H
#define SOFTIB_NET_TRANSPORT_FAST_FAST_RECEIVE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/transport/fast/arrival.h"

/* Completes a message with the completion of the template. */
static IN_LINE void fast_complete_by_template(struct qp *qp, time_ns now, uint64_t wr_id)
{
	struct completion_ring *ring = qp->completions[SIDE_RECEIVE];
	const struct completion *value = &qp->templates->receive.completion;

	if (unlikely(!completion_ring_takes(ring))) {
		struct completion completion = *value;

		completion.wr_id = wr_id;
		completion.timestamp_ns = now;
		arrival_report(qp, now, completion);
		return;
	}
	completion_write_from(completion_ring_place(ring), value, wr_id, now);
	arrival_use_request(qp);
	completion_ring_add(ring);
}

/* Receives a message for a connection that has the headers of the last one, but for the PSN. If a
 * SEND matches the last one of its queue pair, its headers were checked already. The caller knows
 * that the source of the message is that of the template. */
static IN_LINE bool fast_receive_by_template(struct qp *qp, time_ns now, uint8_t port_number,
					     const uint8_t *bytes, uint32_t byte_count)
{
	const struct receive_template *template = &qp->templates->receive;
	struct arrival arrival = {
		.lrh = get_be64_once(bytes),
		.bth = get_be64_once(bytes + LRH_BYTES),
		.psn_word = get_be32_once(bytes + FAST_PSN_OFFSET),
		.payload_bytes = template->payload_bytes,
	};
	struct receive_slot *slot;
	uint8_t *place;

	if (unlikely(byte_count < FAST_HEADER_BYTES || template->lrh != arrival.lrh ||
		     template->bth != arrival.bth || template->byte_count != byte_count ||
		     template->port_number != port_number ||
		     template->epoch != qp->environment->epoch ||
		     !arrival_is_next(qp, &arrival, false)))
		return false;
	slot = arrival_find_place(qp, arrival.payload_bytes, &place);
	if (unlikely(!slot))
		return false;
	if (likely(place))
		fast_copy(place, bytes + FAST_HEADER_BYTES, arrival.payload_bytes);
	arrival_accept(qp, &arrival, 1);
	fast_complete_by_template(qp, now, slot->wr_id);
	return true;
}

/* Any other packet. */
MUST_USE bool fast_receive_datagram(struct qp *qp, time_ns now, uint8_t port_number,
				    const struct packet_source *source, const uint8_t *bytes,
				    uint32_t byte_count);
MUST_USE bool fast_receive_connected(struct qp *qp, time_ns now, uint8_t port_number,
				     const struct packet_source *source, const uint8_t *bytes,
				     uint32_t byte_count);

/* Receives a packet for this queue pair that came by this port from this source. bytes may change
 * concurrently; at least FAST_HEADER_BYTES_MAX of them are valid, whatever byte_count is. */
MUST_USE static IN_LINE bool fast_receive(struct qp *qp, time_ns now, uint8_t port_number,
					  const struct packet_source *source, const uint8_t *bytes,
					  uint32_t byte_count)
{
	if (unlikely(qp->type == QP_UD))
		return fast_receive_datagram(qp, now, port_number, source, bytes, byte_count);
	return likely(qp->templates->receive.source == source &&
		      fast_receive_by_template(qp, now, port_number, bytes, byte_count)) ||
	       fast_receive_connected(qp, now, port_number, source, bytes, byte_count);
}

/* A whole message by reference: the receiver's owner copies its payload from the sender's memory.
 */
struct zcopy_source {
	uint32_t byte_count;
	uint32_t packet_count;
	/* false: the payload is no longer there, so the message is lost and the sender must resend
	 * it. The payload of a datagram is always there. */
	bool (*fetch)(const struct zcopy_source *source, uint8_t *ret_bytes);
};
/* headers: LRH, BTH, DETH of a datagram, and immediate data. They don't change. */
MUST_USE bool fast_receive_zcopy(struct qp *qp, time_ns now, uint8_t port_number,
				 const struct packet_source *packets, const uint8_t *headers,
				 const struct zcopy_source *source);

/* A message by reference did not qualify for the fast path, and its payload could not be copied for
 * the engine. The sender may have no timer, and no later packet may show the gap, so this sends the
 * sequence NAK at once (transport 5.2). */
void fast_zcopy_failed(struct qp *qp, uint8_t port_number, const struct packet_source *packets,
		       const uint8_t *headers);

#endif
