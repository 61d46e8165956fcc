/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of a routing engine: a way to fill the forwarding tables of a graph.
 *
 * There is no engine.c: each engine is a file of its own with a row in engines.c. An engine reads
 * switches, links and destinations. It writes every switch's table (ROUTING_NO_PORT where a LID
 * can't be reached) and, if it uses several VLs, service_levels and where needed sl_to_vl. When it
 * is called, the tables hold the present routes. Keeping a route that is as good as any other
 * spares the traffic on it a change.
 */
#ifndef SOFTIB_MGMT_ROUTING_ENGINE_H
#define SOFTIB_MGMT_ROUTING_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/routing/graph.h"

/* Settings of the manager's user that engines take into account. Each may be missing. */
struct routing_hints {
	uint8_t lane_count;	    /* data VLs that every link has; 0: one */
	const uint64_t *root_guids; /* node GUIDs of the root switches */
	uint32_t root_count;
	const char *tables_text; /* the file engine: tables as dump_fts prints them */
	size_t tables_bytes;
};

/* A link between two switches. */
struct routing_link {
	uint32_t a, b; /* switches */
	uint8_t a_port, b_port;
};

struct routing_change {
	const struct routing_link *removed, *added;
	unsigned removed_count, added_count;
};

struct routing_engine {
	const char *name;
	bool promises_no_credit_loops;
	/* -ENOMEM; -EOPNOTSUPP: this engine can't route this graph with these hints. */
	MUST_USE int (*route)(struct routing_graph *graph, const struct routing_hints *hints);
	/*
	 * Optional. Adapts routes that this engine made to links between switches that went or
	 * came, and changes only the entries that must change. The graph already shows the new
	 * links. -EAGAIN: call route() instead.
	 */
	MUST_USE int (*reroute)(struct routing_graph *graph, const struct routing_hints *hints,
				const struct routing_change *change);
};

#endif
