/* SPDX-License-Identifier: Apache-2.0 */
/* The RMPP transfers of one QP or agent, in both directions (management 1.8). */
#include "mgmt/mad/rmpp_engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/mad/rmpp_transfer.h"

static void set_defaults(struct rmpp_options *options)
{
	if (!options->transfers_max)
		options->transfers_max = RMPP_TRANSFERS_DEFAULT;
	if (!options->byte_count_max)
		options->byte_count_max = RMPP_BYTES_MAX_DEFAULT;
	if (!options->received_bytes_max)
		options->received_bytes_max = options->byte_count_max;
	if (!options->window)
		options->window = RMPP_WINDOW_DEFAULT;
	if (!options->total_timeout)
		options->total_timeout = RMPP_TOTAL_TIMEOUT_DEFAULT;
	if (!options->kept_for)
		options->kept_for = RMPP_KEPT_DEFAULT;
}

int rmpp_init(struct rmpp *rmpp, const struct rmpp_options *options)
{
	*rmpp = (struct rmpp){.options = *options};
	set_defaults(&rmpp->options);
	if (rmpp->options.window > RMPP_WINDOW_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < RMPP_BUCKETS; i++)
		list_init(&rmpp->buckets[i]);
	list_init(&rmpp->ready);
	list_init(&rmpp->ended);
	list_init(&rmpp->kept);
	timer_queue_init(&rmpp->timers);
	return timer_queue_reserve(&rmpp->timers, rmpp->options.transfers_max);
}

void rmpp_release(struct rmpp *rmpp)
{
	for (unsigned i = 0; i < RMPP_BUCKETS; i++) {
		list_for_each_safe (link, &rmpp->buckets[i])
			rmpp_transfer_free(rmpp,
					   container_of(link, struct rmpp_transfer, in_bucket));
	}
	timer_queue_release(&rmpp->timers);
}

int rmpp_send(struct rmpp *rmpp, const struct rmpp_message *message,
	      const struct rmpp_send_options *options)
{
	const struct rmpp_sender_options sender_options = {
		.timeout = options->timeout ? options->timeout : RMPP_TIMEOUT_DEFAULT,
		.tries = options->tries ? options->tries : RMPP_TRIES_DEFAULT,
		.sides = options->sides,
	};

	if (message->byte_count < MAD_HEADER_BYTES ||
	    !rmpp_class_has_header(message->bytes[MAD_CLASS_OFFSET]) ||
	    message->byte_count < rmpp_data_offset(message->bytes[MAD_CLASS_OFFSET]))
		return -EINVAL;
	if (rmpp_transfer_find(rmpp, RMPP_SENDS, &message->address, message->bytes,
			       message->bytes[MAD_METHOD_OFFSET]))
		return -EEXIST;

	struct rmpp_transfer *transfer =
		rmpp_transfer_new(rmpp, RMPP_SENDS, &message->address, message->bytes);

	if (!transfer)
		return -ENOBUFS;
	transfer->bytes = message->bytes;
	transfer->purpose = options->purpose;
	rmpp_sender_begin(&transfer->sender, &sender_options, &message->address, message->bytes,
			  message->byte_count);
	rmpp_transfer_schedule(rmpp, transfer);
	return 0;
}

static void refuse(struct rmpp *rmpp, const struct mad_message *mad, enum rmpp_status status)
{
	/* A peer that fills this queue with bad segments gets no answer. */
	if (rmpp->refusal_count < RMPP_REFUSALS_MAX)
		rmpp_refuse(mad, status, &rmpp->refusals[rmpp->refusal_count++]);
}

/* A DATA that belongs to no transfer starts one if it is a first segment. Any other DATA repeats a
 * segment of a transfer that ended; its sender waits for no answer. */
