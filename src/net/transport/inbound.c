/* SPDX-License-Identifier: Apache-2.0 */
/* Request packets on the responder's side: the checks (vol 1, chapter 9; transport 5.2). */
#include "net/transport/inbound.h"

#include "net/memory/gaps.h"
#include "net/memory/window.h"
#include "net/transport/payload_scatter.h"
#include "net/transport/qp_state.h"
#include "net/transport/rd/inbound_qp.h"
#include "net/transport/rd/rd_hooks.h"
#include "net/transport/report.h"
#include "net/transport/responses.h"
#include "wire/packet.h"

/* A larger DMALen is invalid (transport 5.2). */
#define DMA_BYTES_MAX (1u << 31)

void inbound_init(struct inbound *inbound, const struct packet *packet)
{
	*inbound = (struct inbound){
		.packet = packet,
		.info = opcode_info(packet->bth.opcode),
		.packet_count = packet->packet_count,
		.byte_count = packet->payload.byte_count,
	};
}

/* The opcode of the rest of a message, once its first packets are dropped. */
static uint8_t without_start(uint8_t opcode)
{
	static const uint8_t followers[32] = {
		[OPCODE_SEND_FIRST] = OPCODE_SEND_MIDDLE,
		[OPCODE_SEND_MIDDLE] = OPCODE_SEND_MIDDLE,
		[OPCODE_SEND_LAST] = OPCODE_SEND_LAST,
		[OPCODE_SEND_LAST_IMMEDIATE] = OPCODE_SEND_LAST_IMMEDIATE,
		[OPCODE_SEND_LAST_INVALIDATE] = OPCODE_SEND_LAST_INVALIDATE,
		[OPCODE_SEND_ONLY] = OPCODE_SEND_LAST,
		[OPCODE_SEND_ONLY_IMMEDIATE] = OPCODE_SEND_LAST_IMMEDIATE,
		[OPCODE_SEND_ONLY_INVALIDATE] = OPCODE_SEND_LAST_INVALIDATE,
		[OPCODE_WRITE_FIRST] = OPCODE_WRITE_MIDDLE,
		[OPCODE_WRITE_MIDDLE] = OPCODE_WRITE_MIDDLE,
		[OPCODE_WRITE_LAST] = OPCODE_WRITE_LAST,
		[OPCODE_WRITE_LAST_IMMEDIATE] = OPCODE_WRITE_LAST_IMMEDIATE,
		[OPCODE_WRITE_ONLY] = OPCODE_WRITE_LAST,
		[OPCODE_WRITE_ONLY_IMMEDIATE] = OPCODE_WRITE_LAST_IMMEDIATE,
	};

	return followers[opcode & 0x1f];
}

void inbound_trim(struct inbound *inbound, uint32_t packet_count, uint32_t mtu)
{
	size_t known = (size_t)packet_count * mtu;
	uint8_t opcode = inbound->packet->bth.opcode;

	inbound->info = opcode_info((uint8_t)(without_start(opcode) | opcode_transport(opcode)));
	inbound->packet_count -= packet_count;
	inbound->from = known;
	/* The train is shorter than its packet count says. The length stays 0, and the length check
	 * refuses the train. */
	inbound->byte_count = inbound->byte_count > known ? inbound->byte_count - known : 0;
}

/* Which message may be in progress when a packet of each kind arrives (transport 2.3). */
enum verdict inbound_check_sequence(const struct qp *qp, const struct inbound *inbound)
{
	enum inbound_message needed = INBOUND_IDLE;

	if (inbound->info->kind == OPCODE_KIND_SEND && !inbound->info->starts_message)
		needed = INBOUND_SEND;
	else if (inbound->info->kind == OPCODE_KIND_WRITE && !inbound->info->starts_message)
		needed = INBOUND_WRITE;
	return qp->responder.inbound == needed ? VERDICT_ACCEPT : VERDICT_BAD_SEQUENCE;
}

enum verdict inbound_choose_queue(struct qp *qp, const struct inbound *inbound)
{
	if (unlikely(qp->type == QP_EEC))
		return qp->environment->rd->choose_destination(qp, inbound);
	if (likely(qp->type != QP_XRC_TGT))
		return VERDICT_ACCEPT;
	if (inbound->info->starts_message)
		qp->receive_queue = qp->environment->find_xrc_queue(qp, inbound->packet->xrc_srqn);
	/* The XRC SRQ is unknown, or was destroyed in the middle of the message. */
	return qp->receive_queue ? VERDICT_ACCEPT : VERDICT_INVALID_REQUEST;
}

