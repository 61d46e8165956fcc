/* SPDX-License-Identifier: Apache-2.0 */
/* Reports packets with a wrong key to softibd (vol 1, chapters 9 and 14). */
#include "runtime/key_violations.h"

#include <string.h>
#include "runtime/runtime_state.h"
#include "runtime/channel_queues.h"
#include "net/hca/hca.h"

#define PAUSE_NS MILLISECONDS(1)

/* false: the ring has no room. */
static bool tell(struct process_runtime *runtime, unsigned adapter_index, unsigned port_index,
		 struct key_violation *violation)
{
	struct channel *softibd = &runtime->softibd;
	struct ring_record *record =
		runtime_is_usable(runtime) ? ring_reserve(&softibd->out, sizeof(*violation)) : NULL;

	if (!record)
		return false;
	record->kind = RECORD_KEY_VIOLATION;
	record->port = (uint16_t)(adapter_index << 8 | (port_index + 1));
	record->packet_count = 0;
	record->word = 0;
	record->byte_count = sizeof(*violation);
	memcpy(record->body, violation, sizeof(*violation));
	ring_commit(&softibd->out, record);
	publish_later(runtime, softibd);
	violation->count = 0;
	return true;
}

static bool tell_adapter(struct process_runtime *runtime, struct adapter *adapter)
{
	for (unsigned port_index = 0; port_index < HCA_PORTS_MAX; port_index++) {
		for (unsigned key = 0; key < 2; key++) {
			struct key_violation *violation = &adapter->violations[port_index][key];

			if (violation->count &&
			    !tell(runtime, adapter->description->index, port_index, violation))
				return false;
		}
	}
	return true;
}

void key_violations_tell(struct process_runtime *runtime, time_ns now)
{
	bool all_are_told = true;

	if (now < runtime->violations.due)
		return;
	for (unsigned i = 0; i < runtime->adapter_limit && all_are_told; i++) {
		if (runtime->adapters[i])
			all_are_told = tell_adapter(runtime, runtime->adapters[i]);
	}
	runtime->violations.due = all_are_told ? TIME_NEVER : now + PAUSE_NS;
	runtime->violations.told_at = now;
	publish_all(runtime);
}

void key_violation_note(const struct qp *qp, const struct packet *packet, enum violated_key key)
{
	struct hca *hca = container_of(qp, struct qp_object, qp)->hca;
	struct adapter *adapter = container_of(hca, struct adapter, hca);
	struct process_runtime *runtime = adapter->runtime;
	struct key_violation *violation = &adapter->violations[qp->port->number - 1][key];
	bool has_deth = opcode_info(packet->bth.opcode)->has_deth;

	*violation = (struct key_violation){
		.count = violation->count + 1,
		.key = key == VIOLATED_QKEY ? packet->deth.qkey : packet->bth.pkey,
		.source_qpn = has_deth ? packet->deth.source_qpn : 0,
		.destination_qpn = packet->bth.destination_qpn,
		.slid = packet->lrh.slid,
		.dlid = packet->lrh.dlid,
		.sl = packet->lrh.sl,
		.is_qkey = key == VIOLATED_QKEY,
		.has_source_qpn = has_deth,
		.has_grh = packet->has_grh,
	};
	if (packet->has_grh) {
		violation->sgid = packet->grh.sgid;
		violation->dgid = packet->grh.dgid;
	}
	if (runtime->violations.due == TIME_NEVER)
		runtime->violations.due = runtime->violations.told_at + PAUSE_NS;
	key_violations_tell(runtime, runtime->last_now);
}
