/* SPDX-License-Identifier: Apache-2.0 */
/* IP over InfiniBand of one port, as much of it as finds addresses (RFC 4391). */
#include "daemon/ipoib_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "daemon/cm_address.h"
#include "daemon/cm_host.h"
#include "daemon/cm_routes.h"
#include "daemon/daemon.h"
#include "wire/ipoib.h"
#include "wire/packet.h"
#include "wire/pkey.h"

/* The first question may come before the peer is in the group, so the next follow quickly. */
#define ASK_INTERVAL_FIRST MILLISECONDS(2)
#define ASK_INTERVAL_MAX   MILLISECONDS(250)
#define KNOWN_TIME	   SECONDS(60)
#define JOIN_PAUSE	   MILLISECONDS(250)

/* The golden ratio of 64 bits: neighbouring networks get keys far apart. */
#define KEY_FACTOR 0x9e3779b97f4a7c15u

enum {
	QUESTION_FRAME_BYTES_MAX =
		LRH_BYTES + GRH_BYTES + BTH_BYTES + DETH_BYTES + IPOIB_QUESTION_BYTES_MAX,
};

/* An address of the fabric that somebody asked for. */
struct neighbour {
	struct list link; /* ip->asking until it answered */
	uint64_t key;
	uint8_t ip_version;
	struct ip_address address;
	bool is_known;
	struct gid gid;
	time_ns known_until;
	time_ns ask_at;
	time_ns interval;
	struct list waiting; /* ids, by resolving_link */
};

void ipoib_port_init(struct ipoib_port *ip, struct cm_port *port)
{
	*ip = (struct ipoib_port){.port = port};
	hash_table_init(&ip->neighbours);
	list_init(&ip->asking);
}

static void forget(struct ipoib_port *ip, struct neighbour *neighbour)
{
	while (!list_is_empty(&neighbour->waiting))
		list_remove(list_first(&neighbour->waiting));
	list_remove(&neighbour->link);
	hash_table_remove(&ip->neighbours, neighbour->key);
	free(neighbour);
}

void ipoib_port_release(struct ipoib_port *ip)
{
	for (uint32_t index = 0; index < ip->neighbours.capacity; index++)
		free(ip->neighbours.entries[index].value);
	hash_table_release(&ip->neighbours);
	list_init(&ip->asking);
}

static void join(struct ipoib_port *ip, time_ns now)
{
	uint16_t pkey = cm_port_pkey(ip->port);
	struct gid group = ipoib_broadcast_gid(pkey);
	struct gid own = cm_port_gid(ip->port);
	const struct mc_member_record wanted = {.mgid_high = gid_prefix(&group),
						.mgid_low = gid_guid(&group),
						.port_gid_prefix = gid_prefix(&own),
						.port_gid_guid = gid_guid(&own),
						.pkey = pkey,
						.join_state = 1};
	const struct mad_purpose purpose = {ip->port, CM_ASKED_BROADCAST};
	uint64_t components = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
			      SA_COMPONENT(MCR_PKEY) | SA_COMPONENT(MCR_JOIN_STATE);

	ip->join_at = now + JOIN_PAUSE;
	if (sa_client_join(cm_port_sa(ip->port), &wanted, components, purpose) == 0)
		ip->state = IPOIB_JOINING;
}

void ipoib_port_joined(struct ipoib_port *ip, const struct sa_client_result *result, time_ns now)
{
	if (ip->state != IPOIB_JOINING)
		return;
	ip->state = IPOIB_DOWN;
	ip->join_at = now + JOIN_PAUSE;
	if (result->outcome != SA_CLIENT_ANSWERED)
		return;
	mc_member_record_decode(result->data, &ip->group);
	ip->state = IPOIB_JOINED;
	list_for_each (link, &ip->asking) {
		struct neighbour *neighbour = container_of(link, struct neighbour, link);

		neighbour->ask_at = now;
	}
}

void ipoib_port_restart(struct ipoib_port *ip)
{
	sa_client_cancel(&ip->port->sa, ip->port);
	ip->state = IPOIB_DOWN;
	ip->join_at = 0;
}

struct target {
	uint16_t lid;
	uint32_t qpn;
	const struct gid *group; /* NULL: no GRH */
};

