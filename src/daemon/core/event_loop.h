/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors that softibd waits for, and the time of the present turn. */
#ifndef SOFTIB_DAEMON_CORE_EVENT_LOOP_H
#define SOFTIB_DAEMON_CORE_EVENT_LOOP_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

/* Lies inside the object that its descriptor wakes. */
struct watch {
	void (*ready)(struct watch *watch, uint32_t events);
};

struct event_loop {
	int epoll;
	time_ns now; /* read once per turn */
};

/* The clock that `now` is read from. */
time_ns event_loop_clock(void);

MUST_USE int event_loop_open(struct event_loop *loop);

/* Calls watch->ready when the descriptor is readable. */
MUST_USE int event_loop_watch(struct event_loop *loop, int descriptor, struct watch *watch);
/* Calls watch->ready for these epoll events; EPOLLERR and EPOLLHUP are always among them. */
MUST_USE int event_loop_watch_for(struct event_loop *loop, int descriptor, struct watch *watch,
				  uint32_t events);
/* Replaces the events of a descriptor that is watched already. */
int event_loop_change(struct event_loop *loop, int descriptor, struct watch *watch,
		      uint32_t events);
void event_loop_unwatch(struct event_loop *loop, int descriptor);

/* Calls the watches of the descriptors that are ready. Returns how many there were. */
int event_loop_poll(struct event_loop *loop, int timeout_ms);

#endif
