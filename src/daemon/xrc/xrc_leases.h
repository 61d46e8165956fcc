/* SPDX-License-Identifier: Apache-2.0 */
/* Leases of shared XRC targets: granting and recalling them, and the packets and events that go to
 * the holder. */
#ifndef SOFTIB_DAEMON_XRC_XRC_LEASES_H
#define SOFTIB_DAEMON_XRC_XRC_LEASES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "daemon/xrc/xrc_targets.h"

struct endpoint;
struct frame;

/* Delivers a packet for a leased target; bth_offset is the offset of its BTH. */
void xrc_lease_deliver(struct endpoint *endpoint, uint32_t qpn, const struct frame *frame,
		       unsigned bth_offset);

/* Grants a program the lease; false: no room in its down ring. */
MUST_USE bool xrc_lease_grant(struct xrc_target *target, struct client *client);
/* Asks the holder to return the target. */
void xrc_lease_recall(struct xrc_target *target, enum xrc_urgency urgency);

/* Sends these events, bits of enum qp_event, to all programs that have the target open. */
void xrc_lease_raise_events(struct xrc_target *target, uint32_t events);
/* Sends the packets that wait for the target, as far as the lease allows. */
void xrc_lease_send_waiting(struct xrc_target *target);
/* Drops the first packet that waits for the target. */
void xrc_lease_drop_first(struct xrc_target *target);
/* Sends recalls, events and packets that had to wait for room or for the holder. */
void xrc_lease_push(struct xrc_target *target);

#endif
