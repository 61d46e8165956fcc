/* SPDX-License-Identifier: Apache-2.0 */
/* The log of each node: a ring of its last events. */
#include "mgmt/agents/node_log.h"

#include <stdlib.h>
#include "net/node/node.h"

enum { ENTRIES_FIRST = 8 };

/* Most nodes see few events, so the ring grows until it has all entries that it may have. */
struct node_log {
	uint32_t next;	   /* number of the next entry; the first is 0 */
	uint32_t count;	   /* entries that are still there */
	uint32_t capacity; /* a power of two */
	struct node_log_entry *entries;
};

static uint64_t key_of(const struct node *node)
{
	return (uint64_t)(uintptr_t)node;
}

static void release(struct node_log *log)
{
	free(log->entries);
	free(log);
}

static struct node_log_entry *entry_at(const struct node_log *log, uint32_t number)
{
	return &log->entries[number & (log->capacity - 1)];
}

static struct node_log *find_or_make(struct agent_memory *memory, const struct node *node)
{
	struct node_log *log = hash_table_get(&memory->node_logs, key_of(node));

	if (log)
		return log;
	log = calloc(1, sizeof(*log));
	if (!log)
		return NULL;
	log->capacity = ENTRIES_FIRST;
	log->entries = calloc(ENTRIES_FIRST, sizeof(*log->entries));
	if (!log->entries || hash_table_put(&memory->node_logs, key_of(node), log) != 0) {
		release(log);
		return NULL;
	}
	return log;
}

/* Without memory the ring stays as small as it is. */
static void grow(struct node_log *log)
{
	uint32_t capacity = log->capacity * 2;
	struct node_log_entry *entries;

	if (log->count < log->capacity || log->capacity == NODE_LOG_ENTRIES_MAX)
		return;
	entries = calloc(capacity, sizeof(*entries));
	if (!entries)
		return;
	for (uint32_t number = log->next - log->count; number != log->next; number++)
		entries[number & (capacity - 1)] = *entry_at(log, number);
	free(log->entries);
	log->entries = entries;
	log->capacity = capacity;
}

/* The same event again, for example a violation by a program that does not stop. */
static bool repeats(const struct node_log_entry *last, const struct node_log_entry *entry)
{
	return last->event == entry->event && last->port_number == entry->port_number &&
	       last->code == entry->code && last->subject == entry->subject &&
	       last->count < UINT32_MAX;
}

void node_log_add(struct agent_memory *memory, const struct node *node, time_ns now,
		  const struct node_log_entry *entry)
{
	struct node_log *log = memory ? find_or_make(memory, node) : NULL;

	if (!log)
		return;

	struct node_log_entry *last = log->count ? entry_at(log, log->next - 1) : NULL;

	if (last && repeats(last, entry)) {
		last->count++;
		last->time_ns = now;
		return;
	}
	grow(log);
	*entry_at(log, log->next) = *entry;
	entry_at(log, log->next)->time_ns = now;
	entry_at(log, log->next)->count = 1;
	log->next++;
	if (log->count < log->capacity)
		log->count++;
}

void node_log_port_state(struct agent_memory *memory, const struct port *port, time_ns now)
{
	const struct node_log_entry entry = {
		.event = NODE_EVENT_PORT_STATE,
		.port_number = port->number,
		.code = port->info.port_state,
	};

	node_log_add(memory, port->node, now, &entry);
}

void node_log_key_violation(struct agent_memory *memory, const struct port *port, time_ns now,
			    enum node_key key, uint16_t source_lid)
{
	const struct node_log_entry entry = {
		.event = NODE_EVENT_KEY_VIOLATION,
		.port_number = port->number,
		.code = (uint16_t)key,
		.subject = source_lid,
	};

	node_log_add(memory, port->node, now, &entry);
}

void node_log_read(const struct agent_memory *memory, const struct node *node, uint32_t from,
		   struct node_log_header *ret_header,
		   struct node_log_entry ret_entries[static NODE_LOG_ENTRIES_PER_MAD])
{
	const struct node_log *log =
		memory ? hash_table_get(&memory->node_logs, key_of(node)) : NULL;

	*ret_header = (struct node_log_header){0};
	if (!log)
		return;
	ret_header->oldest = log->next - log->count;
	ret_header->next = log->next;
	/* A number that is not in the log: entries that are gone, or that never were, as after a
	 * restart of the fabric. */
	ret_header->first = from - ret_header->oldest > log->count ? ret_header->oldest : from;
	for (uint32_t number = ret_header->first;
	     number != log->next && ret_header->entry_count < NODE_LOG_ENTRIES_PER_MAD; number++)
		ret_entries[ret_header->entry_count++] = *entry_at(log, number);
}

void node_logs_forget(struct agent_memory *memory, const struct node *node)
{
	struct hash_table *table = &memory->node_logs;

	if (node) {
		struct node_log *log = hash_table_get(table, key_of(node));

		hash_table_remove(table, key_of(node));
		if (log)
			release(log);
		return;
	}
	for (uint32_t slot = 0; slot < table->capacity; slot++) {
		if (table->entries[slot].value)
			release(table->entries[slot].value);
	}
	hash_table_release(table);
}