static struct rmpp_transfer *begin_receiving(struct rmpp *rmpp, time_ns now,
					     const struct mad_message *mad,
					     const struct rmpp_header *header)
{
	const struct rmpp_receiver_options options = {
		.window = rmpp->options.window,
		.byte_count_max = rmpp->options.byte_count_max,
		.total_timeout = rmpp->options.total_timeout,
	};
	bool is_first = header->flags & RMPP_FLAG_FIRST;

	if (header->status != RMPP_STATUS_NORMAL) {
		refuse(rmpp, mad, RMPP_STATUS_BAD_STATUS);
		return NULL;
	}
	if (is_first != (header->segment_number == 1)) {
		refuse(rmpp, mad, RMPP_STATUS_BAD_SEGMENT);
		return NULL;
	}
	if (!is_first)
		return NULL;

	struct rmpp_transfer *transfer =
		rmpp->received_bytes < rmpp->options.received_bytes_max
			? rmpp_transfer_new(rmpp, RMPP_RECEIVES, &mad->address, mad->bytes)
			: NULL;

	if (!transfer) {
		refuse(rmpp, mad, RMPP_STATUS_RESOURCES_EXHAUSTED);
		return NULL;
	}
	rmpp_receiver_begin(&transfer->receiver, &options, now, mad);
	return transfer;
}

/* received_bytes counts a receiver's buffer while the receiver owns it. */
static void receive_segment(struct rmpp *rmpp, struct rmpp_transfer *transfer,
			    const struct mad_message *mad)
{
	struct rmpp_receiver *receiver = &transfer->receiver;

	rmpp->received_bytes -= receiver->byte_capacity;

	/* Buffers grow by doubling, so their sum may exceed the limit a little. */
	size_t room = rmpp->received_bytes < rmpp->options.received_bytes_max
			      ? rmpp->options.received_bytes_max - rmpp->received_bytes
			      : 0;

	receiver->options.byte_count_max =
		room < rmpp->options.byte_count_max ? room : rmpp->options.byte_count_max;
	rmpp_receiver_receive(receiver, mad);
	if (!receiver->bytes)
		receiver->byte_capacity = 0;
	rmpp->received_bytes += receiver->byte_capacity;
}

static bool receive_data(struct rmpp *rmpp, time_ns now, const struct mad_message *mad,
			 const struct rmpp_header *header, struct rmpp_message *ret_message)
{
	struct rmpp_transfer *transfer = rmpp_transfer_find(
		rmpp, RMPP_RECEIVES, &mad->address, mad->bytes, mad->bytes[MAD_METHOD_OFFSET]);

	if (!transfer && header->type == RMPP_TYPE_DATA)
		transfer = begin_receiving(rmpp, now, mad, header);
	if (!transfer)
		return false;

	struct rmpp_receiver *receiver = &transfer->receiver;

	receive_segment(rmpp, transfer, mad);

	bool is_whole = receiver->state == RMPP_RECEIVER_DONE && receiver->bytes;

	if (is_whole) {
		*ret_message = (struct rmpp_message){.address = transfer->address,
						     .bytes = receiver->bytes,
						     .byte_count = receiver->byte_count};
		rmpp->received_bytes -= receiver->byte_capacity;
		receiver->byte_capacity = 0;
		receiver->bytes = NULL;
		rmpp_transfer_keep(rmpp, transfer, now);
	}
	if (receiver->state == RMPP_RECEIVER_FAILED)
		rmpp_transfer_free(rmpp, transfer);
	else
		rmpp_transfer_schedule(rmpp, transfer);
	return is_whole;
}

bool rmpp_receive(struct rmpp *rmpp, time_ns now, const struct mad_message *mad,
		  struct rmpp_message *ret_message)
{
	struct rmpp_header header;
	uint8_t opposite = mad->bytes[MAD_METHOD_OFFSET] ^ MAD_RESPONSE;

	rmpp_header_decode(mad->bytes, &header);

	bool is_end = header.type == RMPP_TYPE_STOP || header.type == RMPP_TYPE_ABORT;

	/* ACKs, and STOPs and ABORTs of the receiving peer, are for a sender. */
	struct rmpp_transfer *sending =
		header.type == RMPP_TYPE_DATA
			? NULL
			: rmpp_transfer_find(rmpp, RMPP_SENDS, &mad->address, mad->bytes, opposite);

	if (sending) {
		rmpp_sender_receive(&sending->sender, now, &header);
		rmpp_transfer_settle(rmpp, sending, now);
		rmpp_transfer_schedule(rmpp, sending);
		return false;
	}
	if (header.type == RMPP_TYPE_ACK)
		return false;
	if (!is_end && header.version != RMPP_VERSION) {
		refuse(rmpp, mad, RMPP_STATUS_BAD_VERSION);
		return false;
	}
	if (!is_end && header.type != RMPP_TYPE_DATA) {
		refuse(rmpp, mad, RMPP_STATUS_BAD_TYPE);
		return false;
	}
	return receive_data(rmpp, now, mad, &header, ret_message);
}

