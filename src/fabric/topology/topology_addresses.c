/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses in a topology text: no two ports may have the same one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/topology/topology.h"
#include "fabric/topology/topology_reader.h"

struct taken_address {
	struct ip_network network;
	unsigned line; /* 0: the default address */
	const struct declared_node *node;
	unsigned port_number;
};

static int compare(const void *a, const void *b)
{
	const struct taken_address *one = a, *other = b;

	if (one->network.ip_version != other->network.ip_version)
		return one->network.ip_version - other->network.ip_version;

	int order = memcmp(&one->network.address, &other->network.address,
			   sizeof(one->network.address));

	return order ? order : (one->line > other->line) - (one->line < other->line);
}

static bool has_given(const struct declarations *declarations)
{
	for (uint32_t index = 0; index < declarations->node_count; index++) {
		const struct declared_node *node = &declarations->nodes[index];

		for (unsigned number = 1; number <= node->port_count; number++) {
			if (node->ports[number].networks.ipv4.ip_version ||
			    node->ports[number].networks.ipv6.ip_version)
				return true;
		}
	}
	return false;
}

static uint32_t count_adapter_ports(const struct declarations *declarations)
{
	uint32_t count = 0;

	for (uint32_t index = 0; index < declarations->node_count; index++) {
		if (declarations->nodes[index].type == NODE_CA)
			count += declarations->nodes[index].port_count;
	}
	return count;
}

/* Both IP versions of every port, in the order of the text, which the default addresses follow. */
static void collect(const struct declarations *declarations, struct taken_address *ret_taken)
{
	uint32_t ordinal = 0;

	for (uint32_t index = 0; index < declarations->node_count; index++) {
		const struct declared_node *node = &declarations->nodes[index];

		for (unsigned number = 1; node->type == NODE_CA && number <= node->port_count;
		     number++) {
			const struct declared_port *port = &node->ports[number];
			const struct ip_network *given[] = {&port->networks.ipv4,
							    &port->networks.ipv6};

			ordinal++;
			for (unsigned family = 0; family < ARRAY_COUNT(given); family++) {
				bool is_given = given[family]->ip_version != 0;

				*ret_taken++ = (struct taken_address){
					.network = is_given ? *given[family]
							    : ip_network_of_port(family ? 6 : 4,
										 ordinal),
					.line = is_given ? port->line : 0,
					.node = node,
					.port_number = number};
			}
		}
	}
}

int declarations_check_addresses(const struct declarations *declarations,
				 struct topology_error *ret_error)
{
	uint32_t count = 2 * count_adapter_ports(declarations);

	if (!has_given(declarations))
		return 0;

	struct taken_address *taken = calloc(count, sizeof(*taken));
	int error = taken ? 0 : -ENOMEM;

	if (!error) {
		collect(declarations, taken);
		qsort(taken, count, sizeof(*taken), compare);
	}
	for (uint32_t index = 1; index < count && !error; index++) {
		const struct taken_address *first = &taken[index - 1], *second = &taken[index];

		if (!second->line || first->network.ip_version != second->network.ip_version ||
		    !ip_address_equal(&first->network.address, &second->network.address))
			continue;
		if (first->line)
			error = topology_fail(ret_error, second->line,
					      "this IP address was given in line %u already",
					      first->line);
		else
			error = topology_fail(
				ret_error, second->line,
				"port %u of \"%s\", which was given none, has this IP "
				"address",
				first->port_number, first->node->name);
	}
	free(taken);
	return error;
}
