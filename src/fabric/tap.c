/* SPDX-License-Identifier: Apache-2.0 */
/* Taps: which ports are captured, and the callback that gets their packets. */
#include "fabric/tap.h"

#include "fabric/movement.h"

void fabric_tap_add(struct fabric *fabric, struct port *port)
{
	if (port->tap_count++ == 0)
		fabric_note_paths_changed(fabric);
}

void fabric_tap_remove(struct fabric *fabric, struct port *port)
{
	assert(port->tap_count != 0);
	if (--port->tap_count == 0)
		fabric_note_paths_changed(fabric);
}

void fabric_tap_show(struct fabric *fabric, enum tap_event event, const struct port *port,
		     const struct frame *frame, enum drop_reason reason)
{
	if (fabric->tap.seen)
		fabric->tap.seen(fabric->tap.context, event, port, frame, reason);
}
