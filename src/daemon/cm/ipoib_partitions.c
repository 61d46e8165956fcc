/* SPDX-License-Identifier: Apache-2.0 */
/* The partitions of an IPoIB port and their broadcast groups (RFC 4391). */
#include "daemon/cm/ipoib_partitions.h"

#include <string.h>
#include "daemon/cm/cm_port.h"
#include "daemon/core/host_table.h"
#include "net/switch/forwarding.h"
#include "wire/ipoib.h"

#define JOIN_PAUSE MILLISECONDS(250)
/* For partitions other than the first: most have no broadcast group. */
#define JOIN_PAUSE_MAX SECONDS(8)

static bool is_listed(const struct ipoib_partition partitions[], unsigned partition_count,
		      uint16_t pkey)
{
	for (unsigned i = 0; i < partition_count; i++)
		if (((partitions[i].pkey ^ pkey) & 0x7fff) == 0)
			return true;
	return false;
}

struct ipoib_partition *ipoib_partition_find(struct ipoib_port *ip, uint16_t pkey)
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
	bool is_joining = joining_partition(ip) != NULL;
	struct ipoib_partition found[IPOIB_PARTITIONS_MAX];
	unsigned found_count = 0;

	ip->partitions_are_stale = false;
	for (unsigned i = 0; i <= port->pkey_count && found_count < IPOIB_PARTITIONS_MAX; i++) {
		uint16_t key = i ? port->pkeys[i - 1] : cm_port_pkey(ip->port);
		uint16_t index;

		if ((key & 0x7fff) == 0 || is_listed(found, found_count, key) ||
		    !cm_port_pkey_index(ip->port, key, &index))
			continue;

		uint16_t pkey = port->pkeys[index];
		const struct ipoib_partition *present = ipoib_partition_find(ip, pkey);

		found[found_count++] =
			present && present->pkey == pkey
				? *present
				: (struct ipoib_partition){.pkey = pkey, .join_pause = JOIN_PAUSE};
	}
	memcpy(ip->partitions, found, found_count * sizeof(*found));
	ip->partition_count = found_count;
	/* The port left the partition, or is a member of another kind now. The answer to the join
	 * would be taken for that of the next partition. */
	if (is_joining && !joining_partition(ip))
		sa_client_cancel(&ip->port->sa, ip->port);
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

void ipoib_partitions_run(struct ipoib_port *ip, time_ns now)
{
	if (ip->partitions_are_stale)
		refresh_partitions(ip);
	join_due(ip, now);
}

bool ipoib_partitions_joined(struct ipoib_port *ip, const struct sa_client_result *result,
			     time_ns now)
{
	struct ipoib_partition *partition = joining_partition(ip);

	if (!partition)
		return false;
	partition->state = IPOIB_DOWN;
	partition->join_at = now + partition->join_pause;
	if (partition != &ip->partitions[0] && partition->join_pause < JOIN_PAUSE_MAX)
		partition->join_pause *= 2;
	if (result->outcome != SA_CLIENT_ANSWERED)
		return false;
	mc_member_record_decode(result->data, &partition->group);
	partition->state = IPOIB_JOINED;
	return true;
}

void ipoib_partitions_restart(struct ipoib_port *ip)
{
	sa_client_cancel(&ip->port->sa, ip->port);
	for (unsigned i = 0; i < ip->partition_count; i++) {
		ip->partitions[i].state = IPOIB_DOWN;
		ip->partitions[i].join_at = 0;
		ip->partitions[i].join_pause = JOIN_PAUSE;
	}
}

time_ns ipoib_partitions_deadline(const struct ipoib_port *ip, bool *ret_is_joined)
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
