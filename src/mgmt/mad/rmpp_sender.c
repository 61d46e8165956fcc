/* SPDX-License-Identifier: Apache-2.0 */
/* The sending side of one RMPP transfer (management 1.8). */
#include "mgmt/mad/rmpp_sender.h"

#include <assert.h>
#include <string.h>

static size_t segment_room(const struct rmpp_sender *sender)
{
	return MAD_BYTES - sender->data_offset;
}

void rmpp_sender_begin(struct rmpp_sender *sender, const struct rmpp_sender_options *options,
		       const struct mad_address *address, const uint8_t *bytes, size_t byte_count)
{
	*sender = (struct rmpp_sender){
		.options = *options,
		.address = *address,
		.bytes = bytes,
		.byte_count = byte_count,
		.data_offset = rmpp_data_offset(bytes[1]),
		.state = RMPP_SENDER_SENDING,
		.next = 1,
		.window_last = 1,
		.tries_left = options->tries,
		.deadline = TIME_NEVER,
	};
	assert(byte_count >= sender->data_offset);

	size_t data_bytes = byte_count - sender->data_offset;
	size_t room = segment_room(sender);

	/* A message without data is one segment. */
	sender->segment_count = data_bytes ? (uint32_t)((data_bytes + room - 1) / room) : 1;
}

static void abort_with(struct rmpp_sender *sender, enum rmpp_status status)
{
	sender->state = RMPP_SENDER_ABORTING;
	sender->status = status;
}

static void fail(struct rmpp_sender *sender, enum rmpp_status status)
{
	sender->state = RMPP_SENDER_FAILED;
	sender->status = status;
}

static void receive_ack(struct rmpp_sender *sender, time_ns now, const struct rmpp_header *header)
{
	uint32_t segment = header->segment_number;
	uint32_t window_last = header->length_or_last;

	if (header->status != RMPP_STATUS_NORMAL) {
		abort_with(sender, RMPP_STATUS_BAD_STATUS);
		return;
	}
	if (window_last < segment) {
		abort_with(sender, RMPP_STATUS_WINDOW_TOO_SMALL);
		return;
	}
	if (segment > sender->sent) {
		abort_with(sender, RMPP_STATUS_SEGMENT_TOO_BIG);
		return;
	}
	if (segment < sender->acked)
		return;
	/* A window never shrinks: this ACK was overtaken by a later one. */
	if (window_last > sender->window_last)
		sender->window_last = window_last;
	if (segment == sender->acked)
		return;
	sender->acked = segment;
	if (sender->next <= segment)
		sender->next = segment + 1;
	sender->tries_left = sender->options.tries;
	sender->deadline = now + sender->options.timeout;
	if (sender->acked < sender->segment_count)
		return;
	sender->state = RMPP_SENDER_DONE;
	sender->owes_opening = sender->options.sides == RMPP_DOUBLE_SIDED;
}

static bool ends_sending(const struct rmpp_sender *sender, const struct rmpp_header *header)
{
	return sender->state == RMPP_SENDER_SENDING &&
	       (header->type == RMPP_TYPE_STOP || header->type == RMPP_TYPE_ABORT);
}

void rmpp_sender_receive(struct rmpp_sender *sender, time_ns now, const struct rmpp_header *header)
{
	/* The peer ended the transfer. An ABORT or STOP is never answered. */
	if (ends_sending(sender, header)) {
		bool is_legal = header->type == RMPP_TYPE_STOP
					? header->status == RMPP_STATUS_RESOURCES_EXHAUSTED
					: header->status >= RMPP_STATUS_TOTAL_TIME_TOO_LONG;

		fail(sender, is_legal ? (enum rmpp_status)header->status : RMPP_STATUS_BAD_STATUS);
		return;
	}
	/* The last ACK was repeated: the peer did not get the ACK that opens its window. */
	if (sender->state == RMPP_SENDER_DONE && header->type == RMPP_TYPE_ACK)
		sender->owes_opening = sender->options.sides == RMPP_DOUBLE_SIDED;
	if (sender->state != RMPP_SENDER_SENDING)
		return;
	if (header->version != RMPP_VERSION)
		abort_with(sender, RMPP_STATUS_BAD_VERSION);
	else if (header->type != RMPP_TYPE_ACK)
		abort_with(sender, RMPP_STATUS_BAD_TYPE);
	else
		receive_ack(sender, now, header);
}

/* A MAD with the class's header and no data. */
static void start_message(const struct rmpp_sender *sender, const struct rmpp_header *header,
			  struct mad_message *ret_message)
{
	memset(ret_message, 0, sizeof(*ret_message));
	ret_message->address = sender->address;
	memcpy(ret_message->bytes, sender->bytes, sender->data_offset);
	rmpp_header_encode(header, ret_message->bytes);
}

