/* SPDX-License-Identifier: Apache-2.0 */
/* Prefetches the memory that the next few events will read. */
#include "fabric/fetch_ahead.h"

#include "base/bytes.h"
#include "net/link/port_queues.h"
#include "net/link/frame.h"
#include "net/node/node.h"

/* The compiler treats a function that only prefetches as one without effect and drops the call,
 * unless something in it must happen. */
static inline void fetch(const void *line)
{
	__builtin_prefetch(line);
	__asm__ volatile("");
}

static void fetch_lines(const void *object, unsigned line_count)
{
	for (unsigned line = 0; line < line_count; line++)
		fetch((const char *)object + line * CACHE_LINE_BYTES);
}

void fetch_port(const struct port *port)
{
	fetch_lines(port, 2);
}

void fetch_queues(const struct port_queues *queues)
{
	fetch_lines(queues, 2);
}

void fetch_frame(const struct frame *frame)
{
	fetch_lines(frame, 2);
}

/* The forwarding table entry for the frame at the switch that it comes to; NULL at other nodes. */
static const uint8_t *table_entry(const struct port *input, const struct frame *frame)
{
	const struct node *node = input->node;
	uint16_t dlid = get_be16(frame->bytes + LRH_DLID_OFFSET);

	return node->lft && dlid < LFT_ENTRIES ? &node->lft[dlid] : NULL;
}

/* NULL: the table has no entry. */
static const struct port *next_output(const struct node *node, const uint8_t *entry)
{
	return entry && *entry <= node->port_count ? &node->ports[*entry] : NULL;
}

/* The lowest lane that has frames: most often there is only one. NULL: no lane has any. */
static const struct vl_queue *first_lane(const struct port_queues *queues)
{
	return queues->pending ? &queues->vls[__builtin_ctz(queues->pending)] : NULL;
}

/* Ports, and the virtual lanes of ports that send. */
static void fetch_ports(const struct ahead *ahead)
{
	for (unsigned i = 0; i < ahead->hop_count; i++) {
		const struct hop_ahead *hop = &ahead->hops[i];

		fetch_port(hop->output->peer);
		fetch(&hop->output->peer->counters.receive_words);
		fetch(&hop->output->queues->vls[hop->frame->vl]);
		/* The sender that gets the credits of this frame. */
		if (hop->frame->credit_blocks)
			fetch(hop->frame->lane);
	}
	for (unsigned i = 0; i < ahead->turn_count; i++) {
		fetch_port(ahead->turns[i]->port);
		fetch(&ahead->turns[i]->port->counters.transmit_words);
		fetch(first_lane(ahead->turns[i]));
	}
	for (unsigned i = 0; i < ahead->credit_count; i++)
		fetch(ahead->credits[i]->port);
}

/* Table entries, and the first frames of ports that send. */
static void fetch_entries(const struct ahead *ahead, const uint8_t *ret_entries[])
{
	for (unsigned i = 0; i < ahead->hop_count; i++) {
		const struct frame *frame = ahead->hops[i].frame;

		ret_entries[i] = table_entry(ahead->hops[i].output->peer, frame);
		fetch(ret_entries[i]);
		if (frame->credit_blocks && frame->lane->frame_count)
			fetch(frame->lane->queues);
	}
	for (unsigned i = 0; i < ahead->turn_count; i++) {
		const struct vl_queue *lane = first_lane(ahead->turns[i]);

		if (lane)
			fetch_frame(lane->first);
	}
	for (unsigned i = 0; i < ahead->credit_count; i++)
		fetch(ahead->credits[i]->port->peer);
}

/* The outputs by which the hops go on, and the state that an adapter reads at the last hop. */
static void fetch_outputs(const struct ahead *ahead, const uint8_t *const entries[],
			  const struct port *ret_outputs[])
{
	for (unsigned i = 0; i < ahead->hop_count; i++) {
		const struct port *input = ahead->hops[i].output->peer;

		ret_outputs[i] = next_output(input->node, entries[i]);
		if (ret_outputs[i]) {
			fetch_port(ret_outputs[i]);
		} else {
			fetch_queues(input->queues);
			fetch(&input->queues->arrivals);
			fetch(&input->pkeys);
		}
	}
	for (unsigned i = 0; i < ahead->credit_count; i++) {
		const struct port *peer = ahead->credits[i]->port->peer;

		if (peer)
			fetch(&peer->queues->vls[__builtin_ctz(
				ahead->credits[i]->pacer.credits_flying | 1u << VL_MANAGEMENT)]);
	}
}

void fetch_ahead(const struct ahead *ahead)
{
	const uint8_t *entries[HOPS_AHEAD];
	const struct port *outputs[HOPS_AHEAD];

	fetch_ports(ahead);
	fetch_entries(ahead, entries);
	fetch_outputs(ahead, entries, outputs);
	for (unsigned i = 0; i < ahead->hop_count; i++) {
		const struct port *input = ahead->hops[i].output->peer;

		if (!outputs[i]) {
			fetch(input->pkeys);
			continue;
		}
		fetch_queues(outputs[i]->queues);
		fetch(&outputs[i]->queues->vls[ahead->hops[i].frame->vl]);
		fetch(&outputs[i]->sl_to_vl[input->number]);
		fetch(&outputs[i]->counters.transmit_words);
	}
}
