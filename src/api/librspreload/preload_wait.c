/* SPDX-License-Identifier: Apache-2.0 */
/* librspreload.so: poll and select over rsockets and other descriptors. */
#include <poll.h>
#include <rdma/rsocket.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>
#include "api/librspreload/preload.h"

static bool has_any(const struct pollfd *descriptors, nfds_t count)
{
	for (nfds_t i = 0; i < count; i++)
		if (preload_behind(descriptors[i].fd) >= 0)
			return true;
	return false;
}

PUBLIC int poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
	if (preload_depth || !has_any(descriptors, count))
		return REAL(poll)(descriptors, count, timeout);

	struct pollfd *translated = malloc(count * sizeof(*translated));

	if (!translated)
		return -1;
	for (nfds_t i = 0; i < count; i++) {
		int other = preload_behind(descriptors[i].fd);

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
	if (preload_depth || !has_any(descriptors, count))
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

/* Leaves only the ready descriptors in the set; returns how many. */
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

PUBLIC int select(int limit, fd_set *reads, fd_set *writes, fd_set *excepts,
		  struct timeval *timeout)
{
	struct pollfd descriptors[FD_SETSIZE];

	if (preload_depth || limit > FD_SETSIZE)
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