/* PayloadLength counts the class's header once per segment. Only the first and the last segment
 * carry it (management 1.8). */
static uint32_t payload_length(const struct rmpp_sender *sender, uint32_t segment)
{
	size_t class_header = sender->data_offset - RMPP_SEGMENT_OFFSET;
	size_t data_bytes = sender->byte_count - sender->data_offset;
	size_t before = (size_t)(segment - 1) * segment_room(sender);

	if (segment == 1)
		return (uint32_t)(data_bytes + class_header * sender->segment_count);
	if (segment == sender->segment_count)
		return (uint32_t)(data_bytes - before + class_header);
	return 0;
}

static void make_segment(const struct rmpp_sender *sender, uint32_t segment,
			 struct mad_message *ret_message)
{
	size_t room = segment_room(sender);
	size_t offset = sender->data_offset + (size_t)(segment - 1) * room;
	size_t left = sender->byte_count - offset;
	unsigned flags = RMPP_FLAG_ACTIVE;

	if (segment == 1)
		flags |= RMPP_FLAG_FIRST;
	if (segment == sender->segment_count)
		flags |= RMPP_FLAG_LAST;

	const struct rmpp_header header = {
		.version = RMPP_VERSION,
		.type = RMPP_TYPE_DATA,
		.resp_time = RMPP_RESP_TIME_NONE,
		.flags = (uint8_t)flags,
		.segment_number = segment,
		.length_or_last = payload_length(sender, segment),
	};

	start_message(sender, &header, ret_message);
	memcpy(ret_message->bytes + sender->data_offset, sender->bytes + offset,
	       left < room ? left : room);
}

/* Makes an ABORT, or the ACK of segment 0 that opens the window of the response. */
static void make_control(const struct rmpp_sender *sender, enum rmpp_type type,
			 struct mad_message *ret_message)
{
	const struct rmpp_header header = {
		.version = RMPP_VERSION,
		.type = (uint8_t)type,
		.resp_time = RMPP_RESP_TIME_NONE,
		.flags = RMPP_FLAG_ACTIVE,
		.status = type == RMPP_TYPE_ABORT ? (uint8_t)sender->status : 0,
		.length_or_last = type == RMPP_TYPE_ACK ? 1 : 0,
	};

	start_message(sender, &header, ret_message);
}

static bool has_segment_to_send(const struct rmpp_sender *sender)
{
	return sender->next <= sender->segment_count && sender->next <= sender->window_last;
}

/* No new ACK came in time: resend from the first unacknowledged segment. If the window is closed,
 * resend the last acknowledged segment, so that the peer repeats its ACK with the window. */
static void time_out(struct rmpp_sender *sender)
{
	if (--sender->tries_left == 0) {
		abort_with(sender, RMPP_STATUS_TOO_MANY_RETRIES);
		return;
	}
	sender->next = sender->acked < sender->window_last ? sender->acked + 1 : sender->acked;
}

static unsigned transmit_segments(struct rmpp_sender *sender, time_ns now, unsigned messages_max,
				  struct mad_message ret_messages[])
{
	unsigned message_count = 0;

	while (message_count < messages_max && has_segment_to_send(sender)) {
		make_segment(sender, sender->next, &ret_messages[message_count++]);
		if (sender->next > sender->sent)
			sender->sent = sender->next;
		sender->next++;
		sender->deadline = now + sender->options.timeout;
	}
	return message_count;
}

unsigned rmpp_sender_transmit(struct rmpp_sender *sender, time_ns now, unsigned messages_max,
			      struct mad_message ret_messages[])
{
	if (!messages_max)
		return 0;
	if (sender->state == RMPP_SENDER_SENDING && sender->deadline <= now &&
	    !has_segment_to_send(sender))
		time_out(sender);
	switch (sender->state) {
	case RMPP_SENDER_SENDING:
		return transmit_segments(sender, now, messages_max, ret_messages);
	case RMPP_SENDER_ABORTING:
		make_control(sender, RMPP_TYPE_ABORT, &ret_messages[0]);
		sender->state = RMPP_SENDER_FAILED;
		return 1;
	case RMPP_SENDER_DONE:
		if (!sender->owes_opening)
			return 0;
		sender->owes_opening = false;
		make_control(sender, RMPP_TYPE_ACK, &ret_messages[0]);
		return 1;
	case RMPP_SENDER_FAILED:
		break;
	}
	return 0;
}

time_ns rmpp_sender_deadline(const struct rmpp_sender *sender)
{
	switch (sender->state) {
	case RMPP_SENDER_SENDING:
		return has_segment_to_send(sender) ? 0 : sender->deadline;
	case RMPP_SENDER_ABORTING:
		return 0;
	case RMPP_SENDER_DONE:
		return sender->owes_opening ? 0 : TIME_NEVER;
	case RMPP_SENDER_FAILED:
		break;
	}
	return TIME_NEVER;
}
