/* SPDX-License-Identifier: Apache-2.0 */
/* Between the rings of programs and the ports of the fabric: packets up, packets down, and what
 * waits for room. */
#include "daemon/bridge.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "daemon/client.h"
#include "daemon/cm_alternates.h"
#include "daemon/ipoib_port.h"
#include "daemon/flows.h"
#include "daemon/ports.h"
#include "daemon/raw_owners.h"
#include "daemon/verb_faults.h"
#include "daemon/xrc_domains.h"
#include "fabric/known_paths.h"
#include "host/doorbell.h"
#include "wire/grh.h"
#include "wire/lrh.h"
#include "wire/opcode.h"
#include "wire/pkey.h"
#include "wire/transport_headers.h"

enum {
	RECORDS_PER_TURN = 256, /* of one client, so that none starves the others */
	RECORDS_PER_RELEASE = 32,
	DRAIN_TURNS = 256, /* of a program that ended: more than its ring holds, unless the fabric
			      is full */
	DRAIN_FRAMES = 4096,
	LOOKS_BEFORE_SLEEP = 64,
};

#define QUIET_BEFORE_SLEEP  MICROSECONDS(50)
#define FULL_BEFORE_DISCARD MILLISECONDS(100)

/* Where the BTH of a packet lies, or 0 when there is none. */
static unsigned bth_offset(struct frame *frame)
{
	if (!frame_read_header(frame) || frame->header.is_raw)
		return 0;
	return LRH_BYTES + (frame->header.is_global ? GRH_BYTES : 0);
}

static uint32_t destination_qpn(const uint8_t *bth)
{
	return get_be24(bth + 5);
}

/* Whose number says which program a packet is for: a reliable datagram's EE context (the first
 * extended header), or else the queue pair. */
static uint32_t receiver_number(const uint8_t *bth, size_t byte_count)
{
	if (opcode_transport(bth[0]) == TRANSPORT_RD && byte_count >= BTH_BYTES + RDETH_BYTES)
		return get_be24(bth + BTH_BYTES + 1);
	return destination_qpn(bth);
}

static bool is_raw(struct frame *frame)
{
	return frame_read_header(frame) && frame->header.is_raw;
}

/* Only a subnet manager talks to the subnet management interface, and raw packets are for who has
 * the port's queue pair; LID and P_Key are the fabric's to check. */
static bool may_send(const struct client *client, const struct endpoint *endpoint,
		     struct frame *frame)
{
	unsigned offset = bth_offset(frame);

	if (unlikely(!offset && is_raw(frame)))
		return raw_owner(endpoint, frame) == client && !frame->header.is_management;
	return offset && destination_qpn(frame->bytes + offset) != QPN_SMI &&
	       !frame->header.is_management;
}

/* Returns false when the fabric has no room now: the record is kept. */
static bool take_packet(struct client *client, const struct ring_record *record)
{
	struct daemon *daemon = client->daemon;
	struct endpoint *endpoint =
		host_endpoint(client->host, record->port >> 8, record->port & 255);

	if (!endpoint || record->packet_count != 1 || record->byte_count > PACKET_BYTES_MAX) {
		client_end(client, "a packet in its up ring makes no sense");
		return true;
	}

	struct frame *frame = frame_take_for(&daemon->fabric.frames, record->byte_count);

	if (!frame)
		return false;
	memcpy(frame->bytes, record->body, record->byte_count);
	frame->byte_count = record->byte_count;
	frame->source = NULL;
	frame->static_rate = (uint8_t)record->word;
	frame->source_qpn = record->word >> 8;
	if (!may_send(client, endpoint, frame)) {
		endpoint->port->counters.drops[DROP_MALFORMED]++;
		frame_give_back(&daemon->fabric.frames, frame);
		return true;
	}

	uint32_t *inside = endpoint_inside(endpoint, get_be16(frame->bytes + LRH_DLID_OFFSET));

	frame->source = inside;
	++*inside;
	if (fabric_inject_through(&daemon->fabric, endpoint->port, frame, daemon->now))
		return true;
	--*inside;
	frame_give_back(&daemon->fabric.frames, frame);
	return false;
}

/* Returns false when the answer has no room: the question is kept. */
static bool take_question(struct client *client, const struct ring_record *record)
{
	struct resolve_request request;
	struct resolve_answer answer;

	if (record->byte_count != sizeof(request)) {
		client_end(client, "a question in its up ring makes no sense");
		return true;
	}

	memcpy(&request, record->body, sizeof(request));
	/* Deciding may offer a ring to this very client, so room for the answer is looked for last,
	 * and the decision is made again if there was none. */
	flow_resolve(client, &request, &answer);

	struct ring_record *reply = client_reserve(client, sizeof(answer));

	if (!reply)
		return false;
	reply->byte_count = sizeof(answer);
	reply->kind = RECORD_RESOLVED;
	reply->port = request.source_port;
	reply->packet_count = 0;
	reply->word = 0;
	memcpy(reply->body, &answer, sizeof(answer));
	client_commit(client, reply);
	return true;
}

