/* SPDX-License-Identifier: Apache-2.0 */
/* The performance manager's requests to agents, and what their answers change (management 6.1).
 * Called by perf_manager.c only. */
#ifndef SOFTIB_MGMT_PERF_PERF_REQUESTS_H
#define SOFTIB_MGMT_PERF_PERF_REQUESTS_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"

struct mad_message;
struct mad_path;
struct gid;
struct perf_manager;
struct perf_node;
struct perf_port;

/* Requests for one node or port, at most; the caller has checked that there is room. */
enum { PERF_REQUESTS_PER_PORT = 2 };

void perf_request_agent(struct perf_manager *manager, struct perf_node *node);
void perf_request_counters(struct perf_manager *manager, struct perf_port *port);
/* Clears the counters of port->clear_mask. With PERF_SELECT_ALL those of all ports of the node. */
enum perf_selection { PERF_SELECT_ONE, PERF_SELECT_ALL };
void perf_request_clear(struct perf_manager *manager, struct perf_port *port,
			enum perf_selection selection);

/* Asks for one of the attributes of port_details.h. */
void perf_request_detail(struct perf_manager *manager, struct perf_port *port, unsigned index);

/* The next step of the sample of this port. */
void perf_request_sample(struct perf_manager *manager, struct perf_port *port);

/* A response of class Perf. */
void perf_requests_receive(struct perf_manager *manager, time_ns now,
			   const struct mad_message *message);
/* Ends the requests that were never answered. */
void perf_requests_take_failed(struct perf_manager *manager, time_ns now);

/* The path to a GID of this subnet, for redirected requests: see mad_transactions_options. */
MUST_USE bool perf_requests_find_path(void *context, const struct gid *gid,
				      struct mad_path *ret_path);

#endif
