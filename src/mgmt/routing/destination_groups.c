/* SPDX-License-Identifier: Apache-2.0 */
/* The destinations of a graph grouped by the switch they are attached to. */
#include "mgmt/routing/destination_groups.h"

#include <errno.h>
#include <stdlib.h>

static void count(struct destination_groups *groups, const struct routing_graph *graph)
{
	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];

		groups->first_of[destination->switch_index + 1]++;
		if (destination->port_number)
			groups->has_adapters[destination->switch_index] = true;
	}
	for (uint32_t i = 0; i < graph->switch_count; i++)
		groups->first_of[i + 1] += groups->first_of[i];
}

/* Uses first_of as a cursor per group and restores it afterwards. */
static void place(struct destination_groups *groups, const struct routing_graph *graph)
{
	for (uint32_t i = 0; i < graph->destination_count; i++) {
		uint32_t index = graph->destinations[i].switch_index;

		groups->destinations[groups->first_of[index]++] = i;
	}
	for (uint32_t i = graph->switch_count; i > 0; i--)
		groups->first_of[i] = groups->first_of[i - 1];
	groups->first_of[0] = 0;
}

int destination_groups_init(struct destination_groups *groups, const struct routing_graph *graph)
{
	*groups = (struct destination_groups){
		.first_of = calloc(graph->switch_count + 2u, sizeof(*groups->first_of)),
		.destinations =
			malloc((graph->destination_count + 1u) * sizeof(*groups->destinations)),
		.has_adapters = calloc(graph->switch_count + 1u, sizeof(*groups->has_adapters)),
	};
	if (!groups->first_of || !groups->destinations || !groups->has_adapters) {
		destination_groups_release(groups);
		return -ENOMEM;
	}
	count(groups, graph);
	place(groups, graph);
	return 0;
}

void destination_groups_release(struct destination_groups *groups)
{
	free(groups->first_of);
	free(groups->destinations);
	free(groups->has_adapters);
	*groups = (struct destination_groups){0};
}