/* The rights that the placement types of a FLUSH need; 0: no placement type, or a reserved one. */
static uint32_t flush_access(const struct feth *feth)
{
	static const uint32_t access[16] = {
		[FLUSH_GLOBAL] = ACCESS_FLUSH_GLOBAL,
		[FLUSH_PERSISTENT] = ACCESS_FLUSH_PERSISTENT,
		[FLUSH_GLOBAL | FLUSH_PERSISTENT] = ACCESS_FLUSH_GLOBAL | ACCESS_FLUSH_PERSISTENT,
	};

	return feth->selectivity <= FLUSH_REGION ? access[feth->placement & 15] : 0;
}

/* The right that the request needs; 0: a SEND, or a request that no right allows. */
static uint32_t needed_access(const struct inbound *inbound)
{
	enum opcode_kind kind = inbound->info->kind;

	if (kind == OPCODE_KIND_WRITE || kind == OPCODE_KIND_ATOMIC_WRITE)
		return ACCESS_REMOTE_WRITE;
	if (kind == OPCODE_KIND_READ)
		return ACCESS_REMOTE_READ;
	if (kind == OPCODE_KIND_FLUSH)
		return flush_access(&inbound->packet->feth);
	return kind == OPCODE_KIND_ATOMIC ? ACCESS_REMOTE_ATOMIC : 0;
}

static enum verdict check_enabled(const struct qp *qp, const struct inbound *inbound)
{
	enum opcode_kind kind = inbound->info->kind;
	uint32_t access = needed_access(inbound);

	if (kind != OPCODE_KIND_SEND && !access)
		return VERDICT_INVALID_REQUEST;
	if ((qp->attributes.access & access) != access)
		return VERDICT_INVALID_REQUEST;
	if (kind != OPCODE_KIND_SEND && kind != OPCODE_KIND_WRITE)
		return responses_have_room(qp) ? VERDICT_ACCEPT : VERDICT_INVALID_REQUEST;
	return VERDICT_ACCEPT;
}

static enum verdict check_receive(struct qp *qp, struct inbound *inbound)
{
	if (!inbound->info->takes_receive)
		return VERDICT_ACCEPT;
	if (unlikely(qp->receive_queue->matches_tags))
		qp->responder.has_choice = qp->environment->choose_receive(qp, inbound->packet,
									   &inbound->header_bytes);
	return report_receive_slot(qp) ? VERDICT_ACCEPT : VERDICT_NOT_READY;
}

/* First and Middle are full; Last has at least one byte; Only may be empty (transport 1.6). For a
 * train this holds of its last packet. */
static bool payload_fits_opcode(const struct inbound *inbound, uint32_t mtu)
{
	size_t full = (size_t)inbound->packet_count * mtu;

	if (!inbound->info->has_payload)
		return inbound->byte_count == 0 && inbound->packet_count == 1;
	if (!inbound->info->ends_message)
		return inbound->byte_count == full;
	if (inbound->byte_count == 0)
		return inbound->info->starts_message && inbound->packet_count == 1;
	return inbound->byte_count <= full && inbound->byte_count + mtu > full;
}

static bool send_fits_receive(const struct qp *qp, const struct inbound *inbound)
{
	const struct receive_slot *slot = report_receive_slot(qp);
	uint64_t before = inbound->info->starts_message ? 0 : qp->responder.inbound_bytes;

	return before + inbound->byte_count - inbound->header_bytes <=
	       sges_bytes(slot->sges, slot->sge_count);
}

static bool write_fits_announced(const struct qp *qp, const struct inbound *inbound)
{
	bool starts = inbound->info->starts_message;
	uint64_t total = starts ? inbound->packet->reth.bytes : qp->responder.write_bytes;
	uint64_t after = (starts ? 0 : qp->responder.inbound_bytes) + inbound->byte_count;

	if (total > DMA_BYTES_MAX)
		return false;
	return inbound->info->ends_message ? after == total : after < total;
}

enum verdict inbound_check_length(const struct qp *qp, const struct inbound *inbound)
{
	bool fits = payload_fits_opcode(inbound, qp->path_mtu);

	if (fits && inbound->info->kind == OPCODE_KIND_SEND)
		fits = send_fits_receive(qp, inbound);
	else if (fits && inbound->info->kind == OPCODE_KIND_WRITE)
		fits = write_fits_announced(qp, inbound);
	else if (fits && inbound->info->kind == OPCODE_KIND_READ)
		fits = inbound->packet->reth.bytes <= DMA_BYTES_MAX;
	else if (fits && inbound->info->kind == OPCODE_KIND_ATOMIC_WRITE)
		fits = inbound->byte_count == ATOMIC_BYTES;
	return fits ? VERDICT_ACCEPT : VERDICT_BAD_LENGTH;
}

