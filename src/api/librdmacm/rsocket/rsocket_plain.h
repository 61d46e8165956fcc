/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rsockets that fell back to ordinary sockets, because the peer does not listen by RDMA but by TCP.
 * All hosts of a fabric share this machine, so its TCP sockets are tried. rdma-core's rconnect
 * fails in this case; both librspreload.so fall back the same way.
 */
#ifndef SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_PLAIN_H
#define SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_PLAIN_H

#include "api/librdmacm/rsocket/rsocket.h"

/* Connects an ordinary socket and puts it under the program's descriptor. False: no TCP socket
 * listens either. Lock held; the event that reported the failure is acknowledged. */
bool plain_take_over(struct rsocket *socket);

/* The socket calls, made on the descriptor itself. */
ssize_t plain_send(struct rsocket *socket, const struct iovec *parts, int part_count, int flags);
ssize_t plain_receive(struct rsocket *socket, const struct iovec *parts, int part_count, int flags);
short plain_ready(const struct rsocket *socket, short events);

#endif
