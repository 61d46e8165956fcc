/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: accepting clients, running their commands, sending the replies. */
#ifndef SOFTIB_DAEMON_SERVER_H
#define SOFTIB_DAEMON_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "daemon/core/event_loop.h"
#include "daemon/core/fair_share.h"

struct daemon;

/* A socket that clients connect to. */
struct server_socket {
	int socket;
	struct watch watch;
	struct daemon *daemon;
	struct share_hold hold; /* while no connections are accepted */
	bool is_for_operators;
};

struct server {
	struct server_socket programs, operators;
	struct account entrance; /* softibd's time for all connections that come and go */
	int reserve;		 /* closed to make room for accept() when descriptors run out */
	struct list catching_up; /* clients that wait until their up rings have been read */
	uint32_t waiter_count;	 /* clients that wait until all ports are active */
	time_ns waiters_checked_at;
};

/* Before the first turn; the fabric settles before programs find it. */
void server_init(struct server *server);
MUST_USE int server_start(struct daemon *daemon);
void server_stop(struct daemon *daemon);

/* A client's socket is readable or hung up. */
void server_client_ready(struct watch *watch, uint32_t events);
/* The client's process has a share of softibd's time again. */
void server_resume_client(struct share_hold *hold);

struct client;
struct reply;
/* The reply comes when softibd has read what is in the client's up ring now. */
void server_await_catch_up(struct client *client, struct reply *reply);

/* Replies to "catch-up" commands whose rings have been read, and to "wait-active" commands whose
 * condition or deadline has come. */
void server_answer_waiters(struct daemon *daemon);
time_ns server_deadline(const struct daemon *daemon);

#endif
