/* SPDX-License-Identifier: Apache-2.0 */
/* Making and releasing clients, with everything that the parts of softibd keep for them. */
#ifndef SOFTIB_DAEMON_CLIENT_LIFETIME_H
#define SOFTIB_DAEMON_CLIENT_LIFETIME_H

#include <sys/types.h>
#include "base/attributes.h"

struct account;
struct client;
struct daemon;

/* The client takes over the reference to its process's account, unless this fails. */
MUST_USE int client_create(struct daemon *daemon, int socket, struct account *account, pid_t pid,
			   struct client **ret_client);
/* Makes rings and doorbells and adds the client to its host's programs. */
MUST_USE int client_attach(struct client *client);
/* Releases the clients that client_end() ended. */
void clients_release_ended(struct daemon *daemon);

#endif
