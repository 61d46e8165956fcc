/* SPDX-License-Identifier: Apache-2.0 */
/* Forwarding tables from text, as dump_lfts and OpenSM write them (management 9.4, lfts_file). */
#ifndef SOFTIB_MGMT_ROUTING_TABLE_FILE_H
#define SOFTIB_MGMT_ROUTING_TABLE_FILE_H

#include <stddef.h>
#include "base/attributes.h"
#include "mgmt/routing/engine.h"

struct table_file_error {
	unsigned line; /* from 1 */
	const char *reason;
};

/* Enters the text's routes into the graph's tables. Switches and LIDs that the graph does not have
 * are skipped. -EINVAL with the line and the reason; routes before that line are entered. */
MUST_USE int table_file_read(struct routing_graph *graph, const char *text, size_t byte_count,
			     struct table_file_error *ret_error);

/* The engine "file": tables from hints->tables_text, min-hop for LIDs that the text leaves out.
 * -EOPNOTSUPP: no text, or a text with errors. */
MUST_USE int table_file_route(struct routing_graph *graph, const struct routing_hints *hints);

#endif
