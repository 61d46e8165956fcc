/* SPDX-License-Identifier: Apache-2.0 */
/* Offloaded flows: who may send straight to whom, and whose port counters grow by it
 * (docs/spine.md, "Flows"). */
#include "daemon/packets/flow_resolver.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/core/client.h"
#include "daemon/packets/direct_rings.h"
#include "daemon/xrc/xrc_domains.h"
#include "fabric/fabric.h"
#include "net/link/counters.h"
#include "wire/pkey.h"

/* A process that writes nonsense into its counters can't make a port's count jump further than this
 * at once. */
#define FOLD_MAX (UINT64_C(1) << 48)

enum { SETTLE_FRAMES = 4096 };

struct flow_key {
	uint16_t source_port;
	uint16_t dlid;
	uint16_t pkey;
	uint8_t sl;
};

struct flow_slot {
	struct flow_key key;
	struct fabric_hop *hops;
	unsigned hop_count;
	bool is_used;
	uint32_t generation; /* in which it was last given out */
	uint64_t packets_seen;
	uint64_t words_seen;
	uint64_t returned_packets_seen;
	uint64_t returned_words_seen;
};

struct flow_table {
	const struct flow_counters *counters;
	unsigned slot_count; /* used so far */
	unsigned next_reuse;
	struct flow_slot slots[FLOW_SLOTS];
};

int flow_table_create(const struct flow_counters *counters, struct flow_table **ret_table)
{
	struct flow_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->counters = counters;
	*ret_table = table;
	return 0;
}

void flow_table_destroy(struct flow_table *table)
{
	if (!table)
		return;
	for (unsigned index = 0; index < table->slot_count; index++)
		free(table->slots[index].hops);
	free(table);
}

static uint64_t grown(const uint64_t *counter, uint64_t *seen)
{
	uint64_t value = __atomic_load_n(counter, __ATOMIC_RELAXED);
	uint64_t difference = value - *seen;

	*seen = value;
	return difference < FOLD_MAX ? difference : 0;
}

static void fold_slot(struct flow_slot *slot, const struct flow_counters *counters)
{
	uint64_t packets = grown(&counters->packets, &slot->packets_seen);
	uint64_t words = grown(&counters->words, &slot->words_seen);
	uint64_t returned_packets =
		grown(&counters->returned_packets, &slot->returned_packets_seen);
	uint64_t returned_words = grown(&counters->returned_words, &slot->returned_words_seen);

	for (unsigned index = 0; (packets || words) && index < slot->hop_count; index++) {
		port_count_offloaded_transmit(slot->hops[index].output, slot->key.sl, packets,
					      words);
		port_count_offloaded_receive(slot->hops[index].input, slot->key.sl, packets,
					     words);
	}
	/* The way back is taken to be the same. */
	for (unsigned index = 0; returned_packets && index < slot->hop_count; index++) {
		port_count_offloaded_transmit(slot->hops[index].input, slot->key.sl,
					      returned_packets, returned_words);
		port_count_offloaded_receive(slot->hops[index].output, slot->key.sl,
					     returned_packets, returned_words);
	}
}

void flow_table_fold(struct flow_table *table)
{
	for (unsigned index = 0; index < table->slot_count; index++)
		fold_slot(&table->slots[index], &table->counters[index]);
}

void flows_fold_all(struct daemon *daemon)
{
	list_for_each (link, &daemon->clients) {
		struct client *client = container_of(link, struct client, link);

		if (client->is_attached)
			flow_table_fold(client->flows);
	}
}

/* Field by field: what lies between the fields of a hop is nobody's. */
static bool hops_are_equal(const struct fabric_hop *a, const struct fabric_hop *b, unsigned count)
{
	for (unsigned index = 0; index < count; index++) {
		if (a[index].output != b[index].output || a[index].input != b[index].input ||
		    a[index].vl != b[index].vl)
			return false;
	}
	return true;
}

static bool slot_is_for(const struct flow_slot *slot, const struct flow_key *key,
			const struct fabric_path *path)
{
	return slot->is_used && slot->key.source_port == key->source_port &&
	       slot->key.dlid == key->dlid && slot->key.pkey == key->pkey &&
	       slot->key.sl == key->sl && slot->hop_count == path->hop_count &&
	       hops_are_equal(slot->hops, path->hops, path->hop_count);
}

/* A slot never used, or else one of an earlier generation: its sender has stopped using it or is
 * about to. */
static struct flow_slot *free_slot(struct flow_table *table, uint32_t generation)
{
	if (table->slot_count < FLOW_SLOTS)
		return &table->slots[table->slot_count++];
	for (unsigned tried = 0; tried < FLOW_SLOTS; tried++) {
		unsigned index = table->next_reuse++ % FLOW_SLOTS;

		if (table->slots[index].generation == generation)
			continue;
		fold_slot(&table->slots[index], &table->counters[index]);
		return &table->slots[index];
	}
	return NULL;
}

