/* SPDX-License-Identifier: Apache-2.0 */
/* The receiving side of one RMPP transfer (management 1.8). */
#include "mgmt/mad/rmpp_receiver.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static size_t segment_room(const struct rmpp_receiver *receiver)
{
	return MAD_BYTES - receiver->data_offset;
}

void rmpp_receiver_begin(struct rmpp_receiver *receiver,
			 const struct rmpp_receiver_options *options, time_ns now,
			 const struct mad_message *segment)
{
	assert(options->window >= 1 && options->window <= RMPP_WINDOW_MAX);
	*receiver = (struct rmpp_receiver){
		.options = *options,
		.first = *segment,
		.data_offset = rmpp_data_offset(segment->bytes[1]),
		.state = RMPP_RECEIVER_RECEIVING,
		.next_expected = 1,
		.window_last = 1,
		.deadline = now + options->total_timeout,
	};
}

void rmpp_receiver_release(struct rmpp_receiver *receiver)
{
	free(receiver->bytes);
	receiver->bytes = NULL;
}

static void end_with(struct rmpp_receiver *receiver, enum rmpp_status status)
{
	receiver->state = RMPP_RECEIVER_ENDING;
	receiver->status = status;
	rmpp_receiver_release(receiver);
}

/* The buffer grows with the segments that arrived: a first segment may announce any length. */
static bool make_room(struct rmpp_receiver *receiver, size_t byte_count)
{
	enum { CAPACITY_FIRST = 1024 };

	if (byte_count <= receiver->byte_capacity)
		return true;
	if (byte_count > receiver->options.byte_count_max + MAD_BYTES)
		return false;

	size_t capacity = receiver->byte_capacity ? receiver->byte_capacity : CAPACITY_FIRST;

	while (capacity < byte_count)
		capacity *= 2;

	uint8_t *bytes = realloc(receiver->bytes, capacity);

	if (!bytes)
		return false;
	receiver->bytes = bytes;
	receiver->byte_capacity = capacity;
	return true;
}

static bool lengths_agree(const struct rmpp_receiver *receiver)
{
	size_t class_header = receiver->data_offset - RMPP_SEGMENT_OFFSET;
	uint64_t total =
		(uint64_t)(receiver->last_segment - 1) * RMPP_SEGMENT_BYTES + receiver->last_length;

	if (receiver->last_length > RMPP_SEGMENT_BYTES || receiver->last_length < class_header)
		return false;
	return !receiver->total_length || receiver->total_length == total;
}

/* All segments up to the last one are here. */
static void complete(struct rmpp_receiver *receiver)
{
	if (!lengths_agree(receiver)) {
		end_with(receiver, RMPP_STATUS_BAD_LENGTH);
		return;
	}
	receiver->byte_count = receiver->data_offset +
			       (size_t)(receiver->last_segment - 1) * segment_room(receiver) +
			       receiver->last_length -
			       (receiver->data_offset - RMPP_SEGMENT_OFFSET);
	if (receiver->byte_count > receiver->options.byte_count_max) {
		end_with(receiver, RMPP_STATUS_RESOURCES_EXHAUSTED);
		return;
	}
	memcpy(receiver->bytes, receiver->first.bytes, receiver->data_offset);
	receiver->state = RMPP_RECEIVER_DONE;
	receiver->owes_ack = true;
}

static void advance(struct rmpp_receiver *receiver)
{
	while (receiver->kept & 1) {
		receiver->kept >>= 1;
		receiver->next_expected++;
	}

	uint32_t in_order = receiver->next_expected - 1;

	if (receiver->last_segment && in_order == receiver->last_segment) {
		complete(receiver);
		return;
	}
	if (in_order != receiver->window_last)
		return;
	receiver->window_last = in_order + receiver->options.window;
	receiver->owes_ack = true;
}

/* Whether the segment lies behind the last one, or claims to be the last one in front of others.
 * The segment is new, so the bits from its own upwards are those of higher segments. */
static bool contradicts_the_end(const struct rmpp_receiver *receiver,
				const struct rmpp_header *header)
{
	if (receiver->last_segment)
		return header->segment_number > receiver->last_segment ||
		       (header->flags & RMPP_FLAG_LAST);
	return (header->flags & RMPP_FLAG_LAST) &&
	       receiver->kept >> (header->segment_number - receiver->next_expected) != 0;
}

/* Stores a segment that lies in the window and is new. */
static void keep(struct rmpp_receiver *receiver, const struct mad_message *message,
		 const struct rmpp_header *header)
{
	size_t room = segment_room(receiver);
	size_t offset = receiver->data_offset + (size_t)(header->segment_number - 1) * room;
	bool is_last = header->flags & RMPP_FLAG_LAST;

	if (contradicts_the_end(receiver, header)) {
		end_with(receiver, RMPP_STATUS_BAD_SEGMENT);
		return;
	}
	if (!make_room(receiver, offset + room)) {
		end_with(receiver, RMPP_STATUS_RESOURCES_EXHAUSTED);
		return;
	}
	memcpy(receiver->bytes + offset, message->bytes + receiver->data_offset, room);
	if (header->segment_number == 1)
		receiver->total_length = header->length_or_last;
	if (is_last) {
		receiver->last_segment = header->segment_number;
		receiver->last_length = header->length_or_last;
	}
	receiver->kept |= (uint64_t)1 << (header->segment_number - receiver->next_expected);
	advance(receiver);
}

