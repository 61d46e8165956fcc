/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing engines: ways to fill the forwarding tables of a graph, by name.
 *
 * A new engine is a file of its own and a row in engine.c. It reads switches, links and
 * destinations; it writes every switch's table (ROUTING_NO_PORT where a LID can't be reached) and,
 * if it uses lanes, service_levels and where needed sl_to_vl. Tables hold the present routes when
 * it is called: to keep them where they are as good spares traffic.
 */
#ifndef SOFTIB_MGMT_ROUTING_ENGINES_H
#define SOFTIB_MGMT_ROUTING_ENGINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/routing/graph.h"

/* What whoever runs the manager may tell an engine. All of it may be missing. */
struct routing_hints {
	uint8_t lane_count;	    /* data VLs that every link has; 0: one */
	const uint64_t *root_guids; /* node GUIDs of the switches at the top */
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
	/* -ENOMEM; -EOPNOTSUPP: the graph or the hints are not for this engine, take another. */
	MUST_USE int (*route)(struct routing_graph *graph, const struct routing_hints *hints);
	/*
	 * Optional. The same after links between switches went or came, which the graph, routed by
	 * this engine before, already shows; touches only what must change. -EAGAIN: route anew.
	 */
	MUST_USE int (*reroute)(struct routing_graph *graph, const struct routing_hints *hints,
				const struct routing_change *change);
};

/* NULL: the first one. Returns NULL when there is none of that name. */
const struct routing_engine *routing_engine_find(const char *name);

/* Ends with an engine whose name is NULL. */
extern const struct routing_engine routing_engines[];

#endif
