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

/* An SMP that came to the node by this port (a switch's input, or a CA's own). False: it is for a
 * manager whose endpoint has no room, and the frame stays the caller's. */
MUST_USE bool node_agents_smp(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now);

/* True: the frame is a request that the node's general service agents answer; they did, and the
 * frame is gone. */
MUST_USE bool node_agents_gmp(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now);

/* Whether the frame is a GMP from this port to itself, under one of its own keys. Two limited keys
 * never match between two members (transport 10.3), but here both are the same member. */
MUST_USE bool node_agents_is_own_gmp(const struct port *port, const struct frame *frame);

/* The port drops this frame for its P_Key: counts it and sends the trap of the specification. */
void node_agents_pkey_violation(struct fabric *fabric, struct port *port,
				const struct frame *frame);

/* Sends the traps that are due. */
void node_agents_send_traps(struct fabric *fabric, time_ns now);

#endif
