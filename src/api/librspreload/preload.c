/* SPDX-License-Identifier: Apache-2.0 */
/*
 * librspreload.so: socket programs on rsockets without changing them (rsocket(7)).
 *
 * What the program has is a descriptor of /dev/null that stands for an rsocket. One that can't
 * connect becomes an ordinary socket under the same number. epoll is not served.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum { DESCRIPTORS_MAX = 65536, COPY_BYTES = 65536 };

struct stand_in {
	int rsocket; /* plus one; 0: an ordinary descriptor */
	int domain, type, protocol;
	int file_flags;
};

static struct stand_in stand_ins[DESCRIPTORS_MAX];
/* Calls that the RDMA libraries make themselves are not for us. */
static __thread unsigned depth;

/* The C library's own function of that name. */
#define REAL(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) real_##name;                                              \
		if (!real_##name)                                                                  \
			real_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                  \
		real_##name;                                                                       \
	})

#define INSIDE(call)                                                                               \
	({                                                                                         \
		depth++;                                                                           \
		__typeof__(call) result_ = (call);                                                 \
		depth--;                                                                           \
		result_;                                                                           \
	})

/* The rsocket behind a descriptor; -1: none. */
static int behind(int descriptor)
{
	if (depth || descriptor < 0 || descriptor >= DESCRIPTORS_MAX)
		return -1;
	return __atomic_load_n(&stand_ins[descriptor].rsocket, __ATOMIC_ACQUIRE) - 1;
}

/* Returns the descriptor that stands for the rsocket; -1 with errno. */
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

	if (depth || (domain != AF_INET && domain != AF_INET6) ||
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

/* --- calls that only go another way --- */

PUBLIC int bind(int descriptor, const struct sockaddr *address, socklen_t byte_count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(bind)(descriptor, address, byte_count)
			 : INSIDE(rbind(other, address, byte_count));
}

PUBLIC int listen(int descriptor, int backlog)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(listen)(descriptor, backlog) : INSIDE(rlisten(other, backlog));
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
	int other = behind(descriptor);

	return other < 0 ? REAL(accept)(descriptor, address, byte_count)
			 : accept_stand_in(other, descriptor, address, byte_count, 0);
}

PUBLIC int accept4(int descriptor, struct sockaddr *address, socklen_t *byte_count, int flags)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(accept4)(descriptor, address, byte_count, flags)
			 : accept_stand_in(other, descriptor, address, byte_count, flags);
}

/* The peer has no rsocket there: an ordinary socket takes the number over. */
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
	int other = behind(descriptor);

	if (other < 0)
		return REAL(connect)(descriptor, address, byte_count);

	int result = INSIDE(rconnect(other, address, byte_count));

	if (result == 0 || errno == EINPROGRESS || errno == EALREADY || errno == EISCONN)
		return result;
	return fall_back(descriptor, other) ? -1
					    : REAL(connect)(descriptor, address, byte_count);
}

PUBLIC int shutdown(int descriptor, int how)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(shutdown)(descriptor, how) : INSIDE(rshutdown(other, how));
}

PUBLIC int close(int descriptor)
{
	int other = behind(descriptor);

	if (other >= 0) {
		__atomic_store_n(&stand_ins[descriptor].rsocket, 0, __ATOMIC_RELEASE);
		INSIDE(rclose(other));
	}
	return REAL(close)(descriptor);
}

PUBLIC int getpeername(int descriptor, struct sockaddr *address, socklen_t *byte_count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(getpeername)(descriptor, address, byte_count)
			 : INSIDE(rgetpeername(other, address, byte_count));
}

PUBLIC int getsockname(int descriptor, struct sockaddr *address, socklen_t *byte_count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(getsockname)(descriptor, address, byte_count)
			 : INSIDE(rgetsockname(other, address, byte_count));
}

PUBLIC int setsockopt(int descriptor, int level, int name, const void *value, socklen_t byte_count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(setsockopt)(descriptor, level, name, value, byte_count)
			 : INSIDE(rsetsockopt(other, level, name, value, byte_count));
}

PUBLIC int getsockopt(int descriptor, int level, int name, void *value, socklen_t *byte_count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(getsockopt)(descriptor, level, name, value, byte_count)
			 : INSIDE(rgetsockopt(other, level, name, value, byte_count));
}

static int control(int descriptor, int command, void *argument)
{
	int other = behind(descriptor);

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

/* --- bytes --- */

PUBLIC ssize_t recv(int descriptor, void *bytes, size_t count, int flags)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(recv)(descriptor, bytes, count, flags)
			 : INSIDE(rrecv(other, bytes, count, flags));
}

PUBLIC ssize_t recvfrom(int descriptor, void *bytes, size_t count, int flags,
			struct sockaddr *address, socklen_t *byte_count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(recvfrom)(descriptor, bytes, count, flags, address, byte_count)
			 : INSIDE(rrecvfrom(other, bytes, count, flags, address, byte_count));
}

PUBLIC ssize_t recvmsg(int descriptor, struct msghdr *message, int flags)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(recvmsg)(descriptor, message, flags)
			 : INSIDE(rrecvmsg(other, message, flags));
}

PUBLIC ssize_t read(int descriptor, void *bytes, size_t count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(read)(descriptor, bytes, count) : INSIDE(rread(other, bytes, count));
}

PUBLIC ssize_t readv(int descriptor, const struct iovec *parts, int count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(readv)(descriptor, parts, count)
			 : INSIDE(rreadv(other, parts, count));
}