/* What finds no room is lost, as on any wire. */
static void send(struct ipoib_port *ip, const struct target *target, uint8_t *bytes,
		 size_t byte_count, time_ns now)
{
	struct fabric *fabric = &ip->port->host->fabric->daemon->fabric;
	struct port *port = ip->port->endpoint->port;
	struct frame *frame = frame_take(&fabric->frames);
	struct packet packet = {
		.lrh = {.sl = ip->group.sl, .dlid = target->lid, .slid = port->info.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = ip->group.pkey,
			.destination_qpn = target->qpn,
			.psn = {ip->psn++ & 0xffffff}},
		.deth = {.qkey = ip->group.qkey, .source_qpn = QPN_IPOIB},
		.packet_count = 1,
		.has_grh = target->group != NULL,
	};

	if (!frame)
		return;
	if (target->group) {
		packet.grh = (struct grh){.traffic_class = ip->group.traffic_class,
					  .flow_label = ip->group.flow_label,
					  .hop_limit = ip->group.hop_limit,
					  .sgid = cm_port_gid(ip->port),
					  .dgid = *target->group};
	}
	packet_set_payload(&packet, bytes, (uint32_t)byte_count);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->source = NULL;
	if (!fabric_inject(fabric, port, frame, now))
		frame_give_back(&fabric->frames, frame);
}

static struct ipoib_hardware own_hardware(const struct ipoib_port *ip)
{
	return (struct ipoib_hardware){.qpn = QPN_IPOIB, .gid = cm_port_gid(ip->port)};
}

static struct ip_address own_ip(const struct ipoib_port *ip, uint8_t ip_version)
{
	struct cm_address address;

	cm_address_of(ip->port->endpoint, ip_version == 4 ? CM_ADDRESS_IPV4 : CM_ADDRESS_IPV6,
		      &address);
	return cm_address_ip(&address);
}

static void ask(struct ipoib_port *ip, const struct neighbour *neighbour, time_ns now)
{
	uint8_t bytes[IPOIB_QUESTION_BYTES_MAX];
	struct gid group = gid_from(ip->group.mgid_high, ip->group.mgid_low);
	const struct ipoib_neighbour question = {.ip_version = neighbour->ip_version,
						 .sender = own_hardware(ip),
						 .sender_ip = own_ip(ip, neighbour->ip_version),
						 .target_ip = neighbour->address};
	const struct target target = {.lid = ip->group.mlid, .qpn = QPN_MULTICAST, .group = &group};

	send(ip, &target, bytes, ipoib_neighbour_encode(&question, bytes), now);
}

static void answer(struct ipoib_port *ip, const struct ipoib_neighbour *question, uint16_t lid,
		   time_ns now)
{
	uint8_t bytes[IPOIB_QUESTION_BYTES_MAX];
	const struct ipoib_neighbour reply = {.ip_version = question->ip_version,
					      .is_answer = true,
					      .sender = own_hardware(ip),
					      .sender_ip = question->target_ip,
					      .target = question->sender,
					      .target_ip = question->sender_ip};
	const struct target target = {.lid = lid, .qpn = question->sender.qpn};

	send(ip, &target, bytes, ipoib_neighbour_encode(&reply, bytes), now);
}

/* Two addresses with the same key are as good as one that can't be found: who is asked for is
 * compared in full. */
static uint64_t key_of(uint8_t ip_version, const struct ip_address *address)
{
	uint64_t network = get_be64(address->bytes), host = get_be64(address->bytes + 8);

	return (network + ip_version) * KEY_FACTOR ^ host;
}

static void learn(struct ipoib_port *ip, const struct ipoib_neighbour *found, time_ns now)
{
	struct neighbour *neighbour =
		hash_table_get(&ip->neighbours, key_of(found->ip_version, &found->sender_ip));

	if (!neighbour || !ip_address_equal(&neighbour->address, &found->sender_ip))
		return;
	neighbour->is_known = true;
	neighbour->gid = found->sender.gid;
	neighbour->known_until = now + KNOWN_TIME;
	list_remove(&neighbour->link);
	for (struct list *link; (link = list_pop(&neighbour->waiting));)
		cm_address_found(container_of(link, struct cm_id, resolving_link), &neighbour->gid);
}

