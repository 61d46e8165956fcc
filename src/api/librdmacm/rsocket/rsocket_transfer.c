/* SPDX-License-Identifier: Apache-2.0 */
/* Sending and receiving on rsockets: all variants of the socket calls. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include "api/librdmacm/rsocket/rsocket_plain.h"

static ssize_t receive(int descriptor, const struct iovec *parts, int part_count, int flags,
		       struct sockaddr *address, socklen_t *address_bytes)
{
	struct rsocket *socket = rsocket_find(descriptor);
	ssize_t result = 0;
	bool is_plain;

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	if (socket->type == SOCK_DGRAM)
		result =
			datagrams_receive(socket, parts, part_count, flags, address, address_bytes);
	else if (rsocket_is_connecting(socket) && rsocket_await_connection(socket))
		result = -1;
	else if (socket->state != RSOCKET_PLAIN)
		result = stream_receive(socket, parts, part_count, flags);
	is_plain = socket->state == RSOCKET_PLAIN;
	pthread_mutex_unlock(&socket->lock);
	/* Without the lock: an ordinary socket may block in recvmsg(), and another thread may send
	 * meanwhile. */
	return is_plain && result == 0 ? plain_receive(socket, parts, part_count, flags) : result;
}

static ssize_t transmit(int descriptor, const struct iovec *parts, int part_count, int flags,
			const struct sockaddr *address, socklen_t address_bytes)
{
	struct rsocket *socket = rsocket_find(descriptor);
	ssize_t result = 0;
	bool is_plain;

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	if (socket->type == SOCK_DGRAM)
		result = datagrams_send(socket, parts, part_count, flags, address, address_bytes);
	else if (rsocket_is_connecting(socket) && rsocket_await_connection(socket))
		result = -1;
	else if (socket->state != RSOCKET_PLAIN)
		result = stream_send(socket, parts, part_count, flags);
	is_plain = socket->state == RSOCKET_PLAIN;
	pthread_mutex_unlock(&socket->lock);
	return is_plain && result == 0 ? plain_send(socket, parts, part_count, flags) : result;
}

RSOCKET_PUBLIC ssize_t rrecvfrom(int descriptor, void *bytes, size_t byte_count, int flags,
				 struct sockaddr *address, socklen_t *address_bytes)
{
	const struct iovec part = {.iov_base = bytes, .iov_len = byte_count};

	return receive(descriptor, &part, 1, flags, address, address_bytes);
}

RSOCKET_PUBLIC ssize_t rrecv(int descriptor, void *bytes, size_t byte_count, int flags)
{
	return rrecvfrom(descriptor, bytes, byte_count, flags, NULL, NULL);
}

RSOCKET_PUBLIC ssize_t rread(int descriptor, void *bytes, size_t byte_count)
{
	return rrecv(descriptor, bytes, byte_count, 0);
}

RSOCKET_PUBLIC ssize_t rreadv(int descriptor, const struct iovec *parts, int part_count)
{
	return receive(descriptor, parts, part_count, 0, NULL, NULL);
}

RSOCKET_PUBLIC ssize_t rrecvmsg(int descriptor, struct msghdr *message, int flags)
{
	if (message->msg_control && message->msg_controllen) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return receive(descriptor, message->msg_iov, (int)message->msg_iovlen, flags,
		       message->msg_name, message->msg_name ? &message->msg_namelen : NULL);
}

RSOCKET_PUBLIC ssize_t rsendto(int descriptor, const void *bytes, size_t byte_count, int flags,
			       const struct sockaddr *address, socklen_t address_bytes)
{
	const struct iovec part = {.iov_base = (void *)bytes, .iov_len = byte_count};

	return transmit(descriptor, &part, 1, flags, address, address_bytes);
}

RSOCKET_PUBLIC ssize_t rsend(int descriptor, const void *bytes, size_t byte_count, int flags)
{
	return rsendto(descriptor, bytes, byte_count, flags, NULL, 0);
}

RSOCKET_PUBLIC ssize_t rwrite(int descriptor, const void *bytes, size_t byte_count)
{
	return rsend(descriptor, bytes, byte_count, 0);
}

RSOCKET_PUBLIC ssize_t rwritev(int descriptor, const struct iovec *parts, int part_count)
{
	return transmit(descriptor, parts, part_count, 0, NULL, 0);
}

RSOCKET_PUBLIC ssize_t rsendmsg(int descriptor, const struct msghdr *message, int flags)
{
	if (message->msg_control && message->msg_controllen) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return transmit(descriptor, message->msg_iov, (int)message->msg_iovlen, flags,
			message->msg_name, message->msg_namelen);
}
