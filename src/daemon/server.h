/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: accepting clients, running their commands, sending the replies. */
#ifndef SOFTIB_DAEMON_SERVER_H
#define SOFTIB_DAEMON_SERVER_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/core/event_loop.h"

struct daemon;

struct server {
	int listener;
	int reserve; /* closed to make room for accept() when descriptors run out */
	struct watch listener_watch;
	uint32_t waiter_count; /* clients that wait until all ports are active */
	time_ns waiters_checked_at;
};

MUST_USE int server_start(struct daemon *daemon);
void server_stop(struct daemon *daemon);

/* A client's socket is readable or hung up. */
void server_client_ready(struct watch *watch, uint32_t events);

/* Replies to "wait-active" commands whose condition or deadline has come. */
void server_answer_waiters(struct daemon *daemon);
time_ns server_deadline(const struct daemon *daemon);

#endif