static void receive_data(struct rmpp_receiver *receiver, const struct mad_message *message,
			 const struct rmpp_header *header)
{
	bool is_first = header->flags & RMPP_FLAG_FIRST;

	if (header->segment_number < receiver->next_expected && header->segment_number) {
		receiver->owes_ack = true;
		return;
	}
	if (receiver->state != RMPP_RECEIVER_RECEIVING)
		return;
	if (header->status != RMPP_STATUS_NORMAL) {
		end_with(receiver, RMPP_STATUS_BAD_STATUS);
		return;
	}
	if (!header->segment_number || is_first != (header->segment_number == 1)) {
		end_with(receiver, RMPP_STATUS_BAD_SEGMENT);
		return;
	}
	if (header->segment_number > receiver->window_last)
		return;
	if (receiver->kept >> (header->segment_number - receiver->next_expected) & 1)
		return;
	keep(receiver, message, header);
}

void rmpp_receiver_receive(struct rmpp_receiver *receiver, const struct mad_message *message)
{
	struct rmpp_header header;

	rmpp_header_decode(message->bytes, &header);
	if (receiver->state != RMPP_RECEIVER_RECEIVING && receiver->state != RMPP_RECEIVER_DONE)
		return;
	if (header.type == RMPP_TYPE_DATA && header.version == RMPP_VERSION) {
		receive_data(receiver, message, &header);
		return;
	}
	if (receiver->state == RMPP_RECEIVER_DONE)
		return;
	if (header.type == RMPP_TYPE_ABORT || header.type == RMPP_TYPE_STOP) {
		receiver->state = RMPP_RECEIVER_FAILED;
		receiver->status =
			header.status ? (enum rmpp_status)header.status : RMPP_STATUS_BAD_STATUS;
		rmpp_receiver_release(receiver);
		return;
	}
	end_with(receiver,
		 header.version == RMPP_VERSION ? RMPP_STATUS_BAD_TYPE : RMPP_STATUS_BAD_VERSION);
}

/* The header of the peer's segment with the R bit flipped, without data (management 1.8, receiver
 * 5). */
static void turn_round(const struct mad_message *segment, const struct rmpp_header *header,
		       struct mad_message *ret_message)
{
	memset(ret_message, 0, sizeof(*ret_message));
	ret_message->address = segment->address;
	memcpy(ret_message->bytes, segment->bytes, rmpp_data_offset(segment->bytes[1]));
	ret_message->bytes[MAD_METHOD_OFFSET] ^= MAD_RESPONSE;
	rmpp_header_encode(header, ret_message->bytes);
}

void rmpp_refuse(const struct mad_message *segment, enum rmpp_status status,
		 struct mad_message *ret_message)
{
	const struct rmpp_header header = {
		.version = RMPP_VERSION,
		.type = status == RMPP_STATUS_RESOURCES_EXHAUSTED ? RMPP_TYPE_STOP
								  : RMPP_TYPE_ABORT,
		.resp_time = RMPP_RESP_TIME_NONE,
		.flags = RMPP_FLAG_ACTIVE,
		.status = (uint8_t)status,
	};

	turn_round(segment, &header, ret_message);
}

static void make_ack(const struct rmpp_receiver *receiver, struct mad_message *ret_message)
{
	const struct rmpp_header header = {
		.version = RMPP_VERSION,
		.type = RMPP_TYPE_ACK,
		.resp_time = RMPP_RESP_TIME_NONE,
		.flags = RMPP_FLAG_ACTIVE,
		.segment_number = receiver->next_expected - 1,
		.length_or_last = receiver->window_last,
	};

	turn_round(&receiver->first, &header, ret_message);
}

unsigned rmpp_receiver_transmit(struct rmpp_receiver *receiver, time_ns now,
				struct mad_message *ret_message)
{
	if (receiver->state == RMPP_RECEIVER_RECEIVING && receiver->deadline <= now)
		end_with(receiver, RMPP_STATUS_TOTAL_TIME_TOO_LONG);
	if (receiver->state == RMPP_RECEIVER_ENDING) {
		rmpp_refuse(&receiver->first, receiver->status, ret_message);
		receiver->state = RMPP_RECEIVER_FAILED;
		return 1;
	}
	if (receiver->state == RMPP_RECEIVER_FAILED || !receiver->owes_ack)
		return 0;
	receiver->owes_ack = false;
	make_ack(receiver, ret_message);
	return 1;
}

time_ns rmpp_receiver_deadline(const struct rmpp_receiver *receiver)
{
	switch (receiver->state) {
	case RMPP_RECEIVER_RECEIVING:
		return receiver->owes_ack ? 0 : receiver->deadline;
	case RMPP_RECEIVER_ENDING:
		return 0;
	case RMPP_RECEIVER_DONE:
		return receiver->owes_ack ? 0 : TIME_NEVER;
	case RMPP_RECEIVER_FAILED:
		break;
	}
	return TIME_NEVER;
}
