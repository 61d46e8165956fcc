/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Congestion control in the fabric (vol 1, annex A10): switches mark packets (FECN), the adapter
 * that gets one tells its source (BECN: in the next packet of a reliable service, in a CNP
 * otherwise), and the source keeps packets to that destination further apart. Off unless ports were
 * set (net/link/congestion_state.h); the reaction needs a paced fabric.
 */
#ifndef SOFTIB_FABRIC_CONGESTION_CONTROL_H
#define SOFTIB_FABRIC_CONGESTION_CONTROL_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/agents/agents.h"

struct fabric;
struct frame;
struct port;

/* Sets every node as agent_control_congestion() does. -ENOMEM. */
MUST_USE int congestion_control_set(struct fabric *fabric, enum congestion_switch to);

/* A data frame leaves a switch by a port with port->congestion. */
void congestion_mark(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now);
/* A data frame is injected at an adapter's port with port->congestion. */
void congestion_tell(struct port *port, struct frame *frame);
/* A data frame arrived at an adapter, whose port has port->congestion or whose fabric has marked
 * packets: any adapter passes the word on. True: it was a CNP, and is gone. */
MUST_USE bool congestion_hear(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now);

#endif
