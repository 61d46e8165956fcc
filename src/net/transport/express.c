/* SPDX-License-Identifier: Apache-2.0 */
/* The commonest case, in as few steps as it needs: see express.h. */
#include "net/transport/express.h"

#include <string.h>
#include "base/bytes.h"
#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "net/transport/completer.h"
#include "net/transport/credits.h"
#include "net/transport/port_view.h"
#include "net/transport/qp.h"
#include "net/transport/report.h"
#include "net/transport/requester.h"
#include "net/transport/responses.h"
#include "net/transport/retry.h"
#include "wire/mtu.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	BTH_SOLICITED = 0x80,
	BTH_MIGRATED = 0x40,
	BTH_ACK_REQUEST = 0x80,
};

static_assert(OPCODE_SEND_ONLY_IMMEDIATE == (OPCODE_SEND_ONLY | 1),
	      "the lowest bit of the opcode says whether there is immediate data");

/* --- what stays the same --- */

/* Built as numbers and stored whole: a byte at a time would cost more than all the rest. */
static uint64_t make_lrh(const struct qp *qp, const struct address_vector *address)
{
	const struct port_view *port = qp->port;
	unsigned path_bits = address->source_path_bits & ((1u << port->lmc) - 1);

	return (uint64_t)(address->sl << 4 | LNH_LOCAL) << 48 | (uint64_t)address->dlid << 32 |
	       (uint16_t)(port->lid | path_bits);
}

static uint64_t make_bth(const struct qp *qp, uint32_t destination_qpn)
{
	return (uint64_t)(qp_transport(qp) | OPCODE_SEND_ONLY) << 56 | (uint64_t)BTH_MIGRATED << 48 |
	       (uint64_t)qp_pkey(qp) << 32 | (destination_qpn & 0xffffff);
}

/* What must be so in the headers of a SEND to a connection: LVer 0, LNH local and the SLID; the opcode
 * but for its lowest bit, TVer 0 and the P_Key. */
#define IN_LRH_MASK 0x0f0300000000ffffu
#define IN_BTH_MASK 0xfe0fffff00000000u

/* Whether what was worked out still holds; if not, it is worked out anew. false: there is something
 * unusual about this queue pair. */
static bool headers_are_known(struct qp *qp)
{
	struct express_headers *express = &qp->express;
	const struct address_vector *address = &qp->attributes.address;

	if (likely(express->changes == qp->environment->port_changes + 1))
		return true;
	/* Between limited members nothing is admitted. */
	if (address->is_global || qp->attributes.path_migration != PATH_MIGRATED ||
	    !pkey_matches(qp_pkey(qp), qp_pkey(qp)))
		return false;
	express->lrh = make_lrh(qp, address);
	express->bth = make_bth(qp, qp->attributes.destination_qpn);
	express->route = NULL;
	express->changes = qp->environment->port_changes + 1;
	return true;
}

/* --- sending --- */

static bool is_plain_type(const struct qp *qp)
{
	return qp->type == QP_RC || qp->type == QP_UD || qp->type == QP_UC;
}

/* The request at the cursor has not been begun, and nothing but the program made it wait. */
static bool may_begin(const struct qp *qp, const struct send_slot *slot)
{
	const struct requester *requester = &qp->requester;

	if (qp->state != QP_RTS || requester->cursor != requester->queue.started ||
	    requester->rnr_deadline != TIME_NEVER || requester->hold != HOLD_NONE ||
	    qp->attributes.rate_limit || slot->fault ||
	    (slot->opcode != SEND_SEND && slot->opcode != SEND_SEND_IMMEDIATE))
		return false;
	if (qp->type != QP_RC)
		return true;
	if (requester->credits == CREDITS_COUNTED ||
	    ((slot->flags & SEND_FENCE) && requester->reads_outstanding))
		return false;
	return psn_distance(requester->oldest_psn, requester->next_psn) < PSNS_OUTSTANDING_MAX;
}

bool express_is_known(struct qp *qp)
{
	return qp->type == QP_RC && qp->port && headers_are_known(qp);
}

static bool find_payload(const struct qp *qp, struct send_slot *slot, const uint8_t **ret_payload)
{
	const struct sge *sge = send_slot_sges(slot);
	uint8_t *bytes = slot->data;

	*ret_payload = slot->data;
	if (slot->flags & SEND_INLINE || !slot->byte_count)
		return true;
	if (slot->sge_count != 1 ||
	    memory_resolve(qp->environment->memory, qp->pd, sge->lkey, sge->address,
			   sge->byte_count, 0, &bytes) != MEMORY_OK)
		return false;
	*ret_payload = bytes;
	return true;
}

