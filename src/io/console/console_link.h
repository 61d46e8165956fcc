/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a console session: two streams of text over datagrams that may be lost, repeated or
 * reordered. One frame at a time is under way in each direction, and is repeated until the peer
 * expects the next one. Buffers are bounded: a peer that does not read makes write() accept less.
 *
 *	console_link_write(link, text, ...); console_link_end(link);
 *	console_link_receive(link, now, frame, ...)
 *	while ((byte_count = console_link_transmit(link, now, frame))) ...
 *	console_link_read(link, ...) until 0
 */
#ifndef SOFTIB_IO_CONSOLE_CONSOLE_LINK_H
#define SOFTIB_IO_CONSOLE_CONSOLE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/time.h"
#include "io/console/console_frame.h"

enum { CONSOLE_BUFFER_BYTES = 4096, CONSOLE_TRIES_MAX = 12 };

#define CONSOLE_RESEND_FIRST MILLISECONDS(20)
#define CONSOLE_RESEND_LAST  SECONDS(1)
/* An end that has nothing to say still says so in this interval. */
#define CONSOLE_KEEP_ALIVE  SECONDS(1)
#define CONSOLE_SILENCE_MAX SECONDS(10)

struct console_buffer {
	uint8_t bytes[CONSOLE_BUFFER_BYTES];
	size_t byte_count;
};

/* The frame under way. */
struct console_sending {
	bool is_under_way;
	bool ends;
	uint32_t sequence; /* of the frame under way, or of the next one */
	uint8_t text[CONSOLE_TEXT_BYTES_MAX];
	uint16_t text_bytes;
	unsigned try_count;
	time_ns resend_at;
	time_ns interval;
};

struct console_link {
	uint32_t session;
	struct console_buffer written;	/* not yet in a frame */
	struct console_buffer received; /* not yet read */
	struct console_sending sending;
	uint32_t expected; /* the peer's next sequence number */
	bool owes_answer;  /* the peer has not been told what is expected */
	bool is_ending;	   /* nothing more is written */
	bool has_sent_end; /* and the peer has it */
	bool has_received_end;
	bool is_dead; /* the peer does not answer */
	time_ns heard_at, told_at;
};

void console_link_init(struct console_link *link, time_ns now, uint32_t session);

/* How many bytes were accepted; none after console_link_end(). */
size_t console_link_write(struct console_link *link, const void *text, size_t byte_count);
void console_link_end(struct console_link *link);
size_t console_link_read(struct console_link *link, size_t byte_count, void *ret_text);

/* Frames of other sessions and bad ones are ignored. */
void console_link_receive(struct console_link *link, time_ns now, const uint8_t *bytes,
			  size_t byte_count);
/* The length of the frame; 0: nothing to send now. */
size_t console_link_transmit(struct console_link *link, time_ns now,
			     uint8_t ret_bytes[static CONSOLE_FRAME_BYTES_MAX]);
time_ns console_link_deadline(const struct console_link *link);

/* Both directions have ended, and the peer has all that was written. */
static inline bool console_link_is_done(const struct console_link *link)
{
	return link->has_sent_end && link->has_received_end && !link->owes_answer;
}

#endif
