/* SPDX-License-Identifier: Apache-2.0 */
/* The M_Keys that a manager writes to ports and uses in requests (management 2.3, 3.7). With a
 * secret, each port has its own (C14-62.1.1.12): mgmt/mad/derived_keys.h. */
#include "mgmt/sm/mkeys.h"

#include "base/bytes.h"
#include "mgmt/mad/derived_keys.h"
#include "wire/smp.h"

enum { READING_IS_GUARDED = 2, RENEWALS_PER_LEASE = 3 };

/* Repeated violations at one port are logged this often. */
#define REFUSAL_NOTE_INTERVAL SECONDS(60)

bool mkeys_are_set(const struct sm *sm)
{
	return sm->options.has_mkey_secret || sm->options.mkey;
}

uint64_t mkey_of(const struct sm *sm, uint64_t port_guid)
{
	if (!sm->options.has_mkey_secret)
		return sm->options.mkey;
	return port_guid ? derived_key(sm->options.mkey_secret, KEY_FOR_MKEY, port_guid) : 0;
}

uint64_t mkeys_sm_key(const uint8_t secret[static SIPHASH_KEY_BYTES])
{
	return derived_key(secret, KEY_FOR_SM_KEY, 0);
}

static bool is_found(const struct subnet *subnet, uint64_t port_guid)
{
	const struct subnet_port *port = subnet_port_by_guid(subnet, port_guid);

	return port && port->node->seen_in_sweep == subnet->sweep;
}

/* A known port that this sweep has not found yet: its link may have been moved. */
static uint64_t missing_port(const struct subnet *subnet, unsigned index)
{
	const struct hash_table *known = &subnet->lid_by_port_guid;
	unsigned missing_count = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		unsigned skip_count = missing_count ? index % missing_count : 0;

		for (uint32_t i = 0; i < known->capacity; i++) {
			if (!known->entries[i].value || is_found(subnet, known->entries[i].key))
				continue;
			if (pass == 0)
				missing_count++;
			else if (skip_count-- == 0)
				return known->entries[i].key;
		}
	}
	return 0;
}

uint64_t mkey_for_probe(const struct sm *sm, struct subnet_port *near)
{
	uint64_t guid;

	if (!sm->options.has_mkey_secret)
		return sm->options.mkey;
	if (!near)
		return mkey_of(sm, sm->options.port_guid);
	guid = neighbors_find(&sm->subnet.neighbors,
			      &(struct neighbor_end){.port_guid = subnet_port_guard(near)->guid,
						     .port_number = near->number});
	if (sm->options.mkey_protect_bits < READING_IS_GUARDED || (guid && !near->probe_failures))
		return mkey_of(sm, guid);
	return mkey_of(sm, missing_port(&sm->subnet, near->probe_failures));
}

void mkeys_save_link(struct sm *sm, struct subnet_port *near, struct subnet_port *far)
{
	const struct neighbor_end near_end = {.port_guid = subnet_port_guard(near)->guid,
					      .port_number = near->number};
	const struct neighbor_end far_end = {.port_guid = subnet_port_guard(far)->guid,
					     .port_number = far->number};

	near->probe_failures = 0;
	if (sm->options.has_mkey_secret)
		neighbors_remember(&sm->subnet.neighbors, &near_end, &far_end);
}

bool mkey_is_as_wanted(const struct sm *sm, const struct subnet_port *port,
		       const struct port_info *info)
{
	return info->mkey == mkey_of(sm, port->guid) &&
	       info->mkey_lease_period == sm->options.mkey_lease_period &&
	       info->mkey_protect_bits == sm->options.mkey_protect_bits;
}

time_ns mkeys_renewal_interval(const struct sm *sm)
{
	if (!mkeys_are_set(sm) || !sm->options.mkey_lease_period)
		return TIME_NEVER;
	return SECONDS(sm->options.mkey_lease_period) / RENEWALS_PER_LEASE;
}

/* The end port at the end of a route from this node. NULL: unknown. The ports are taken from first
 * to last, or backwards. */
static struct subnet_port *follow(struct subnet_node *node, const uint8_t *ports,
				  unsigned port_count, int direction)
{
	struct subnet_port *arrival = NULL;

	for (unsigned hop = 0; hop < port_count; hop++) {
		unsigned number = ports[direction > 0 ? hop : port_count - 1 - hop];

		if (number > node->port_count || !node->ports[number].peer)
			return NULL;
		arrival = node->ports[number].peer;
		node = arrival->node;
	}
	return arrival ? subnet_port_guard(arrival) : NULL;
}

static struct subnet_port *sender_of(struct sm *sm, const struct mad_message *message,
				     const struct mad_header *header)
{
	struct mad_message copy = *message;

	if (header->management_class == MAD_CLASS_SUBNET_LID)
		return subnet_port_by_lid(&sm->subnet, message->address.lid);
	if (!sm->own_port || header->hop_count > MAD_HOPS_MAX)
		return NULL;
	return follow(sm->own_port->node, smp_return_path(copy.bytes) + 1, header->hop_count, -1);
}

void mkeys_saw_request(struct sm *sm, const struct mad_message *message,
		       const struct mad_header *header)
{
	struct subnet_port *port;

	if (!mkeys_are_set(sm) || smp_mkey(message->bytes) != mkey_of(sm, sm->options.port_guid))
		return;
	port = sender_of(sm, message, header);
	if (!port || port == sm->own_port || port->knows_mkey)
		return;
	port->knows_mkey = true;
	if (port->is_reported)
		sm_note(sm, SM_EVENT_NOTE, "manager 0x%016llx knows the M_Key now",
			(unsigned long long)port->guid);
	port->is_reported = false;
	/* It may be the better manager. */
	if (sm->state == SM_MASTER)
		sweep_want(sm, SCOPE_ALL);
}

/* The sender of the request that trap 256 reports. NULL: unknown. */
static struct subnet_port *intruder(struct sm *sm, struct subnet_port *victim,
				    const struct notice *notice,
				    const struct bad_mkey_details *details)
{
	enum { PATH_OFFSET = 24 };

	if (!details->is_directed)
		return subnet_port_by_lid(&sm->subnet, details->lid);
	if (!victim || details->path_truncated)
		return NULL;
	/* No hops: a manager or tool on the same port. */
	return details->hop_count
		       ? follow(victim->node, notice->details + PATH_OFFSET, details->hop_count, -1)
		       : victim;
}

static const char *name_of(const struct subnet_port *port)
{
	return port && port->node->description[0] ? port->node->description : "an unknown node";
}

void mkeys_refused(struct sm *sm, const struct notice *notice)
{
	struct subnet_port *victim = subnet_port_by_lid(&sm->subnet, notice->header.issuer_lid);
	struct bad_mkey_details details;
	const struct subnet_port *source;

	bad_mkey_details_decode(notice->details, &details);
	source = intruder(sm, victim, notice, &details);
	/* Caused by our own search for a key. */
	if (source && source == sm->own_port && victim != sm->own_port)
		return;
	sm->refusals.count++;
	sm->refusals.last_source_guid = source ? source->guid : 0;
	if (victim && victim->mkey_note_at > sm->now)
		return;
	if (victim)
		victim->mkey_note_at = sm->now + REFUSAL_NOTE_INTERVAL;
	sm_note(sm, SM_EVENT_WARNING,
		"%s (LID %u) refused a %s of attribute 0x%04x from %s: wrong M_Key",
		name_of(victim), notice->header.issuer_lid,
		details.method == MAD_GET   ? "Get"
		: details.method == MAD_SET ? "Set"
					    : "request",
		details.attribute_id, name_of(source));
}
