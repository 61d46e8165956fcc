/* SPDX-License-Identifier: Apache-2.0 */
/* The M_Key check and its lease (management 2.3). */
#ifndef SOFTIB_MGMT_AGENTS_MKEY_H
#define SOFTIB_MGMT_AGENTS_MKEY_H

#include <stdbool.h>
#include "mgmt/agents/sma.h"

/* Whether the request passes the M_Key check of the port. If not, counts the violation and starts
 * the lease timer. */
MUST_USE bool mkey_check(const struct sma_request *request, struct port *port);

/* Whether PortInfo shows the port's M_Key to this requester. */
MUST_USE bool mkey_is_visible(const struct sma_request *request, const struct port *port);

/* Ends the leases whose time is over: the protect bits of their ports become 0. */
void mkey_leases_run(struct agent_memory *memory, time_ns now);

/* Drops the leases of the node's ports. NULL: of every node. */
void mkey_leases_forget(struct agent_memory *memory, const struct node *node);

#endif
