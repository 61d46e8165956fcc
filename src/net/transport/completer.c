/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's receiving side (vol 1, chapter 9). */
#include "net/transport/completer.h"

#include <string.h>
#include "net/transport/credits.h"
#include "net/transport/payload_scatter.h"
#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"
#include "net/transport/report.h"
#include "net/transport/retry.h"
#include "wire/packet.h"

/* The request that the oldest outstanding PSN belongs to. There is one whenever a PSN is
 * outstanding. */
static struct send_slot *oldest_slot(const struct requester *requester)
{
	debug_assert(requester->queue.done != requester->queue.started);
	return send_queue_slot(&requester->queue, requester->queue.done);
}

/* The response to a READ or atomic was overtaken: request the missing part again, and ignore all
 * other responses until it comes (transport 4.3). */
static void implied_nak(struct qp *qp, time_ns now)
{
	struct requester *requester = &qp->requester;

	requester->is_awaiting = true;
	requester->awaited_psn = requester->oldest_psn;
	retry_from(qp, now, requester->oldest_psn);
}

enum acknowledged { ALL_ACKNOWLEDGED, ANSWER_MISSING };

/* Passes over the SENDs and WRITEs up to this PSN that report no completion, until the first
 * request that does or that needs a response of its own. */
static inline void pass_silent(struct qp *qp, struct psn psn)
{
	struct send_queue *queue = &qp->requester.queue;
	uint32_t done = queue->done;

	for (; done != queue->started; done++) {
		const struct send_slot *slot = send_queue_slot(queue, done);

		if (!report_is_silent(qp, slot) || send_slot_is_answered(slot) ||
		    psn_distance(slot->first_psn, psn) + 1 < (int32_t)slot->packet_count)
			break;
	}
	queue->done = done;
}

/* Completes, in order, every SEND and WRITE up to this PSN (transport 4.3). */
static enum acknowledged acknowledge_through(struct qp *qp, time_ns now, struct psn psn)
{
	struct requester *requester = &qp->requester;
	struct send_queue *queue = &requester->queue;
	enum acknowledged result = ALL_ACKNOWLEDGED;
	struct psn before = requester->oldest_psn;

	if (psn_before(psn, requester->oldest_psn))
		return ALL_ACKNOWLEDGED;
	while (queue->done != queue->started) {
		const struct send_slot *slot = oldest_slot(requester);
		int32_t packets_after_first = psn_distance(slot->first_psn, psn);

		if (packets_after_first < 0)
			break;
		if (unlikely(send_slot_is_answered(slot))) {
			if (psn_before(requester->oldest_psn, slot->first_psn))
				requester->oldest_psn = slot->first_psn;
			result = ANSWER_MISSING;
			break;
		}
		if ((uint32_t)packets_after_first + 1 < slot->packet_count)
			break;
		if (report_is_silent(qp, slot))
			pass_silent(qp, psn);
		else
			report_send(qp, now, COMPLETION_SUCCESS);
	}
	if (result == ALL_ACKNOWLEDGED)
		requester->oldest_psn = psn_add(psn, 1);
	if (!psn_equal(before, requester->oldest_psn))
		retry_progress(qp, now);
	return result;
}

static void receive_nak(struct qp *qp, time_ns now, struct psn psn, unsigned code)
{
	switch (code) {
	case NAK_PSN_SEQUENCE:
		retry_from(qp, now, psn);
		break;
	case NAK_INVALID_REQUEST:
		qp_fail_send(qp, now, COMPLETION_REMOTE_INVALID_REQUEST);
		break;
	case NAK_REMOTE_ACCESS:
		qp_fail_send(qp, now, COMPLETION_REMOTE_ACCESS);
		break;
	case NAK_REMOTE_OPERATIONAL:
		qp_fail_send(qp, now, COMPLETION_REMOTE_OPERATION);
		break;
	case NAK_INVALID_RD_REQUEST:
		if (qp->type == QP_EEC)
			qp_fail_send(qp, now, COMPLETION_REMOTE_INVALID_RD_REQUEST);
		break;
	default: /* reserved, or of another service: ignored */
		break;
	}
}

