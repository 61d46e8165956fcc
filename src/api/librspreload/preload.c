/* SPDX-License-Identifier: Apache-2.0 */
/* librspreload.so: descriptors that stand for rsockets, from socket() to close(). */
#include "api/librspreload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DESCRIPTORS_MAX = 65536 };

struct stand_in {
	int rsocket; /* plus one; 0: an ordinary descriptor */
	int domain, type, protocol;
	int file_flags;
};

static struct stand_in stand_ins[DESCRIPTORS_MAX];
__thread unsigned preload_depth;

int preload_behind(int descriptor)
{
	if (preload_depth || descriptor < 0 || descriptor >= DESCRIPTORS_MAX)
		return -1;
	return __atomic_load_n(&stand_ins[descriptor].rsocket, __ATOMIC_ACQUIRE) - 1;
}

/* Opens a descriptor that stands for the rsocket; -1 with errno. */
static int stand_in_for(int rsocket_descriptor, int domain, int type, int protocol)
{
	int descriptor = REAL(open)("/dev/null", O_RDONLY | O_CLOEXEC);

	if (descriptor < 0 || descriptor >= DESCRIPTORS_MAX) {
		if (descriptor >= 0)
			REAL(close)(descriptor);
		INSIDE(rclose(rsocket_descriptor));
		errno = EMFILE;
		return -1;
	}
	stand_ins[descriptor] =
		(struct stand_in){.domain = domain, .type = type, .protocol = protocol};
	__atomic_store_n(&stand_ins[descriptor].rsocket, rsocket_descriptor + 1, __ATOMIC_RELEASE);
	return descriptor;
}

PUBLIC int socket(int domain, int type, int protocol)
{
	int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (preload_depth || (domain != AF_INET && domain != AF_INET6) ||
	    (kind != SOCK_STREAM && kind != SOCK_DGRAM) ||
	    (protocol && protocol != IPPROTO_TCP && protocol != IPPROTO_UDP))
		return REAL(socket)(domain, type, protocol);

	int rsocket_descriptor = INSIDE(rsocket(domain, type, protocol));

	if (rsocket_descriptor < 0)
		return REAL(socket)(domain, type, protocol);

	int descriptor = stand_in_for(rsocket_descriptor, domain, kind, protocol);

	if (descriptor >= 0 && (type & SOCK_NONBLOCK))
		stand_ins[descriptor].file_flags = O_NONBLOCK;
	return descriptor;
}

PUBLIC int bind(int descriptor, const struct sockaddr *address, socklen_t byte_count)
{
	return REDIRECT(bind, descriptor, address, byte_count);
}

PUBLIC int listen(int descriptor, int backlog)
{
	return REDIRECT(listen, descriptor, backlog);
}

static int accept_stand_in(int listener, int descriptor, struct sockaddr *address,
			   socklen_t *byte_count, int flags)
{
	int other = INSIDE(raccept(listener, address, byte_count));

	if (other < 0)
		return -1;

	int made = stand_in_for(other, stand_ins[descriptor].domain, SOCK_STREAM, 0);

	if (made >= 0 && (flags & SOCK_NONBLOCK)) {
		stand_ins[made].file_flags = O_NONBLOCK;
		INSIDE(rfcntl(other, F_SETFL, O_NONBLOCK));
	}
	return made;
}

PUBLIC int accept(int descriptor, struct sockaddr *address, socklen_t *byte_count)
{
	int other = preload_behind(descriptor);

	return other < 0 ? REAL(accept)(descriptor, address, byte_count)
			 : accept_stand_in(other, descriptor, address, byte_count, 0);
}

PUBLIC int accept4(int descriptor, struct sockaddr *address, socklen_t *byte_count, int flags)
{
	int other = preload_behind(descriptor);

	return other < 0 ? REAL(accept4)(descriptor, address, byte_count, flags)
			 : accept_stand_in(other, descriptor, address, byte_count, flags);
}

/* The peer has no rsocket there: puts an ordinary socket under the program's descriptor. */
static int fall_back(int descriptor, int other)
{
	struct stand_in *stand_in = &stand_ins[descriptor];
	int plain = REAL(socket)(stand_in->domain, stand_in->type, stand_in->protocol);

	if (plain < 0)
		return -1;
	if (stand_in->file_flags)
		REAL(fcntl)(plain, F_SETFL, stand_in->file_flags);
	__atomic_store_n(&stand_in->rsocket, 0, __ATOMIC_RELEASE);

	int result = REAL(dup2)(plain, descriptor);

	REAL(close)(plain);
	INSIDE(rclose(other));
	return result < 0 ? -1 : 0;
}

PUBLIC int connect(int descriptor, const struct sockaddr *address, socklen_t byte_count)
{
	int other = preload_behind(descriptor);

	if (other < 0)
		return REAL(connect)(descriptor, address, byte_count);

	int result = INSIDE(rconnect(other, address, byte_count));

	if (result == 0 || errno == EINPROGRESS || errno == EALREADY || errno == EISCONN)
		return result;
	return fall_back(descriptor, other) ? -1 : REAL(connect)(descriptor, address, byte_count);
}

PUBLIC int shutdown(int descriptor, int how)
{
	return REDIRECT(shutdown, descriptor, how);
}

PUBLIC int close(int descriptor)
{
	int other = preload_behind(descriptor);

	if (other >= 0) {
		__atomic_store_n(&stand_ins[descriptor].rsocket, 0, __ATOMIC_RELEASE);
		INSIDE(rclose(other));
	}
	return REAL(close)(descriptor);
}

PUBLIC int getpeername(int descriptor, struct sockaddr *address, socklen_t *byte_count)
{
	return REDIRECT(getpeername, descriptor, address, byte_count);
}

PUBLIC int getsockname(int descriptor, struct sockaddr *address, socklen_t *byte_count)
{
	return REDIRECT(getsockname, descriptor, address, byte_count);
}

PUBLIC int setsockopt(int descriptor, int level, int name, const void *value, socklen_t byte_count)
{
	return REDIRECT(setsockopt, descriptor, level, name, value, byte_count);
}

PUBLIC int getsockopt(int descriptor, int level, int name, void *value, socklen_t *byte_count)
{
	return REDIRECT(getsockopt, descriptor, level, name, value, byte_count);
}

static int control(int descriptor, int command, void *argument)
{
	int other = preload_behind(descriptor);

	if (other < 0)
		return REAL(fcntl)(descriptor, command, argument);
	if (command == F_GETFL)
		return INSIDE(rfcntl(other, F_GETFL));
	if (command == F_SETFL) {
		stand_ins[descriptor].file_flags = (int)(intptr_t)argument & O_NONBLOCK;
		return INSIDE(rfcntl(other, F_SETFL, (int)(intptr_t)argument));
	}
	return REAL(fcntl)(descriptor, command, argument);
}

PUBLIC int fcntl(int descriptor, int command, ...)
{
	va_list arguments;

	va_start(arguments, command);

	void *argument = va_arg(arguments, void *);

	va_end(arguments);
	return control(descriptor, command, argument);
}

PUBLIC int fcntl64(int descriptor, int command, ...)
{
	va_list arguments;

	va_start(arguments, command);

	void *argument = va_arg(arguments, void *);

	va_end(arguments);
	return control(descriptor, command, argument);
}
