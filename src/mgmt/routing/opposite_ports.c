/* SPDX-License-Identifier: Apache-2.0 */
/* The port numbers at the two ends of links between switches. */
#include "mgmt/routing/opposite_ports.h"

#include <errno.h>
#include <string.h>
#include "mgmt/routing/graph.h"

int opposite_ports_find(const struct routing_graph *graph,
			uint8_t ret_opposite[static OPPOSITE_PORTS_COUNT])
{
	memset(ret_opposite, 0, OPPOSITE_PORTS_COUNT);
	for (uint32_t i = 0; i < graph->switch_count; i++) {
		const struct routing_switch *node = &graph->switches[i];

		for (unsigned port = 1; port <= node->port_count; port++) {
			if (node->neighbors[port] == ROUTING_NO_SWITCH)
				continue;
			if (ret_opposite[port] && ret_opposite[port] != node->neighbor_ports[port])
				return -EOPNOTSUPP;
			ret_opposite[port] = node->neighbor_ports[port];
		}
	}
	return 0;
}
