/* SPDX-License-Identifier: Apache-2.0 */
/* Raw datagrams (vol 1, chapters 9 and 10; transport 9.4). */
#include "net/transport/raw.h"

#include "net/transport/payload_scatter.h"
#include "net/transport/port_view.h"
#include "net/transport/report.h"
#include "net/transport/send_queue.h"
#include "net/transport/qp_error.h"
#include "wire/mtu.h"
#include "wire/pkey.h"
#include "wire/raw_packet.h"

enum { WORD_BYTES = 4 };

static enum packet_kind kind_of(const struct qp *qp)
{
	return qp->type == QP_RAW_IPV6 ? PACKET_RAW_IPV6 : PACKET_RAW_ETHERTYPE;
}

uint32_t raw_bytes_max(const struct qp *qp)
{
	return mtu_bytes(qp->port->mtu_code) +
	       (qp->type == QP_RAW_IPV6 ? (uint32_t)IPV6_HEADER_BYTES : 0);
}

enum completion_status raw_check_length(const struct qp *qp, uint32_t byte_count)
{
	uint32_t least = qp->type == QP_RAW_IPV6 ? IPV6_HEADER_BYTES : RAW_ETHERTYPE_BYTES_MIN;

	/* Raw headers have no pad count, so the length must be a multiple of 4 (transport 9.4). */
	return byte_count >= least && byte_count <= raw_bytes_max(qp) &&
			       byte_count % WORD_BYTES == 0
		       ? COMPLETION_SUCCESS
		       : COMPLETION_LOCAL_LENGTH;
}

enum completion_status raw_check_headers(const struct qp *qp, const struct payload *payload)
{
	uint8_t header[IPV6_HEADER_BYTES];

	if (qp->type != QP_RAW_IPV6)
		return COMPLETION_SUCCESS;
	payload_copy(payload, 0, sizeof(header), header);
	switch (raw_check_ipv6(header, payload->byte_count)) {
	case PACKET_OK:
		return COMPLETION_SUCCESS;
	case PACKET_BAD_LENGTH:
		return COMPLETION_LOCAL_LENGTH;
	case PACKET_TOO_SHORT:
	case PACKET_BAD_VERSION:
	case PACKET_BAD_NEXT_HEADER:
	case PACKET_BAD_OPCODE:
	case PACKET_BAD_PAD:
		break;
	}
	return COMPLETION_LOCAL_QP_OPERATION;
}

void raw_address(const struct qp *qp, const struct send_slot *slot, struct packet *ret_packet)
{
	const struct port_view *port = qp->port;
	unsigned path_bits = slot->address.source_path_bits & ((1u << port->lmc) - 1);

	ret_packet->kind = (uint8_t)kind_of(qp);
	ret_packet->lrh = (struct lrh){
		.sl = slot->address.sl,
		.dlid = slot->address.dlid,
		.slid = (uint16_t)(port->lid | path_bits),
	};
	ret_packet->ethertype = (uint16_t)slot->remote_qpn;
	ret_packet->packet_count = 1;
	ret_packet->has_grh = false;
}

/* There are no keys to check. The states are those of all queue pairs that receive (transport 6.2).
 */
static bool may_receive(const struct qp *qp, const struct packet *packet)
{
	return qp->state >= QP_RTR && qp->state <= QP_SQE && packet->kind == kind_of(qp) &&
	       packet->payload.byte_count <= raw_bytes_max(qp);
}

void raw_receive(struct qp *qp, time_ns now, const struct packet *packet)
{
	const struct receive_slot *slot = may_receive(qp, packet) ? report_receive_slot(qp) : NULL;
	uint32_t byte_count = packet->payload.byte_count;
	uint16_t dlid = packet->lrh.dlid;

	if (!slot || byte_count > sges_bytes(slot->sges, slot->sge_count))
		return;
	report_receive_take(qp);
	if (payload_scatter(qp->environment->memory, qp->receive_queue->pd, slot->sges,
			    slot->sge_count, 0, &packet->payload, 0, byte_count) != MEMORY_OK) {
		report_receive_error(qp, now, COMPLETION_LOCAL_PROTECTION);
		qp_enter_error(qp, now);
		return;
	}

	struct completion completion = {
		.status = COMPLETION_SUCCESS,
		.opcode = COMPLETED_RECEIVE,
		.byte_count = byte_count,
		.source_qpn = packet->kind == PACKET_RAW_ETHERTYPE ? packet->ethertype : 0,
		.slid = packet->lrh.slid,
		.sl = packet->lrh.sl,
		.path_bits =
			(uint8_t)(lid_is_unicast(dlid) ? dlid & ((1u << qp->port->lmc) - 1) : 0),
	};

	report_receive(qp, now, &completion);
	qp_settle(qp, now);
}
