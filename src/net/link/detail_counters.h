/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that most ports never touch: of single virtual lanes, of congestion, of an opcode, and
 * of the physical lanes of an extended speed (vol 1, chapter 16 and annex A10; management 6.1). A
 * port gets them with the first event to count. Without memory that event is not counted.
 */
#ifndef SOFTIB_NET_LINK_DETAIL_COUNTERS_H
#define SOFTIB_NET_LINK_DETAIL_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/link/port.h"
#include "wire/performance.h"

struct frame;

/* The tick of PortXmitWait, as in PortSamplesControl.Tick. */
#define XMIT_WAIT_TICK MICROSECONDS(1)

/* The packets of one opcode that arrived, since the agent was told to count it. */
struct opcode_counters {
	uint8_t opcode;
	uint64_t packets, words;
	uint64_t vl_packets[VL_COUNT], vl_words[VL_COUNT];
};

/* PortExtendedSpeedsCounters. */
struct physical_lane_counters {
	uint64_t sync_header_errors, unknown_blocks;
	uint64_t errors[PHYSICAL_LANES_MAX];
	uint64_t correctable[PHYSICAL_LANES_MAX], uncorrectable[PHYSICAL_LANES_MAX];
	uint64_t correctable_blocks, uncorrectable_blocks, corrected_symbols;
};

struct detail_counters {
	uint64_t vl_transmit_wait[VL_COUNT]; /* ticks */
	uint64_t vl_update_errors[VL_COUNT];
	uint64_t vl_congestion[VL_COUNT]; /* switch: packets discarded for their age */
	uint64_t receive_fecn, receive_becn;
	uint64_t sl_receive_fecn[SL_COUNT], sl_receive_becn[SL_COUNT];
	uint64_t transmit_time_congested; /* ticks */
	uint64_t vl_transmit_time_congested[VL_COUNT];
	struct opcode_counters opcode;
	struct physical_lane_counters lanes;
	/* Lanes that wait for credits, and congested ones; and from when on each is not counted. */
	uint16_t waiting_lanes, congested_lanes;
	time_ns waiting_since[VL_COUNT], congested_since[VL_COUNT], any_congested_since;
};

/* NULL: out of memory. */
MUST_USE struct detail_counters *port_obtain_details(struct port *port);
void port_release_details(struct port *port);

/* These data VLs (a bit each) have frames and no credits for them; the others do not wait. */
void port_note_waiting_lanes(struct port *port, uint16_t waiting, time_ns now);
/* The VL is congested, or no longer (transport 8.13). */
void port_note_congested_lane(struct port *port, unsigned vl, bool is_congested, time_ns now);
/* Counts the waits and the congestion that have not ended, up to now. */
void port_settle_details(struct port *port, time_ns now);

/* No flow control packet arrived in time for any of the port's data VLs. */
void port_count_update_errors(struct port *port, unsigned data_vl_count);
/* A switch discarded a packet on its way out because it was too old. */
void port_count_congestion(struct port *port, unsigned vl);
/* A packet with these marks arrived. */
void port_count_marks(struct port *port, uint8_t sl, bool has_fecn, bool has_becn);

/* Counts arriving packets of this opcode from now on, beginning with zero if it is another one than
 * before. -ENOMEM. */
MUST_USE int port_count_opcode(struct port *port, uint8_t opcode);
void port_stop_opcode(struct port *port);
/* A packet arrived at a port that counts an opcode. */
void port_see_opcode(struct port *port, const struct frame *frame);

/* The cable to this port broke this byte of a packet. */
void port_count_broken_byte(struct port *port, uint64_t byte_index);

#endif