static void receive_acknowledge(struct qp *qp, time_ns now, const struct packet *packet)
{
	struct psn psn = packet->bth.psn;
	enum aeth_kind kind = aeth_kind(packet->aeth.syndrome);

	if (kind == AETH_RESERVED)
		return;
	/* A NAK acknowledges everything before the request it names (transport 3.4). */
	if (acknowledge_through(qp, now, kind == AETH_ACK ? psn : psn_previous(psn)) ==
	    ANSWER_MISSING) {
		implied_nak(qp, now);
		return;
	}
	if (kind == AETH_RNR_NAK)
		retry_after_rnr(qp, now, psn, aeth_value(packet->aeth.syndrome));
	else if (kind == AETH_NAK)
		receive_nak(qp, now, psn, aeth_value(packet->aeth.syndrome));
}

/* The new part of a train of READ responses. The sender may have cut this train differently from
 * the one that was partly received. */
struct answer {
	struct psn psn;
	uint32_t packet_count;
	size_t from; /* in the payload */
	size_t byte_count;
};

/* false: the train's length does not match its number of packets. */
static bool answer_new_part(const struct qp *qp, const struct packet *packet,
			    struct answer *ret_answer)
{
	const struct opcode_info *info = opcode_info(packet->bth.opcode);
	size_t byte_count = packet->payload.byte_count;
	size_t full = (size_t)packet->packet_count * qp->path_mtu;
	bool is_right = info->ends_message ? byte_count <= full && byte_count + qp->path_mtu > full
					   : byte_count == full;

	/* A single Last or Only packet may be empty when the whole READ is. */
	if (!is_right && !(info->ends_message && packet->packet_count == 1 && byte_count == 0))
		return false;
	*ret_answer = (struct answer){packet->bth.psn, packet->packet_count, 0, byte_count};

	int32_t known = psn_distance(packet->bth.psn, qp->requester.oldest_psn);

	if (known > 0) {
		ret_answer->psn = qp->requester.oldest_psn;
		ret_answer->packet_count -= (uint32_t)known;
		ret_answer->from = (size_t)known * qp->path_mtu;
		ret_answer->byte_count -= ret_answer->from;
	}
	return true;
}

static void finish_answered(struct qp *qp, time_ns now)
{
	qp->requester.reads_outstanding--;
	report_send(qp, now, COMPLETION_SUCCESS);
}

/* READ response First, Last and Only, and an atomic acknowledge, acknowledge all earlier requests;
 * a Middle must be exactly the next (transport 4.3). */
static enum acknowledged reach_answer(struct qp *qp, time_ns now, const struct packet *packet,
				      struct psn psn)
{
	if (psn_equal(psn, qp->requester.oldest_psn))
		return ALL_ACKNOWLEDGED;
	if (!opcode_info(packet->bth.opcode)->has_aeth)
		return ANSWER_MISSING;
	return acknowledge_through(qp, now, psn_previous(psn));
}

static bool acknowledges(const struct packet *packet)
{
	return !opcode_info(packet->bth.opcode)->has_aeth ||
	       aeth_kind(packet->aeth.syndrome) == AETH_ACK;
}

static void receive_read_response(struct qp *qp, time_ns now, const struct packet *packet)
{
	struct requester *requester = &qp->requester;
	bool ends = opcode_info(packet->bth.opcode)->ends_message;
	struct answer answer;

	if (!acknowledges(packet)) {
		qp_fail_send(qp, now, COMPLETION_BAD_RESPONSE);
		return;
	}
	if (!answer_new_part(qp, packet, &answer)) {
		qp_fail_send(qp, now, COMPLETION_LOCAL_LENGTH);
		return;
	}
	if (reach_answer(qp, now, packet, answer.psn) == ANSWER_MISSING) {
		implied_nak(qp, now);
		return;
	}

	struct send_slot *slot = oldest_slot(requester);

	if (slot->opcode != SEND_RDMA_READ && !send_slot_is_placement(slot)) {
		qp_fail_send(qp, now, COMPLETION_BAD_RESPONSE);
		return;
	}

	uint32_t index = (uint32_t)psn_distance(slot->first_psn, answer.psn);
	size_t offset = (size_t)index * qp->path_mtu;
	/* FLUSH and ATOMIC WRITE are answered like a READ of no bytes. */
	size_t missing = slot->opcode == SEND_RDMA_READ ? slot->byte_count - offset : 0;

	if (ends ? answer.byte_count != missing : answer.byte_count >= missing) {
		qp_fail_send(qp, now, COMPLETION_LOCAL_LENGTH);
		return;
	}
	if (payload_scatter(qp->environment->memory, qp->pd, send_slot_sges(slot), slot->sge_count,
			    offset, &packet->payload, answer.from,
			    answer.byte_count) != MEMORY_OK) {
		qp_fail_send(qp, now, COMPLETION_LOCAL_PROTECTION);
		return;
	}
	requester->oldest_psn = psn_add(answer.psn, answer.packet_count);
	if (ends)
		finish_answered(qp, now);
	retry_progress(qp, now);
}