PUBLIC ssize_t send(int descriptor, const void *bytes, size_t count, int flags)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(send)(descriptor, bytes, count, flags)
			 : INSIDE(rsend(other, bytes, count, flags));
}

PUBLIC ssize_t sendto(int descriptor, const void *bytes, size_t count, int flags,
		      const struct sockaddr *address, socklen_t byte_count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(sendto)(descriptor, bytes, count, flags, address, byte_count)
			 : INSIDE(rsendto(other, bytes, count, flags, address, byte_count));
}

PUBLIC ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(sendmsg)(descriptor, message, flags)
			 : INSIDE(rsendmsg(other, message, flags));
}

PUBLIC ssize_t write(int descriptor, const void *bytes, size_t count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(write)(descriptor, bytes, count)
			 : INSIDE(rwrite(other, bytes, count));
}

PUBLIC ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(writev)(descriptor, parts, count)
			 : INSIDE(rwritev(other, parts, count));
}

/* There is no short cut from a file to a ring: in pieces. */
static ssize_t send_file(int other, int file, off_t *offset, size_t count)
{
	char *bytes = malloc(COPY_BYTES);
	ssize_t total = 0;

	if (!bytes)
		return -1;
	while (count > 0) {
		size_t wanted = count < COPY_BYTES ? count : COPY_BYTES;
		ssize_t got = offset ? pread(file, bytes, wanted, *offset)
				     : REAL(read)(file, bytes, wanted);
		ssize_t sent = got > 0 ? INSIDE(rwrite(other, bytes, (size_t)got)) : got;

		if (sent <= 0) {
			if (total == 0)
				total = sent;
			break;
		}
		total += sent;
		count -= (size_t)sent;
		if (offset)
			*offset += sent;
		else if (sent < got)
			(void)!lseek(file, sent - got, SEEK_CUR);
		if (sent < got)
			break;
	}
	free(bytes);
	return total;
}

PUBLIC ssize_t sendfile(int descriptor, int file, off_t *offset, size_t count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(sendfile)(descriptor, file, offset, count)
			 : send_file(other, file, offset, count);
}

PUBLIC ssize_t sendfile64(int descriptor, int file, __off64_t *offset, size_t count)
{
	int other = behind(descriptor);

	return other < 0 ? REAL(sendfile64)(descriptor, file, offset, count)
			 : send_file(other, file, (off_t *)offset, count);
}

/* --- waiting --- */

static bool has_any(const struct pollfd *descriptors, nfds_t count)
{
	for (nfds_t i = 0; i < count; i++)
		if (behind(descriptors[i].fd) >= 0)
			return true;
	return false;
}

PUBLIC int poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
	if (depth || !has_any(descriptors, count))
		return REAL(poll)(descriptors, count, timeout);

	struct pollfd *translated = malloc(count * sizeof(*translated));

	if (!translated)
		return -1;
	for (nfds_t i = 0; i < count; i++) {
		int other = behind(descriptors[i].fd);

		translated[i] = descriptors[i];
		if (other >= 0)
			translated[i].fd = other;
	}

	int result = INSIDE(rpoll(translated, count, timeout));

	for (nfds_t i = 0; i < count; i++)
		descriptors[i].revents = result < 0 ? 0 : translated[i].revents;
	free(translated);
	return result;
}

PUBLIC int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	if (depth || !has_any(descriptors, count))
		return REAL(ppoll)(descriptors, count, timeout, mask);
	return poll(descriptors, count,
		    timeout ? (int)(timeout->tv_sec * 1000 + timeout->tv_nsec / 1000000) : -1);
}

static nfds_t collect(int limit, const fd_set *reads, const fd_set *writes, const fd_set *excepts,
		      struct pollfd *ret_descriptors)
{
	nfds_t count = 0;

	for (int descriptor = 0; descriptor < limit; descriptor++) {
		short events = 0;

		if (reads && FD_ISSET(descriptor, reads))
			events |= POLLIN;
		if (writes && FD_ISSET(descriptor, writes))
			events |= POLLOUT;
		if (excepts && FD_ISSET(descriptor, excepts))
			events |= POLLPRI;
		if (events)
			ret_descriptors[count++] =
				(struct pollfd){.fd = descriptor, .events = events};
	}
	return count;
}

/* Keeps those that are ready in a set; returns how many. */
static int keep(const struct pollfd *descriptors, nfds_t count, fd_set *set, short events)
{
	int kept = 0;

	for (nfds_t i = 0; set && i < count; i++) {
		if (!FD_ISSET(descriptors[i].fd, set))
			continue;
		if (descriptors[i].revents & events)
			kept++;
		else
			FD_CLR(descriptors[i].fd, set);
	}
	return kept;
}

PUBLIC int select(int limit, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout)
{
	struct pollfd descriptors[FD_SETSIZE];

	if (depth || limit > FD_SETSIZE)
		return REAL(select)(limit, reads, writes, excepts, timeout);

	nfds_t count = collect(limit, reads, writes, excepts, descriptors);

	if (count == 0 || !has_any(descriptors, count))
		return REAL(select)(limit, reads, writes, excepts, timeout);

	int result = poll(descriptors, count,
			  timeout ? (int)(timeout->tv_sec * 1000 + timeout->tv_usec / 1000) : -1);

	if (result < 0)
		return result;
	return keep(descriptors, count, reads, POLLIN | POLLHUP | POLLERR) +
	       keep(descriptors, count, writes, POLLOUT | POLLHUP | POLLERR) +
	       keep(descriptors, count, excepts, POLLPRI);
}
