/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rsockets that became ordinary sockets: whom they called does not listen by RDMA, but does with
 * TCP, on this machine, which all hosts of a fabric share. rdma-core refuses there; librspreload.so
 * of both does the same for its programs.
 */
#ifndef SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_PLAIN_H
#define SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_PLAIN_H

#include "api/librdmacm/rsocket/rsocket.h"

/* Lock held, and the event that said no acknowledged. An ordinary socket that is connected takes
 * the descriptor over; false: there is none to connect to. */
bool plain_take_over(struct rsocket *socket);

/* Of the kinds that sockets have: with the descriptor's own calls. */
ssize_t plain_send(struct rsocket *socket, const struct iovec *parts, int part_count, int flags);
ssize_t plain_receive(struct rsocket *socket, const struct iovec *parts, int part_count, int flags);
short plain_ready(const struct rsocket *socket, short events);

#endif
