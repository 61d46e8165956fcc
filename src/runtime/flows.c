/* SPDX-License-Identifier: Apache-2.0 */
/* Flows: the table, the questions to softibd, and the answers. */
#include "runtime/flows.h"

#include <errno.h>
#include <stdlib.h>
#include "runtime/channel.h"
#include "net/transport/qp.h"
#include "wire/mtu.h"
#include "wire/pkey.h"

/* First and last unicast LIDs that a switch forwards (vol 1, chapter 4). */
/* Earlier packets leave the fabric within microseconds unless the destination does not read. So
 * wait for them a few times, twice as long each time; then have packets relayed and ask again much
 * later. */
enum { HOLDS_MAX = 6, FABRIC_BACKOFFS_MAX = 6 };
#define HOLD_NS	   MICROSECONDS(50)
#define BACKOFF_NS MILLISECONDS(10)

enum { TABLE_SLOTS_MIN = 64 };

int flow_table_init(struct flow_table *table, struct flow_counters *counters)
{
	*table = (struct flow_table){.counters = counters,
				     .slot_count = TABLE_SLOTS_MIN,
				     .capacity = TABLE_SLOTS_MIN / 2};
	list_init(&table->holding);
	table->slots = calloc(table->slot_count, sizeof(*table->slots));
	table->flows = calloc(table->capacity, sizeof(*table->flows));
	if (table->slots && table->flows)
		return 0;
	flow_table_release(table);
	return -ENOMEM;
}

void flow_table_release(struct flow_table *table)
{
	for (uint32_t i = 0; i < table->count; i++)
		free(table->flows[i]);
	free(table->slots);
	free(table->flows);
	*table = (struct flow_table){.slots = NULL};
	list_init(&table->holding);
}

flow_key flow_key_of(unsigned adapter_index, const struct qp_route *route)
{
	return flow_key_make(adapter_index, route->port_number, route->sl, route->dlid, route->pkey,
			     route->destination_qpn);
}

static uint16_t flow_source_port(const struct flow *flow)
{
	return (uint16_t)(flow->key & 0x3fff);
}

static uint16_t key_dlid(flow_key key)
{
	return (uint16_t)(key >> 48);
}

static uint64_t hash(flow_key key)
{
	key *= 0x9e3779b97f4a7c15u;
	return key ^ key >> 32;
}

static void insert(struct flow_table *table, struct flow *flow)
{
	uint64_t at = hash(flow->key);

	while (table->slots[at & (table->slot_count - 1)])
		at++;
	table->slots[at & (table->slot_count - 1)] = flow;
}

static int grow(struct flow_table *table)
{
	struct flow **slots = calloc((size_t)table->slot_count * 2, sizeof(*slots));
	struct flow **flows = realloc(table->flows, (size_t)table->capacity * 2 * sizeof(*flows));

	if (flows)
		table->flows = flows;
	if (!slots || !flows) {
		free(slots);
		return -ENOMEM;
	}
	free(table->slots);
	table->slots = slots;
	table->slot_count *= 2;
	table->capacity *= 2;
	for (uint32_t i = 0; i < table->count; i++)
		if (table->flows[i])
			insert(table, table->flows[i]);
	return 0;
}

static uint32_t take_index(struct flow_table *table)
{
	while (table->next_free < table->count && table->flows[table->next_free])
		table->next_free++;

	uint32_t index = table->next_free++;

	if (index == table->count)
		table->count++;
	return index;
}

static bool never_has_a_ring(flow_key key, uint32_t destination_qpn)
{
	return !lid_is_unicast(key_dlid(key)) || destination_qpn == QPN_MULTICAST;
}

struct flow *flow_table_find(const struct flow_table *table, flow_key key)
{
	for (uint64_t at = hash(key);; at++) {
		struct flow *flow = table->slots[at & (table->slot_count - 1)];

		if (!flow || flow->key == key)
			return flow;
	}
}

struct flow *flow_table_get(struct flow_table *table, flow_key key, uint32_t destination_qpn)
{
	struct flow *flow = flow_table_find(table, key);

	if (flow)
		return flow;
	if (table->live_count == table->capacity && grow(table) != 0)
		return NULL;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return NULL;
	flow->key = key;
	flow->index = take_index(table);
	flow->state = never_has_a_ring(key, destination_qpn) ? FLOW_FABRIC_ALWAYS : FLOW_UNRESOLVED;
	flow->destination_qpn = destination_qpn;
	list_init(&flow->waiting);
	list_init(&flow->holding);
	table->flows[flow->index] = flow;
	table->live_count++;
	insert(table, flow);
	return flow;
}

static bool is_idle(const struct flow *flow)
{
	return list_is_empty(&flow->waiting) && flow->state != FLOW_RESOLVING &&
	       flow->state != FLOW_HOLDING && flow->state != FLOW_RING_WANTED;
}

