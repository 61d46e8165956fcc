/* SPDX-License-Identifier: Apache-2.0 */
/* The M_Key check and its lease (vol 1, chapter 14). */
#ifndef SOFTIB_MGMT_AGENTS_MKEY_H
#define SOFTIB_MGMT_AGENTS_MKEY_H

#include <stdbool.h>
#include "mgmt/agents/sma.h"

/* Whether the port lets this request pass; counts the violation and starts the lease if not. */
MUST_USE bool mkey_check(const struct sma_request *request, struct port *port);

/* Whether PortInfo shows the port's M_Key to this requester. */
MUST_USE bool mkey_is_visible(const struct sma_request *request, const struct port *port);

/* Leases whose time is over end: their ports are no longer protected. */
void mkey_leases_run(struct agent_memory *memory, time_ns now);

/* All leases of the node's ports; NULL: of every node. */
void mkey_leases_forget(struct agent_memory *memory, const struct node *node);

#endif
