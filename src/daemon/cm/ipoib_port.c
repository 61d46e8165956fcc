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
#define JOIN_PAUSE	   MILLISECONDS(250)
/* For partitions other than the first: most have no broadcast group. */
#define JOIN_PAUSE_MAX SECONDS(8)

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

static bool is_listed(const struct ipoib_partition partitions[], unsigned partition_count,
		      uint16_t pkey)
{
	for (unsigned i = 0; i < partition_count; i++)
		if (((partitions[i].pkey ^ pkey) & 0x7fff) == 0)
			return true;
	return false;
}

static struct ipoib_partition *find_partition(struct ipoib_port *ip, uint16_t pkey)
{
	for (unsigned i = 0; i < ip->partition_count; i++)
		if (((ip->partitions[i].pkey ^ pkey) & 0x7fff) == 0)
			return &ip->partitions[i];
	return NULL;
}

/* The partition whose join is outstanding; there is at most one. */
static struct ipoib_partition *joining_partition(struct ipoib_port *ip)
{
	for (unsigned i = 0; i < ip->partition_count; i++)
		if (ip->partitions[i].state == IPOIB_JOINING)
			return &ip->partitions[i];
	return NULL;
}

/* Reads the port's P_Key table; partitions that are still there keep their state. */
static void refresh_partitions(struct ipoib_port *ip)
{
	const struct port *port = ip->port->endpoint->port;
	const struct ipoib_partition *joining = joining_partition(ip);
	struct ipoib_partition found[IPOIB_PARTITIONS_MAX];
	unsigned found_count = 0;

	ip->partitions_are_stale = false;
	/* The port may have left the partition. */
	if (joining && !port_pkey_is_own(port, joining->pkey))
		sa_client_cancel(&ip->port->sa, ip->port);
	for (unsigned i = 0; i <= port->pkey_count && found_count < IPOIB_PARTITIONS_MAX; i++) {
		uint16_t key = i ? port->pkeys[i - 1] : cm_port_pkey(ip->port);
		uint16_t index;

		if ((key & 0x7fff) == 0 || is_listed(found, found_count, key) ||
		    !cm_port_pkey_index(ip->port, key, &index))
			continue;

		uint16_t pkey = port->pkeys[index];
		const struct ipoib_partition *present = find_partition(ip, pkey);

		found[found_count++] =
			present && present->pkey == pkey
				? *present
				: (struct ipoib_partition){.pkey = pkey, .join_pause = JOIN_PAUSE};
	}
	memcpy(ip->partitions, found, found_count * sizeof(*found));
	ip->partition_count = found_count;
}

static void join(struct ipoib_port *ip, struct ipoib_partition *partition, time_ns now)
{
	struct gid group = ipoib_broadcast_gid(partition->pkey);
	struct gid own = cm_port_gid(ip->port);
	const struct mc_member_record wanted = {.mgid_high = gid_prefix(&group),
						.mgid_low = gid_guid(&group),
						.port_gid_prefix = gid_prefix(&own),
						.port_gid_guid = gid_guid(&own),
						.pkey = partition->pkey,
						.join_state = 1};
	const struct mad_purpose purpose = {ip->port, CM_SA_REQUEST_BROADCAST};
	uint64_t components = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
			      SA_COMPONENT(MCR_PKEY) | SA_COMPONENT(MCR_JOIN_STATE);

	partition->join_at = now + partition->join_pause;
	if (sa_client_join(cm_port_sa(ip->port), &wanted, components, purpose) == 0)
		partition->state = IPOIB_JOINING;
}

static void join_due(struct ipoib_port *ip, time_ns now)
{
	if (!port_is_active(ip->port->endpoint->port) || joining_partition(ip))
		return;
	for (unsigned i = 0; i < ip->partition_count; i++) {
		struct ipoib_partition *partition = &ip->partitions[i];

		if (partition->state == IPOIB_DOWN && now >= partition->join_at) {
			join(ip, partition, now);
			return;
		}
	}
}

void ipoib_port_joined(struct ipoib_port *ip, const struct sa_client_result *result, time_ns now)
{
	struct ipoib_partition *partition = joining_partition(ip);

	if (!partition)
		return;
	partition->state = IPOIB_DOWN;
	partition->join_at = now + partition->join_pause;
	if (partition != &ip->partitions[0] && partition->join_pause < JOIN_PAUSE_MAX)
		partition->join_pause *= 2;
	if (result->outcome != SA_CLIENT_ANSWERED)
		return;
	mc_member_record_decode(result->data, &partition->group);
	partition->state = IPOIB_JOINED;
	list_for_each (link, &ip->asking) {
		struct neighbour *neighbour = container_of(link, struct neighbour, link);

		neighbour->ask_at = now;
	}
}

void ipoib_port_restart(struct ipoib_port *ip)
{
	sa_client_cancel(&ip->port->sa, ip->port);
	for (unsigned i = 0; i < ip->partition_count; i++) {
		ip->partitions[i].state = IPOIB_DOWN;
		ip->partitions[i].join_at = 0;
		ip->partitions[i].join_pause = JOIN_PAUSE;
	}
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
	partition = find_partition(ip, packet.bth.pkey);
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
	if (ip->partitions_are_stale)
		refresh_partitions(ip);
	join_due(ip, now);
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

/* Time of the next join; while one is outstanding there is none. */
static time_ns join_deadline(const struct ipoib_port *ip, bool *ret_is_joined)
{
	time_ns deadline = TIME_NEVER;
	bool is_joining = false;

	for (unsigned i = 0; i < ip->partition_count; i++) {
		const struct ipoib_partition *partition = &ip->partitions[i];

		if (partition->state == IPOIB_DOWN)
			deadline = time_earlier(deadline, partition->join_at);
		is_joining |= partition->state == IPOIB_JOINING;
		*ret_is_joined |= partition->state == IPOIB_JOINED;
	}
	return is_joining || !port_is_active(ip->port->endpoint->port) ? TIME_NEVER : deadline;
}

time_ns ipoib_port_deadline(const struct ipoib_port *ip)
{
	bool is_joined = false;
	time_ns deadline = join_deadline(ip, &is_joined);

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
