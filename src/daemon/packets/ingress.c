/* SPDX-License-Identifier: Apache-2.0 */
/* From the rings of programs to the ports of the fabric. */
#include "daemon/packets/ingress.h"

#include <string.h>
#include <sys/epoll.h>
#include "base/bytes.h"
#include "daemon/cm/cm_alternates.h"
#include "daemon/core/daemon_core.h"
#include "daemon/packets/delivery.h"
#include "daemon/packets/direct_rings.h"
#include "daemon/packets/flow_resolver.h"
#include "daemon/packets/frame_destination.h"
#include "daemon/packets/key_violation_traps.h"
#include "daemon/packets/packet_plane.h"
#include "daemon/packets/port_updates.h"
#include "daemon/packets/raw_owners.h"
#include "daemon/packets/verb_fault_injection.h"
#include "daemon/xrc/xrc_domains.h"
#include "fabric/known_paths.h"
#include "ipc/doorbell.h"
#include "wire/lrh.h"
#include "wire/pkey.h"

enum {
	RECORDS_PER_TURN = 256, /* of one client, so that it can't starve the others */
	RECORDS_PER_RELEASE = 32,
	DRAIN_TURNS = 256, /* of a program that ended: enough to empty its ring, unless the fabric
			      is full */
	DRAIN_FRAMES = 4096,
	EMPTY_READS_BEFORE_SLEEP = 64,
};

#define QUIET_BEFORE_SLEEP MICROSECONDS(50)

/* Programs may not send to QP0 or on VL15, and may send raw packets only if they own the port's raw
 * queue pair. The fabric checks LID and P_Key. */
static bool may_send(const struct client *client, const struct endpoint *endpoint,
		     struct frame *frame)
{
	unsigned offset = frame_bth_offset(frame);

	if (unlikely(!offset && frame_is_raw(frame)))
		return raw_owner(endpoint, frame) == client && !frame->header.is_management;
	return offset && bth_destination_qpn(frame->bytes + offset) != QPN_SMI &&
	       !frame->header.is_management;
}

/* Returns false when the fabric has no room: the record stays in the ring. */
static bool take_packet(struct client *client, const struct ring_record *record, time_ns now)
{
	struct daemon_core *core = client->core;
	struct endpoint *endpoint =
		host_endpoint(client->host, record->port >> 8, record->port & 255);

	if (!endpoint || record->packet_count != 1 || record->byte_count > PACKET_BYTES_MAX) {
		client_end(client, "invalid packet in its up ring");
		return true;
	}

	struct frame *frame = frame_take_for(&core->fabric.frames, record->byte_count);

	if (!frame)
		return false;
	memcpy(frame->bytes, record->body, record->byte_count);
	frame->byte_count = record->byte_count;
	frame->source = NULL;
	frame->static_rate = (uint8_t)record->word;
	frame->source_qpn = record->word >> 8;
	if (!may_send(client, endpoint, frame)) {
		endpoint->port->counters.drops[DROP_MALFORMED]++;
		frame_give_back(&core->fabric.frames, frame);
		return true;
	}

	uint32_t *inside = endpoint_inside(endpoint, get_be16(frame->bytes + LRH_DLID_OFFSET));

	frame->source = inside;
	++*inside;
	if (fabric_inject_through(&core->fabric, endpoint->port, frame, now))
		return true;
	--*inside;
	frame_give_back(&core->fabric.frames, frame);
	return false;
}

/* Returns false when the down ring has no room for the answer: the request stays in the up ring. */
static bool take_resolve_request(struct client *client, const struct ring_record *record)
{
	struct resolve_request request;
	struct resolve_answer answer;

	if (record->byte_count != sizeof(request)) {
		client_end(client, "invalid resolve request in its up ring");
		return true;
	}

	memcpy(&request, record->body, sizeof(request));
	/* Resolving may offer a direct ring to this same client, so room for the answer is reserved
	 * last. Without room the flow is resolved again later. */
	flow_resolve(client, &request, &answer);

	return client_send_record(client, RECORD_RESOLVED, request.source_port, 0, &answer,
				  sizeof(answer));
}

