/* SPDX-License-Identifier: Apache-2.0 */
/* The packets of a queue pair as bytes, for tests of the fast path: by the engine, or posted and
 * written at once. */
#ifndef SOFTIB_TESTS_SUPPORT_SENT_PACKET_H
#define SOFTIB_TESTS_SUPPORT_SENT_PACKET_H

#include "net/transport/fast/fast_send.h"
#include "net/transport/qp.h"

/* Transmits the next packet of the queue pair. Returns the length of the packet; 0: there is none.
 */
static inline uint32_t sent_packet(struct qp *qp, time_ns now, uint8_t *ret_bytes)
{
	struct packet packet;

	return qp_transmit(qp, now, 1, 1, &packet) ? (uint32_t)packet_encode(&packet, ret_bytes)
						   : 0;
}

/* Posts a request on the fast path. Returns the length of the packet; 0: nothing was done. */
static inline uint32_t posted_packet(struct qp *qp, time_ns now, const struct send_request *request,
				     uint8_t *ret_bytes)
{
	struct fast_packet packet = {0};

	if (!fast_may_post(qp, qp->type, request, &packet) || packet.packet_count != 1)
		return 0;
	fast_write(qp, qp->type, request, &packet, ret_bytes);
	fast_enqueue(qp, qp->type, now, request, &packet);
	if (qp->type == QP_RC)
		fast_remember(qp, request, ret_bytes);
	retry_date(qp, now);
	return packet.byte_count;
}

/* The same for a SEND that has the headers of the last one on its reliable connection, but for the
 * PSN. */
static inline uint32_t packet_by_template(struct qp *qp, time_ns now,
					  const struct send_request *request, uint8_t *ret_bytes)
{
	const struct sge *sge = request->sges;
	struct fast_packet packet = {0};

	if (qp->type != QP_RC || request->opcode != SEND_SEND || request->sge_count != 1 ||
	    !fast_may_post_by_template(qp, request->flags, sge) ||
	    !fast_find_payload(qp, request, &packet))
		return 0;
	fast_measure(QP_RC, request, 1, &packet);
	fast_write_by_template(qp, packet.payload, ret_bytes);
	fast_enqueue(qp, QP_RC, now, request, &packet);
	retry_date(qp, now);
	return packet.byte_count;
}

/* Writes the queued SEND at the cursor of a reliable connection by reference; fast_next_zcopy has
 * found it. */
static inline void write_queued_zcopy(struct qp *qp, time_ns now, const struct fast_packet *packet,
				      uint8_t *ret_headers)
{
	const struct requester *requester = &qp->requester;

	fast_write_next(qp, packet, ret_headers);
	fast_advance(qp, QP_RC, now, send_queue_slot(&requester->queue, requester->cursor), packet);
	retry_date(qp, now);
}

#endif
