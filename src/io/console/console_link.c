/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a console session: two streams of text over datagrams. */
#include "io/console/console_link.h"

#include <string.h>

void console_link_init(struct console_link *link, time_ns now, uint32_t session)
{
	memset(link, 0, sizeof(*link));
	link->session = session;
	link->heard_at = now;
	link->told_at = now;
}

static void buffer_put(struct console_buffer *buffer, const void *bytes, size_t byte_count)
{
	memcpy(buffer->bytes + buffer->byte_count, bytes, byte_count);
	buffer->byte_count += byte_count;
}

/* Takes at most so many bytes from the front. */
static size_t buffer_take(struct console_buffer *buffer, size_t byte_count, void *ret_bytes)
{
	if (byte_count > buffer->byte_count)
		byte_count = buffer->byte_count;
	memcpy(ret_bytes, buffer->bytes, byte_count);
	buffer->byte_count -= byte_count;
	memmove(buffer->bytes, buffer->bytes + byte_count, buffer->byte_count);
	return byte_count;
}

size_t console_link_write(struct console_link *link, const void *text, size_t byte_count)
{
	size_t room = CONSOLE_BUFFER_BYTES - link->written.byte_count;

	if (link->is_ending)
		return 0;
	if (byte_count > room)
		byte_count = room;
	buffer_put(&link->written, text, byte_count);
	return byte_count;
}

void console_link_end(struct console_link *link)
{
	link->is_ending = true;
}

size_t console_link_read(struct console_link *link, size_t byte_count, void *ret_text)
{
	bool was_full = CONSOLE_BUFFER_BYTES - link->received.byte_count < CONSOLE_TEXT_BYTES_MAX;

	byte_count = buffer_take(&link->received, byte_count, ret_text);
	/* A peer whose frame found no room repeats it at once when it hears that there is room. */
	if (was_full && byte_count)
		link->owes_answer = true;
	return byte_count;
}

/* The peer expects this frame. If it is the one after ours, ours has arrived. */
static void take_acknowledgement(struct console_link *link, time_ns now, uint32_t expected)
{
	struct console_sending *sending = &link->sending;

	if (!sending->is_under_way)
		return;
	sending->try_count = 0;
	if (expected == sending->sequence + 1) {
		sending->is_under_way = false;
		sending->sequence++;
		link->has_sent_end |= sending->ends;
	} else if (expected == sending->sequence) {
		sending->resend_at = time_earlier(sending->resend_at, now + CONSOLE_RESEND_FIRST);
	}
}

static void take_text(struct console_link *link, const struct console_frame *frame,
		      const uint8_t *text)
{
	size_t room = CONSOLE_BUFFER_BYTES - link->received.byte_count;

	link->owes_answer = true;
	/* A repeat, or no room: the answer says what is expected. */
	if (frame->sequence != link->expected || frame->text_bytes > room || link->has_received_end)
		return;
	buffer_put(&link->received, text, frame->text_bytes);
	link->expected++;
	link->has_received_end = frame->ends;
}

void console_link_receive(struct console_link *link, time_ns now, const uint8_t *bytes,
			  size_t byte_count)
{
	struct console_frame frame;

	if (!console_frame_read(bytes, byte_count, &frame) || frame.session != link->session)
		return;
	link->heard_at = now;
	take_acknowledgement(link, now, frame.expected);
	if (frame.is_sequenced)
		take_text(link, &frame, bytes + CONSOLE_HEADER_BYTES);
}

static bool has_next(const struct console_link *link)
{
	return !link->sending.is_under_way && !link->has_sent_end &&
	       (link->written.byte_count || link->is_ending);
}

static void start_next(struct console_link *link, time_ns now)
{
	struct console_sending *sending = &link->sending;

	sending->text_bytes =
		(uint16_t)buffer_take(&link->written, CONSOLE_TEXT_BYTES_MAX, sending->text);
	sending->ends = link->is_ending && !link->written.byte_count;
	sending->is_under_way = true;
	sending->try_count = 0;
	sending->resend_at = now;
	sending->interval = CONSOLE_RESEND_FIRST;
}

static size_t write_frame(struct console_link *link, time_ns now, const struct console_frame *frame,
			  uint8_t *ret_bytes)
{
	console_frame_encode(frame, ret_bytes);
	link->owes_answer = false;
	link->told_at = now;
	return CONSOLE_HEADER_BYTES + frame->text_bytes;
}

static size_t resend(struct console_link *link, time_ns now, struct console_frame *frame,
		     uint8_t *ret_bytes)
{
	struct console_sending *sending = &link->sending;

	if (sending->try_count++ == CONSOLE_TRIES_MAX) {
		link->is_dead = true;
		return 0;
	}
	sending->resend_at = now + sending->interval;
	sending->interval = time_earlier(2 * sending->interval, CONSOLE_RESEND_LAST);
	frame->is_sequenced = 1;
	frame->ends = sending->ends;
	frame->sequence = sending->sequence;
	frame->text_bytes = sending->text_bytes;
	memcpy(ret_bytes + CONSOLE_HEADER_BYTES, sending->text, sending->text_bytes);
	return write_frame(link, now, frame, ret_bytes);
}

size_t console_link_transmit(struct console_link *link, time_ns now,
			     uint8_t ret_bytes[static CONSOLE_FRAME_BYTES_MAX])
{
	struct console_frame frame = {.version = CONSOLE_PROTOCOL_VERSION,
				      .session = link->session,
				      .expected = link->expected};

	if (now - link->heard_at >= CONSOLE_SILENCE_MAX)
		link->is_dead = true;
	if (link->is_dead)
		return 0;
	if (has_next(link))
		start_next(link, now);
	if (link->sending.is_under_way && now >= link->sending.resend_at)
		return resend(link, now, &frame, ret_bytes);
	if (link->owes_answer || now - link->told_at >= CONSOLE_KEEP_ALIVE)
		return write_frame(link, now, &frame, ret_bytes);
	return 0;
}

time_ns console_link_deadline(const struct console_link *link)
{
	time_ns deadline = time_earlier(link->told_at + CONSOLE_KEEP_ALIVE,
					link->heard_at + CONSOLE_SILENCE_MAX);

	if (link->is_dead)
		return TIME_NEVER;
	if (link->owes_answer || has_next(link))
		return 0;
	if (link->sending.is_under_way)
		deadline = time_earlier(deadline, link->sending.resend_at);
	return deadline;
}
