/* SPDX-License-Identifier: Apache-2.0 */
/* What a port checks of every packet before anybody looks further (vol 1, chapter 7). */
#ifndef SOFTIB_NET_LINK_RECEIVE_CHECKS_H
#define SOFTIB_NET_LINK_RECEIVE_CHECKS_H

#include "net/link/frame.h"
#include "net/link/port.h"

/* DROP_NONE, and frame->header is read, or why the port discards it. */
MUST_USE enum drop_reason port_check_received(const struct port *port, struct frame *frame);

#endif
