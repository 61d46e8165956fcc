/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: frames that a console's peer sends, into a session with text under way. */
#include "fuzz/fuzz.h"

#include <string.h>
#include "io/console/console_link.h"

enum { SESSION = 1 };

/* The bytes as they are, and as a frame of this session with the right length, so that the fuzzer
 * gets past the checks. */
static void receive(struct console_link *link, time_ns now, const uint8_t *bytes, size_t byte_count)
{
	uint8_t frame[CONSOLE_FRAME_BYTES_MAX] = {0};

	console_link_receive(link, now, bytes, byte_count);
	if (byte_count < 8 || byte_count > CONSOLE_FRAME_BYTES_MAX - 8)
		return;
	frame[0] = CONSOLE_PROTOCOL_VERSION;
	frame[1] = bytes[0] & 3;
	frame[3] = (uint8_t)(byte_count - 8);
	frame[7] = SESSION;
	frame[11] = bytes[1] & 3;
	frame[15] = bytes[2] & 3;
	memcpy(frame + CONSOLE_HEADER_BYTES, bytes + 8, byte_count - 8);
	console_link_receive(link, now, frame, CONSOLE_HEADER_BYTES + byte_count - 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static struct console_link link;
	uint8_t frame[CONSOLE_FRAME_BYTES_MAX], text[64];
	time_ns now = SECONDS(1);

	console_link_init(&link, now, SESSION);
	MUST_HOLD(console_link_write(&link, "hello", 5) == 5);
	for (size_t at = 0; at < byte_count;) {
		size_t piece = 1 + bytes[at];

		if (piece > byte_count - at)
			piece = byte_count - at;
		receive(&link, now, bytes + at, piece);
		at += piece;
		now += MILLISECONDS(10);

		size_t sent = console_link_transmit(&link, now, frame);
		struct console_frame header;

		MUST_HOLD(sent == 0 || console_frame_read(frame, sent, &header));
		MUST_HOLD(link.received.byte_count <= CONSOLE_BUFFER_BYTES);
		MUST_HOLD(link.written.byte_count <= CONSOLE_BUFFER_BYTES);
		if (piece % 7 == 0)
			MUST_HOLD(console_link_read(&link, sizeof(text), text) <= sizeof(text));
	}
	return 0;
}
