/* SPDX-License-Identifier: Apache-2.0 */
/* From the ports of the fabric to the rings of programs. */
#include "daemon/packets/delivery.h"

#include <string.h>
#include "base/bytes.h"
#include "daemon/cm/cm_fabric.h"
#include "daemon/cm/ipoib_port.h"
#include "daemon/core/daemon_core.h"
#include "daemon/mad/mad_dispatch.h"
#include "daemon/packets/frame_destination.h"
#include "daemon/packets/packet_plane.h"
#include "daemon/packets/raw_owners.h"
#include "daemon/xrc/xrc_leases.h"
#include "net/link/counters.h"
#include "wire/opcode.h"
#include "wire/pkey.h"
#include "wire/transport_headers.h"

/* A packet whose program has no room waits at its port, and with it all that follows, MADs and
 * packets of other programs too. Programs that take packets as fast as they can earn this by each
 * packet, so a fast sender is slowed down and loses nothing. A program that takes few or none uses
 * up HOLD_MAX once; from then on its packets are lost, as at an adapter without a receive buffer.
 */
#define HOLD_MAX    MILLISECONDS(100)
#define HOLD_EARNED MICROSECONDS(100)

/* The number that selects the receiving program: the EE context of a reliable datagram (in the
 * first extended header), or else the destination queue pair. */
static uint32_t receiver_number(const uint8_t *bth, size_t byte_count)
{
	if (opcode_transport(bth[0]) == TRANSPORT_RD && byte_count >= BTH_BYTES + RDETH_BYTES)
		return get_be24(bth + BTH_BYTES + 1);
	return bth_destination_qpn(bth);
}

static time_ns hold_left(const struct client *client)
{
	time_ns spent = client->delivery.hold_spent;

	return spent < HOLD_MAX ? HOLD_MAX - spent : 0;
}

static void begin_hold(struct client *client)
{
	if (client->delivery.held_since == TIME_NEVER)
		client->delivery.held_since = client->core->loop.now;
	/* So that put_packet() looks at one field only. */
	if (!client->delivery.hold_spent)
		client->delivery.hold_spent = 1;
}

static void end_hold(struct client *client)
{
	struct client_delivery *delivery = &client->delivery;
	time_ns left = hold_left(client);
	time_ns held = 0;

	if (delivery->held_since != TIME_NEVER)
		held = client->core->loop.now - delivery->held_since;
	delivery->hold_spent += held < left ? held : left;
	delivery->held_since = TIME_NEVER;
}

static void earn_hold(struct client *client)
{
	time_ns spent;

	end_hold(client);
	spent = client->delivery.hold_spent;
	client->delivery.hold_spent = spent > HOLD_EARNED ? spent - HOLD_EARNED : 0;
}

static bool hold_is_over(const struct client *client)
{
	time_ns since = client->delivery.held_since;

	return !hold_left(client) ||
	       (since != TIME_NEVER && client->core->loop.now - since >= hold_left(client));
}

static bool put_packet(struct client *client, const struct endpoint *endpoint,
		       enum record_kind kind, const struct frame *frame)
{
	struct ring_record *record = client_reserve(client, frame->byte_count);

	if (!record)
		return false;
	record->byte_count = frame->byte_count;
	record->kind = (uint16_t)kind;
	record->port = (uint16_t)(endpoint->adapter->index << 8 | endpoint->port->number);
	record->packet_count = 1;
	record->word = 0;
	memcpy(record->body, frame->bytes, frame->byte_count);
	client_commit(client, record);
	client->delivery.last_packet_end = client->rings.down.tail;
	if (unlikely(client->delivery.hold_spent))
		earn_hold(client);
	return true;
}

/* Each program that uses the adapter gets a copy and filters it by the groups of its queue pairs.
 */
static void deliver_multicast(struct endpoint *endpoint, const struct frame *frame)
{
	list_for_each (link, &endpoint->adapter->host->programs) {
		struct client *client = container_of(link, struct client, host_link);
		uint32_t bit = 1u << endpoint->adapter->index;

		if (!client->is_ending && (client->updates.adapters_used & bit) &&
		    !put_packet(client, endpoint, RECORD_PACKET, frame))
			port_count_drop(endpoint->port, DROP_RECEIVER_FULL);
	}
}

