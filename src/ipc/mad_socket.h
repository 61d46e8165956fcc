/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on the socket of an open port, both ends: a header of ipc/mad_header.h and a MAD, or a
 * whole RMPP message. One SOCK_SEQPACKET message each. A message that is too long for a socket's
 * buffer travels in a sealed memory file beside its first segment.
 */
#ifndef SOFTIB_IPC_MAD_SOCKET_H
#define SOFTIB_IPC_MAD_SOCKET_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "ipc/descriptor_message.h"
#include "ipc/mad_header.h"

/* Never blocks: -EAGAIN: the socket is full, -ECONNRESET: the peer has closed it, -EMSGSIZE. */
MUST_USE int mad_socket_send(int socket, const uint8_t *bytes, size_t byte_count);

/* The next message, with the descriptor of its file if there is one. */
struct mad_arrival {
	uint8_t bytes[MAD_PORT_HEADER_BYTES + (1 << 15)];
	size_t byte_count; /* in bytes */
	size_t total_bytes;
	int file;			      /* -1: all is in bytes */
	struct received_descriptors received; /* the others */
};

/* Never blocks. -EAGAIN: none, -ECONNRESET: hung up, -EPROTO: not a message (it is consumed).
 * -EMFILE: no descriptor is free for its file; bytes has the first segment. */
MUST_USE int mad_socket_receive(int socket, struct mad_arrival *ret_arrival);
/* The same for softibd: the caller closes arrival.received, also after an error. The file is sealed
 * memory, and so can be closed at once. */
MUST_USE int mad_socket_receive_from_client(int socket, struct mad_arrival *ret_arrival);
/* Copies the whole message; ret_bytes has room for total_bytes. Closes the file. -EPROTO. */
MUST_USE int mad_arrival_take(struct mad_arrival *arrival, uint8_t *ret_bytes);

/* Reads straight into a buffer. A message that is too long for the buffer stays in the socket, and
 * its first segment is in the buffer. -ENOSPC: ret_byte_count is the message's length; -EINVAL: not
 * even the first segment fits; otherwise as mad_socket_receive. One reader at a time. */
MUST_USE int mad_socket_read(int socket, size_t capacity, uint8_t *ret_bytes,
			     size_t *ret_byte_count);

#endif
