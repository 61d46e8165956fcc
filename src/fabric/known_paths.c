/* SPDX-License-Identifier: Apache-2.0 */
/* Known paths: see known_paths.h. */
#include "fabric/known_paths.h"

#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "fabric/inject.h"
#include "fabric/movement.h"
#include "fabric/walk.h"
#include "net/link/counters.h"
#include "net/link/frame.h"
#include "net/link/lane_credits.h"
#include "net/link/port_queues.h"
#include "wire/lrh.h"
#include "wire/pkey.h"
#include "wire/transport_headers.h"

enum {
	PATHS = 256, /* a path replaces the one with the same hash */
	HOPS_MAX = 8,
	DESTINATION_QPN_OFFSET = LRH_BYTES + 5,
};

struct known_hop {
	struct port *output;
	struct port *input; /* at the other end of the cable */
	uint8_t vl;
};

struct known_path {
	const struct port *source; /* NULL: none */
	uint64_t lrh;		   /* the packets' LRH without VL and length: SL, LNH and LIDs */
	uint16_t pkey;
	uint32_t changes; /* fabric->path_changes when the path was walked */
	uint32_t mtu;
	unsigned hop_count; /* 0: packets go through the queues */
	struct known_hop hops[HOPS_MAX];
};

struct known_paths {
	struct known_path paths[PATHS];
};

void known_paths_destroy(struct known_paths *paths)
{
	free(paths);
}

/* The LRH of a frame whose header was read, without the fields that differ between packets of one
 * path. */
static uint64_t path_lrh(const struct frame *frame)
{
	static const uint8_t length_bytes[8] = {[4] = 0xff, [5] = 0xff};
	uint64_t length_mask, lrh;

	memcpy(&length_mask, length_bytes, sizeof(length_mask));
	memcpy(&lrh, frame->header_source.lrh, sizeof(lrh));
	return lrh & ~length_mask;
}

/* Whether a packet on this path needs nothing but credits and idle queues. */
static bool is_plain(const struct fabric *fabric, const struct fabric_path *path)
{
	if (path->verdict != DROP_NONE || path->is_watched || path->hop_count == 0 ||
	    path->hop_count > HOPS_MAX || path->destination->kind != PORT_OF_ADAPTER ||
	    !node_is_adapter(path->destination->node) || fabric->has_marks)
		return false;
	for (unsigned i = 0; i < path->hop_count; i++) {
		const struct fabric_hop *hop = &path->hops[i];

		/* The first packet to an Armed port makes it Active. */
		if (!port_is_active(hop->output) || !port_is_active(hop->input) ||
		    hop->output->congestion || hop->input->congestion)
			return false;
	}
	return true;
}

static void walk(struct fabric *fabric, struct port *source, const struct frame *frame,
		 struct known_path *ret_path)
{
	const struct forwarding_header *header = &frame->header;
	struct fabric_path path;

	fabric_walk(fabric, source, header->dlid, header->sl, header->pkey, &path);
	*ret_path = (struct known_path){
		.source = source,
		.lrh = path_lrh(frame),
		.pkey = header->pkey,
		.changes = fabric->path_changes,
		.mtu = mtu_bytes(path.mtu_code),
	};
	/* A router may send packets with a GRH elsewhere. */
	if (header->is_global || !port_owns_lid(source, get_be16(frame->bytes + LRH_SLID_OFFSET)) ||
	    !is_plain(fabric, &path))
		return;
	for (unsigned i = 0; i < path.hop_count; i++)
		ret_path->hops[i] = (struct known_hop){.output = path.hops[i].output,
						       .input = path.hops[i].input,
						       .vl = path.hops[i].vl};
	ret_path->hop_count = path.hop_count;
}