static void receive_atomic_acknowledge(struct qp *qp, time_ns now, const struct packet *packet)
{
	struct requester *requester = &qp->requester;

	if (!acknowledges(packet)) {
		qp_fail_send(qp, now, COMPLETION_BAD_RESPONSE);
		return;
	}
	if (reach_answer(qp, now, packet, packet->bth.psn) == ANSWER_MISSING) {
		implied_nak(qp, now);
		return;
	}

	struct send_slot *slot = oldest_slot(requester);
	uint64_t value = packet->atomic_ack;
	struct span span = {(uint8_t *)&value, sizeof(value)};
	struct payload payload = {.spans = &span, .span_count = 1, .byte_count = ATOMIC_BYTES};

	if (!send_slot_is_atomic(slot)) {
		qp_fail_send(qp, now, COMPLETION_BAD_RESPONSE);
		return;
	}
	if (payload_scatter(qp->environment->memory, qp->pd, send_slot_sges(slot), slot->sge_count,
			    0, &payload, 0, ATOMIC_BYTES) != MEMORY_OK) {
		qp_fail_send(qp, now, COMPLETION_LOCAL_PROTECTION);
		return;
	}
	requester->oldest_psn = psn_add(packet->bth.psn, 1);
	finish_answered(qp, now);
	retry_progress(qp, now);
}

/* Whether a response is about requests that were sent and are not yet acknowledged. */
static bool is_awaited(const struct requester *requester, struct psn first, uint32_t packet_count)
{
	struct psn last = psn_add(first, packet_count - 1);

	if (requester->queue.done == requester->queue.started)
		return false;

	if (!psn_before(last, requester->next_psn))
		return false;
	if (psn_before(last, requester->oldest_psn))
		return false;
	if (!requester->is_awaiting)
		return true;
	return !psn_before(requester->awaited_psn, first) &&
	       !psn_before(last, requester->awaited_psn);
}

/* An ACK that acknowledges nothing new may still bring credits (transport 3.6). */
static bool is_ghost(const struct requester *requester, const struct packet *packet)
{
	return opcode_info(packet->bth.opcode)->kind == OPCODE_KIND_ACKNOWLEDGE &&
	       psn_equal(packet->bth.psn, psn_previous(requester->oldest_psn));
}

static bool brings_credits(const struct packet *packet)
{
	return opcode_info(packet->bth.opcode)->has_aeth && acknowledges(packet);
}

void completer_acknowledge(struct qp *qp, time_ns now, struct psn psn)
{
	struct requester *requester = &qp->requester;
	bool awaited = is_awaited(requester, psn, 1);

	if (awaited || psn_equal(psn, psn_previous(requester->oldest_psn)))
		requester->credits = CREDITS_UNLIMITED;
	if (!awaited)
		return;
	if (acknowledge_through(qp, now, psn) == ANSWER_MISSING)
		implied_nak(qp, now);
	report_drain(qp);
}

void completer_receive(struct qp *qp, time_ns now, const struct packet *packet)
{
	struct requester *requester = &qp->requester;
	enum opcode_kind kind = opcode_info(packet->bth.opcode)->kind;

	bool awaited = is_awaited(requester, packet->bth.psn, packet->packet_count);

	if ((awaited || is_ghost(requester, packet)) && brings_credits(packet))
		credits_take(qp, packet);
	if (!awaited)
		return;
	if (kind == OPCODE_KIND_ACKNOWLEDGE)
		receive_acknowledge(qp, now, packet);
	else if (kind == OPCODE_KIND_READ_RESPONSE)
		receive_read_response(qp, now, packet);
	else
		receive_atomic_acknowledge(qp, now, packet);
	report_drain(qp);
}