static unsigned take_refusals(struct rmpp *rmpp, unsigned messages_max,
			      struct mad_message ret_messages[])
{
	unsigned count = rmpp->refusal_count < messages_max ? rmpp->refusal_count : messages_max;

	memcpy(ret_messages, rmpp->refusals, count * sizeof(ret_messages[0]));
	rmpp->refusal_count -= count;
	memmove(rmpp->refusals, rmpp->refusals + count,
		rmpp->refusal_count * sizeof(rmpp->refusals[0]));
	return count;
}

static void wake_due(struct rmpp *rmpp, time_ns now)
{
	for (struct timer *timer; (timer = timer_queue_pop(&rmpp->timers, now));) {
		struct rmpp_transfer *transfer = container_of(timer, struct rmpp_transfer, timer);

		if (list_is_linked(&transfer->in_kept) && transfer->keep_until <= now)
			rmpp_transfer_free(rmpp, transfer);
		else
			list_append(&rmpp->ready, &transfer->in_queue);
	}
}

/* Sends a few messages of each transfer at a time, so that a long table does not delay the others.
 */
static unsigned transmit_some(struct rmpp *rmpp, struct rmpp_transfer *transfer, time_ns now,
			      unsigned messages_max, struct mad_message ret_messages[])
{
	enum { SEGMENTS_PER_TURN = 8 };
	unsigned count;

	if (transfer->direction == RMPP_SENDS) {
		if (messages_max > SEGMENTS_PER_TURN)
			messages_max = SEGMENTS_PER_TURN;
		count = rmpp_sender_transmit(&transfer->sender, now, messages_max, ret_messages);
		rmpp_transfer_settle(rmpp, transfer, now);
		rmpp_transfer_schedule(rmpp, transfer);
		return count;
	}
	count = rmpp_receiver_transmit(&transfer->receiver, now, ret_messages);
	if (transfer->receiver.state == RMPP_RECEIVER_FAILED)
		rmpp_transfer_free(rmpp, transfer);
	else
		rmpp_transfer_schedule(rmpp, transfer);
	return count;
}

unsigned rmpp_transmit(struct rmpp *rmpp, time_ns now, unsigned messages_max,
		       struct mad_message ret_messages[])
{
	unsigned count = take_refusals(rmpp, messages_max, ret_messages);

	wake_due(rmpp, now);
	while (count < messages_max) {
		struct list *link = list_pop(&rmpp->ready);

		if (!link)
			break;
		count += transmit_some(rmpp, container_of(link, struct rmpp_transfer, in_queue),
				       now, messages_max - count, ret_messages + count);
	}
	return count;
}

bool rmpp_take_result(struct rmpp *rmpp, struct rmpp_result *ret_result)
{
	struct list *link = list_pop(&rmpp->ended);

	if (!link)
		return false;

	struct rmpp_transfer *transfer = container_of(link, struct rmpp_transfer, in_queue);

	*ret_result = (struct rmpp_result){
		.purpose = transfer->purpose,
		.status = transfer->sender.status,
		.transaction_id = transfer->transaction_id,
		.address = transfer->address,
	};
	transfer->is_told = true;
	if (list_is_linked(&transfer->in_kept))
		rmpp_transfer_schedule(rmpp, transfer);
	else
		rmpp_transfer_free(rmpp, transfer);
	return true;
}

time_ns rmpp_deadline(const struct rmpp *rmpp)
{
	if (rmpp->refusal_count || !list_is_empty(&rmpp->ready) || !list_is_empty(&rmpp->ended))
		return 0;
	return timer_queue_deadline(&rmpp->timers);
}

void rmpp_cancel(struct rmpp *rmpp, uint64_t transaction_id)
{
	for (unsigned i = 0; i < RMPP_BUCKETS; i++) {
		list_for_each_safe (link, &rmpp->buckets[i]) {
			struct rmpp_transfer *transfer =
				container_of(link, struct rmpp_transfer, in_bucket);

			if (transfer->direction == RMPP_SENDS &&
			    transfer->transaction_id == transaction_id)
				rmpp_transfer_free(rmpp, transfer);
		}
	}
}
