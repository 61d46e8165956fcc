/* SPDX-License-Identifier: Apache-2.0 */
/* State that the agents of one fabric keep between MADs. */
#include "mgmt/agents/agents.h"

#include "mgmt/agents/baseboard.h"
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/gs_agent.h"
#include "mgmt/agents/io_unit.h"
#include "mgmt/agents/identify.h"
#include "mgmt/agents/mkey.h"
#include "mgmt/agents/node_log.h"
#include "mgmt/agents/redirects.h"
#include "mgmt/agents/traps.h"

void agent_memory_init(struct agent_memory *memory)
{
	*memory = (struct agent_memory){.traps_due_at = TIME_NEVER,
					.leases_due_at = TIME_NEVER,
					.io_units_due_at = TIME_NEVER,
					.baseboards_due_at = TIME_NEVER,
					.identify_due_at = TIME_NEVER};
	list_init(&memory->leases);
	list_init(&memory->traps);
	hash_table_init(&memory->samples);
	timer_queue_init(&memory->sample_timers);
	list_init(&memory->redirects);
	list_init(&memory->gsi_rates);
	list_init(&memory->identifications);
	hash_table_init(&memory->node_logs);
	hash_table_init(&memory->trap_addresses);
	hash_table_init(&memory->io_units);
	hash_table_init(&memory->baseboards);
}

void agent_memory_release(struct agent_memory *memory)
{
	mkey_leases_forget(memory, NULL);
	traps_forget(memory, NULL);
	pma_samples_forget(memory, NULL);
	redirects_forget(memory, NULL);
	class_port_infos_forget(memory, NULL);
	io_units_forget(memory, NULL);
	baseboards_forget(memory, NULL);
	identify_forget(memory, NULL);
	node_logs_forget(memory, NULL);
}

void agent_memory_forget(struct agent_memory *memory, const struct node *node)
{
	assert(node);
	mkey_leases_forget(memory, node);
	traps_forget(memory, node);
	pma_samples_forget(memory, node);
	redirects_forget(memory, node);
	class_port_infos_forget(memory, node);
	io_units_forget(memory, node);
	baseboards_forget(memory, node);
	identify_forget(memory, node);
	node_logs_forget(memory, node);
}

time_ns agent_deadline(const struct agent_memory *memory)
{
	time_ns due_at = time_earlier(memory->leases_due_at, memory->identify_due_at);

	due_at = time_earlier(due_at, memory->baseboards_due_at);
	due_at = time_earlier(due_at, memory->io_units_due_at);
	due_at = time_earlier(due_at, memory->traps_due_at);
	return time_earlier(due_at, timer_queue_deadline(&memory->sample_timers));
}

void agent_run(const struct agent_environment *environment, time_ns now)
{
	if (environment->memory) {
		mkey_leases_run(environment->memory, now);
		identify_run(environment->memory, now);
		io_units_run(environment->memory, now);
		baseboards_run(environment, now);
	}
	pma_samples_run(environment, now);
}
