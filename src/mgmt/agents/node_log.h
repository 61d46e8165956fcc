/* SPDX-License-Identifier: Apache-2.0 */
/* The log of each node: its last events, which softib's vendor class reads
 * (docs/vendor-class.md). */
#ifndef SOFTIB_MGMT_AGENTS_NODE_LOG_H
#define SOFTIB_MGMT_AGENTS_NODE_LOG_H

#include "mgmt/agents/agents.h"
#include "wire/vendor_softib.h"

enum { NODE_LOG_ENTRIES_MAX = 256 }; /* of a node; then the oldest go */

/* Nothing is written without memory. The first event of a node makes its log. */
void node_log_add(struct agent_memory *memory, const struct node *node, time_ns now,
		  const struct node_log_entry *entry);
/* The port's new PortState. */
void node_log_port_state(struct agent_memory *memory, const struct port *port, time_ns now);
/* A request or packet with a wrong key came to this port. */
void node_log_key_violation(struct agent_memory *memory, const struct port *port, time_ns now,
			    enum node_key key, uint16_t source_lid);

/* The entries from number `from` on, as many as a MAD takes. Older entries than the oldest are
 * gone: then it begins with that one. */
void node_log_read(const struct agent_memory *memory, const struct node *node, uint32_t from,
		   struct node_log_header *ret_header,
		   struct node_log_entry ret_entries[static NODE_LOG_ENTRIES_PER_MAD]);

/* Drops the log of the node. NULL: of every node. */
void node_logs_forget(struct agent_memory *memory, const struct node *node);

#endif