static bool take_record(struct client *client, const struct ring_record *record)
{
	switch (record->kind) {
	case RECORD_PACKET:
		return take_packet(client, record);
	case RECORD_RESOLVE:
		return take_question(client, record);
	case RECORD_TARGET_RETURNED:
	case RECORD_TARGET_CLOSED:
	case RECORD_DOMAIN_CLOSED:
		if (!xrc_take_record(client, record))
			client_end(client, "a record about an XRC target makes no sense");
		return true;
	case RECORD_RAW_RELEASED:
		if (!raw_take_record(client, record))
			client_end(client, "a record about a raw queue pair makes no sense");
		return true;
	case RECORD_ALTERNATE_LOADED:
	case RECORD_ALTERNATE_REFUSED:
		cm_alternate_take_record(client, record);
		return true;
	default:
		client_end(client, "an unknown record in its up ring");
		return true;
	}
}

static void give_room_back(struct client *client)
{
	if (ring_release(&client->up))
		doorbell_ring(client->down_doorbell);
}

static bool read_client(struct client *client)
{
	unsigned taken = 0;

	while (taken < RECORDS_PER_TURN && !client->was_cut_off) {
		const struct ring_record *record = client->stalled;

		if (!record)
			record = ring_next(&client->up);
		if (!record)
			break;
		client->stalled = NULL;
		if (!take_record(client, record)) {
			client->stalled = record;
			break;
		}
		if (++taken % RECORDS_PER_RELEASE == 0)
			give_room_back(client);
	}
	if (client->up.is_corrupt)
		client_end(client, "its up ring makes no sense");
	/* A stalled record lies in the ring until it is dealt with. */
	if (!client->stalled && taken)
		give_room_back(client);
	return taken > 0;
}

bool bridge_retry(struct daemon *daemon)
{
	bool is_busy = false;

	list_for_each (link, &daemon->awake) {
		struct client *client = container_of(link, struct client, awake_link);

		if (client->stalled && !client->is_ending)
			is_busy |= read_client(client);
	}
	return is_busy;
}

/* A ring is looked at for a while after its last record before its producer has to ring. The time
 * alone does not count: while softibd waits for a core, nobody looks. */
static bool is_quiet(const struct client *client, time_ns now)
{
	return client->looks_in_vain >= LOOKS_BEFORE_SLEEP &&
	       now - client->active_at > QUIET_BEFORE_SLEEP;
}

void bridge_read(struct daemon *daemon)
{
	list_for_each_safe (link, &daemon->awake) {
		struct client *client = container_of(link, struct client, awake_link);

		if (client->is_ending) {
			list_remove(link);
			continue;
		}
		if (read_client(client)) {
			client->active_at = daemon->now;
			client->looks_in_vain = 0;
		} else if (!client->stalled) {
			client->looks_in_vain++;
			if (is_quiet(client, daemon->now) && !ring_sleep(&client->up))
				list_remove(link);
		}
	}
}

bool bridge_has_news(const struct daemon *daemon)
{
	list_for_each (link, &daemon->awake) {
		const struct client *client = container_of(link, struct client, awake_link);

		if (!client->stalled && !client->is_ending && !ring_is_empty(&client->up))
			return true;
	}
	return false;
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
	client->last_packet_end = client->down.tail;
	client->full_since = TIME_NEVER;
	return true;
}

/* Each program that uses the adapter gets a copy, and decides by its queue pairs' groups. */
static void deliver_multicast(struct endpoint *endpoint, const struct frame *frame)
{
	list_for_each (link, &endpoint->adapter->host->programs) {
		struct client *client = container_of(link, struct client, host_link);
		uint32_t bit = 1u << endpoint->adapter->index;

		if (!client->is_ending && (client->adapters_used & bit) &&
		    !put_packet(client, endpoint, RECORD_PACKET, frame))
			endpoint->port->counters.drops[DROP_LIFETIME]++;
	}
}

/* Returns false while the packet should wait for room. The client may be NULL. */
static bool deliver_to(struct daemon *daemon, struct endpoint *endpoint, struct client *client,
		       enum record_kind kind, const struct frame *frame)
{
	if (!client || client->is_ending || !client->is_attached) {
		endpoint->port->counters.drops[DROP_NO_LISTENER]++;
		return true;
	}
	if (put_packet(client, endpoint, kind, frame))
		return true;
	if (client->full_since == TIME_NEVER)
		client->full_since = daemon->now;
	if (client->is_ending || daemon->now - client->full_since >= FULL_BEFORE_DISCARD) {
		endpoint->port->counters.drops[DROP_LIFETIME]++;
		return true;
	}
	if (!list_is_linked(&endpoint->blocked_link))
		list_append(&daemon->blocked, &endpoint->blocked_link);
	return false;
}

