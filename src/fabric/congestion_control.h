/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Congestion control in the fabric (vol 1, annex A10): switches mark packets (FECN), the adapter
 * that gets one tells its source (BECN: in the next packet of a reliable service, in a CNP
 * otherwise), and the source keeps packets to that destination further apart. Off unless ports were
 * set (net/link/congestion.h); the reaction needs a paced fabric.
 */
#ifndef SOFTIB_FABRIC_CONGESTION_CONTROL_H
#define SOFTIB_FABRIC_CONGESTION_CONTROL_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"

struct fabric;
struct frame;
struct port;

/* Each is for ports with port->congestion. */

/* A data frame leaves a switch. */
void congestion_mark(struct port *output, struct frame *frame);
/* A data frame is injected at an adapter. */
void congestion_tell(struct port *port, struct frame *frame);
/* A data frame arrived at an adapter. True: it was a CNP, and is gone. */
MUST_USE bool congestion_hear(struct fabric *fabric, struct port *port, struct frame *frame,
			      time_ns now);

#endif
