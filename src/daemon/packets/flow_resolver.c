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

static enum resolve_verdict decide(struct client *client, const struct resolve_request *request,
				   struct resolve_answer *answer)
{
	struct daemon_core *core = client->core;
	struct flow_key key = {request->source_port, request->dlid, request->pkey, request->sl};
	struct endpoint *source =
		host_endpoint(client->host, request->source_port >> 8, request->source_port & 255);
	struct fabric_path path;

	if (!source || !can_ever_be_direct(client, request))
		return RESOLVED_FABRIC;
	/* softibd decides, and checks the partitions of both ends, because programs are not trusted
	 * to. */
	fabric_walk(&core->fabric, source->port, request->dlid, request->sl & 15, request->pkey,
		    &path);
	if (path.verdict != DROP_NONE || path.is_watched || !path.destination->endpoint)
		return RESOLVED_FABRIC;

	const struct endpoint *endpoint = path.destination->endpoint;

	/* The destination is a router's port, which has no programs. */
	if (!endpoint->adapter)
		return RESOLVED_FABRIC;

	/* softibd leases the target to a program packet by packet. */
	if (xrc_target_is_leased(endpoint->adapter, request->destination_qpn))
		return RESOLVED_FABRIC;

	struct client *destination =
		qpn_space_owner(&endpoint->adapter->qpns, request->destination_qpn);

	if (!destination || destination->is_ending || !destination->is_attached)
		return RESOLVED_FABRIC_RETRY;
	if (!fabric_path_is_empty(core, source, request->dlid, destination))
		return RESOLVED_FABRIC_RETRY;

	int error = direct_ring_between(client, destination, &answer->ring_id);

	if (error)
		return error == -ENOSPC ? RESOLVED_FABRIC : RESOLVED_FABRIC_RETRY;
	if (flow_table_take_slot(client->flows, &key, &path, core->page->generation,
				 &answer->flow_slot) != 0)
		return RESOLVED_FABRIC;
	answer->mtu_code = path.mtu_code;
	answer->destination_port =
		(uint16_t)(endpoint->adapter->index << 8 | path.destination->number);
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