void flow_table_forget_idle(struct flow_table *table)
{
	for (uint32_t i = 0; i < table->slot_count; i++)
		table->slots[i] = NULL;
	for (uint32_t i = 0; i < table->count; i++) {
		struct flow *flow = table->flows[i];

		if (flow && is_idle(flow)) {
			free(flow);
			table->flows[i] = NULL;
			table->live_count--;
		} else if (flow) {
			insert(table, flow);
		}
	}
	table->next_free = 0;
}

struct flow *flow_table_at(const struct flow_table *table, uint32_t index)
{
	return index < table->count ? table->flows[index] : NULL;
}

struct resolve_request flow_ask(struct flow *flow, uint32_t generation)
{
	flow->state = FLOW_RESOLVING;
	return (struct resolve_request){
		.request_id = flow->index,
		.generation = generation,
		.destination_qpn = flow->destination_qpn,
		.dlid = key_dlid(flow->key),
		.pkey = (uint16_t)(flow->key >> 32),
		.source_port = flow_source_port(flow),
		.sl = (uint8_t)(flow->key >> 14 & 15),
	};
}

static void hold(struct flow_table *table, struct flow *flow, time_ns now)
{
	flow->ask_at = now + (HOLD_NS << flow->hold_count);
	flow->hold_count++;
	flow->state = FLOW_HOLDING;
	list_append(&table->holding, &flow->holding);
}

static void go_by_fabric(struct flow *flow, uint32_t generation, time_ns ask_at)
{
	flow->state = FLOW_FABRIC;
	flow->generation = generation;
	flow->ask_at = ask_at;
	flow->hold_count = 0;
}

void flow_answer(struct flow_table *table, struct flow *flow, const struct resolve_answer *answer,
		 struct channel *channel, uint32_t generation, time_ns now)
{
	/* A flow that was not asked about, or that was asked about again after its channel closed,
	 * ignores the answer. */
	if (flow->state != FLOW_RESOLVING)
		return;
	if (answer->verdict == RESOLVED_FABRIC && answer->generation == generation) {
		flow->fabric_count = 0;
		go_by_fabric(flow, generation, TIME_NEVER);
		return;
	}

	bool is_direct = answer->verdict == RESOLVED_DIRECT && answer->generation == generation &&
			 channel && channel->state != CHANNEL_DEAD &&
			 answer->flow_slot < FLOW_SLOTS && mtu_bytes(answer->mtu_code);

	if (is_direct) {
		flow->state = channel->state == CHANNEL_OPEN ? FLOW_DIRECT : FLOW_RING_WANTED;
		flow->generation = generation;
		flow->channel = channel;
		flow->counters = &table->counters[answer->flow_slot];
		flow->destination_port = answer->destination_port;
		flow->mtu = mtu_bytes(answer->mtu_code);
		flow->hold_count = 0;
		flow->fabric_count = 0;
		return;
	}
	/* Relaying is always allowed: the receiver reads its rings first. */
	if (flow->hold_count < HOLDS_MAX && !(channel && channel->state == CHANNEL_DEAD)) {
		hold(table, flow, now);
		return;
	}
	go_by_fabric(flow, generation, now + (BACKOFF_NS << flow->fabric_count));
	if (flow->fabric_count < FABRIC_BACKOFFS_MAX)
		flow->fabric_count++;
	/* Once the flow is known to be busy, the next question gets one chance, so that little time
	 * is lost. */
	flow->hold_count = HOLDS_MAX - 2;
}

void flow_table_expire(struct flow_table *table, time_ns now,
		       void (*wake)(void *context, struct flow *flow), void *context)
{
	struct list *next;

	for (struct list *link = table->holding.next; link != &table->holding; link = next) {
		struct flow *flow = container_of(link, struct flow, holding);

		next = link->next;
		if (flow->ask_at > now)
			continue;
		list_remove(link);
		flow->state = FLOW_UNRESOLVED;
		wake(context, flow);
	}
}

time_ns flow_table_deadline(const struct flow_table *table)
{
	time_ns deadline = TIME_NEVER;

	for (const struct list *link = table->holding.next; link != &table->holding;
	     link = link->next)
		deadline = time_earlier(deadline, container_of(link, struct flow, holding)->ask_at);
	return deadline;
}

void flow_table_forget_channel(struct flow_table *table, const struct channel *channel,
			       void (*wake)(void *context, struct flow *flow), void *context)
{
	for (uint32_t i = 0; i < table->count; i++) {
		struct flow *flow = table->flows[i];

		if (!flow || flow->channel != channel)
			continue;
		flow->channel = NULL;
		if (flow->state == FLOW_DIRECT || flow->state == FLOW_RING_WANTED) {
			flow->state = FLOW_UNRESOLVED;
			wake(context, flow);
		}
	}
}

void flow_table_channel_opened(struct flow_table *table, const struct channel *channel,
			       void (*wake)(void *context, struct flow *flow), void *context)
{
	for (uint32_t i = 0; i < table->count; i++) {
		struct flow *flow = table->flows[i];

		if (!flow || flow->channel != channel || flow->state != FLOW_RING_WANTED)
			continue;
		flow->state = FLOW_DIRECT;
		wake(context, flow);
	}
}
