/* SPDX-License-Identifier: Apache-2.0 */
/* rsockets that fell back to ordinary sockets. */
#include "api/librdmacm/rsocket/rsocket_plain.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/uio.h>
#include <unistd.h>

/* On loopback connect() answers at once; on other networks it could block. */
static bool is_of_this_machine(const struct sockaddr *address)
{
	const struct sockaddr_in *ipv4 = (const void *)address;

	return address->sa_family == AF_INET &&
	       ntohl(ipv4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static int connect_plain(const struct rsocket *socket_)
{
	const struct sockaddr *address = rdma_get_peer_addr(socket_->id);

	if (!is_of_this_machine(address))
		return -1;

	int plain = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (plain < 0)
		return -1;
	if (connect(plain, address, sizeof(struct sockaddr_in)) != 0) {
		close(plain);
		return -1;
	}
	setsockopt(plain, IPPROTO_TCP, TCP_NODELAY, &socket_->options.no_delay,
		   sizeof(socket_->options.no_delay));
	fcntl(plain, F_SETFL, socket_->file_flags);
	return plain;
}

bool plain_take_over(struct rsocket *socket)
{
	int plain = connect_plain(socket);

	if (plain < 0)
		return false;
	stream_release(socket);
	rdma_destroy_id(socket->id);
	socket->id = NULL;
	/* The program's descriptor is the event channel's number. The socket takes that number
	 * over, so the event channel gets another one. */
	socket->channel->fd = dup(socket->descriptor);
	dup3(plain, socket->descriptor, O_CLOEXEC);
	close(plain);
	rdma_destroy_event_channel(socket->channel);
	socket->channel = NULL;
	socket->state = RSOCKET_PLAIN;
	return true;
}

ssize_t plain_send(struct rsocket *socket, const struct iovec *parts, int part_count, int flags)
{
	const struct msghdr message = {.msg_iov = (struct iovec *)parts,
				       .msg_iovlen = (size_t)part_count};

	/* RDMA streams raise no SIGPIPE either. */
	return sendmsg(socket->descriptor, &message, flags | MSG_NOSIGNAL);
}

ssize_t plain_receive(struct rsocket *socket, const struct iovec *parts, int part_count, int flags)
{
	struct msghdr message = {.msg_iov = (struct iovec *)parts,
				 .msg_iovlen = (size_t)part_count};

	return recvmsg(socket->descriptor, &message, flags);
}

short plain_ready(const struct rsocket *socket, short events)
{
	struct pollfd watched = {.fd = socket->descriptor, .events = events};

	return poll(&watched, 1, 0) > 0 ? watched.revents : 0;
}
