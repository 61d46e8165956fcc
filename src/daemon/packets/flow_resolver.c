/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which flows are offloaded, that is go by a direct ring (docs/ipc-protocol.md, "Flows").
 */
#include "daemon/packets/flow_resolver.h"

#include <errno.h>
#include <stdbool.h>
#include "daemon/core/daemon_core.h"
#include "daemon/core/flow_table.h"
#include "daemon/packets/direct_rings.h"
#include "daemon/xrc/xrc_targets.h"
#include "fabric/fabric.h"
#include "wire/pkey.h"

enum { SETTLE_FRAMES = 4096 };

/* Checking a grant takes less than a tenth of this, so that softibd has time for other things on
 * fabrics with many rings whose paths change all the time. */
#define GRANT_CHECK_NS MICROSECONDS(20)

/* A packet that this port sent to the destination earlier may still be inside the fabric or in the
 * down ring; packets in the direct ring would overtake it. Packets of other senders do not matter.
 */
static bool fabric_path_is_empty(struct daemon_core *core, struct endpoint *source, uint16_t dlid,
				 const struct client *destination)
{
	if (*endpoint_inside(source, dlid))
		fabric_step(&core->fabric, core->loop.now, SETTLE_FRAMES);
	return *endpoint_inside(source, dlid) == 0 &&
	       __atomic_load_n(&destination->rings.down.shared->head, __ATOMIC_ACQUIRE) >=
		       destination->delivery.last_packet_end;
}

static bool can_ever_be_direct(const struct client *client, const struct resolve_request *request)
{
	return client->core->offloads && lid_is_unicast(request->dlid) &&
	       request->destination_qpn > QPN_GSI && request->destination_qpn < QPN_MULTICAST;
}

/* Whether packets of that program from that port may go past the fabric, and to which endpoint.
 * softibd decides, and checks the partitions of both ends, because programs are not trusted to. */
static bool walk(struct client *client, const struct flow_key *key, struct fabric_path *ret_path,
		 struct ring_grant *ret_grant)
{
	const struct endpoint *source =
		host_endpoint(client->host, key->source_port >> 8, key->source_port & 255);

	if (!source)
		return false;
	fabric_walk(&client->core->fabric, source->port, key->dlid, key->sl, key->pkey, ret_path);
	if (ret_path->verdict != DROP_NONE || ret_path->is_watched)
		return false;

	const struct endpoint *destination = ret_path->destination->endpoint;

	/* A router's port has an endpoint, but no programs. */
	if (!destination || !destination->adapter)
		return false;
	*ret_grant = (struct ring_grant){
		.packets = {.slid = source->port->info.lid,
			    .lmc = source->port->info.lmc,
			    .dlid = key->dlid,
			    .pkey = key->pkey,
			    .port = (uint16_t)(destination->adapter->index << 8 |
					       ret_path->destination->number),
			    .sl = key->sl},
		.source_port = key->source_port,
	};
	return true;
}

static bool grant_holds(struct client *source, const struct client *destination,
			const struct ring_grant *grant)
{
	const struct packet_grant *packets = &grant->packets;
	const struct flow_key key = {grant->source_port, packets->dlid, packets->pkey, packets->sl};
	struct fabric_path path;
	struct ring_grant now;

	if (!walk(source, &key, &path, &now) || !packet_grants_are_equal(&now.packets, packets))
		return false;

	const struct endpoint *endpoint = path.destination->endpoint;

	return endpoint->adapter->host == destination->host;
}

static enum resolve_verdict decide(struct client *client, const struct resolve_request *request,
				   struct resolve_answer *answer)
{
	struct daemon_core *core = client->core;
	struct flow_key key = {request->source_port, request->dlid, request->pkey,
			       request->sl & 15};
	struct ring_grant grant;
	struct fabric_path path;

	if (!can_ever_be_direct(client, request) || !walk(client, &key, &path, &grant))
		return RESOLVED_FABRIC;

	struct endpoint *source =
		host_endpoint(client->host, request->source_port >> 8, request->source_port & 255);
	const struct endpoint *endpoint = path.destination->endpoint;

	/* softibd leases the target to a program packet by packet. */
	if (xrc_target_is_leased(endpoint->adapter, request->destination_qpn))
		return RESOLVED_FABRIC;

	struct client *destination =
		qpn_space_owner(&endpoint->adapter->qpns, request->destination_qpn);

	if (!destination || destination->is_ending || !destination->is_attached)
		return RESOLVED_FABRIC_RETRY;
	if (!fabric_path_is_empty(core, source, request->dlid, destination))
		return RESOLVED_FABRIC_RETRY;

	int error = direct_ring_between(client, destination, &grant, &answer->ring_id);

	if (error)
		return error == -ENOSPC ? RESOLVED_FABRIC : RESOLVED_FABRIC_RETRY;
	if (flow_table_take_slot(client->flows, &key, &path, core->page->generation,
				 &answer->flow_slot) != 0)
		return RESOLVED_FABRIC;
	answer->mtu_code = path.mtu_code;
	answer->destination_port = grant.packets.port;
	return RESOLVED_DIRECT;
}

void flow_resolve(struct client *client, const struct resolve_request *request,
		  struct resolve_answer *ret_answer)
{
	struct daemon_core *core = client->core;

	/* A pending change would revoke the answer at once. */
	if (core->paths_changed)
		flows_revoke(core);
	*ret_answer = (struct resolve_answer){.request_id = request->request_id};
	ret_answer->verdict = decide(client, request, ret_answer);
	/* decide() may have stepped the fabric, and an agent may have changed a table. */
	if (core->paths_changed) {
		flows_revoke(core);
		ret_answer->verdict = RESOLVED_FABRIC_RETRY;
	}
	ret_answer->generation = core->page->generation;
}

void flows_check_grants(struct daemon_core *core)
{
	unsigned count = 0;
	bool is_done = true;

	if (core->loop.now < core->grants_due)
		return;
	/* A client whose down ring is corrupt leaves the list. */
	list_for_each_safe (link, &core->clients.all) {
		struct client *client = container_of(link, struct client, link);

		if (client->is_attached)
			count += direct_rings_check(client, grant_holds, &is_done);
	}
	core->grants_checked = core->loop.now + count * GRANT_CHECK_NS;
	core->grants_due = is_done ? TIME_NEVER : core->loop.now + FLOW_GRACE_NS;
}
