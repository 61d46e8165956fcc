/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that enter the fabric at a CA port. */
#ifndef SOFTIB_FABRIC_INJECT_H
#define SOFTIB_FABRIC_INJECT_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"

struct fabric;
struct frame;
struct port;

/* A packet from the endpoint of a CA port. The frame is from fabric->frames and becomes the
 * fabric's. LRH.VL 15 makes it an SMP: the caller decides who may send SMPs. Other packets get
 * their VL here and must carry the port's own LID and P_Key. A drop is counted at the port. False:
 * the port's queue is full; keep the frame and try again later. */
MUST_USE bool fabric_inject(struct fabric *fabric, struct port *port, struct frame *frame,
			    time_ns now);

#endif