bool express_next(struct qp *qp, struct express_packet *ret_packet)
{
	struct requester *requester = &qp->requester;

	if (requester->cursor == requester->queue.tail || !is_plain_type(qp))
		return false;

	struct send_slot *slot = send_queue_slot(&requester->queue, requester->cursor);
	bool is_datagram = qp->type == QP_UD;
	uint32_t mtu = is_datagram ? mtu_bytes(qp->port->mtu_code) : qp->path_mtu;

	if (!may_begin(qp, slot) || slot->byte_count > mtu)
		return false;
	if (is_datagram ? slot->address.is_global || !lid_is_unicast(slot->address.dlid)
			: !headers_are_known(qp))
		return false;
	if (!find_payload(qp, slot, &ret_packet->payload))
		return false;
	ret_packet->payload_bytes = slot->byte_count;
	ret_packet->header_bytes = EXPRESS_HEADER_BYTES + (is_datagram ? DETH_BYTES : 0) +
				   (slot->opcode == SEND_SEND_IMMEDIATE ? IMMEDIATE_BYTES : 0);
	ret_packet->byte_count = ret_packet->header_bytes + ((slot->byte_count + 3) & ~3u);
	return true;
}

/* What differs between the SENDs of a queue pair: the length, and opcode, solicited event and pad
 * count, which are 0 in what they have in common. */
static uint64_t lrh_length(uint32_t byte_count)
{
	return (uint64_t)((byte_count + ICRC_BYTES) / 4 & 0x7ff) << 16;
}

static uint64_t bth_flags(const struct send_slot *slot)
{
	uint64_t has_immediate = slot->opcode == SEND_SEND_IMMEDIATE;
	uint64_t is_solicited = (slot->flags & SEND_SOLICITED) != 0;

	return has_immediate << 56 | is_solicited << 55 | (uint64_t)(-slot->byte_count & 3) << 52;
}

/* What follows the BTH, up to the last pad byte. */
static void write_rest(const struct qp *qp, const struct send_slot *slot,
		       const struct express_packet *packet, uint8_t *ret_bytes)
{
	uint8_t *payload = ret_bytes + packet->header_bytes - EXPRESS_HEADER_BYTES;

	if (qp->type == QP_UD) {
		put_be32(ret_bytes, qp_sent_qkey(qp, slot->remote_qkey));
		put_be32(ret_bytes + 4, qp->qpn & 0xffffff);
		ret_bytes += DETH_BYTES;
	}
	if (slot->opcode == SEND_SEND_IMMEDIATE)
		memcpy(ret_bytes, &slot->immediate_or_rkey, IMMEDIATE_BYTES);
	if (packet->payload_bytes == sizeof(uint64_t)) {
		memcpy(payload, packet->payload, sizeof(uint64_t));
		return;
	}
	if (packet->payload_bytes & 3)
		put_be32(payload + (packet->payload_bytes & ~3u), 0);
	memcpy(payload, packet->payload, packet->payload_bytes);
}

void express_write(struct qp *qp, time_ns now, const struct express_packet *packet,
		   uint8_t *ret_bytes)
{
	struct requester *requester = &qp->requester;
	struct send_slot *slot = send_queue_slot(&requester->queue, requester->cursor);
	bool is_datagram = qp->type == QP_UD;
	uint64_t lrh = is_datagram ? make_lrh(qp, &slot->address) : qp->express.lrh;
	uint64_t bth = is_datagram ? make_bth(qp, slot->remote_qpn) : qp->express.bth;
	uint32_t ack_request = qp->type == QP_RC ? (uint32_t)BTH_ACK_REQUEST << 24 : 0;

	put_be64(ret_bytes, lrh | lrh_length(packet->byte_count));
	put_be64(ret_bytes + LRH_BYTES, bth | bth_flags(slot));
	put_be32(ret_bytes + LRH_BYTES + 8, ack_request | requester->next_psn.value);
	write_rest(qp, slot, packet, ret_bytes + EXPRESS_HEADER_BYTES);
	slot->first_psn = requester->next_psn;
	slot->packet_count = 1;
	requester->queue.started++;
	requester->cursor++;
	requester->next_psn = psn_add(requester->next_psn, 1);
	credits_use(qp, slot);
	if (qp->type == QP_RC) {
		if (requester->retry_deadline == TIME_NEVER && qp->attributes.timeout)
			requester->retry_deadline = RETRY_UNDATED;
		return;
	}
	requester->oldest_psn = requester->next_psn;
	report_send(qp, now, COMPLETION_SUCCESS);
	qp_settle(qp, now);
}

