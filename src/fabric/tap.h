/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taps: a port that is captured shows every packet that passes it, and every one that is dropped
 * there.
 *
 * A port without a tap costs one test of a word that lies beside what is read anyway.
 */
#ifndef SOFTIB_FABRIC_TAP_H
#define SOFTIB_FABRIC_TAP_H

#include <stdint.h>
#include "base/attributes.h"
#include "fabric/fabric_state.h"
#include "net/link/port.h"

/* One capture more or less at this port. Flows that cross it go through the fabric while there is
 * one. */
void fabric_tap_add(struct fabric *fabric, struct port *port);
void fabric_tap_remove(struct fabric *fabric, struct port *port);

void fabric_tap_show(struct fabric *fabric, enum tap_event event, const struct port *port,
		     const struct frame *frame, enum drop_reason reason);

static inline void fabric_tap_see(struct fabric *fabric, enum tap_event event,
				  const struct port *port, const struct frame *frame,
				  enum drop_reason reason)
{
	if (unlikely(port->tap_count))
		fabric_tap_show(fabric, event, port, frame, reason);
}

#endif