/* The path of this frame, whose header has been read; NULL: out of memory. */
static const struct known_path *find_path(struct fabric *fabric, struct port *source,
					  const struct frame *frame)
{
	uint64_t lrh = path_lrh(frame);
	uint64_t mixed =
		(lrh ^ (uintptr_t)source ^ frame->header.pkey) * UINT64_C(0x9e3779b97f4a7c15);

	if (unlikely(!fabric->known_paths))
		fabric->known_paths = calloc(1, sizeof(*fabric->known_paths));
	if (unlikely(!fabric->known_paths))
		return NULL;

	struct known_path *path = &fabric->known_paths->paths[mixed >> 32 & (PATHS - 1)];

	if (unlikely(path->source != source || path->lrh != lrh ||
		     path->pkey != frame->header.pkey || path->changes != fabric->path_changes))
		walk(fabric, source, frame, path);
	return path;
}

/* Whether every port on the path would let the frame pass now. */
static bool may_pass(const struct known_path *path, const struct frame *frame, uint32_t blocks,
		     time_ns now, enum arbitration_table ret_tables[HOPS_MAX])
{
	const struct forwarding_header *header = &frame->header;

	if (path->hop_count == 0 || !header->is_sound || header->payload_bytes > path->mtu ||
	    header->is_management)
		return false;
	for (unsigned i = 0; i < path->hop_count; i++)
		if (!port_may_pass(path->hops[i].output, path->hops[i].vl, blocks, now,
				   &ret_tables[i]))
			return false;
	return true;
}

static void enter(struct fabric *fabric, struct frame *frame, time_ns now)
{
	fabric->now = now;
	fabric->frames_inside++;
	frame->node_entered_at = now;
	frame->has_crcs = false;
	frame->static_rate = 0; /* only paced links use it */
}

/* Moves the frame over one cable. */
static void pass(const struct known_hop *hop, const struct frame *frame, uint32_t blocks,
		 enum arbitration_table table)
{
	const struct forwarding_header *header = &frame->header;

	port_pass(hop->output, hop->vl, blocks, table);
	port_count_transmit(hop->output, header->dlid, header->sl, hop->vl, header->words);
	if (unlikely(link_errors_linger(&hop->input->errors)))
		port_note_good_packet(hop->input);
	port_count_receive(hop->input, header->dlid, header->sl, hop->vl, header->words);
}

/* Puts the frame into the receive buffer of the last port, until the endpoint has room. */
static void stop_at(const struct known_hop *hop, struct frame *frame)
{
	frame->vl = hop->vl;
	frame->bytes[0] = (uint8_t)(hop->vl << 4 | (frame->bytes[0] & 0xf));
	frame->input_port = hop->input->number;
	port_buffer_take(hop->input, frame);
}

/* At the end of the path; its P_Key table was checked when the path was walked. */
static void arrive(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	struct port_queues *queues = port->queues;
	bool is_for_agents =
		fabric->has_marks || get_be24(frame->bytes + DESTINATION_QPN_OFFSET) <= QPN_GSI;

	if (queues->endpoint_is_full || !list_is_empty(&queues->arrivals)) {
		fabric_arrive(fabric, port, frame);
		return;
	}
	if (is_for_agents ? fabric_deliver_data(fabric, port, frame, now)
			  : fabric_deliver_to_endpoint(fabric, port, frame))
		return;
	queues->arrival_count++;
	list_append(&queues->arrivals, &frame->link);
	queues->endpoint_is_full = true;
}

bool fabric_inject_through(struct fabric *fabric, struct port *port, struct frame *frame,
			   time_ns now)
{
	uint32_t blocks = frame_credit_blocks(frame->byte_count);
	enum arbitration_table tables[HOPS_MAX];
	const struct known_path *path = NULL;

	if (likely(!fabric->is_paced && frame_read_header(frame) && !frame->header.is_raw))
		path = find_path(fabric, port, frame);
	if (!path || !may_pass(path, frame, blocks, now, tables))
		return fabric_inject(fabric, port, frame, now);
	enter(fabric, frame, now);

	unsigned last = path->hop_count - 1;

	for (unsigned i = 0; i < last; i++) {
		pass(&path->hops[i], frame, blocks, tables[i]);
		/* The frame leaves this buffer at once, so the sender gets its credits again. */
		port_credits_refresh(path->hops[i].input, path->hops[i].vl);
	}
	pass(&path->hops[last], frame, blocks, tables[last]);
	stop_at(&path->hops[last], frame);
	arrive(fabric, path->hops[last].input, frame, now);
	return true;
}
