/* SPDX-License-Identifier: Apache-2.0 */
/* IP over InfiniBand of one port, as far as address resolution needs it (RFC 4391). */
#include "daemon/cm/ipoib_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_port.h"
#include "daemon/cm/cm_routes.h"
#include "daemon/cm/ipoib_partitions.h"
#include "daemon/core/daemon_core.h"
#include "net/switch/forwarding.h"
#include "wire/ipoib.h"
#include "wire/packet.h"
#include "wire/pkey.h"

/* The first request may be sent before the peer has joined the group, so the next ones follow
 * quickly. */
#define ASK_INTERVAL_FIRST MILLISECONDS(2)
#define ASK_INTERVAL_MAX   MILLISECONDS(250)
#define KNOWN_TIME	   SECONDS(60)

/* The golden ratio times 2^64: keys of neighbouring networks are far apart. */
#define KEY_FACTOR 0x9e3779b97f4a7c15u

enum {
	QUESTION_FRAME_BYTES_MAX =
		LRH_BYTES + GRH_BYTES + BTH_BYTES + DETH_BYTES + IPOIB_QUESTION_BYTES_MAX,
};

/* An address that an id of this host has resolved or is resolving. */
struct neighbour {
	struct list link; /* in ip->asking until it answers */
	uint64_t key;
	uint8_t ip_version;
	struct ip_address address;
	bool is_known;
	struct gid gid;
	uint16_t pkey; /* the port's P_Key in the partition that the answer came from */
	time_ns known_until;
	time_ns ask_at;
	time_ns interval;
	struct list waiting; /* ids, by resolving_link */
};

