/* SPDX-License-Identifier: Apache-2.0 */
/* What the next few hops will look at, fetched in rounds. */
#include "fabric/fetch_ahead.h"

#include "base/bytes.h"
#include "net/link/port_queues.h"
#include "net/link/frame.h"
#include "net/node/node.h"

enum { DLID_OFFSET = 2 };

static void fetch_port(const struct port *port)
{
	__builtin_prefetch(port);
	__builtin_prefetch(&port->info.port_state);
}

/* The table entry for the frame at the switch that it comes to; NULL: none. */
static const uint8_t *table_entry(const struct hop_ahead *hop)
{
	const struct node *node = hop->output->peer->node;
	uint16_t dlid = get_be16(hop->frame->bytes + DLID_OFFSET);

	return node->lft && dlid < LFT_ENTRIES ? &node->lft[dlid] : NULL;
}

static const struct port *next_output(const struct hop_ahead *hop)
{
	const struct node *node = hop->output->peer->node;
	const uint8_t *entry = table_entry(hop);

	return entry && *entry <= node->port_count ? &node->ports[*entry] : NULL;
}

/* Whose receive buffer the frame is in, and who gets the credits for it. */
static const struct port *buffer_port(const struct hop_ahead *hop)
{
	const struct node *node = hop->output->node;

	return hop->frame->input_port <= node->port_count ? &node->ports[hop->frame->input_port]
							  : hop->output;
}

void fetch_hops(const struct hop_ahead hops[], unsigned hop_count)
{
	const struct hop_ahead *end = hops + hop_count;

	for (const struct hop_ahead *hop = hops; hop < end; hop++) {
		__builtin_prefetch(hop->frame);
		__builtin_prefetch((const char *)hop->frame + CACHE_LINE_BYTES);
		fetch_port(hop->output->peer);
		__builtin_prefetch(&hop->output->peer->counters.receive_words);
	}
	for (const struct hop_ahead *hop = hops; hop < end; hop++) {
		__builtin_prefetch(&hop->output->peer->queues->vls[0]);
		__builtin_prefetch(&hop->output->peer->node->lft);
		__builtin_prefetch(buffer_port(hop));
	}
	for (const struct hop_ahead *hop = hops; hop < end; hop++) {
		const struct port *buffer = buffer_port(hop);

		__builtin_prefetch(&buffer->queues->vls[0]);
		if (buffer->peer)
			__builtin_prefetch(buffer->peer);
		__builtin_prefetch(table_entry(hop));
	}
	for (const struct hop_ahead *hop = hops; hop < end; hop++) {
		const struct port *buffer = buffer_port(hop), *output = next_output(hop);

		if (buffer->peer)
			__builtin_prefetch(&buffer->peer->queues->vls[0]);
		if (output)
			fetch_port(output);
	}
	for (const struct hop_ahead *hop = hops; hop < end; hop++) {
		const struct port *output = next_output(hop);

		if (!output)
			continue;
		__builtin_prefetch(output->queues);
		__builtin_prefetch(&output->queues->vls[0]);
		__builtin_prefetch(&output->sl_to_vl[hop->output->peer->number]);
	}
}