/* --- receiving --- */

/* Sufficient for admission_check to say ADMITTED, and for nothing else to happen in it. */
static bool is_admitted(struct qp *qp, uint8_t port_number, const uint8_t *headers)
{
	if (qp->state != QP_RTS || qp->port->number != port_number)
		return false;
	if (qp->type == QP_UD)
		return pkey_matches(get_be16(headers + LRH_BYTES + 2), qp_pkey(qp)) &&
		       get_be32(headers + EXPRESS_HEADER_BYTES) == qp->attributes.qkey;
	if (!headers_are_known(qp))
		return false;

	/* What comes from the peer has its LID where ours have it as destination; P_Key and opcode
	 * are like those of what goes there. */
	uint64_t lrh = (uint64_t)LNH_LOCAL << 48 | (uint16_t)(qp->express.lrh >> 32);

	return !((get_be64(headers) ^ lrh) & IN_LRH_MASK) &&
	       !((get_be64(headers + LRH_BYTES) ^ qp->express.bth) & IN_BTH_MASK);
}

/* The request that the message will use, if its bytes are the first ones of one valid region. */
static struct receive_slot *find_place(const struct qp *qp, uint32_t byte_count,
				       uint8_t **ret_bytes)
{
	struct receive_slot *slot = receive_queue_first(qp->receive_queue);

	if (!slot || slot->sge_count != 1 || slot->sges[0].byte_count < byte_count)
		return NULL;
	*ret_bytes = NULL;
	if (byte_count && memory_resolve(qp->environment->memory, qp->receive_queue->pd,
					 slot->sges[0].lkey, slot->sges[0].address, byte_count,
					 ACCESS_LOCAL_WRITE, ret_bytes) != MEMORY_OK)
		return NULL;
	return slot;
}

/* How the packet is laid out, as packet_decode would find it. */
struct express_layout {
	bool has_immediate;
	uint32_t payload_offset;
	uint32_t payload_bytes;
};

static bool find_layout(const struct qp *qp, const uint8_t *headers, uint32_t byte_count,
			struct express_layout *ret_layout)
{
	uint8_t opcode = headers[LRH_BYTES] ^ qp_transport(qp);
	uint8_t flags = headers[LRH_BYTES + 1];
	uint32_t pad = flags >> 4 & 3;
	uint32_t offset = EXPRESS_HEADER_BYTES + (qp->type == QP_UD ? DETH_BYTES : 0) +
			  (opcode & 1 ? IMMEDIATE_BYTES : 0);

	/* LVer and TVer 0, LNH local, and a length that agrees with the record's. */
	if ((opcode & ~1) != OPCODE_SEND_ONLY || (headers[0] & 0x0f) ||
	    (headers[1] & 3) != LNH_LOCAL || (flags & 0x0f) || byte_count < offset + pad ||
	    (uint32_t)(get_be16(headers + 4) & 0x7ff) * 4 != byte_count + ICRC_BYTES)
		return false;
	ret_layout->has_immediate = opcode & 1;
	ret_layout->payload_offset = offset;
	ret_layout->payload_bytes = byte_count - offset - pad;
	return true;
}

static void complete(struct qp *qp, time_ns now, const uint8_t *headers, uint64_t wr_id,
		     const struct express_layout *layout)
{
	bool is_datagram = qp->type == QP_UD;
	uint16_t dlid = get_be16(headers + 2);
	struct completion completion = {
		.wr_id = wr_id,
		.status = COMPLETION_SUCCESS,
		.opcode = COMPLETED_RECEIVE,
		.is_solicited = headers[LRH_BYTES + 1] & BTH_SOLICITED,
		.byte_count = layout->payload_bytes + (is_datagram ? GRH_BYTES : 0),
		.qpn = qp->qpn,
		.source_qpn = qp->attributes.destination_qpn,
		.slid = get_be16(headers + 6),
		.sl = headers[1] >> 4,
		.pkey_index = qp->attributes.pkey_index,
		.timestamp_ns = now,
	};

	if (is_datagram) {
		completion.source_qpn = get_be32(headers + EXPRESS_HEADER_BYTES + 4) & 0xffffff;
		completion.path_bits = (uint8_t)(dlid & ((1u << qp->port->lmc) - 1));
	}
	if (layout->has_immediate) {
		completion.flags = COMPLETION_HAS_IMMEDIATE;
		memcpy(&completion.immediate_or_rkey,
		       headers + layout->payload_offset - IMMEDIATE_BYTES, IMMEDIATE_BYTES);
	}
	qp->receive_queue->head++;
	if (qp_is_shared(qp))
		qp->environment->shared_receive_taken(qp);
	if (unlikely(!qp->environment->complete(qp, SIDE_RECEIVE, &completion))) {
		qp->has_failed_to_report = true;
		qp_settle(qp, now);
	}
}

