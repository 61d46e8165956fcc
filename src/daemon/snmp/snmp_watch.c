/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the ports of a fabric for links that come up or go down. */
#include "daemon/snmp/snmp_watch.h"

#include <stdlib.h>
#include "fabric/fabric.h"

/* Between two comparisons. A sweep changes many ports, one after the other. */
#define COMPARE_INTERVAL MILLISECONDS(20)

struct port_seen {
	bool is_up;
	uint64_t link_downed;
	time_ns changed_at; /* 0: not since it is watched */
};

void snmp_watch_init(struct snmp_watch *watch, time_ns now)
{
	*watch = (struct snmp_watch){.began_at = now};
}

void snmp_watch_release(struct snmp_watch *watch)
{
	for (uint32_t index = 0; index < watch->node_count; index++)
		free(watch->by_node[index]);
	free(watch->by_node);
	*watch = (struct snmp_watch){0};
}

static bool reserve(struct snmp_watch *watch, uint32_t node_count)
{
	struct port_seen **by_node;

	if (node_count <= watch->node_count)
		return true;
	by_node = realloc(watch->by_node, node_count * sizeof(by_node[0]));
	if (!by_node)
		return false;
	for (uint32_t index = watch->node_count; index < node_count; index++)
		by_node[index] = NULL;
	watch->by_node = by_node;
	watch->node_count = node_count;
	return true;
}

static void learn(struct snmp_watch *watch, const struct node *node)
{
	struct port_seen *seen = calloc(node->port_count + 1, sizeof(*seen));

	/* Without memory the node is learnt later. */
	if (!seen)
		return;
	for (unsigned number = 0; number <= node->port_count; number++)
		seen[number] = (struct port_seen){
			.is_up = port_is_active(&node->ports[number]),
			.link_downed = node->ports[number].counters.link_downed,
		};
	watch->by_node[node->index] = seen;
}

static void compare(struct port_seen *seen, struct port *port, time_ns now,
		    snmp_watch_changed *changed, void *context)
{
	bool was_up = seen->is_up;
	/* The link may have gone down and come up since the last comparison. */
	bool has_fallen = port->counters.link_downed > seen->link_downed;

	seen->is_up = port_is_active(port);
	seen->link_downed = port->counters.link_downed;
	if (was_up == seen->is_up && !(was_up && has_fallen))
		return;
	seen->changed_at = now;
	if (was_up)
		changed(context, port, SNMP_EVENT_LINK_DOWN);
	if (seen->is_up)
		changed(context, port, SNMP_EVENT_LINK_UP);
}

static void compare_node(struct snmp_watch *watch, struct node *node, time_ns now,
			 snmp_watch_changed *changed, void *context)
{
	unsigned first = node_is_switch(node) ? 0 : 1;

	if (!watch->by_node[node->index]) {
		learn(watch, node);
		return;
	}
	for (unsigned number = first; number <= node->port_count; number++)
		compare(&watch->by_node[node->index][number], &node->ports[number], now, changed,
			context);
}

void snmp_watch_run(struct snmp_watch *watch, const struct fabric *fabric, time_ns now,
		    snmp_watch_changed *changed, void *context)
{
	if (snmp_watch_deadline(watch, fabric) > now || !reserve(watch, fabric->node_count))
		return;
	watch->path_changes = fabric->path_changes;
	watch->next_at = now + COMPARE_INTERVAL;
	for (uint32_t index = 0; index < fabric->node_count; index++)
		compare_node(watch, fabric->by_index[index], now, changed, context);
}

time_ns snmp_watch_deadline(const struct snmp_watch *watch, const struct fabric *fabric)
{
	if (watch->by_node && watch->path_changes == fabric->path_changes)
		return TIME_NEVER;
	return watch->next_at;
}

uint64_t snmp_watch_last_change(const struct snmp_watch *watch, const struct port *port)
{
	const struct port_seen *seen =
		port->node->index < watch->node_count ? watch->by_node[port->node->index] : NULL;

	if (!seen || !seen[port->number].changed_at)
		return 0;
	return seen[port->number].changed_at - watch->began_at;
}