static bool take_record(struct client *client, const struct ring_record *record)
{
	switch (record->kind) {
	case RECORD_PACKET:
		return take_packet(client, record, client->core->loop.now);
	case RECORD_RESOLVE:
		return take_resolve_request(client, record);
	case RECORD_TARGET_RETURNED:
	case RECORD_TARGET_CLOSED:
	case RECORD_DOMAIN_CLOSED:
		if (!xrc_take_record(client, record))
			client_end(client, "invalid record about an XRC target in its up ring");
		return true;
	case RECORD_RAW_RELEASED:
		if (!raw_take_record(client, record))
			client_end(client, "invalid record about a raw queue pair in its up ring");
		return true;
	case RECORD_KEY_VIOLATION:
		if (!key_violation_take_record(client, record))
			client_end(client, "invalid record about a key violation in its up ring");
		return true;
	case RECORD_EXPOSE:
		return direct_ring_expose(client, record->word) == 0;
	case RECORD_ALTERNATE_LOADED:
	case RECORD_ALTERNATE_REFUSED:
		cm_alternate_take_record(client, record);
		return true;
	default:
		client_end(client, "unknown record in its up ring");
		return true;
	}
}

void ingress_hold_back(struct client *client)
{
	event_loop_change(&client->core->loop, client->rings.up_doorbell,
			  &client->rings.doorbell_watch, 0);
	list_remove(&client->rings.awake_link);
	share_hold_back(&client->core->shares, &client->rings.hold);
}

void ingress_resume_client(struct share_hold *hold)
{
	struct client *client = container_of(hold, struct client, rings.hold);

	event_loop_change(&client->core->loop, client->rings.up_doorbell,
			  &client->rings.doorbell_watch, EPOLLIN);
	client_wake(client);
}

/* Packets take little time, and are limited by the ring. Other records may make softibd walk paths
 * or tables, so their time is the process's. */
static bool take_charged(struct client *client, const struct ring_record *record)
{
	time_ns begin;
	bool is_taken;

	if (likely(record->kind == RECORD_PACKET))
		return take_record(client, record);
	begin = event_loop_clock();
	is_taken = take_record(client, record);
	share_charge(&client->core->shares, client->account, begin, event_loop_clock());
	return is_taken;
}

/* Whether the process has to wait, and does from now on. */
static bool has_to_wait(struct client *client)
{
	/* Most have not, which costs no more than this. */
	if (likely(client->account->time_spent <= SHARE_BURST) || client->is_ending ||
	    !share_is_used_up(&client->core->shares, client->account, event_loop_clock()))
		return false;
	ingress_hold_back(client);
	return true;
}

static void give_room_back(struct client *client)
{
	client->ingress.unreleased_count = 0;
	if (ring_release(&client->rings.up))
		doorbell_ring(client->rings.down_doorbell);
}

/* A stalled record stays in the ring until it is processed, so its room is not released. */
static void end_reading(struct client *client)
{
	if (client->rings.up.is_corrupt)
		client_end(client, "its up ring is corrupt");
	if (!client->ingress.stalled && client->ingress.unreleased_count)
		give_room_back(client);
}

static bool read_client(struct client *client)
{
	unsigned taken = 0;

	while (taken < RECORDS_PER_TURN && !client->was_cut_off) {
		const struct ring_record *record = client->ingress.stalled;

		if (!record)
			record = ring_next(&client->rings.up);
		if (!record)
			break;
		client->ingress.stalled = NULL;
		if (!take_charged(client, record)) {
			client->ingress.stalled = record;
			break;
		}
		taken++;
		if (unlikely(has_to_wait(client)))
			break;
		if (++client->ingress.unreleased_count == RECORDS_PER_RELEASE)
			give_room_back(client);
	}
	end_reading(client);
	return taken > 0;
}

/* Takes packets only, and injects them at an instant in the past. Returns whether there was room
 * for any. */
