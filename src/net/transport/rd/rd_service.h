/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable Datagram as the engine calls it; an adapter puts it into qp_environment.rd. */
#ifndef SOFTIB_NET_TRANSPORT_RD_RD_SERVICE_H
#define SOFTIB_NET_TRANSPORT_RD_RD_SERVICE_H

#include "net/transport/rd/rd_hooks.h"

extern const struct rd_hooks rd_service;

#endif
