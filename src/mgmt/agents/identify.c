/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes whose LEDs show a person where they are. */
#include "mgmt/agents/identify.h"

#include <errno.h>
#include <stdlib.h>
#include "mgmt/agents/node_log.h"
#include "net/node/node.h"

static struct identification *identification_of(struct list *link)
{
	return container_of(link, struct identification, link);
}

static struct identification *find(const struct agent_memory *memory, const struct node *node)
{
	list_for_each (link, &memory->identifications) {
		if (identification_of(link)->node == node)
			return identification_of(link);
	}
	return NULL;
}

static void end(struct identification *identification)
{
	list_remove(&identification->link);
	free(identification);
}

static void light(struct agent_memory *memory, struct node *node, time_ns now,
		  const struct identify *to)
{
	const struct node_log_entry entry = {
		.event = NODE_EVENT_IDENTIFY,
		.code = to->is_on,
		.subject = to->seconds,
	};

	for (unsigned number = 0; number <= node->port_count; number++)
		node->ports[number].led_is_on = to->is_on;
	node_log_add(memory, node, now, &entry);
}

int identify_set(struct agent_memory *memory, struct node *node, time_ns now,
		 const struct identify *wanted)
{
	struct identification *identification = find(memory, node);

	if (!wanted->is_on) {
		/* Also puts out LEDs that LedInfo turned on. */
		if (identification)
			end(identification);
		light(memory, node, now, &(struct identify){0});
		return 0;
	}
	if (!identification) {
		identification = calloc(1, sizeof(*identification));
		if (!identification)
			return -ENOMEM;
		identification->node = node;
		list_append(&memory->identifications, &identification->link);
	}
	identification->ends_at = wanted->seconds ? now + SECONDS(wanted->seconds) : TIME_NEVER;
	memory->identify_due_at = time_earlier(memory->identify_due_at, identification->ends_at);
	light(memory, node, now, wanted);
	return 0;
}

struct identify identify_get(const struct agent_memory *memory, const struct node *node,
			     time_ns now)
{
	const struct identification *identification = memory ? find(memory, node) : NULL;
	struct identify shown = {.is_on = identification && identification->ends_at > now};

	if (shown.is_on && identification->ends_at != TIME_NEVER)
		shown.seconds =
			(uint32_t)((identification->ends_at - now + SECONDS(1) - 1) / SECONDS(1));
	return shown;
}

const struct identification *identification_next(const struct agent_memory *memory,
						 const struct identification *previous)
{
	const struct list *link = previous ? &previous->link : &memory->identifications;

	return link->next == &memory->identifications ? NULL : identification_of(link->next);
}

void identify_run(struct agent_memory *memory, time_ns now)
{
	if (memory->identify_due_at > now)
		return;
	memory->identify_due_at = TIME_NEVER;
	list_for_each_safe (link, &memory->identifications) {
		struct identification *identification = identification_of(link);

		if (identification->ends_at > now) {
			memory->identify_due_at =
				time_earlier(memory->identify_due_at, identification->ends_at);
			continue;
		}
		light(memory, identification->node, now, &(struct identify){0});
		end(identification);
	}
}

void identify_forget(struct agent_memory *memory, const struct node *node)
{
	list_for_each_safe (link, &memory->identifications) {
		if (!node || identification_of(link)->node == node)
			end(identification_of(link));
	}
}
