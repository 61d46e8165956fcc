/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: who may connect, what they ask, what they are answered. */
#ifndef SOFTIB_DAEMON_SERVER_H
#define SOFTIB_DAEMON_SERVER_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

struct client;
struct daemon;
struct watch;

MUST_USE int server_start(struct daemon *daemon);
void server_stop(struct daemon *daemon);

/* A client's socket is readable or hung up. */
void server_client_ready(struct daemon *daemon, struct watch *watch, uint32_t events);

/* Answers those who wait until all ports are active. */
void server_answer_waiters(struct daemon *daemon);
time_ns server_deadline(const struct daemon *daemon);

#endif
