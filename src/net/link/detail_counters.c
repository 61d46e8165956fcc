/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that most ports never touch (vol 1, chapter 16 and annex A10; management 6.1). */
#include "net/link/detail_counters.h"

#include <errno.h>
#include <stdlib.h>
#include "net/link/fec.h"
#include "net/link/frame.h"
#include "wire/rate.h"

struct detail_counters *port_obtain_details(struct port *port)
{
	if (!port->details)
		port->details = calloc(1, sizeof(*port->details));
	return port->details;
}

void port_release_details(struct port *port)
{
	free(port->details);
	port->details = NULL;
	port->counts_opcode = false;
}

/* The ticks that ended between two times. */
static uint64_t ticks(time_ns since, time_ns now)
{
	return now > since ? now / XMIT_WAIT_TICK - since / XMIT_WAIT_TICK : 0;
}

static void settle_waits(struct detail_counters *details, uint16_t lanes, time_ns now)
{
	for (unsigned left = lanes; left; left &= left - 1) {
		unsigned vl = (unsigned)__builtin_ctz(left);

		details->vl_transmit_wait[vl] += ticks(details->waiting_since[vl], now);
		details->waiting_since[vl] = now;
	}
}

void port_note_waiting_lanes(struct port *port, uint16_t waiting, time_ns now)
{
	struct detail_counters *details = port_obtain_details(port);

	if (!details)
		return;
	settle_waits(details, details->waiting_lanes, now);
	for (unsigned left = waiting & ~(unsigned)details->waiting_lanes; left; left &= left - 1)
		details->waiting_since[__builtin_ctz(left)] = now;
	details->waiting_lanes = waiting;
}

static void settle_congestion(struct detail_counters *details, time_ns now)
{
	if (details->congested_lanes) {
		details->transmit_time_congested += ticks(details->any_congested_since, now);
		details->any_congested_since = now;
	}
	for (unsigned left = details->congested_lanes; left; left &= left - 1) {
		unsigned vl = (unsigned)__builtin_ctz(left);

		details->vl_transmit_time_congested[vl] += ticks(details->congested_since[vl], now);
		details->congested_since[vl] = now;
	}
}

void port_note_congested_lane(struct port *port, unsigned vl, bool is_congested, time_ns now)
{
	uint16_t lane = (uint16_t)(1u << vl);

	if (!is_congested && (!port->details || !(port->details->congested_lanes & lane)))
		return;

	struct detail_counters *details = port_obtain_details(port);

	if (!details)
		return;
	settle_congestion(details, now);
	if (!is_congested) {
		details->congested_lanes &= (uint16_t)~lane;
		return;
	}
	if (details->congested_lanes & lane)
		return;
	if (!details->congested_lanes)
		details->any_congested_since = now;
	details->congested_since[vl] = now;
	details->congested_lanes |= lane;
}

void port_settle_details(struct port *port, time_ns now)
{
	if (!port->details)
		return;
	settle_waits(port->details, port->details->waiting_lanes, now);
	settle_congestion(port->details, now);
}

void port_count_update_errors(struct port *port, unsigned data_vl_count)
{
	struct detail_counters *details = port_obtain_details(port);

	for (unsigned vl = 0; details && vl < data_vl_count; vl++)
		details->vl_update_errors[vl]++;
}

void port_count_congestion(struct port *port, unsigned vl)
{
	struct detail_counters *details =
		port->kind == PORT_OF_SWITCH ? port_obtain_details(port) : NULL;

	if (details)
		details->vl_congestion[vl % VL_COUNT]++;
}

void port_count_marks(struct port *port, uint8_t sl, bool has_fecn, bool has_becn)
{
	struct detail_counters *details = port_obtain_details(port);

	if (!details)
		return;
	details->receive_fecn += has_fecn;
	details->sl_receive_fecn[sl % SL_COUNT] += has_fecn;
	details->receive_becn += has_becn;
	details->sl_receive_becn[sl % SL_COUNT] += has_becn;
}

int port_count_opcode(struct port *port, uint8_t opcode)
{
	struct detail_counters *details = port_obtain_details(port);

	if (!details)
		return -ENOMEM;
	if (!port->counts_opcode || details->opcode.opcode != opcode)
		details->opcode = (struct opcode_counters){.opcode = opcode};
	port->counts_opcode = true;
	return 0;
}

void port_stop_opcode(struct port *port)
{
	port->counts_opcode = false;
	if (port->details)
		port->details->opcode = (struct opcode_counters){0};
}

void port_see_opcode(struct port *port, const struct frame *frame)
{
	struct opcode_counters *counted = &port->details->opcode;
	unsigned lnh = frame->bytes[1] & 3;

	/* A raw packet has no base transport header. */
	if (lnh < LNH_LOCAL ||
	    frame->bytes[LRH_BYTES + (lnh == LNH_GLOBAL ? GRH_BYTES : 0)] != counted->opcode)
		return;
	counted->packets++;
	counted->words += frame_words(frame);
	counted->vl_packets[frame->vl % VL_COUNT]++;
	counted->vl_words[frame->vl % VL_COUNT] += frame_words(frame);
}

/* Bytes go to the lanes in turn. Speeds up to QDR have none of these counters: a broken byte is a
 * symbol error there. */
void port_count_broken_byte(struct port *port, uint64_t byte_index)
{
	unsigned lane_count = link_lanes(port->info.link_width_active);
	unsigned lane = lane_count ? (unsigned)(byte_index % lane_count) : 0;

	if (!port->info.link_speed_ext_active && !port->info.link_speed_ext2_active)
		return;

	struct detail_counters *details = port_obtain_details(port);

	if (!details)
		return;
	if (port->extended.fec_mode_active == FEC_NONE) {
		details->lanes.errors[lane]++;
		return;
	}
	/* The code could not repair the block, or the packet would be whole. */
	details->lanes.uncorrectable[lane]++;
	details->lanes.uncorrectable_blocks++;
}
