/* SPDX-License-Identifier: Apache-2.0 */
/* Request packets on the responder's side: executing them (vol 1, chapter 9). */
#include "net/transport/inbound.h"

#include "net/memory/window.h"
#include "net/transport/payload_scatter.h"
#include "net/transport/qp_state.h"
#include "net/transport/rd/inbound_qp.h"
#include "net/transport/report.h"
#include "net/transport/responses.h"
#include "wire/packet.h"

static uint8_t completion_flags(const struct opcode_info *info)
{
	if (info->has_immediate)
		return COMPLETION_HAS_IMMEDIATE;
	return info->has_ieth ? COMPLETION_HAS_INVALIDATED : 0;
}

static void complete_receive(struct qp *qp, time_ns now, const struct inbound *inbound,
			     enum completion_opcode opcode, uint64_t byte_count)
{
	const struct packet *packet = inbound->packet;
	bool is_datagram = qp->type == QP_EEC;
	struct completion completion = {
		.status = COMPLETION_SUCCESS,
		.opcode = (uint8_t)opcode,
		.flags = completion_flags(inbound->info),
		.is_solicited = packet->bth.solicited,
		.byte_count = (uint32_t)byte_count,
		.immediate_or_rkey = inbound->info->has_immediate ? packet->immediate
				     : inbound->info->has_ieth	  ? packet->invalidate_rkey
								  : 0,
		.source_qpn =
			is_datagram ? packet->deth.source_qpn : qp->attributes.destination_qpn,
		.eecn = is_datagram ? qp->qpn : 0,
		.slid = packet->lrh.slid,
		.sl = packet->lrh.sl,
		.pkey_index = qp->attributes.pkey_index,
	};

	report_receive(qp, now, &completion);
}

static enum verdict execute_send(struct qp *qp, time_ns now, const struct inbound *inbound)
{
	struct responder *responder = &qp->responder;

	if (inbound->info->starts_message) {
		report_receive_take(qp);
		responder->inbound = INBOUND_SEND;
		responder->inbound_bytes = 0;
	}

	const struct receive_slot *slot = report_receive_slot(qp);

	if (payload_scatter(qp->environment->memory, qp->receive_queue->pd, slot->sges,
			    slot->sge_count, responder->inbound_bytes, &inbound->packet->payload,
			    inbound->from + inbound->header_bytes,
			    inbound->byte_count - inbound->header_bytes) != MEMORY_OK)
		return VERDICT_LOCAL_PROTECTION;
	responder->inbound_bytes += inbound->byte_count - inbound->header_bytes;
	if (!inbound->info->ends_message)
		return VERDICT_ACCEPT;
	responder->inbound = INBOUND_IDLE;
	/* Invalidate before the completion becomes visible (transport 5.6). */
	if (inbound->info->has_ieth &&
	    !window_invalidate(qp->environment->memory, qp_inbound_pd(qp), qp->qpn,
			       inbound->packet->invalidate_rkey))
		return VERDICT_INVALIDATE_REFUSED;
	complete_receive(qp, now, inbound, COMPLETED_RECEIVE, responder->inbound_bytes);
	return VERDICT_ACCEPT;
}

static enum verdict execute_write(struct qp *qp, time_ns now, const struct inbound *inbound)
{
	struct responder *responder = &qp->responder;

	if (inbound->info->starts_message) {
		responder->inbound = INBOUND_WRITE;
		responder->inbound_bytes = 0;
		responder->write_address = inbound->packet->reth.address;
		responder->write_rkey = inbound->packet->reth.rkey;
		responder->write_bytes = inbound->packet->reth.bytes;
	}
	payload_write(&inbound->packet->payload, inbound->from, inbound->byte_count,
		      inbound->target);
	responder->inbound_bytes += inbound->byte_count;
	if (!inbound->info->ends_message)
		return VERDICT_ACCEPT;
	responder->inbound = INBOUND_IDLE;
	if (inbound->info->has_immediate)
		complete_receive(qp, now, inbound, COMPLETED_RECEIVE_WRITE_IMMEDIATE,
				 responder->write_bytes);
	return VERDICT_ACCEPT;
}

/* Atomic against every other access to the word, in this process or in one that shares the memory.
 */
static uint64_t execute_atomic(const struct inbound *inbound)
{
	const struct atomic_eth *eth = &inbound->packet->atomic_eth;
	uint64_t *word = (uint64_t *)(void *)inbound->target;

	if ((inbound->packet->bth.opcode & 0x1f) == OPCODE_FETCH_ADD)
		return __atomic_fetch_add(word, eth->swap_or_add, __ATOMIC_SEQ_CST);

	uint64_t found = eth->compare;

	__atomic_compare_exchange_n(word, &found, eth->swap_or_add, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return found;
}

/* FLUSH and ATOMIC WRITE. Earlier writes are already in memory that all processors share. No memory
 * here survives a power failure, so persistence needs nothing more. */
static void execute_placement(struct qp *qp, const struct inbound *inbound)
{
	uint64_t value;

	if (inbound->info->kind == OPCODE_KIND_ATOMIC_WRITE) {
		payload_copy(&inbound->packet->payload, 0, sizeof(value), (uint8_t *)&value);
		/* Readers see all eight bytes or none of them (transport 5.4). */
		__atomic_store_n((uint64_t *)(void *)inbound->target, value, __ATOMIC_SEQ_CST);
	} else {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
	responses_save_placement(qp, inbound->packet);
}

enum verdict inbound_execute(struct qp *qp, time_ns now, const struct inbound *inbound)
{
	enum opcode_kind kind = inbound->info->kind;

	if (kind == OPCODE_KIND_SEND)
		return execute_send(qp, now, inbound);
	if (kind == OPCODE_KIND_WRITE)
		return execute_write(qp, now, inbound);
	if (kind == OPCODE_KIND_ATOMIC)
		responses_save_atomic(qp, inbound->packet, execute_atomic(inbound));
	else if (kind == OPCODE_KIND_ATOMIC_WRITE || kind == OPCODE_KIND_FLUSH)
		execute_placement(qp, inbound);
	else
		responses_save_read(qp, inbound->packet, inbound_psn_count(qp, inbound));
	return VERDICT_ACCEPT;
}
