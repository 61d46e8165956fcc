/* SPDX-License-Identifier: Apache-2.0 */
/* A link: two ports and the cable between them; training, negotiation and loss (vol 1, chapters 5,
 * 7; vol 2). */
#ifndef SOFTIB_NET_LINK_LINK_H
#define SOFTIB_NET_LINK_LINK_H

#include <stdbool.h>
#include "base/attributes.h"
#include "net/link/port.h"

/* Puts a cable between two ports that have none. -EBUSY, -EINVAL (a port with itself). */
MUST_USE int link_connect(struct port *a, struct port *b);

/* CapabilityMask2, derived from the widths and speeds that the port supports. */
void port_info_show_speeds(struct port_info *info);

/* Trains the link if both ends poll and the cable is plugged in: physical LinkUp and PortState Init
 * on both, with the best width and speed that both have enabled and the lesser of their MTUs and
 * VLs. Returns whether the link came up now. */
bool link_train(struct port *port);

/* Takes both ends down: this one to the given physical state, the other to its
 * LinkDownDefaultState. The caller flushes the queues. Returns whether the link was up. */
bool link_fall(struct port *port, enum physical_state physical);

#endif
