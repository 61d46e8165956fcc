/* SPDX-License-Identifier: Apache-2.0 */
/* P_Key and Q_Key violations that programs report: counters and traps (vol 1, chapter 14). */
#include "daemon/packets/key_violation_traps.h"

#include <string.h>
#include "daemon/core/daemon_core.h"
#include "host/protocol.h"
#include "mgmt/agents/agents.h"

bool key_violation_take_record(struct client *client, const struct ring_record *record)
{
	struct fabric *fabric = &client->core->fabric;
	const struct endpoint *endpoint =
		host_endpoint(client->host, record->port >> 8, record->port & 0xff);
	struct key_violation told;

	if (!endpoint || record->byte_count != sizeof(told))
		return false;
	memcpy(&told, record->body, sizeof(told));
	if (!told.count)
		return false;

	const struct agent_violation violation = {
		.count = told.count,
		.slid = told.slid,
		.dlid = told.dlid,
		.sl = told.sl & 15,
		.key = told.key,
		.has_source_qpn = told.has_source_qpn,
		.source_qpn = told.source_qpn & 0xffffff,
		.destination_qpn = told.destination_qpn & 0xffffff,
		.has_grh = told.has_grh,
		.sgid = told.sgid,
		.dgid = told.dgid,
	};

	if (told.is_qkey)
		agent_qkey_violation(&fabric->agent_memory, endpoint->port, client->core->loop.now,
				     &violation);
	else
		agent_pkey_violation(&fabric->agent_memory, endpoint->port, client->core->loop.now,
				     &violation);
	return true;
}
