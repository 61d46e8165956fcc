/* SPDX-License-Identifier: Apache-2.0 */
/* Captures: packets that pass chosen ports, copied into a ring that a reader empties
 * (ipc/capture_ring.h). */
#ifndef SOFTIB_DAEMON_PACKETS_PACKET_CAPTURE_H
#define SOFTIB_DAEMON_PACKETS_PACKET_CAPTURE_H

#include <jansson.h>
#include <stdint.h>
#include "base/attributes.h"
#include "daemon/packets/capture_filter.h"
#include "fabric/topology/port_names.h"

struct capture;
struct client;
struct packet_plane;

enum { CAPTURE_PORTS_MAX = 256 /* so that their names fit one message */ };

/* Taps these ports for the client and takes over the list, also on failure. -EBUSY: the client has
 * a capture already, or there are CAPTURES_MAX. */
MUST_USE int capture_start(struct packet_plane *plane, struct client *client,
			   struct port_list *ports, const struct capture_filter *filter,
			   uint32_t ring_bytes, struct capture **ret_capture);

/* What the reader maps; the memory file and the doorbell stay softibd's. */
struct capture_share {
	int memory_file;
	int doorbell;
	const struct port_list *ports; /* in the order of the interface indexes */
};
void capture_share(const struct capture *capture, struct capture_share *ret_share);

/* Publishes the records of this turn, and wakes readers that sleep. */
void captures_publish(struct packet_plane *plane);
/* Ends the client's capture, if it has one. */
void capture_client_gone(struct packet_plane *plane, const struct client *client);

/* One row per capture. */
json_t *captures_describe(const struct packet_plane *plane);

#endif
