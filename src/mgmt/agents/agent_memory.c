/* SPDX-License-Identifier: Apache-2.0 */
/* What the agents of one fabric remember between MADs. */
#include "mgmt/agents/agents.h"

#include "mgmt/agents/mkey.h"
#include "mgmt/agents/traps.h"

void agent_memory_init(struct agent_memory *memory)
{
	*memory = (struct agent_memory){0};
	list_init(&memory->leases);
	list_init(&memory->traps);
}

void agent_memory_release(struct agent_memory *memory)
{
	mkey_leases_forget(memory, NULL);
	traps_forget(memory, NULL);
}

void agent_memory_forget(struct agent_memory *memory, const struct node *node)
{
	assert(node);
	mkey_leases_forget(memory, node);
	traps_forget(memory, node);
}
