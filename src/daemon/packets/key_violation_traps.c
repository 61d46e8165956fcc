/* SPDX-License-Identifier: Apache-2.0 */
/* P_Key and Q_Key violations that programs report: counters and traps (vol 1, chapter 14). */
#include "daemon/packets/key_violation_traps.h"

#include <string.h>
#include "daemon/core/daemon_core.h"
#include "ipc/protocol.h"
#include "mgmt/agents/agents.h"

bool key_violation_take_record(struct client *client, const struct ring_record *record)
{
	struct fabric *fabric = &client->core->fabric;
	const struct endpoint *endpoint =
		host_endpoint(client->host, record->port >> 8, record->port & 0xff);
	struct key_violation report;

	if (!endpoint || record->byte_count != sizeof(report))
		return false;
	memcpy(&report, record->body, sizeof(report));
	if (!report.count)
		return false;

	const struct agent_violation violation = {
		.count = report.count,
		.slid = report.slid,
		.dlid = report.dlid,
		.sl = report.sl & 15,
		.key = report.key,
		.has_source_qpn = report.has_source_qpn,
		.source_qpn = report.source_qpn & 0xffffff,
		.destination_qpn = report.destination_qpn & 0xffffff,
		.has_grh = report.has_grh,
		.sgid = report.sgid,
		.dgid = report.dgid,
	};

	if (report.is_qkey)
		agent_qkey_violation(&fabric->agent_memory, endpoint->port, client->core->loop.now,
				     &violation);
	else
		agent_pkey_violation(&fabric->agent_memory, endpoint->port, client->core->loop.now,
				     &violation);
	return true;
}