void ipoib_port_init(struct ipoib_port *ip, struct cm_port *port)
{
	*ip = (struct ipoib_port){.port = port, .partitions_are_stale = true};
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

void ipoib_port_joined(struct ipoib_port *ip, const struct sa_client_result *result, time_ns now)
{
	if (!ipoib_partitions_joined(ip, result, now))
		return;
	list_for_each (link, &ip->asking) {
		struct neighbour *neighbour = container_of(link, struct neighbour, link);

		neighbour->ask_at = now;
	}
}

void ipoib_port_restart(struct ipoib_port *ip)
{
	ipoib_partitions_restart(ip);
}

void ipoib_port_changed(struct ipoib_port *ip)
{
	ip->partitions_are_stale = true;
}

struct target {
	uint16_t lid;
	uint32_t qpn;
	const struct gid *group; /* NULL: no GRH */
};

/* A packet that finds no room is lost, as on any wire. */
static void send(struct ipoib_port *ip, const struct ipoib_partition *partition,
		 const struct target *target, uint8_t *bytes, size_t byte_count, time_ns now)
{
	const struct mc_member_record *group = &partition->group;
	struct fabric *fabric = &ip->port->host->fabric->core->fabric;
	struct port *port = ip->port->endpoint->port;
	struct frame *frame = frame_take(&fabric->frames);
	struct packet packet = {
		.lrh = {.sl = group->sl, .dlid = target->lid, .slid = port->info.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = partition->pkey,
			.destination_qpn = target->qpn,
			.psn = {ip->psn++ & 0xffffff}},
		.deth = {.qkey = group->qkey, .source_qpn = QPN_IPOIB},
		.packet_count = 1,
		.has_grh = target->group != NULL,
	};

	if (!frame)
		return;
	if (target->group) {
		packet.grh = (struct grh){.traffic_class = group->traffic_class,
					  .flow_label = group->flow_label,
					  .hop_limit = group->hop_limit,
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

static void ask(struct ipoib_port *ip, const struct ipoib_partition *partition,
		const struct neighbour *neighbour, time_ns now)
{
	uint8_t bytes[IPOIB_QUESTION_BYTES_MAX];
	const struct mc_member_record *broadcast = &partition->group;
	struct gid group = gid_from(broadcast->mgid_high, broadcast->mgid_low);
	const struct ipoib_neighbour question = {.ip_version = neighbour->ip_version,
						 .sender = own_hardware(ip),
						 .sender_ip = own_ip(ip, neighbour->ip_version),
						 .target_ip = neighbour->address};
	const struct target target = {
		.lid = broadcast->mlid, .qpn = QPN_MULTICAST, .group = &group};

	send(ip, partition, &target, bytes, ipoib_neighbour_encode(&question, bytes), now);
}

/* Asks in every partition at once, because two ports may share any of them. The first answer
 * counts. */
static void ask_everywhere(struct ipoib_port *ip, struct neighbour *neighbour, time_ns now)
{
	bool is_asked = false;

	for (unsigned i = 0; i < ip->partition_count; i++) {
		if (ip->partitions[i].state != IPOIB_JOINED)
			continue;
		ask(ip, &ip->partitions[i], neighbour, now);
		is_asked = true;
	}
	if (!is_asked)
		return;
	neighbour->ask_at = now + neighbour->interval;
	if (neighbour->interval < ASK_INTERVAL_MAX)
		neighbour->interval *= 2;
}

static void answer(struct ipoib_port *ip, const struct ipoib_partition *partition,
		   const struct ipoib_neighbour *question, uint16_t lid, time_ns now)
{
	uint8_t bytes[IPOIB_QUESTION_BYTES_MAX];
	const struct ipoib_neighbour reply = {.ip_version = question->ip_version,
					      .is_answer = true,
					      .sender = own_hardware(ip),
					      .sender_ip = question->target_ip,
					      .target = question->sender,
					      .target_ip = question->sender_ip};
	const struct target target = {.lid = lid, .qpn = question->sender.qpn};

	send(ip, partition, &target, bytes, ipoib_neighbour_encode(&reply, bytes), now);
}

/* learn() and ipoib_port_find() compare the whole address; a second address with the same key can't
 * be resolved. */
static uint64_t key_of(uint8_t ip_version, const struct ip_address *address)
{
	uint64_t network = get_be64(address->bytes), host = get_be64(address->bytes + 8);

	return (network + ip_version) * KEY_FACTOR ^ host;
}

static void learn(struct ipoib_port *ip, const struct ipoib_partition *partition,
		  const struct ipoib_neighbour *found, time_ns now)
{
	struct neighbour *neighbour =
		hash_table_get(&ip->neighbours, key_of(found->ip_version, &found->sender_ip));

	if (!neighbour || !ip_address_equal(&neighbour->address, &found->sender_ip) ||
	    !list_is_linked(&neighbour->link))
		return;
	neighbour->is_known = true;
	neighbour->gid = found->sender.gid;
	neighbour->pkey = partition->pkey;
	neighbour->known_until = now + KNOWN_TIME;
	list_remove(&neighbour->link);
	for (struct list *link; (link = list_pop(&neighbour->waiting));)
		cm_address_found(container_of(link, struct cm_id, resolving_link), &neighbour->gid,
				 neighbour->pkey);
}

void ipoib_port_receive(struct ipoib_port *ip, const struct frame *frame, time_ns now)
{
	struct ipoib_neighbour heard;
	struct packet packet;
	uint8_t bytes[QUESTION_FRAME_BYTES_MAX];
	uint8_t payload[IPOIB_QUESTION_BYTES_MAX];

	const struct ipoib_partition *partition;

	/* Most multicast packets are for programs, and longer than a request. */
	if (frame->byte_count > QUESTION_FRAME_BYTES_MAX)
		return;
	memcpy(bytes, frame->bytes, frame->byte_count);
	if (packet_decode(bytes, frame->byte_count, 1, &packet) != PACKET_OK ||
	    packet.bth.opcode != (TRANSPORT_UD | OPCODE_SEND_ONLY) ||
	    packet.payload.byte_count > sizeof(payload))
		return;
	partition = ipoib_partition_find(ip, packet.bth.pkey);
	if (!partition || partition->state != IPOIB_JOINED ||
	    packet.deth.qkey != partition->group.qkey)
		return;
	payload_copy(&packet.payload, 0, packet.payload.byte_count, payload);
	if (!ipoib_neighbour_decode(payload, packet.payload.byte_count, &heard))
		return;
	if (heard.is_answer)
		learn(ip, partition, &heard, now);
	else if (cm_address_is_of(ip->port->endpoint, heard.ip_version, &heard.target_ip))
		answer(ip, partition, &heard, packet.lrh.slid, now);
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
		cm_address_found(id, &neighbour->gid, neighbour->pkey);
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
	ipoib_partitions_run(ip, now);
	list_for_each_safe (link, &ip->asking) {
		struct neighbour *neighbour = container_of(link, struct neighbour, link);

		give_up(neighbour, now);
		if (list_is_empty(&neighbour->waiting)) {
			forget(ip, neighbour);
			continue;
		}
		if (neighbour->ask_at <= now)
			ask_everywhere(ip, neighbour, now);
	}
}

time_ns ipoib_port_deadline(const struct ipoib_port *ip)
{
	bool is_joined = false;
	time_ns deadline = ipoib_partitions_deadline(ip, &is_joined);

	list_for_each (link, &ip->asking) {
		const struct neighbour *neighbour = container_of(link, struct neighbour, link);

		if (is_joined)
			deadline = time_earlier(deadline, neighbour->ask_at);
		list_for_each (waiting, &neighbour->waiting)
			deadline = time_earlier(
				deadline,
				container_of(waiting, struct cm_id, resolving_link)->resolve_until);
	}
	return deadline;
}
