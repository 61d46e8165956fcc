/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How softibd hands captured packets to a capture program: a ring in a memfd (base/ring.h) that
 * softibd writes.
 *
 * softibd never waits for room: a packet that does not fit is counted and dropped. The reader
 * computes the CRCs of undamaged packets, to save softibd the time.
 *
 * {"command":"capture","ports":["h1","s1:4"...],"lids":[..],"qpns":[..],
 *     "opcodes":["RC_SEND_ONLY"|"RC"|"0x04"...],"mad_classes":["sa"|"0x03"...],"ring_bytes":N}
 *     -> "interfaces":[[name, description]...] in the order of capture_record.interface_index,
 *        "drop_reasons":[name...], "ring_bytes"; descriptors: the memfd (struct capture_layout),
 *        the reader's doorbell
 *
 * The capture ends with the connection.
 */
#ifndef SOFTIB_IPC_CAPTURE_RING_H
#define SOFTIB_IPC_CAPTURE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/ring.h"

enum {
	CAPTURE_RECORD_PACKET = 1, /* struct capture_record, then the bytes */
	CAPTURE_RING_BYTES = 1 << 23,
	CAPTURE_RING_BYTES_MIN = 1 << 16,
	CAPTURE_RING_BYTES_MAX = 1 << 28,
};

enum capture_direction { CAPTURE_IN, CAPTURE_OUT };

struct capture_record {
	uint64_t time_ns; /* of CLOCK_MONOTONIC */
	uint32_t interface_index;
	uint8_t direction;   /* enum capture_direction */
	uint8_t drop_reason; /* 0: none; an index of the answer's "drop_reasons" */
	uint8_t has_crcs;    /* the last six bytes are the CRCs as they were on the wire, possibly
				damaged */
	uint8_t is_loopback; /* the packet went from a port to itself */
};

/* Behind the ring; written by softibd. */
struct capture_totals {
	uint64_t seen;	 /* packets that passed the filters */
	uint64_t missed; /* of those, packets that found no room */
};

struct capture_layout {
	size_t totals_offset;
	size_t total_bytes;
};

static inline struct capture_layout capture_layout(size_t ring_bytes)
{
	size_t offset = (ring_shared_bytes(ring_bytes) + 4095) & ~(size_t)4095;

	return (struct capture_layout){.totals_offset = offset, .total_bytes = offset + 4096};
}

#endif
