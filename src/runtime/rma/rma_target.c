/* SPDX-License-Identifier: Apache-2.0 */
/* The target's side of RMA: grants that let peers access this process's memory for a queue pair. */
#include "runtime/rma/rma_target.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/runtime_state.h"
#include "runtime/packets/ring_grants.h"
#include "runtime/rma/rkey_export.h"
#include "ipc/rma_area.h"
#include "net/transport/admission.h"
#include "net/transport/rma/rma_bypass.h"
#include "wire/mtu.h"
#include "wire/packet.h"

struct grant {
	struct rma_progress placed; /* the queue pair's responder points here */
	struct channel *channel;
	struct qp *qp;
	uint32_t index;
};

struct grant_table {
	uint32_t index_limit; /* all indexes from here on were never granted */
	struct grant *by_index[RMA_QPS_MAX];
};

static void set_serial(struct rma_grant *shared, uint32_t serial)
{
	__atomic_store_n(&shared->serial, serial, __ATOMIC_SEQ_CST);
}

static void revoke(const struct grant *grant)
{
	struct rma_area *area = grant->channel->rma_in;

	/* The child of a fork must not touch its parent's shared memory. */
	if (area)
		set_serial(&area->grants[grant->index],
			   (area->grants[grant->index].serial | 1) + 1);
}

/* The grant is revoked, and no access under it goes on. */
static void finish(struct grant *grant)
{
	(void)rma_bypass_catch_up(grant->qp);
	grant->qp->responder.placed = NULL;
	grant->channel->grants->by_index[grant->index] = NULL;
	free(grant);
}

static void end(struct grant *grant)
{
	revoke(grant);
	rkey_export_wait_for(grant->channel);
	finish(grant);
}

void rma_target_end(struct qp *qp)
{
	if (qp->responder.placed)
		end(container_of(qp->responder.placed, struct grant, placed));
}

void rma_target_revoke(const struct channel *channel)
{
	for (unsigned index = 0; channel->grants && index < channel->grants->index_limit; index++)
		if (channel->grants->by_index[index])
			revoke(channel->grants->by_index[index]);
}

static void finish_those_of(const struct channel *channel)
{
	for (unsigned index = 0; channel->grants && index < channel->grants->index_limit; index++)
		if (channel->grants->by_index[index])
			finish(channel->grants->by_index[index]);
}

void rma_target_end_all(struct process_runtime *runtime)
{
	for (unsigned i = 0; i < runtime->direct.count; i++)
		rma_target_revoke(runtime->direct.channels[i]);
	rkey_export_wait_for_all(runtime);
	for (unsigned i = 0; i < runtime->direct.count; i++)
		finish_those_of(runtime->direct.channels[i]);
}

void rma_target_close(struct channel *channel)
{
	rma_target_revoke(channel);
	if (channel->grants)
		rkey_export_wait_for(channel);
	finish_those_of(channel);
	free(channel->grants);
	channel->grants = NULL;
}

/* A queue pair without responder resources can't answer a READ or atomic, so RMA must not carry one
 * out (transport 5.2). */
static uint32_t granted_access(const struct qp *qp)
{
	uint32_t access = qp->attributes.access;

	if (!qp->responder.saved_count)
		access &= ~(uint32_t)(ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC);
	return access;
}

static bool may_grant(const struct qp_object *object, const struct packet *packet)
{
	const struct qp *qp = &object->qp;

	if ((qp->type != QP_RC && qp->type != QP_UC) || object->is_shared)
		return false;
	/* A queue pair that may migrate can receive packets by another path, so all its requests
	 * must be packets. */
	if (qp->attributes.path_migration != PATH_MIGRATED || qp->alternate_port)
		return false;
	return qp->responder.inbound == INBOUND_IDLE &&
	       psn_equal(qp->responder.expected_psn, packet->bth.psn);
}

static void make(struct channel *channel, struct qp_object *object, unsigned adapter_index,
		 const struct rma_grant_request *ask)
{
	struct rma_grant *shared = &channel->rma_in->grants[ask->index];
	const uint64_t *word = &channel->rma_in->placed[ask->index];
	const uint64_t begin =
		rma_progress_word(object->qp.responder.expected_psn.value, 0, ask->ask_number);

	/* The word still has the tag of an earlier grant. Tags repeat after 65,536 grant requests,
	 * so the word could be mistaken for progress under this grant. The peer's next grant
	 * request has another number. */
	if (rma_words_have_one_tag(__atomic_load_n(word, __ATOMIC_ACQUIRE), begin))
		return;

	struct grant *grant = malloc(sizeof(*grant));

	if (!grant)
		return;
	*grant = (struct grant){.channel = channel, .qp = &object->qp, .index = ask->index};
	grant->placed.word = word;
	grant->placed.seen = begin;
	channel->grants->by_index[ask->index] = grant;
	if (ask->index >= channel->grants->index_limit)
		channel->grants->index_limit = ask->index + 1;
	object->qp.responder.placed = &grant->placed;
	shared->ask_number = ask->ask_number;
	shared->pd = (uintptr_t)object->qp.pd;
	shared->qpn = object->qp.qpn;
	shared->access = granted_access(&object->qp);
	shared->adapter_index = adapter_index;
	set_serial(shared, shared->serial | 1);
}

static bool decode(const struct ring_record *record, struct rma_grant_request *ret_ask,
		   uint8_t headers[static PACKET_HEADER_BYTES_MAX + 4], struct packet *ret_packet)
{
	size_t byte_count = record->byte_count;

	if (byte_count < sizeof(*ret_ask) ||
	    byte_count - sizeof(*ret_ask) > PACKET_HEADER_BYTES_MAX + 4)
		return false;
	memcpy(ret_ask, record->body, sizeof(*ret_ask));
	memcpy(headers, record->body + sizeof(*ret_ask), byte_count - sizeof(*ret_ask));
	return ret_ask->index < RMA_QPS_MAX &&
	       packet_decode(headers, byte_count - sizeof(*ret_ask), 1, ret_packet) == PACKET_OK;
}

void rma_target_requested(struct process_runtime *runtime, struct channel *channel,
			  const struct ring_record *record)
{
	unsigned adapter_index = record->port >> 8;
	const struct adapter *adapter = runtime_adapter(runtime, adapter_index);
	uint8_t headers[PACKET_HEADER_BYTES_MAX + 4];
	struct rma_grant_request ask;
	struct packet packet;

	if (!adapter || !runtime->rkey_export.header || !channel->rma_in ||
	    channel->hazard.is_cut_off || !decode(record, &ask, headers, &packet) ||
	    !ring_grant_admits(runtime, channel, record->port, &packet))
		return;

	struct qp_object *object = index_table_get(&adapter->hca.qps, packet.bth.destination_qpn);

	if (!channel->grants)
		channel->grants = calloc(1, sizeof(*channel->grants));
	if (!object || !channel->grants)
		return;
	if (channel->grants->by_index[ask.index])
		end(channel->grants->by_index[ask.index]);
	/* The grant request carries packet headers, which pass the same checks as the peer's
	 * packets: nobody else ends the peer's grant. */
	if (admission_check(&object->qp, &packet) != ADMITTED)
		return;
	/* A peer that asks again has given up its earlier grant. */
	rma_target_end(&object->qp);
	if (may_grant(object, &packet))
		make(channel, object, adapter_index, &ask);
}
