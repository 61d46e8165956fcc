/* SPDX-License-Identifier: Apache-2.0 */
/* Faults on every link of a simulated fabric. */
#include "sim/sim.h"

#include "fabric/link_faults.h"

enum { CHANCES = 1000 };

static uint64_t chance(uint16_t of_a_thousand)
{
	return FAULT_CERTAIN / CHANCES * of_a_thousand;
}

int sim_set_faults(struct sim *sim, const struct sim_faults *faults)
{
	const struct fault_settings settings = {
		.drop = chance(faults->drop),
		.corrupt = chance(faults->corrupt),
		.duplicate = chance(faults->duplicate),
		.reorder = chance(faults->reorder),
	};
	uint64_t seed = random_next(&sim->random);
	int error = 0;

	for (uint32_t index = 0; !error && index < sim->fabric.node_count; index++) {
		struct node *node = sim->fabric.by_index[index];

		for (unsigned number = 1; !error && number <= node->port_count; number++)
			if (node->ports[number].peer)
				error = faults_set(&sim->fabric, &node->ports[number], &settings,
						   seed, sim->now);
	}
	return error;
}

uint64_t sim_fault_count(const struct sim *sim)
{
	uint64_t count = 0;

	list_for_each (link, &sim->fabric.faults.links) {
		const struct link_faults *faults = container_of(link, struct link_faults, link);
		const struct fault_counts *counts = &faults->counts;

		count += counts->dropped + counts->corrupted + counts->duplicated +
			 counts->reordered;
	}
	return count;
}