static bool read_packets(struct client *client, time_ns instant)
{
	bool has_read = false;

	while (!client->was_cut_off) {
		const struct ring_record *record = client->ingress.stalled;

		if (!record)
			record = ring_next(&client->rings.up);
		client->ingress.stalled = record;
		if (!record || record->kind != RECORD_PACKET ||
		    !take_packet(client, record, instant))
			break;
		client->ingress.stalled = NULL;
		has_read = true;
		if (++client->ingress.unreleased_count == RECORDS_PER_RELEASE)
			give_room_back(client);
	}
	end_reading(client);
	return has_read;
}

void ingress_refill(void *context, struct port *port)
{
	struct packet_plane *plane = context;
	const struct endpoint *endpoint = port->endpoint;
	struct list *served = NULL;

	/* A fabric that is on time is refilled by ingress_read(). */
	if (plane->core->fabric.now >= plane->core->loop.now || !endpoint || !endpoint->adapter)
		return;

	struct list *programs = &endpoint->adapter->host->programs;

	list_for_each (link, programs) {
		struct client *client = container_of(link, struct client, host_link);

		if (client->ingress.stalled && !client->is_ending &&
		    read_packets(client, plane->core->fabric.now) && !served)
			served = link;
	}
	/* The other programs come first next time. */
	if (served) {
		list_remove(served);
		list_append(programs, served);
	}
}

bool ingress_retry(struct packet_plane *plane)
{
	bool is_busy = false;

	list_for_each_safe (link, &plane->core->clients.awake) {
		struct client *client = container_of(link, struct client, rings.awake_link);

		if (client->ingress.stalled && !client->is_ending)
			is_busy |= read_client(client);
	}
	return is_busy;
}

/* softibd polls a ring for a while after its last record, then the producer has to ring. Time alone
 * does not count, because softibd may have waited for a processor without polling. */
static bool is_quiet(const struct client *client, time_ns now)
{
	return client->ingress.empty_read_count >= EMPTY_READS_BEFORE_SLEEP &&
	       now - client->ingress.active_at > QUIET_BEFORE_SLEEP;
}

void ingress_read(struct packet_plane *plane)
{
	list_for_each_safe (link, &plane->core->clients.awake) {
		struct client *client = container_of(link, struct client, rings.awake_link);

		if (client->is_ending) {
			list_remove(link);
			continue;
		}
		if (unlikely(has_to_wait(client)))
			continue;
		if (read_client(client)) {
			share_note(&plane->core->shares, client->account, plane->core->loop.now);
			client->ingress.active_at = plane->core->loop.now;
			client->ingress.empty_read_count = 0;
		} else if (!client->ingress.stalled) {
			client->ingress.empty_read_count++;
			if (is_quiet(client, plane->core->loop.now) &&
			    !ring_sleep(&client->rings.up))
				list_remove(link);
		}
	}
}

bool ingress_has_records(const struct packet_plane *plane)
{
	list_for_each (link, &plane->core->clients.awake) {
		const struct client *client = container_of(link, struct client, rings.awake_link);

		if (!client->ingress.stalled && !client->is_ending &&
		    !ring_is_empty(&client->rings.up))
			return true;
	}
	return false;
}

void ingress_client_has_room(struct packet_plane *plane, struct client *client)
{
	delivery_unblock(plane, client->host);
	port_updates_retry(client);
	verb_faults_send(client);
	xrc_client_has_room(client);
}

static void read_to_the_end(struct client *client)
{
	for (unsigned turns = 0; turns < DRAIN_TURNS && !client->was_cut_off; turns++) {
		if (!read_client(client) && !client->ingress.stalled)
			break;
		fabric_step(&client->core->fabric, client->core->loop.now, DRAIN_FRAMES);
	}
}

void ingress_client_gone(struct packet_plane *plane, struct client *client)
{
	/* The packets that the program sent before it ended count as sent: its last acknowledgement
	 * may be among them, and a peer waits for that. */
	read_to_the_end(client);
	delivery_unblock(plane, client->host);
}
