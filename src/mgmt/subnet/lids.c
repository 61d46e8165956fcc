/* SPDX-License-Identifier: Apache-2.0 */
/* Who gets which LID (vol 1, chapter 14): stable within a run, and across managers where the ports
 * kept theirs. */
#include "mgmt/subnet/subnet.h"

#include <string.h>

enum choice { CHOOSE_REMEMBERED, CHOOSE_PRESENT, CHOOSE_LOWEST, CHOICE_COUNT };

static uint16_t remembered_lid(const struct subnet *subnet, uint64_t port_guid)
{
	return (uint16_t)(uintptr_t)hash_table_get(&subnet->lid_by_port_guid, port_guid);
}

static uint16_t lowest_free(const struct subnet *subnet, uint16_t *start)
{
	for (unsigned lid = *start; lid <= LID_UNICAST_LAST; lid++) {
		/* One that is away keeps its LID. */
		if (!subnet->by_lid[lid] && !subnet->lid_is_remembered[lid]) {
			*start = (uint16_t)(lid + 1);
			return (uint16_t)lid;
		}
	}
	*start = LID_UNICAST_LAST + 1;
	return 0;
}

static void give(struct subnet *subnet, struct subnet_port *port, uint16_t lid)
{
	uintptr_t value = lid;

	port->lid = lid;
	subnet->by_lid[lid] = port;
	if (lid > subnet->lid_max)
		subnet->lid_max = lid;
	if (subnet->lid_is_remembered[lid])
		return;
	/* Without memory it is given anew in the next run of this function; the port keeps it as
	 * its present one. */
	if (hash_table_put(&subnet->lid_by_port_guid, port->guid, (void *)value) == 0)
		subnet->lid_is_remembered[lid] = true;
}

static uint16_t choose(const struct subnet *subnet, const struct subnet_port *port,
		       enum choice choice, uint16_t *lowest)
{
	uint16_t lid = 0;

	switch (choice) {
	case CHOOSE_REMEMBERED:
		lid = remembered_lid(subnet, port->guid);
		break;
	case CHOOSE_PRESENT:
		lid = lid_is_unicast(port->info.lid) && !subnet->lid_is_remembered[port->info.lid]
			      ? port->info.lid
			      : 0;
		break;
	case CHOOSE_LOWEST:
		return lowest_free(subnet, lowest);
	case CHOICE_COUNT:
		break;
	}
	return lid && !subnet->by_lid[lid] ? lid : 0;
}

uint32_t subnet_assign_lids(struct subnet *subnet)
{
	uint32_t without_count = 0;
	uint16_t lowest = LID_UNICAST_FIRST;

	memset(subnet->by_lid, 0, sizeof(subnet->by_lid));
	subnet->lid_max = 0;
	for (enum choice choice = CHOOSE_REMEMBERED; choice < CHOICE_COUNT; choice++) {
		list_for_each (link, &subnet->nodes) {
			struct subnet_node *node = container_of(link, struct subnet_node, link);

			for (unsigned i = 0; i <= node->port_count; i++) {
				struct subnet_port *port = &node->ports[i];

				if (choice == CHOOSE_REMEMBERED)
					port->lid = 0;
				if (!subnet_port_is_end_port(port) || port->lid)
					continue;

				uint16_t lid = choose(subnet, port, choice, &lowest);

				if (lid)
					give(subnet, port, lid);
				else if (choice == CHOOSE_LOWEST)
					without_count++;
			}
		}
	}
	return without_count;
}
