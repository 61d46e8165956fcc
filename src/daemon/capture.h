/* SPDX-License-Identifier: Apache-2.0 */
/* Captures: packets that pass chosen ports, copied into a ring that a reader empties (host/capture_channel.h). */
#ifndef SOFTIB_DAEMON_CAPTURE_H
#define SOFTIB_DAEMON_CAPTURE_H

#include <jansson.h>
#include <stdint.h>
#include "base/attributes.h"
#include "daemon/capture_filter.h"
#include "fabric/topology/port_names.h"

struct capture;
struct client;
struct daemon;

enum { CAPTURES_MAX = 64, CAPTURE_PORTS_MAX = 256 /* whose names fit one message */ };

/* Taps these ports for the client; the list becomes the capture's, whatever happens. -EBUSY: the client has one already, or
 * there are too many. */
MUST_USE int capture_start(struct client *client, struct port_list *ports,
			   const struct capture_filter *filter, uint32_t ring_bytes,
			   struct capture **ret_capture);

/* What the reader needs; the memory file and the doorbell stay softibd's. */
struct capture_share {
	int memory_file;
	int doorbell;
	const struct port_list *ports; /* in the order of the interface indexes */
};
void capture_share(const struct capture *capture, struct capture_share *ret_share);

/* Shows the readers what came, and wakes those that sleep. */
void captures_publish(struct daemon *daemon);
/* The client is gone, and its capture with it. */
void capture_client_gone(struct client *client);

/* One row per capture. */
json_t *captures_describe(const struct daemon *daemon);

#endif
