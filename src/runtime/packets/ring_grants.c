/* SPDX-License-Identifier: Apache-2.0 */
/* What peers may send by direct rings: see ring_grants.h. */
#include "runtime/packets/ring_grants.h"

#include <string.h>
#include "runtime/runtime_state.h"
#include "net/transport/packet_source.h"
#include "wire/packet.h"

static bool read_grant(const struct ring_record *record, struct packet_grant *ret_grant)
{
	if (record->byte_count < sizeof(*ret_grant))
		return false;
	memcpy(ret_grant, record->body, sizeof(*ret_grant));
	return true;
}

static void take(struct channel *channel, const struct ring_record *record)
{
	struct packet_grant grant;

	/* Out of memory: packets under this grant are dropped, and the peer's retries run out. */
	if (channel->state != CHANNEL_DEAD && read_grant(record, &grant))
		(void)!packet_source_grant(&channel->source, &grant);
}

void ring_grant_offered(struct process_runtime *runtime, struct channel *channel,
			const struct ring_record *record)
{
	if (channel)
		take(channel, record);
	else
		runtime->drops.malformed++;
}

void ring_grant_revoked(struct process_runtime *runtime, struct channel *channel,
			const struct ring_record *record)
{
	struct packet_grant grant;

	if (!channel || !read_grant(record, &grant))
		return;
	packet_source_revoke(&channel->source, &grant);
	/* The down ring may have the same grant again, further on. */
	channel->grants_read = 0;
	/* Templates rest on the grant. */
	runtime_invalidate(runtime);
}

/* Takes the grants for this channel that are in the down ring, but not those that an earlier look
 * has taken. Returns whether there were any records to look at. */
static bool look_ahead(const struct process_runtime *runtime, struct channel *channel)
{
	struct ring_consumer look = runtime->softibd.in; /* reading does not show the position */
	const uint64_t end = ring_snapshot(&look);
	const struct ring_record *record;

	if (end == channel->grants_read || channel->source.is_fabric)
		return false;
	while ((record = ring_next_until(&look, end)))
		if (record->kind == RECORD_RING_OFFERED && record->word == channel->id)
			take(channel, record);
	channel->grants_read = end;
	return true;
}

bool ring_grant_allows(const struct process_runtime *runtime, struct channel *channel,
		       uint16_t port, const struct packet *packet)
{
	const struct packet_grant wanted = {
		.slid = packet->lrh.slid,
		.dlid = packet->lrh.dlid,
		.pkey = packet->bth.pkey,
		.port = port,
		.sl = packet->lrh.sl,
	};

	return likely(packet_source_admits(&channel->source, &wanted)) ||
	       (look_ahead(runtime, channel) && packet_source_admits(&channel->source, &wanted));
}

bool ring_grant_admits(struct process_runtime *runtime, struct channel *channel, uint16_t port,
		       const struct packet *packet)
{
	const bool is_allowed = ring_grant_allows(runtime, channel, port, packet);

	runtime->drops.not_granted += !is_allowed;
	return is_allowed;
}

/* A connection that migrates has two addresses for a while. */
static bool is_of_peer(const struct packet_source *source, const struct qp *qp)
{
	return packet_source_has_lid(source, qp->attributes.address.dlid) ||
	       (qp->alternate_port &&
		packet_source_has_lid(source, qp->attributes.alternate_address.dlid));
}

bool ring_grant_is_of_peer(const struct process_runtime *runtime, struct channel *channel,
			   const struct qp *qp)
{
	return likely(is_of_peer(&channel->source, qp)) ||
	       (look_ahead(runtime, channel) && is_of_peer(&channel->source, qp));
}
