/* SPDX-License-Identifier: Apache-2.0 */
/* Tells programs, and the files they read, how the ports of their host are. */
#ifndef SOFTIB_DAEMON_PACKETS_PORT_UPDATES_H
#define SOFTIB_DAEMON_PACKETS_PORT_UPDATES_H

#include <stdbool.h>
#include <stdint.h>
#include "host/protocol.h"

struct client;
struct daemon;
struct port;

/* The fabric's port_changed callback; the context is the daemon. */
void ports_changed(void *context, struct port *port);

/* Tells everybody concerned what changed since the last call. */
void port_updates_send(struct daemon *daemon);
/* Tells one program about all ports of an adapter, now and from now on. */
void port_updates_subscribe(struct client *client, unsigned adapter_index);
/* What found no room before. */
void port_updates_retry(struct client *client);

/* Links that should come up and are not Active on both sides, as far as the manager's port reaches;
 * all of the fabric when `from` is NULL. */
uint32_t inactive_ports_count(const struct daemon *daemon, const struct port *from);

#endif
