/* SPDX-License-Identifier: Apache-2.0 */
/* The management agents of a node: which frames are for them, their answers and their traps. */
#ifndef SOFTIB_FABRIC_NODE_AGENTS_H
#define SOFTIB_FABRIC_NODE_AGENTS_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"

struct fabric;
struct frame;
struct port;

/* An SMP that came to the node by this port (a switch's input, or a CA's own). Returns false if it
 * is for a manager whose endpoint has no room: the frame stays the caller's. */
MUST_USE bool node_agents_smp(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now);

/* Whether it is a request that the node's general agents answer; then it was answered and the frame
 * is gone. */
MUST_USE bool node_agents_gmp(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now);

/* Whether it is a GMP from this very port, under a key of its own: two limited keys do not match
 * between two members, and this is one. */
MUST_USE bool node_agents_is_own_gmp(const struct port *port, const struct frame *frame);

/* The port drops this frame for its P_Key: the architecture's counter and trap. */
void node_agents_pkey_violation(struct fabric *fabric, struct port *port,
				const struct frame *frame);

/* Notices to the manager whose time has come. */
void node_agents_send_traps(struct fabric *fabric, time_ns now);

#endif
