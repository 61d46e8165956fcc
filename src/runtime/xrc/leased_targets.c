/* SPDX-License-Identifier: Apache-2.0 */
/* XRC leases: targets of shared domains, leased from softibd and returned by records of the rings.
 */
#include "runtime/xrc/leased_targets.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/runtime_state.h"
#include "runtime/channel_queues.h"
#include "net/hca/shared_target.h"

/* How soon to look again whether the up ring has room. */
#define GIVE_BACK_NS MICROSECONDS(20)

static_assert(sizeof(struct target_state) <= TARGET_STATE_BYTES_MAX, "softibd keeps so much");

/* Puts a record into the ring to softibd; false: there is no room. */
static bool put_record(struct process_runtime *runtime, enum record_kind kind,
		       unsigned adapter_index, uint32_t word, const void *body, uint32_t byte_count)
{
	struct channel *softibd = &runtime->softibd;
	/* The child of a fork has the same ring mapped, but must not write to it. */
	struct ring_record *record =
		runtime_is_usable(runtime) ? ring_reserve(&softibd->out, byte_count) : NULL;

	if (!record)
		return false;
	record->kind = (uint16_t)kind;
	record->port = (uint16_t)(adapter_index << 8);
	record->packet_count = 0;
	record->word = word;
	record->byte_count = byte_count;
	if (byte_count)
		memcpy(record->body, body, byte_count);
	ring_commit(&softibd->out, record);
	publish_later(runtime, softibd);
	return true;
}

/* Sends the records that had no room, in their order. */
static bool settle_debts(struct process_runtime *runtime)
{
	unsigned done = 0;

	while (done < runtime->xrc_debts.count) {
		const struct owed_record *owed = &runtime->xrc_debts.records[done];

		if (!put_record(runtime, owed->kind, owed->adapter_index, owed->word, NULL, 0))
			break;
		done++;
	}
	runtime->xrc_debts.count -= done;
	if (done && runtime->xrc_debts.count)
		memmove(runtime->xrc_debts.records, runtime->xrc_debts.records + done,
			runtime->xrc_debts.count * sizeof(*runtime->xrc_debts.records));
	return runtime->xrc_debts.count == 0;
}

void xrc_leases_say(struct adapter *adapter, enum record_kind kind, uint32_t word)
{
	struct process_runtime *runtime = adapter->runtime;
	const struct owed_record record = {kind, adapter->description->index, word};

	if (!runtime_is_usable(runtime))
		return;
	if (settle_debts(runtime) &&
	    put_record(runtime, kind, record.adapter_index, word, NULL, 0)) {
		publish_all(runtime);
		return;
	}

	struct owed_record *owed =
		realloc(runtime->xrc_debts.records,
			(runtime->xrc_debts.count + 1) * sizeof(*runtime->xrc_debts.records));

	/* Without memory softibd learns of it when this process ends. */
	if (!owed)
		return;
	runtime->xrc_debts.records = owed;
	owed[runtime->xrc_debts.count++] = record;
}

bool xrc_lease_return(struct adapter *adapter, struct qp_object *object)
{
	struct {
		struct target_return header;
		struct target_state state;
	} body;
	struct target_parting parting;
	struct process_runtime *runtime = adapter->runtime;

	/* After shared_target_part the state is no longer here, so there must be room for the
	 * record. */
	if (!runtime_is_usable(runtime) ||
	    ring_room(&runtime->softibd.out) < 2 * ring_record_bytes(sizeof(body)))
		return false;
	shared_target_part(object, &parting);
	memset(&body, 0, sizeof(body));
	body.header = (struct target_return){parting.taken_count, parting.events};
	body.state = parting.state;
	return put_record(runtime, RECORD_TARGET_RETURNED, adapter->description->index,
			  object->qp.qpn, &body, sizeof(body));
}

void xrc_leases_return_idle(struct process_runtime *runtime, time_ns now)
{
	runtime->xrc_debts.give_back_at = TIME_NEVER;
	if (unlikely(runtime->xrc_debts.count) && !settle_debts(runtime))
		runtime->xrc_debts.give_back_at = now + GIVE_BACK_NS;
	for (unsigned i = 0; i < runtime->adapter_limit; i++) {
		struct adapter *adapter = runtime->adapters[i];

		if (likely(!adapter || !adapter->has_hca || list_is_empty(&adapter->hca.borrowed)))
			continue;
		list_for_each_safe (link, &adapter->hca.borrowed) {
			struct qp_object *object =
				container_of(link, struct qp_object, borrowed_link);

			if (shared_target_may_go(object) && !xrc_lease_return(adapter, object))
				runtime->xrc_debts.give_back_at = now + GIVE_BACK_NS;
		}
	}
}

static void receive_loan(struct adapter *adapter, const struct ring_record *record)
{
	struct hca *hca = &adapter->hca;
	struct xrc_lease zcopy;
	struct target_state state;

	if (record->byte_count < sizeof(zcopy))
		return;
	memcpy(&zcopy, record->body, sizeof(zcopy));

	bool has_state = !zcopy.is_lost && record->byte_count == sizeof(zcopy) + sizeof(state);
	struct qp_object *object = index_table_get(&hca->qps, record->word);
	struct xrcd *xrcd = zcopy.domain_id ? xrcd_by_id(hca, zcopy.domain_id) : NULL;

	/* The domain was just closed here, and softibd will read the record that says so. */
	if (!xrcd || (object && object->xrcd != xrcd))
		return;
	/* Without memory nobody here can use the target; its state is lost when this process ends.
	 */
	if (!object && shared_target_add(xrcd, record->word, &object) != 0)
		return;
	if (has_state)
		memcpy(&state, record->body + sizeof(zcopy), sizeof(state));
	shared_target_install(object, has_state ? &state : NULL);
}

static void receive_event(struct adapter *adapter, struct qp_object *object, uint32_t event)
{
	struct hca *hca = &adapter->hca;

	if (!object->context || event > QP_EVENT_LAST_REQUEST_REACHED)
		return;
	hca->owner.event(hca->owner.context, &(struct hca_event){
						     .type = (enum hca_event_type)event,
						     .qp = object,
					     });
}

void xrc_leases_receive(struct process_runtime *runtime, const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);

	if (!adapter)
		return;
	if (record->kind == RECORD_TARGET_LEASED) {
		receive_loan(adapter, record);
		return;
	}

	struct qp_object *object = index_table_get(&adapter->hca.qps, record->word);

	if (!object || !object->xrcd || !object->xrcd->id)
		return;
	if (record->kind == RECORD_TARGET_EVENT) {
		receive_event(adapter, object, record->packet_count);
		return;
	}
	if (!object->is_shared)
		shared_target_begin(object);
	object->is_recalled = record->packet_count == 1;
}
