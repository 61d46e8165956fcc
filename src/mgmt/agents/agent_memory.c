/* SPDX-License-Identifier: Apache-2.0 */
/* State that the agents of one fabric keep between MADs. */
#include "mgmt/agents/agents.h"

#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/class_traps.h"
#include "mgmt/agents/gs_agent.h"
#include "mgmt/agents/io_unit.h"
#include "mgmt/agents/mkey.h"
#include "mgmt/agents/traps.h"

void agent_memory_init(struct agent_memory *memory)
{
	*memory = (struct agent_memory){.traps_due_at = TIME_NEVER,
					.samples_due_at = TIME_NEVER,
					.leases_due_at = TIME_NEVER,
					.io_units_due_at = TIME_NEVER};
	list_init(&memory->leases);
	list_init(&memory->traps);
	list_init(&memory->class_traps);
	list_init(&memory->samples);
	list_init(&memory->redirects);
	hash_table_init(&memory->trap_addresses);
	hash_table_init(&memory->io_units);
}

void agent_memory_release(struct agent_memory *memory)
{
	mkey_leases_forget(memory, NULL);
	traps_forget(memory, NULL);
	class_traps_forget(memory, NULL);
	pma_samples_forget(memory, NULL);
	redirects_forget(memory, NULL);
	class_port_infos_forget(memory, NULL);
	io_units_forget(memory, NULL);
}

void agent_memory_forget(struct agent_memory *memory, const struct node *node)
{
	assert(node);
	mkey_leases_forget(memory, node);
	traps_forget(memory, node);
	class_traps_forget(memory, node);
	pma_samples_forget(memory, node);
	redirects_forget(memory, node);
	class_port_infos_forget(memory, node);
	io_units_forget(memory, node);
}

time_ns agent_deadline(const struct agent_memory *memory)
{
	return time_earlier(time_earlier(memory->leases_due_at, memory->io_units_due_at),
			    time_earlier(memory->traps_due_at, memory->samples_due_at));
}

void agent_run(const struct agent_environment *environment, time_ns now)
{
	if (environment->memory) {
		mkey_leases_run(environment->memory, now);
		io_units_run(environment->memory, now);
	}
	pma_samples_run(environment, now);
}
