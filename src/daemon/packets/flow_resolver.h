/* SPDX-License-Identifier: Apache-2.0 */
/* Offloaded flows: who may send straight to whom, and whose port counters grow by it
 * (docs/spine.md, "Flows"). */
#ifndef SOFTIB_DAEMON_PACKETS_FLOW_RESOLVER_H
#define SOFTIB_DAEMON_PACKETS_FLOW_RESOLVER_H

#include "base/attributes.h"
#include "host/protocol.h"

struct client;
struct daemon;
struct flow_table;

/* The flows of one process; the counters lie in memory that it writes. */
MUST_USE int flow_table_create(const struct flow_counters *counters, struct flow_table **ret_table);
void flow_table_destroy(struct flow_table *table);

/* Adds what was sent since the last look to the ports on the way. */
void flow_table_fold(struct flow_table *table);
void flows_fold_all(struct daemon *daemon);

/* Decides about one flow of a program. */
void flow_resolve(struct client *client, const struct resolve_request *request,
		  struct resolve_answer *ret_answer);

/* Flows that hold now, and go past the fabric. */
typedef void (*direct_flow_visitor)(void *context, const struct client *client, uint16_t dlid,
				    uint64_t packets);
void flows_for_each_direct(const struct daemon *daemon, direct_flow_visitor visit, void *context);

/* Something changed that flows depend on: counts what went the old ways, then shows the new
 * generation. */
void flows_revoke(struct daemon *daemon);

#endif