/* One packet less on its way to where it goes. */
static void count_out(const struct frame *frame)
{
	if (frame->source)
		--*(uint32_t *)frame->source;
}

void bridge_gone(void *context, struct frame *frame, enum drop_reason reason)
{
	(void)context;
	(void)reason;
	count_out(frame);
}

/* QP1 is all there is at a router's port. */
static void deliver_to_router(struct daemon *daemon, struct port *port, struct frame *frame)
{
	unsigned offset = bth_offset(frame);

	if (!offset || destination_qpn(frame->bytes + offset) != QPN_GSI) {
		port->counters.drops[DROP_NO_LISTENER]++;
	} else {
		daemon->managers_have_news = true;
		mad_dispatch_receive(&daemon->mads, port, frame, daemon->now);
	}
	count_out(frame);
	frame_give_back(&daemon->fabric.frames, frame);
}

bool bridge_deliver(void *context, struct port *port, struct frame *frame)
{
	struct daemon *daemon = context;
	struct endpoint *endpoint = port->endpoint;
	unsigned offset = bth_offset(frame);
	bool is_taken = true;

	if (unlikely(endpoint && !endpoint->adapter)) {
		deliver_to_router(daemon, port, frame);
		return true;
	}
	if (unlikely(endpoint && !offset && is_raw(frame))) {
		is_taken = deliver_to(daemon, endpoint, raw_owner(endpoint, frame),
				      RECORD_RAW_PACKET, frame);
	} else if (!offset || !endpoint) {
		port->counters.drops[DROP_MALFORMED]++;
	} else {
		uint32_t qpn =
			receiver_number(frame->bytes + offset, frame->byte_count - offset);

		if (unlikely(qpn <= QPN_GSI || qpn == QPN_IPOIB || lid_is_multicast(frame->header.dlid)))
			daemon->managers_have_news = true;
		if (qpn == QPN_SMI || qpn == QPN_GSI)
			mad_dispatch_receive(&daemon->mads, port, frame, daemon->now);
		else if (lid_is_multicast(frame->header.dlid)) {
			cm_fabric_receive_ip(&daemon->cm, port, frame);
			deliver_multicast(endpoint, frame);
		} else if (qpn == QPN_IPOIB)
			cm_fabric_receive_ip(&daemon->cm, port, frame);
		else if (unlikely(xrc_keeps(endpoint->adapter, qpn)))
			xrc_deliver(endpoint, qpn, frame, offset);
		else
			is_taken = deliver_to(daemon, endpoint,
					      qpn_space_owner(&endpoint->adapter->qpns, qpn),
					      RECORD_PACKET, frame);
	}
	if (is_taken) {
		count_out(frame);
		frame_give_back(&daemon->fabric.frames, frame);
	}
	return is_taken;
}

static void unblock(struct daemon *daemon, const struct host *host)
{
	list_for_each_safe (link, &daemon->blocked) {
		struct endpoint *endpoint = container_of(link, struct endpoint, blocked_link);

		if (endpoint->adapter->host != host)
			continue;
		list_remove(link);
		fabric_endpoint_ready(&daemon->fabric, endpoint->port);
	}
}

void bridge_client_has_room(struct client *client)
{
	unblock(client->daemon, client->host);
	ports_catch_up(client);
	verb_faults_tell(client);
	xrc_client_has_room(client);
}

void bridge_catch_up(struct client *client)
{
	for (unsigned turns = 0; turns < DRAIN_TURNS && !client->was_cut_off; turns++) {
		if (!read_client(client) && !client->stalled)
			break;
		fabric_step(&client->daemon->fabric, client->daemon->now, DRAIN_FRAMES);
	}
}

void bridge_client_gone(struct client *client)
{
	/* What it sent before it ended was sent: its last acknowledgement may be there, and its
	 * peer waits for that. */
	bridge_catch_up(client);
	unblock(client->daemon, client->host);
}

time_ns bridge_deadline(const struct daemon *daemon)
{
	time_ns deadline = TIME_NEVER;

	if (list_is_empty(&daemon->blocked))
		return TIME_NEVER;
	list_for_each (link, &daemon->clients) {
		const struct client *client = container_of(link, struct client, link);

		if (client->full_since != TIME_NEVER)
			deadline = time_earlier(deadline, client->full_since + FULL_BEFORE_DISCARD);
	}
	return deadline;
}

void bridge_expire(struct daemon *daemon)
{
	if (bridge_deadline(daemon) > daemon->now)
		return;
	list_for_each (link, &daemon->clients) {
		struct client *client = container_of(link, struct client, link);

		if (client->full_since != TIME_NEVER &&
		    daemon->now - client->full_since >= FULL_BEFORE_DISCARD)
			unblock(daemon, client->host);
	}
}
