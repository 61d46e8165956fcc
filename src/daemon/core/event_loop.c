/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors that softibd waits for, by epoll. */
#include "daemon/core/event_loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>

enum { EVENTS_PER_POLL = 64 };

time_ns event_loop_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return SECONDS(now.tv_sec) + (time_ns)now.tv_nsec;
}

int event_loop_open(struct event_loop *loop)
{
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	return loop->epoll < 0 ? -errno : 0;
}

static int control(struct event_loop *loop, int operation, int descriptor, struct watch *watch,
		   uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	return epoll_ctl(loop->epoll, operation, descriptor, &event) == 0 ? 0 : -errno;
}

int event_loop_watch(struct event_loop *loop, int descriptor, struct watch *watch)
{
	return control(loop, EPOLL_CTL_ADD, descriptor, watch, EPOLLIN);
}

int event_loop_watch_for(struct event_loop *loop, int descriptor, struct watch *watch,
			 uint32_t events)
{
	return control(loop, EPOLL_CTL_ADD, descriptor, watch, events);
}

int event_loop_change(struct event_loop *loop, int descriptor, struct watch *watch, uint32_t events)
{
	return control(loop, EPOLL_CTL_MOD, descriptor, watch, events);
}

void event_loop_unwatch(struct event_loop *loop, int descriptor)
{
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

int event_loop_poll(struct event_loop *loop, int timeout_ms)
{
	struct epoll_event events[EVENTS_PER_POLL];
	int count = epoll_wait(loop->epoll, events, EVENTS_PER_POLL, timeout_ms);

	if (timeout_ms)
		loop->now = event_loop_clock();
	for (int index = 0; index < count; index++) {
		struct watch *watch = events[index].data.ptr;

		watch->ready(watch, events[index].events);
	}
	return count;
}
