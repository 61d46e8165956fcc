/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of a port on every received packet (vol 1, chapter 7; transport 8.6). */
#ifndef SOFTIB_NET_LINK_RECEIVE_CHECKS_H
#define SOFTIB_NET_LINK_RECEIVE_CHECKS_H

#include "net/link/frame.h"
#include "net/link/port.h"

/* DROP_NONE, and frame->header is decoded; or why the port discards the frame. */
MUST_USE enum drop_reason port_check_received(const struct port *port, struct frame *frame);

#endif
