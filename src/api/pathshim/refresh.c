/* SPDX-License-Identifier: Apache-2.0 */
/* Asks softibd to write the current counters into the sysfs tree. */
#include "api/pathshim/refresh.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { REQUEST_BYTES = 256, REPLY_BYTES = 256 };

/* The length of the request; 0: the host name does not fit. */
static size_t write_request(const char *host, char ret_request[static REQUEST_BYTES])
{
	static const char before[] = "{\"command\":\"refresh\",\"host\":\"";
	static const char after[] = "\"}";
	size_t before_bytes = sizeof(before) - 1;
	size_t after_bytes = sizeof(after) - 1;
	size_t host_bytes = strlen(host);

	if (before_bytes + host_bytes + after_bytes > REQUEST_BYTES || strpbrk(host, "\"\\"))
		return 0;
	memcpy(ret_request, before, before_bytes);
	memcpy(ret_request + before_bytes, host, host_bytes);
	memcpy(ret_request + before_bytes + host_bytes, after, after_bytes);
	return before_bytes + host_bytes + after_bytes;
}

static void ask(int fd, const struct sockaddr_un *address, const char *host)
{
	struct pollfd answer = {.fd = fd, .events = POLLIN};
	char request[REQUEST_BYTES];
	char reply[REPLY_BYTES];
	size_t request_bytes = write_request(host, request);

	if (request_bytes == 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		return;
	if (send(fd, request, request_bytes, MSG_NOSIGNAL) != (ssize_t)request_bytes)
		return;
	if (poll(&answer, 1, REFRESH_WAIT_MS) == 1 && recv(fd, reply, sizeof(reply), 0) < 0)
		return;
}

void refresh_counters(const char *socket_path, const char *host)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int saved_errno = errno;
	int fd;

	if (!socket_path || !host || strlen(socket_path) >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, socket_path, strlen(socket_path) + 1);
	/* Non-blocking, so that a softibd with a full backlog costs no time. */
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0) {
		ask(fd, &address, host);
		close(fd);
	}
	errno = saved_errno;
}