static void copy_payload(uint8_t *place, const uint8_t *payload, uint32_t byte_count)
{
	/* A null region has no place. */
	if (unlikely(!place))
		return;
	if (byte_count == sizeof(uint64_t))
		memcpy(place, payload, sizeof(uint64_t));
	else
		memcpy(place, payload, byte_count);
}

static bool receive_datagram(struct qp *qp, time_ns now, const uint8_t *headers,
			     const uint8_t *bytes, const struct express_layout *layout)
{
	uint8_t *place;
	struct receive_slot *slot = find_place(qp, GRH_BYTES + layout->payload_bytes, &place);

	if (!slot || !lid_is_unicast(get_be16(headers + 2)) ||
	    layout->payload_bytes > mtu_bytes(qp->port->mtu_code))
		return false;
	copy_payload(place ? place + GRH_BYTES : NULL, bytes + layout->payload_offset,
		     layout->payload_bytes);
	complete(qp, now, headers, slot->wr_id, layout);
	return true;
}

static bool receive_connected(struct qp *qp, time_ns now, const uint8_t *headers,
			      const uint8_t *bytes, const struct express_layout *layout)
{
	struct responder *responder = &qp->responder;
	uint32_t word = get_be32(headers + LRH_BYTES + 8);
	bool is_reliable = qp->type == QP_RC;
	uint8_t *place;

	if (!psn_equal(psn_from(word), responder->expected_psn) ||
	    responder->inbound != INBOUND_IDLE || layout->payload_bytes > qp->path_mtu ||
	    (responder->placed && !is_reliable))
		return false;

	struct receive_slot *slot = find_place(qp, layout->payload_bytes, &place);

	if (!slot)
		return false;
	copy_payload(place, bytes + layout->payload_offset, layout->payload_bytes);
	responder->expected_psn = psn_add(responder->expected_psn, 1);
	if (is_reliable) {
		responder->nak_is_due = false;
		responder->nak_was_sent = false;
		responder->msn = (responder->msn + 1) & 0xffffff;
		if (word >> 31)
			responses_acknowledge(qp, psn_previous(responder->expected_psn));
	}
	responder->inbound_bytes = layout->payload_bytes;
	complete(qp, now, headers, slot->wr_id, layout);
	return true;
}

bool express_receive(struct qp *qp, time_ns now, uint8_t port_number, const uint8_t *headers,
		     const uint8_t *bytes, uint32_t byte_count)
{
	struct express_layout layout;

	if (!is_plain_type(qp) || qp->receive_queue->matches_tags || qp->responder.has_receive ||
	    !find_layout(qp, headers, byte_count, &layout) ||
	    !is_admitted(qp, port_number, headers))
		return false;
	if (qp->type == QP_UD)
		return receive_datagram(qp, now, headers, bytes, &layout);
	return receive_connected(qp, now, headers, bytes, &layout);
}

/* --- acknowledging --- */

bool express_take_ack(struct qp *qp, struct psn *ret_psn)
{
	struct responder *responder = &qp->responder;

	if (!responder->ack_is_due || responder->nak_is_due || responder->saved_pending ||
	    qp->type != QP_RC || qp->state == QP_ERROR || qp->promises_receives ||
	    qp->attributes.path_migration != PATH_MIGRATED || qp->attributes.address.is_global)
		return false;
	responder->ack_is_due = false;
	*ret_psn = responder->ack_psn;
	return true;
}

bool express_acknowledge(struct qp *qp, time_ns now, struct psn psn)
{
	struct requester *requester = &qp->requester;

	/* What else it may mean for the timer needs the time. */
	if (qp->type != QP_RC || qp->state != QP_RTS || requester->is_awaiting ||
	    requester->reads_outstanding || requester->rnr_deadline != TIME_NEVER ||
	    qp->attributes.path_migration != PATH_MIGRATED)
		return false;
	completer_acknowledge(qp, now, psn);
	if (requester->retry_deadline != TIME_NEVER)
		requester->retry_deadline = RETRY_UNDATED;
	qp_settle(qp, now);
	return true;
}
