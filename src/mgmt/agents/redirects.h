/* SPDX-License-Identifier: Apache-2.0 */
/* Classes that a port redirects to another QP or port, and how many requests its GSI takes
 * (management 1.4, 1.6). */
#ifndef SOFTIB_MGMT_AGENTS_REDIRECTS_H
#define SOFTIB_MGMT_AGENTS_REDIRECTS_H

#include "mgmt/agents/agents.h"
#include "wire/class_port_info.h"

enum redirect_condition {
	REDIRECT_ALWAYS,
	REDIRECT_WHEN_BUSY, /* only requests beyond the port's rate */
};

/* What communication management redirects (management 7.1). */
enum redirect_scope {
	REDIRECT_ALL,	      /* calls and their connections: REJ 24, SIDR_REP */
	REDIRECT_CONNECTIONS, /* connections only: REJ 25 with RedirectGID. The messages stay. */
};

/* A port redirects the requests of one class. */
struct redirect {
	struct list link; /* in the agents' memory */
	const struct port *port;
	uint8_t management_class;
	enum redirect_condition condition;
	enum redirect_scope scope;
	/* The Redirect fields. A LID, a GID or both; the QP is not 0. */
	struct class_port_info place;
};

/* From now on the port redirects requests of this class: programs that registered for the class do
 * not get them. Replaces an earlier redirection. -ENOMEM. */
MUST_USE int redirect_set(struct agent_memory *memory, const struct redirect *redirect);
/* false: the port did not redirect this class. */
bool redirect_end(struct agent_memory *memory, const struct port *port, uint8_t management_class);
/* The redirection after this one, NULL: the first one. NULL: there are no more. */
const struct redirect *redirect_next(const struct agent_memory *memory,
				     const struct redirect *previous);

/* The GSI of the port takes this many requests per second, and as many at once; 0: any number.
 * Requests beyond get the status busy, or are redirected. -ENOMEM. */
MUST_USE int gsi_rate_set(struct agent_memory *memory, const struct port *port,
			  uint32_t requests_per_s);

/* Drops redirections and rates of the node. NULL: of every node. */
void redirects_forget(struct agent_memory *memory, const struct node *node);

#endif
