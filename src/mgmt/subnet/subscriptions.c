/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions to notices (management 4.8). */
#include "mgmt/subnet/subscriptions.h"

#include <errno.h>
#include <stdlib.h>

void subscriptions_init(struct subscriptions *subscriptions)
{
	list_init(&subscriptions->subscriptions);
	subscriptions->count = 0;
}

void subscriptions_release(struct subscriptions *subscriptions)
{
	while (!list_is_empty(&subscriptions->subscriptions))
		subscriptions_remove(subscriptions,
				     subscription_of(list_first(&subscriptions->subscriptions)));
}

/* A GID is used instead of the LID range. */
static bool has_gid(const struct inform_info *info)
{
	return info->gid_prefix || info->gid_guid;
}

static bool is_same_range(const struct inform_info *a, const struct inform_info *b)
{
	if (has_gid(a) || has_gid(b))
		return a->gid_prefix == b->gid_prefix && a->gid_guid == b->gid_guid;
	if (a->lid_range_begin == INFORM_ANY_LID)
		return b->lid_range_begin == INFORM_ANY_LID;
	return a->lid_range_begin == b->lid_range_begin && a->lid_range_end == b->lid_range_end;
}

static bool is_same(const struct inform_info *a, const struct inform_info *b)
{
	return is_same_range(a, b) && a->is_generic == b->is_generic && a->type == b->type &&
	       a->trap_number == b->trap_number && a->producer_type == b->producer_type;
}

struct subscription *subscriptions_find(const struct subscriptions *subscriptions,
					uint64_t port_guid, uint32_t qpn,
					const struct inform_info *info)
{
	list_for_each (link, &subscriptions->subscriptions) {
		struct subscription *subscription = subscription_of(link);

		if (subscription->port_guid == port_guid && subscription->subscriber.qpn == qpn &&
		    is_same(&subscription->info, info))
			return subscription;
	}
	return NULL;
}

/* The next number for the port, and how many subscriptions it has. */
static uint16_t next_number(const struct subscriptions *subscriptions, uint64_t port_guid,
			    unsigned *ret_count)
{
	unsigned number = 0, count = 0;

	list_for_each (link, &subscriptions->subscriptions) {
		const struct subscription *subscription = subscription_of(link);

		if (subscription->port_guid != port_guid)
			continue;
		count++;
		if (subscription->number >= number)
			number = subscription->number + 1u;
	}
	*ret_count = count;
	return (uint16_t)number;
}

int subscriptions_add(struct subscriptions *subscriptions, const struct mad_address *subscriber,
		      uint64_t port_guid, const struct inform_info *info,
		      struct subscription **ret_subscription)
{
	struct subscription *subscription;
	unsigned own_count;
	uint16_t number = next_number(subscriptions, port_guid, &own_count);

	if (subscriptions->count >= SUBSCRIPTIONS_MAX || own_count >= SUBSCRIPTIONS_PER_PORT_MAX)
		return -ENOSPC;
	subscription = calloc(1, sizeof(*subscription));
	if (!subscription)
		return -ENOMEM;
	subscription->subscriber = *subscriber;
	subscription->port_guid = port_guid;
	subscription->number = number;
	subscription->info = *info;
	list_append(&subscriptions->subscriptions, &subscription->link);
	subscriptions->count++;
	*ret_subscription = subscription;
	return 0;
}

void subscriptions_remove(struct subscriptions *subscriptions, struct subscription *subscription)
{
	list_remove(&subscription->link);
	subscriptions->count--;
	free(subscription);
}

enum { INFORM_BOTH = 0xff, SUBSCRIBE_MAX = 1 };

bool inform_info_is_valid(const struct inform_info *info)
{
	bool has_range = info->lid_range_begin == INFORM_ANY_LID ||
			 info->lid_range_begin <= info->lid_range_end;

	return info->subscribe <= SUBSCRIBE_MAX && (has_gid(info) || has_range) &&
	       (info->is_generic <= INFORM_GENERIC || info->is_generic == INFORM_BOTH);
}

static bool issuer_matches(const struct inform_info *info, const struct notice *notice,
			   const struct gid *issuer)
{
	uint16_t lid = notice->header.issuer_lid;

	if (has_gid(info))
		return info->gid_prefix == gid_prefix(issuer) && info->gid_guid == gid_guid(issuer);
	return info->lid_range_begin == INFORM_ANY_LID ||
	       (lid >= info->lid_range_begin && lid <= info->lid_range_end);
}

bool inform_info_matches(const struct inform_info *info, const struct notice *notice,
			 const struct gid *issuer)
{
	const struct notice_header *header = &notice->header;

	if (info->is_generic != header->is_generic && info->is_generic <= INFORM_GENERIC)
		return false;
	return issuer_matches(info, notice, issuer) &&
	       (info->type == INFORM_ANY_TYPE || info->type == header->type) &&
	       (info->trap_number == INFORM_ANY_TRAP || info->trap_number == header->trap_number) &&
	       (info->producer_type == INFORM_ANY_PRODUCER ||
		info->producer_type == header->producer_type);
}
