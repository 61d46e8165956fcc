/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: who may connect, what they ask, what they are answered. */
#ifndef SOFTIB_DAEMON_SERVER_H
#define SOFTIB_DAEMON_SERVER_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/core/event_loop.h"

struct daemon;

struct server {
	int listener;
	int reserve; /* a descriptor to give up when there are no others */
	struct watch listener_watch;
	uint32_t waiter_count; /* clients that wait until all ports are active */
	time_ns waiters_checked_at;
};

MUST_USE int server_start(struct daemon *daemon);
void server_stop(struct daemon *daemon);

/* A client's socket is readable or hung up. */
void server_client_ready(struct watch *watch, uint32_t events);

/* Answers those who wait until all ports are active. */
void server_answer_waiters(struct daemon *daemon);
time_ns server_deadline(const struct daemon *daemon);

#endif
