/* SPDX-License-Identifier: Apache-2.0 */
/* Leases of shared XRC targets: granting and recalling them, and the packets and events that go to
 * the holder (vol 1, annex A14). */
#include "daemon/xrc/xrc_leases.h"

#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "daemon/core/daemon_core.h"
#include "daemon/core/limits.h"
#include "daemon/xrc/xrc_domains.h"
#include "net/link/frame.h"
#include "wire/transport_headers.h"

enum {
	WAITING_MAX =
		1024, /* packets that wait for one target; a peer has fewer requests outstanding */
	EVENTS_MAX = 32,
};

struct waiting_packet {
	struct list link;
	struct account *account; /* of the process that it waits for */
	uint16_t port;
	uint32_t srqn;
	uint32_t byte_count;
	uint8_t bytes[];
};

static struct ring_record *reserve(struct xrc_target *target, struct client *client,
				   enum record_kind kind, uint32_t byte_count)
{
	struct ring_record *record = client->is_ending ? NULL : client_reserve(client, byte_count);

	if (!record)
		return NULL;
	record->kind = (uint16_t)kind;
	record->port = (uint16_t)(target->domain->adapter->index << 8);
	record->packet_count = 0;
	record->word = target->qpn;
	record->byte_count = byte_count;
	return record;
}

bool xrc_lease_grant(struct xrc_target *target, struct client *client)
{
	const struct xrc_lease lease = {target->domain->id, target->is_lost};
	struct ring_record *record = reserve(target, client, RECORD_TARGET_LEASED,
					     (uint32_t)sizeof(lease) + target->state_bytes);

	if (!record)
		return false;
	memcpy(record->body, &lease, sizeof(lease));
	if (target->state_bytes)
		memcpy(record->body + sizeof(lease), target->state, target->state_bytes);
	client_commit(client, record);
	target->holder = client;
	target->sent_count = 0;
	target->is_lost = false;
	return true;
}

static bool send_packet(struct xrc_target *target, const struct waiting_packet *packet)
{
	struct client *client = target->holder;
	struct ring_record *record =
		reserve(target, client, RECORD_TARGET_PACKET, packet->byte_count);

	if (!record)
		return false;
	record->port = packet->port;
	record->packet_count = 1;
	memcpy(record->body, packet->bytes, packet->byte_count);
	client_commit(client, record);
	client->delivery.last_packet_end = client->rings.down.tail;
	target->sent_count++;
	return true;
}

static void tell_events(struct xrc_target *target)
{
	list_for_each (link, &target->users) {
		struct xrc_user *user = container_of(link, struct xrc_user, link);

		for (unsigned event = 0; user->unsent_events && event < EVENTS_MAX; event++) {
			if (!(user->unsent_events >> event & 1))
				continue;

			struct ring_record *record =
				reserve(target, user->client, RECORD_TARGET_EVENT, 0);

			if (!record)
				break;
			record->packet_count = event;
			client_commit(user->client, record);
			user->unsent_events &= ~(1u << event);
		}
	}
}

void xrc_lease_raise_events(struct xrc_target *target, uint32_t events)
{
	list_for_each (link, &target->users)
		container_of(link, struct xrc_user, link)->unsent_events |= events;
	tell_events(target);
}

static void say_recalled(struct xrc_target *target)
{
	struct ring_record *record =
		target->holder ? reserve(target, target->holder, RECORD_TARGET_RECALLED, 0) : NULL;

	if (!record)
		return;
	record->packet_count = target->recall_urgency == XRC_NOW;
	client_commit(target->holder, record);
	target->recall_is_due = false;
}

void xrc_lease_recall(struct xrc_target *target, enum xrc_urgency urgency)
{
	if (!target->holder)
		return;
	target->recall_is_due = true;
	target->recall_urgency = urgency;
	say_recalled(target);
}

/* The owner of the XRC SRQ. If no member of the domain owns it, any member can refuse the packet.
 */
static struct client *addressee(const struct xrc_target *target, uint32_t srqn)
{
	struct client *owner = qpn_space_owner(&target->domain->adapter->qpns, srqn);

	if (owner && xrc_domain_member(target->domain, owner))
		return owner;
	if (target->holder)
		return target->holder;
	return container_of(list_first(&target->domain->members), struct xrc_member, link)->client;
}

void xrc_lease_drop_first(struct xrc_target *target)
{
	struct list *link = list_pop(&target->waiting);
	struct waiting_packet *packet = container_of(link, struct waiting_packet, link);

	target->waiting_count--;
	account_give(packet->account, LIMIT_XRC_PACKET_BYTES, packet->byte_count);
	account_release(packet->account);
	free(packet);
}

/* Packets go in order: one that waits for its target's lease holds up those behind it. */
void xrc_lease_send_waiting(struct xrc_target *target)
{
	struct list *link;

	/* A holder that has not been told that its target is shared would not take them. */
	while (!target->recall_is_due && (link = list_first(&target->waiting))) {
		const struct waiting_packet *packet =
			container_of(link, struct waiting_packet, link);
		struct client *client = addressee(target, packet->srqn);

		if (target->holder && target->holder != client)
			return;
		if (!target->holder && !target->is_lost && !xrc_lease_grant(target, client))
			return;
		if (!target->is_lost && !send_packet(target, packet))
			return;
		xrc_lease_drop_first(target);
	}
}

void xrc_lease_push(struct xrc_target *target)
{
	if (target->recall_is_due)
		say_recalled(target);
	tell_events(target);
	xrc_lease_send_waiting(target);
}

/* NULL: too many packets wait for the target or the process, or no memory. */
static struct waiting_packet *make_waiting(const struct xrc_target *target, struct account *account,
					   uint32_t byte_count)
{
	struct waiting_packet *packet;

	if (target->waiting_count >= WAITING_MAX ||
	    account_take(account, LIMIT_XRC_PACKET_BYTES, byte_count) != 0)
		return NULL;
	packet = malloc(sizeof(*packet) + byte_count);
	if (!packet) {
		account_give(account, LIMIT_XRC_PACKET_BYTES, byte_count);
		return NULL;
	}
	packet->account = account_share(account);
	packet->byte_count = byte_count;
	return packet;
}

void xrc_lease_deliver(struct endpoint *endpoint, uint32_t qpn, const struct frame *frame,
		       unsigned bth_offset)
{
	struct xrc_target *target = xrc_target_find(endpoint->adapter, qpn);
	uint64_t *drops = endpoint->port->counters.drops;
	/* The XRC extended header follows the BTH in every request. */
	unsigned number_at = bth_offset + BTH_BYTES + 1;

	if (!target || frame->byte_count < number_at + 3) {
		drops[DROP_NO_LISTENER]++;
		return;
	}

	uint32_t srqn = get_be24(frame->bytes + number_at);
	struct waiting_packet *packet =
		make_waiting(target, addressee(target, srqn)->account, frame->byte_count);

	if (!packet) {
		drops[DROP_RECEIVER_FULL]++;
		return;
	}
	packet->port = (uint16_t)(endpoint->adapter->index << 8 | endpoint->port->number);
	packet->srqn = srqn;
	memcpy(packet->bytes, frame->bytes, frame->byte_count);
	list_append(&target->waiting, &packet->link);
	target->waiting_count++;
	xrc_lease_send_waiting(target);
}
