/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taps: a captured port shows every packet that passes it, and every packet that is dropped there.
 *
 * A port without a tap costs one test of a word in a cache line that is read anyway.
 */
#ifndef SOFTIB_FABRIC_TAP_H
#define SOFTIB_FABRIC_TAP_H

#include <stdint.h>
#include "base/attributes.h"
#include "fabric/fabric_state.h"
#include "net/link/port.h"

/* Adds or removes one capture at this port. Offloaded flows that cross a captured port go through
 * the fabric. */
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
