/* SPDX-License-Identifier: Apache-2.0 */
/* The flows that go past the fabric, and how their packets come to count on the ports of their
 * paths. */
#include "daemon/core/flow_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/core/daemon_core.h"
#include "fabric/fabric.h"
#include "net/link/counters.h"
#include "net/node/node.h"

/* The most that one fold adds to a port's counter, whatever a process writes into its flow
 * counters. */
#define FOLD_MAX (UINT64_C(1) << 48)

struct flow_slot {
	struct flow_key key;
	struct fabric_hop *hops;
	unsigned hop_count;
	bool is_used;
	uint32_t generation; /* in which the slot was handed out last */
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

/* A node that no flow passes needs no folding before its counters are read. */
static void count_at_nodes(const struct flow_slot *slot, int difference)
{
	for (unsigned index = 0; index < slot->hop_count; index++) {
		slot->hops[index].output->node->offloaded_flows += (uint32_t)difference;
		slot->hops[index].input->node->offloaded_flows += (uint32_t)difference;
	}
}

void flow_table_destroy(struct flow_table *table)
{
	if (!table)
		return;
	for (unsigned index = 0; index < table->slot_count; index++) {
		count_at_nodes(&table->slots[index], -1);
		free(table->slots[index].hops);
	}
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
		const struct fabric_hop *hop = &slot->hops[index];
		const struct offloaded_packets passed = {
			.sl = slot->key.sl, .vl = hop->vl, .packets = packets, .words = words};

		port_count_offloaded_transmit(hop->output, &passed);
		port_count_offloaded_receive(hop->input, &passed);
	}
	/* Responses are counted on the reversed path. */
	for (unsigned index = 0; returned_packets && index < slot->hop_count; index++) {
		const struct fabric_hop *hop = &slot->hops[index];
		const struct offloaded_packets passed = {.sl = slot->key.sl,
							 .vl = hop->return_vl,
							 .packets = returned_packets,
							 .words = returned_words};

		port_count_offloaded_transmit(hop->input, &passed);
		port_count_offloaded_receive(hop->output, &passed);
	}
}

void flow_table_fold(struct flow_table *table)
{
	for (unsigned index = 0; index < table->slot_count; index++)
		fold_slot(&table->slots[index], &table->counters[index]);
}

void flows_fold_all(struct daemon_core *core)
{
	list_for_each (link, &core->clients.all) {
		struct client *client = container_of(link, struct client, link);

		if (client->is_attached)
			flow_table_fold(client->flows);
	}
}

void flows_fold_at(struct daemon_core *core, const struct node *node)
{
	if (node->offloaded_flows)
		flows_fold_all(core);
}

/* Field by field: padding between the fields is not initialised. */
static bool hops_are_equal(const struct fabric_hop *a, const struct fabric_hop *b, unsigned count)
{
	for (unsigned index = 0; index < count; index++) {
		if (a[index].output != b[index].output || a[index].input != b[index].input ||
		    a[index].vl != b[index].vl || a[index].return_vl != b[index].return_vl)
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

/* A slot that was never used, or else one of an earlier generation, which its sender has stopped
 * using or is about to. */
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

int flow_table_take_slot(struct flow_table *table, const struct flow_key *key,
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

	count_at_nodes(slot, -1);
	free(slot->hops);
	memcpy(hops, path->hops, path->hop_count * sizeof(*hops));
	slot->key = *key;
	slot->hops = hops;
	slot->hop_count = path->hop_count;
	slot->is_used = true;
	count_at_nodes(slot, 1);
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

void flows_for_each_direct(const struct daemon_core *core, direct_flow_visitor visit, void *context)
{
	list_for_each (link, &core->clients.all) {
		const struct client *client = container_of(link, struct client, link);

		for (unsigned index = 0; client->is_attached && index < client->flows->slot_count;
		     index++) {
			const struct flow_slot *slot = &client->flows->slots[index];
			const uint64_t *packets = &client->flows->counters[index].packets;

			if (slot->is_used && slot->generation == core->page->generation)
				visit(context, client, slot->key.dlid,
				      __atomic_load_n(packets, __ATOMIC_RELAXED));
		}
	}
}

void flows_revoke(struct daemon_core *core)
{
	core->paths_changed = false;
	flows_fold_all(core);
	__atomic_add_fetch(&core->page->generation, 1, __ATOMIC_RELEASE);
	if (core->grants_due == TIME_NEVER)
		core->grants_due = core->loop.now + FLOW_GRACE_NS > core->grants_checked
					   ? core->loop.now + FLOW_GRACE_NS
					   : core->grants_checked;
}
