/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of a request that is being posted: see fast_path.h. */
#include "net/transport/fast/short_packets.h"

#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "wire/pkey.h"

static inline bool sends_plainly(struct qp *qp)
{
	return likely(qp->header_cache.sends == qp->environment->port_changes + 1) ||
	       fast_work_out_sends(qp);
}

static inline bool is_next(const struct qp *qp, const struct send_request *request)
{
	return fast_sends_next(qp) && !(request->flags & SEND_FENCE) &&
	       (!(request->flags & SEND_INLINE) ||
		request->sges[0].byte_count <= qp->requester.queue.inline_bytes_max);
}

/* The next two functions: sufficient for qp_post_send to accept the request, and for its packet to
 * be the next one to transmit. The queue pair of a datagram is in RTS. */
static inline bool may_post_datagram(const struct qp *qp, const struct send_request *request)
{
	return !qp->attributes.rate_limit && qp->requester.queue.sges_max && is_next(qp, request) &&
	       request->address && request->address_pd == qp->pd && !request->address->is_global &&
	       lid_is_unicast(request->address->dlid);
}

static inline bool may_post_connected(struct qp *qp, const struct send_request *request,
				      uint32_t packet_count)
{
	return sends_plainly(qp) && is_next(qp, request) &&
	       (qp->type != QP_RC || fast_is_open(qp, packet_count));
}

static IN_LINE bool find_posted(struct qp *qp, const struct send_request *request, bool is_datagram,
				uint32_t byte_count_max, uint32_t packet_count,
				struct fast_packet *ret_packet)
{
	const struct sge *sge = request->sges;
	bool has_immediate = request->opcode == SEND_SEND_IMMEDIATE;

	if (unlikely((request->opcode != SEND_SEND && !has_immediate) || request->sge_count != 1 ||
		     sge->byte_count > byte_count_max))
		return false;
	if (unlikely(is_datagram ? !may_post_datagram(qp, request)
				 : !may_post_connected(qp, request, packet_count)))
		return false;
	if (unlikely(!fast_find_packet(qp, request, is_datagram, ret_packet)))
		return false;
	ret_packet->packet_count = packet_count;
	return true;
}

bool fast_may_post(struct qp *qp, const struct send_request *request,
		   struct fast_packet *ret_packet)
{
	/* In Reset there is no port, and so no largest packet. */
	if (qp->type == QP_UD)
		return likely(qp->state == QP_RTS) &&
		       find_posted(qp, request, true, fast_largest_packet(qp), 1, ret_packet);
	return find_posted(qp, request, false, qp->path_mtu, 1, ret_packet);
}

bool fast_may_post_zcopy(struct qp *qp, const struct send_request *request,
			 struct fast_packet *ret_packet)
{
	uint32_t byte_count = request->sges[0].byte_count;

	if (qp->type != QP_RC || qp->state != QP_RTS || !byte_count ||
	    request->flags & SEND_INLINE ||
	    !find_posted(qp, request, false, FAST_ZCOPY_BYTES_MAX, fast_packets_of(qp, byte_count),
			 ret_packet))
		return false;
	ret_packet->is_zcopy = true;
	return true;
}

/* Only for a SEND without immediate data. */
static void remember_headers(const struct qp *qp, const struct send_request *request,
			     const struct fast_packet *packet, const uint8_t *headers)
{
	struct tx_header_cache *sent = tx_header_cache(qp);

	*sent = (struct tx_header_cache){
		.qp = qp,
		.payload_bytes = packet->payload_bytes,
		.flags = request->flags,
	};
	memcpy(sent->bytes, headers, sizeof(sent->bytes));
	if (qp->type != QP_UD)
		return;
	sent->lrh = fast_lrh(qp, request->address);
	sent->bth = fast_bth(qp, request->remote_qpn);
	sent->qpn = qp->qpn;
	sent->qkey = qp_sent_qkey(qp, request->remote_qkey);
}

void fast_post_packet(const struct qp *qp, const struct send_request *request,
		      const struct fast_packet *packet, uint8_t *ret_bytes)
{
	const struct fast_message message = {
		.opcode = request->opcode,
		.flags = request->flags,
		.immediate = request->immediate_or_rkey,
		.address = request->address,
		.qpn = request->remote_qpn,
		.qkey = request->remote_qkey,
	};

	fast_write_packet(qp, packet, &message, qp->type == QP_UD, ret_bytes);
	/* The LRH of a train has no length. */
	if (request->opcode == SEND_SEND && packet->packet_count == 1)
		remember_headers(qp, request, packet, ret_bytes);
}

bool fast_is_same_destination(const struct qp *qp, const struct send_request *request)
{
	const struct tx_header_cache *sent = tx_header_cache(qp);

	return request->address && request->address_pd == qp->pd && !request->address->is_global &&
	       sent->qp == qp && sent->qpn == qp->qpn &&
	       sent->qkey == qp_sent_qkey(qp, request->remote_qkey) &&
	       sent->lrh == fast_lrh(qp, request->address) &&
	       sent->bth == fast_bth(qp, request->remote_qpn);
}

void fast_post_request(struct qp *qp, time_ns now, const struct send_request *request,
		       const struct fast_packet *packet)
{
	fast_enqueue(qp, now, request, packet);
}