static int take_slot(struct flow_table *table, const struct flow_key *key,
		     const struct fabric_path *path, uint32_t generation, uint32_t *ret_index)
{
	for (unsigned index = 0; index < table->slot_count; index++) {
		if (!slot_is_for(&table->slots[index], key, path))
			continue;
		table->slots[index].generation = generation;
		*ret_index = index;
		return 0;
	}

	struct fabric_hop *hops = calloc(path->hop_count + 1, sizeof(*hops));
	struct flow_slot *slot = hops ? free_slot(table, generation) : NULL;

	if (!slot) {
		free(hops);
		return -ENOSPC;
	}

	uint32_t index = (uint32_t)(slot - table->slots);

	free(slot->hops);
	memcpy(hops, path->hops, path->hop_count * sizeof(*hops));
	slot->key = *key;
	slot->hops = hops;
	slot->hop_count = path->hop_count;
	slot->is_used = true;
	slot->generation = generation;
	slot->packets_seen = __atomic_load_n(&table->counters[index].packets, __ATOMIC_RELAXED);
	slot->words_seen = __atomic_load_n(&table->counters[index].words, __ATOMIC_RELAXED);
	slot->returned_packets_seen =
		__atomic_load_n(&table->counters[index].returned_packets, __ATOMIC_RELAXED);
	slot->returned_words_seen =
		__atomic_load_n(&table->counters[index].returned_words, __ATOMIC_RELAXED);
	*ret_index = index;
	return 0;
}

/* Nothing that this port sent there earlier may still be on its way, or the ring would overtake it.
 * What others send, or a link holds back elsewhere, is no matter. */
static bool fabric_path_is_empty(struct daemon *daemon, struct endpoint *source, uint16_t dlid,
				 const struct client *destination)
{
	if (*endpoint_inside(source, dlid))
		fabric_step(&daemon->fabric, daemon->now, SETTLE_FRAMES);
	return *endpoint_inside(source, dlid) == 0 &&
	       __atomic_load_n(&destination->down.shared->head, __ATOMIC_ACQUIRE) >=
		       destination->last_packet_end;
}

static bool can_ever_be_direct(const struct client *client, const struct resolve_request *request)
{
	return client->daemon->options.offloads && lid_is_unicast(request->dlid) &&
	       request->destination_qpn > QPN_GSI && request->destination_qpn < QPN_MULTICAST;
}

static enum resolve_verdict decide(struct client *client, const struct resolve_request *request,
				   struct resolve_answer *answer)
{
	struct daemon *daemon = client->daemon;
	struct flow_key key = {request->source_port, request->dlid, request->pkey, request->sl};
	struct endpoint *source =
		host_endpoint(client->host, request->source_port >> 8, request->source_port & 255);
	struct fabric_path path;

	if (!source || !can_ever_be_direct(client, request))
		return RESOLVED_FABRIC;
	/* The trusted process decides, partitions of both ends included. */
	fabric_walk(&daemon->fabric, source->port, request->dlid, request->sl & 15, request->pkey,
		    &path);
	if (path.verdict != DROP_NONE || path.is_watched || !path.destination->endpoint)
		return RESOLVED_FABRIC;

	const struct endpoint *endpoint = path.destination->endpoint;

	/* A router's port. */
	if (!endpoint->adapter)
		return RESOLVED_FABRIC;

	/* Whose turn it is changes from packet to packet. */
	if (xrc_leases_target(endpoint->adapter, request->destination_qpn))
		return RESOLVED_FABRIC;

	struct client *destination =
		qpn_space_owner(&endpoint->adapter->qpns, request->destination_qpn);

	if (!destination || destination->is_ending || !destination->is_attached)
		return RESOLVED_FABRIC_RETRY;
	if (!fabric_path_is_empty(daemon, source, request->dlid, destination))
		return RESOLVED_FABRIC_RETRY;

	int error = direct_ring_between(client, destination, &answer->ring_id);

	if (error)
		return error == -ENOSPC ? RESOLVED_FABRIC : RESOLVED_FABRIC_RETRY;
	if (take_slot(client->flows, &key, &path, daemon->page->generation, &answer->flow_slot) !=
	    0)
		return RESOLVED_FABRIC;
	answer->mtu_code = path.mtu_code;
	answer->destination_port =
		(uint16_t)(endpoint->adapter->index << 8 | path.destination->number);
	return RESOLVED_DIRECT;
}

void flow_resolve(struct client *client, const struct resolve_request *request,
		  struct resolve_answer *ret_answer)
{
	struct daemon *daemon = client->daemon;

	/* A change that is not shown yet would revoke the answer at once. */
	if (daemon->paths_changed)
		flows_revoke(daemon);
	*ret_answer = (struct resolve_answer){.request_id = request->request_id};
	ret_answer->verdict = decide(client, request, ret_answer);
	/* Deciding may have moved packets, and an agent among them may have changed a table. */
	if (daemon->paths_changed) {
		flows_revoke(daemon);
		ret_answer->verdict = RESOLVED_FABRIC_RETRY;
	}
	ret_answer->generation = daemon->page->generation;
}

void flows_for_each_direct(const struct daemon *daemon, direct_flow_visitor visit, void *context)
{
	list_for_each (link, &daemon->clients) {
		const struct client *client = container_of(link, struct client, link);

		for (unsigned index = 0; client->is_attached && index < client->flows->slot_count;
		     index++) {
			const struct flow_slot *slot = &client->flows->slots[index];
			const uint64_t *packets = &client->flows->counters[index].packets;

			if (slot->is_used && slot->generation == daemon->page->generation)
				visit(context, client, slot->key.dlid,
				      __atomic_load_n(packets, __ATOMIC_RELAXED));
		}
	}
}

void flows_revoke(struct daemon *daemon)
{
	daemon->paths_changed = false;
	flows_fold_all(daemon);
	__atomic_add_fetch(&daemon->page->generation, 1, __ATOMIC_RELEASE);
}
