/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams between a console controller and its driver. */
#include "io/console/console_frame.h"

#define ATTRIBUTE_SUBJECT struct console_frame
ATTRIBUTE_DEFINE(console_frame, CONSOLE_FRAME_FIELDS, CONSOLE_HEADER_BYTES)
#undef ATTRIBUTE_SUBJECT

bool console_frame_read(const uint8_t *bytes, size_t byte_count, struct console_frame *ret_frame)
{
	struct console_frame frame;

	if (byte_count < CONSOLE_HEADER_BYTES || byte_count > CONSOLE_FRAME_BYTES_MAX)
		return false;
	console_frame_decode(bytes, &frame);
	if (frame.version != CONSOLE_PROTOCOL_VERSION ||
	    frame.text_bytes != byte_count - CONSOLE_HEADER_BYTES)
		return false;
	/* Only a frame with a number has text or ends a direction. */
	if (!frame.is_sequenced && (frame.text_bytes || frame.ends))
		return false;
	*ret_frame = frame;
	return true;
}
