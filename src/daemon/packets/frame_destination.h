/* SPDX-License-Identifier: Apache-2.0 */
/* The destination of a frame beyond its LID: where its BTH is and the queue pair that it names (vol
 * 1, chapter 9). Inline functions only, for the per-packet path. */
#ifndef SOFTIB_DAEMON_PACKETS_FRAME_DESTINATION_H
#define SOFTIB_DAEMON_PACKETS_FRAME_DESTINATION_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "net/link/frame.h"
#include "wire/grh.h"
#include "wire/lrh.h"

/* Offset of the BTH; 0: the packet has none. */
static inline unsigned frame_bth_offset(struct frame *frame)
{
	if (!frame_read_header(frame) || frame->header.is_raw)
		return 0;
	return LRH_BYTES + (frame->header.is_global ? GRH_BYTES : 0);
}

static inline uint32_t bth_destination_qpn(const uint8_t *bth)
{
	return get_be24(bth + 5);
}

static inline bool frame_is_raw(struct frame *frame)
{
	return frame_read_header(frame) && frame->header.is_raw;
}

#endif
