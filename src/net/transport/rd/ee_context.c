/* SPDX-License-Identifier: Apache-2.0 */
/* An end-to-end context: which message its channel carries (vol 1, chapter 9; transport 9.3). */
#include "net/transport/rd/ee_context.h"

#include <errno.h>
#include <stdlib.h>
#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"
#include "net/transport/rd/rd_queue.h"
#include "net/transport/rd/rd_responder.h"
#include "net/transport/report.h"
#include "net/transport/retry.h"
#include "wire/packet.h"

int eec_init(struct qp *channel)
{
	struct eec *eec = calloc(1, sizeof(*eec));

	if (!eec)
		return -ENOMEM;
	eec->channel = channel;
	list_init(&eec->waiting);
	list_init(&eec->inbound_link);
	channel->eec = eec;
	return 0;
}

void eec_release(struct qp *channel)
{
	free(channel->eec);
	channel->eec = NULL;
}

/* Makes this slot of an RD queue pair the channel's whole send queue; NULL: the channel's queue is
 * empty. */
static void write_record(struct qp *channel, struct send_slot *slot)
{
	struct requester *requester = &channel->requester;

	requester->queue.slots = (uint8_t *)slot;
	requester->queue.slot_count = 1;
	requester->queue.is_external = true;
	send_queue_clear(&requester->queue);
	requester->queue.tail = slot ? 1 : 0;
	requester->cursor = 0;
	requester->cursor_packet = 0;
	requester->reads_outstanding = 0;
	requester->retries_left = channel->attributes.retry_count;
}

static void begin(struct eec *eec, struct rd_queue *queue)
{
	struct qp *source = queue->qp;
	struct send_queue *sends = &source->requester.queue;
	struct send_slot *slot = send_queue_slot(sends, sends->done);

	/* After an RNR NAK the message is restarted, so it is already counted as started. */
	if (sends->started == sends->done) {
		sends->started++;
		source->requester.rnr_retries_left = eec->channel->attributes.rnr_retry;
	}
	eec->source = queue;
	eec->sending = EEC_MESSAGE;
	eec->source_qpn = source->qpn;
	eec->remote_qpn = slot->rd_qpn;
	eec->remote_qkey = qp_sent_qkey(source, slot->rd_qkey);
	eec->channel->pd = source->pd;
	write_record(eec->channel, slot);
}

/* Starts the next message, if none is in progress. */
static void eec_schedule(struct eec *eec)
{
	if (eec->sending != EEC_IDLE || eec->channel->state != QP_RTS)
		return;

	struct list *link = list_pop(&eec->waiting);

	if (!link)
		return;
	begin(eec, container_of(link, struct rd_queue, turn));
	eec->channel->environment->ready(eec->channel);
}

void eec_join(struct eec *eec, struct rd_queue *queue)
{
	queue->eec = eec;
	list_append(&eec->waiting, &queue->turn);
	eec_schedule(eec);
}

static void detach_source(struct eec *eec)
{
	eec->source->eec = NULL;
	eec->source = NULL;
	eec->sending = EEC_IDLE;
	eec->channel->pd = NULL;
	write_record(eec->channel, NULL);
}

/* Abandons the message in progress. The responder may have received any part of it, so a RESYNC
 * must tell it a PSN behind all PSNs of the message (transport 9.3). */
static void abandon(struct eec *eec)
{
	struct requester *requester = &eec->channel->requester;
	const struct send_slot *slot = send_queue_slot(&requester->queue, 0);
	bool has_psns = requester->queue.started != 0;

	if (has_psns)
		requester->next_psn = psn_add(slot->first_psn, slot->packet_count);
	requester->oldest_psn = requester->next_psn;
	requester->is_awaiting = false;
	requester->retry_deadline = TIME_NEVER;
	requester->pacing_deadline = TIME_NEVER;
	detach_source(eec);
	if (!has_psns)
		return;
	eec->resync = (struct send_slot){.opcode = SEND_RESYNC};
	eec->sending = EEC_RESYNC;
	write_record(eec->channel, &eec->resync);
	eec->channel->environment->ready(eec->channel);
}

void eec_withdraw(struct eec *eec, struct rd_queue *queue)
{
	if (eec->source == queue) {
		abandon(eec);
		eec_schedule(eec);
		return;
	}
	list_remove(&queue->turn);
	queue->eec = NULL;
}

void eec_request_done(struct qp *channel, time_ns now)
{
	struct eec *eec = channel->eec;
	struct rd_queue *source = eec->source;

	if (eec->sending == EEC_RESYNC) {
		eec->sending = EEC_IDLE;
		write_record(channel, NULL);
		return;
	}
	detach_source(eec);
	/* The source's next message waits behind the others. The next message starts when the call
	 * on the channel ends. */
	eec->sending = EEC_MESSAGE;
	report_send(source->qp, now, COMPLETION_SUCCESS);
	report_drain(source->qp);
	qp_settle(source->qp, now);
	rd_queue_advance(source->qp, now);
	eec->sending = EEC_IDLE;
}

static void fail_source(struct rd_queue *source, time_ns now, enum completion_status status)
{
	qp_fail_send(source->qp, now, status);
	qp_settle(source->qp, now);
}

void eec_request_failed(struct qp *channel, time_ns now, enum completion_status status)
{
	struct eec *eec = channel->eec;
	struct rd_queue *source = eec->source;

	/* Without a RESYNC the two ends can't agree on a PSN again, and there is no request that
	 * could report the error. */
	if (!source) {
		channel->environment->event(channel, QP_EVENT_FATAL);
		qp_enter_error(channel, now);
		return;
	}
	if (status == COMPLETION_RETRY_EXCEEDED) {
		detach_source(eec);
		qp_enter_error(channel, now);
	} else {
		abandon(eec);
	}
	fail_source(source, now, status);
}

void eec_request_not_ready(struct qp *channel, time_ns now, time_ns pause)
{
	struct eec *eec = channel->eec;
	struct qp *source = eec->source->qp;

	abandon(eec);
	source->requester.rnr_deadline = now + pause;
	retry_wake_at(source, source->requester.rnr_deadline);
}

void eec_address_request(const struct qp *channel, struct packet *packet)
{
	const struct eec *eec = channel->eec;

	packet->bth.destination_qpn = eec->remote_qpn;
	packet->rdeth_eecn = channel->attributes.destination_qpn;
	packet->deth = (struct deth){.qkey = eec->remote_qkey, .source_qpn = eec->source_qpn};
}

void eec_stop(struct qp *channel, time_ns now)
{
	struct eec *eec = channel->eec;
	struct rd_queue *source = eec->source;
	struct list *link;

	if (source) {
		detach_source(eec);
		fail_source(source, now, COMPLETION_INVALID_EEC_STATE);
	}
	eec->sending = EEC_IDLE;
	write_record(channel, NULL);
	while ((link = list_pop(&eec->waiting))) {
		struct rd_queue *queue = container_of(link, struct rd_queue, turn);

		queue->eec = NULL;
		fail_source(queue, now, COMPLETION_INVALID_EEC_STATE);
	}
	rd_abort_inbound(eec, now);
	eec->is_refusing = false;
}

void eec_settle(struct qp *channel, time_ns now)
{
	struct eec *eec = channel->eec;
	struct rd_queue *overflowed = eec->overflowed;

	if (unlikely(overflowed)) {
		eec->overflowed = NULL;
		overflowed->qp->has_failed_to_report = true;
		qp_settle(overflowed->qp, now);
	}
	eec_schedule(eec);
}
