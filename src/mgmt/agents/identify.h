/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes whose LEDs show a person where they are (docs/vendor-class.md). */
#ifndef SOFTIB_MGMT_AGENTS_IDENTIFY_H
#define SOFTIB_MGMT_AGENTS_IDENTIFY_H

#include "mgmt/agents/agents.h"
#include "wire/vendor_softib.h"

struct identification {
	struct list link; /* in the agents' memory */
	struct node *node;
	time_ns ends_at;
};

/* Turns the LEDs of all ports of the node on or off, as LedInfo shows them. -ENOMEM. */
MUST_USE int identify_set(struct agent_memory *memory, struct node *node, time_ns now,
			  const struct identify *wanted);
struct identify identify_get(const struct agent_memory *memory, const struct node *node,
			     time_ns now);
/* The node after this one that is identified. previous NULL: the first one. NULL: no more. */
const struct identification *identification_next(const struct agent_memory *memory,
						 const struct identification *previous);

/* Ends those whose time is up. */
void identify_run(struct agent_memory *memory, time_ns now);
/* The node goes. NULL: every node. */
void identify_forget(struct agent_memory *memory, const struct node *node);

#endif