static enum verdict resolve(const struct qp *qp, uint32_t rkey, uint64_t address,
			    uint64_t byte_count, uint32_t access, uint8_t **ret_target)
{
	/* Without bytes there is no key and no address to check (transport 5.4). */
	if (!byte_count)
		return VERDICT_ACCEPT;
	if (memory_resolve_remote(qp->environment->memory, qp_inbound_pd(qp), qp_inbound_qpn(qp),
				  rkey, address, byte_count, access, ret_target) != MEMORY_OK)
		return VERDICT_REMOTE_ACCESS;
	return VERDICT_ACCEPT;
}

/* Eight bytes that must be aligned (transport 5.4). */
static enum verdict resolve_word(const struct qp *qp, uint32_t rkey, uint64_t address,
				 uint32_t access, uint8_t **ret_target)
{
	if (address % ATOMIC_BYTES)
		return VERDICT_INVALID_REQUEST;

	enum verdict verdict = resolve(qp, rkey, address, ATOMIC_BYTES, access, ret_target);

	/* The region itself may be misaligned although the address within it is aligned. */
	if (verdict == VERDICT_ACCEPT && (uintptr_t)*ret_target % ATOMIC_BYTES)
		return VERDICT_INVALID_REQUEST;
	return verdict;
}

/* The response returns the old value. */
static enum verdict resolve_atomic(const struct qp *qp, struct inbound *inbound, uint32_t access)
{
	const struct atomic_eth *eth = &inbound->packet->atomic_eth;
	enum verdict verdict = resolve_word(qp, eth->rkey, eth->address, access, &inbound->target);

	if (verdict == VERDICT_ACCEPT &&
	    !memory_has_pages(qp->environment->memory, inbound->target, ATOMIC_BYTES))
		return VERDICT_REMOTE_ACCESS;
	return verdict;
}

/* For a whole region, address and length are ignored, so the check takes any byte of it. */
static enum verdict resolve_flush(const struct qp *qp, struct inbound *inbound, uint32_t access)
{
	const struct reth *reth = &inbound->packet->reth;

	if (inbound->packet->feth.selectivity == FLUSH_RANGE)
		return resolve(qp, reth->rkey, reth->address, reth->bytes, access,
			       &inbound->target);

	const struct region *region = memory_find(qp->environment->memory, reth->rkey);

	return region ? resolve(qp, reth->rkey, region->iova, 1, access, &inbound->target)
		      : VERDICT_REMOTE_ACCESS;
}

static enum verdict check_remote_key(const struct qp *qp, struct inbound *inbound)
{
	const struct packet *packet = inbound->packet;
	const struct responder *responder = &qp->responder;
	enum opcode_kind kind = inbound->info->kind;
	uint32_t access = needed_access(inbound);

	if (kind == OPCODE_KIND_ATOMIC)
		return resolve_atomic(qp, inbound, access);
	if (kind == OPCODE_KIND_ATOMIC_WRITE)
		return resolve_word(qp, packet->reth.rkey, packet->reth.address, access,
				    &inbound->target);
	if (kind == OPCODE_KIND_FLUSH)
		return resolve_flush(qp, inbound, access);
	if (kind == OPCODE_KIND_READ ||
	    (kind == OPCODE_KIND_WRITE && inbound->info->starts_message))
		return resolve(qp, packet->reth.rkey, packet->reth.address, packet->reth.bytes,
			       access, &inbound->target);
	/* The region may have been deregistered since the first packet. */
	if (kind == OPCODE_KIND_WRITE)
		return resolve(qp, responder->write_rkey,
			       responder->write_address + responder->inbound_bytes,
			       inbound->byte_count, access, &inbound->target);
	return VERDICT_ACCEPT;
}

enum verdict inbound_check_request(struct qp *qp, struct inbound *inbound)
{
	enum verdict verdict = check_enabled(qp, inbound);

	if (verdict == VERDICT_ACCEPT)
		verdict = check_receive(qp, inbound);
	if (verdict == VERDICT_ACCEPT)
		verdict = inbound_check_length(qp, inbound);
	if (verdict == VERDICT_ACCEPT)
		verdict = check_remote_key(qp, inbound);
	return verdict;
}

uint32_t inbound_psn_count(const struct qp *qp, const struct inbound *inbound)
{
	uint32_t byte_count = inbound->packet->reth.bytes;

	if (inbound->info->kind != OPCODE_KIND_READ)
		return inbound->packet_count;
	return byte_count <= qp->path_mtu
		       ? 1
		       : (uint32_t)(((uint64_t)byte_count + qp->path_mtu - 1) / qp->path_mtu);
}
