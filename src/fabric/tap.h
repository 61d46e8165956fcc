/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taps: a port that is captured shows every packet that passes it, and every one that is dropped there.
 *
 * A port without a tap costs one test of a word that lies beside what is read anyway.
 */
#ifndef SOFTIB_FABRIC_TAP_H
#define SOFTIB_FABRIC_TAP_H

#include <stdint.h>
#include "base/attributes.h"
#include "net/link/port.h"

struct fabric;
struct frame;

enum tap_event {
	TAP_RECEIVED,
	TAP_SENT,
	TAP_LOOPED,  /* from a port to itself: it never was on the link */
	TAP_DROPPED, /* at this port; one that was received has been shown before, unless the port's own checks failed */
};

struct fabric_tap {
	/* The frame is only lent. */
	void (*seen)(void *context, enum tap_event event, const struct port *port,
		     const struct frame *frame, enum drop_reason reason);
	void *context;
};

/* One capture more or less at this port. Flows that cross it go through the fabric while there is one. */
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