void ipoib_port_receive(struct ipoib_port *ip, const struct frame *frame, time_ns now)
{
	struct ipoib_neighbour heard;
	struct packet packet;
	uint8_t bytes[QUESTION_FRAME_BYTES_MAX];
	uint8_t payload[IPOIB_QUESTION_BYTES_MAX];

	/* Most of what comes by multicast is programs' own, and longer. */
	if (ip->state != IPOIB_JOINED || frame->byte_count > QUESTION_FRAME_BYTES_MAX)
		return;
	memcpy(bytes, frame->bytes, frame->byte_count);
	if (packet_decode(bytes, frame->byte_count, 1, &packet) != PACKET_OK ||
	    packet.bth.opcode != (TRANSPORT_UD | OPCODE_SEND_ONLY) ||
	    packet.deth.qkey != ip->group.qkey || packet.payload.byte_count > sizeof(payload))
		return;
	payload_copy(&packet.payload, 0, packet.payload.byte_count, payload);
	if (!ipoib_neighbour_decode(payload, packet.payload.byte_count, &heard))
		return;
	if (heard.is_answer)
		learn(ip, &heard, now);
	else if (cm_address_is_of(ip->port->endpoint, heard.ip_version, &heard.target_ip))
		answer(ip, &heard, packet.lrh.slid, now);
}

static struct neighbour *make_neighbour(struct ipoib_port *ip, uint64_t key, uint8_t ip_version,
					const struct ip_address *address)
{
	struct neighbour *neighbour = calloc(1, sizeof(*neighbour));

	if (!neighbour)
		return NULL;
	neighbour->key = key;
	neighbour->ip_version = ip_version;
	neighbour->address = *address;
	list_init(&neighbour->waiting);
	list_init(&neighbour->link);
	if (hash_table_put(&ip->neighbours, key, neighbour) != 0) {
		free(neighbour);
		return NULL;
	}
	return neighbour;
}

int ipoib_port_find(struct ipoib_port *ip, const struct cm_address *address, struct cm_id *id,
		    time_ns now)
{
	uint8_t version = cm_address_ip_version(address);
	struct ip_address wanted = cm_address_ip(address);
	uint64_t key = key_of(version, &wanted);
	struct neighbour *neighbour = hash_table_get(&ip->neighbours, key);

	if (neighbour && neighbour->is_known && neighbour->known_until > now &&
	    ip_address_equal(&neighbour->address, &wanted)) {
		cm_address_found(id, &neighbour->gid);
		return 0;
	}
	if (!neighbour)
		neighbour = make_neighbour(ip, key, version, &wanted);
	if (!neighbour)
		return -ENOMEM;
	if (!ip_address_equal(&neighbour->address, &wanted))
		return -EHOSTUNREACH;
	if (!list_is_linked(&neighbour->link)) {
		neighbour->is_known = false;
		neighbour->ask_at = now;
		neighbour->interval = ASK_INTERVAL_FIRST;
		list_append(&ip->asking, &neighbour->link);
	}
	list_append(&neighbour->waiting, &id->resolving_link);
	cm_host_wake(ip->port->host);
	return 0;
}

static void give_up(struct neighbour *neighbour, time_ns now)
{
	list_for_each_safe (link, &neighbour->waiting) {
		struct cm_id *id = container_of(link, struct cm_id, resolving_link);

		if (id->resolve_until > now)
			continue;
		list_remove(link);
		cm_address_not_found(id);
	}
}

void ipoib_port_run(struct ipoib_port *ip, time_ns now)
{
	if (ip->state == IPOIB_DOWN && now >= ip->join_at &&
	    port_is_active(ip->port->endpoint->port))
		join(ip, now);
	list_for_each_safe (link, &ip->asking) {
		struct neighbour *neighbour = container_of(link, struct neighbour, link);

		give_up(neighbour, now);
		if (list_is_empty(&neighbour->waiting)) {
			forget(ip, neighbour);
			continue;
		}
		if (ip->state != IPOIB_JOINED || neighbour->ask_at > now)
			continue;
		ask(ip, neighbour, now);
		neighbour->ask_at = now + neighbour->interval;
		if (neighbour->interval < ASK_INTERVAL_MAX)
			neighbour->interval *= 2;
	}
}

time_ns ipoib_port_deadline(const struct ipoib_port *ip)
{
	time_ns deadline = TIME_NEVER;

	if (ip->state == IPOIB_DOWN && port_is_active(ip->port->endpoint->port))
		deadline = ip->join_at;
	list_for_each (link, &ip->asking) {
		const struct neighbour *neighbour = container_of(link, struct neighbour, link);

		if (ip->state == IPOIB_JOINED)
			deadline = time_earlier(deadline, neighbour->ask_at);
		list_for_each (waiting, &neighbour->waiting)
			deadline = time_earlier(
				deadline,
				container_of(waiting, struct cm_id, resolving_link)->resolve_until);
	}
	return deadline;
}