/* Returns false if the packet has to wait for room. The client may be NULL. */
static bool deliver_to(struct packet_plane *plane, struct endpoint *endpoint, struct client *client,
		       enum record_kind kind, const struct frame *frame)
{
	if (!client || client->is_ending || !client->is_attached) {
		endpoint->port->counters.drops[DROP_NO_LISTENER]++;
		return true;
	}
	if (put_packet(client, endpoint, kind, frame))
		return true;
	if (client->is_ending || hold_is_over(client)) {
		end_hold(client);
		port_count_drop(endpoint->port, DROP_RECEIVER_FULL);
		return true;
	}
	begin_hold(client);
	if (!list_is_linked(&endpoint->blocked_link))
		list_append(&plane->blocked, &endpoint->blocked_link);
	return false;
}

/* The packet has left the fabric: its sender's port has one less on the way to this destination. */
static void count_out(const struct frame *frame)
{
	if (frame->source)
		--*(uint32_t *)frame->source;
}

void delivery_gone(void *context, struct frame *frame, enum drop_reason reason)
{
	(void)context;
	(void)reason;
	count_out(frame);
}

/* A router's port and a switch's port 0 receive MADs only. */
static void deliver_mad(struct packet_plane *plane, struct port *port, struct frame *frame)
{
	unsigned offset = frame_bth_offset(frame);

	if (!offset || bth_destination_qpn(frame->bytes + offset) > QPN_GSI) {
		port->counters.drops[DROP_NO_LISTENER]++;
	} else {
		plane->core->managers_have_news = true;
		mad_dispatch_receive(plane->mads, port, frame, plane->core->loop.now);
	}
	count_out(frame);
	frame_give_back(&plane->core->fabric.frames, frame);
}

bool delivery_make(void *context, struct port *port, struct frame *frame)
{
	struct packet_plane *plane = context;
	struct endpoint *endpoint = port->endpoint;
	unsigned offset = frame_bth_offset(frame);
	bool is_taken = true;

	if (unlikely(endpoint && !endpoint->adapter)) {
		deliver_mad(plane, port, frame);
		return true;
	}
	if (unlikely(endpoint && !offset && frame_is_raw(frame))) {
		is_taken = deliver_to(plane, endpoint, raw_owner(endpoint, frame),
				      RECORD_RAW_PACKET, frame);
	} else if (!offset || !endpoint) {
		port->counters.drops[DROP_MALFORMED]++;
	} else {
		uint32_t qpn = receiver_number(frame->bytes + offset, frame->byte_count - offset);

		if (unlikely(qpn <= QPN_GSI || qpn == QPN_IPOIB ||
			     lid_is_multicast(frame->header.dlid)))
			plane->core->managers_have_news = true;
		if (qpn == QPN_SMI || qpn == QPN_GSI)
			mad_dispatch_receive(plane->mads, port, frame, plane->core->loop.now);
		else if (lid_is_multicast(frame->header.dlid)) {
			cm_fabric_receive_ip(plane->cm, port, frame);
			deliver_multicast(endpoint, frame);
		} else if (qpn == QPN_IPOIB)
			cm_fabric_receive_ip(plane->cm, port, frame);
		else if (unlikely(xrc_target_is_leased(endpoint->adapter, qpn)))
			xrc_lease_deliver(endpoint, qpn, frame, offset);
		else
			is_taken = deliver_to(plane, endpoint,
					      qpn_space_owner(&endpoint->adapter->qpns, qpn),
					      RECORD_PACKET, frame);
	}
	if (is_taken) {
		count_out(frame);
		frame_give_back(&plane->core->fabric.frames, frame);
	}
	return is_taken;
}

void delivery_unblock(struct packet_plane *plane, const struct host *host)
{
	list_for_each_safe (link, &plane->blocked) {
		struct endpoint *endpoint = container_of(link, struct endpoint, blocked_link);

		if (endpoint->adapter->host != host)
			continue;
		list_remove(link);
		fabric_endpoint_ready(&plane->core->fabric, endpoint->port);
	}
}

time_ns delivery_deadline(const struct packet_plane *plane)
{
	time_ns deadline = TIME_NEVER;

	if (list_is_empty(&plane->blocked))
		return TIME_NEVER;
	list_for_each (link, &plane->core->clients.all) {
		const struct client *client = container_of(link, struct client, link);

		if (client->delivery.held_since != TIME_NEVER)
			deadline = time_earlier(deadline,
						client->delivery.held_since + hold_left(client));
	}
	return deadline;
}

void delivery_expire(struct packet_plane *plane)
{
	if (delivery_deadline(plane) > plane->core->loop.now)
		return;
	list_for_each (link, &plane->core->clients.all) {
		struct client *client = container_of(link, struct client, link);

		if (client->delivery.held_since != TIME_NEVER && hold_is_over(client))
			delivery_unblock(plane, client->host);
	}
}
