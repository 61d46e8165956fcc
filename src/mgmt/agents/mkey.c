/* SPDX-License-Identifier: Apache-2.0 */
/* The M_Key check and its lease (management 2.3). */
#include "mgmt/agents/mkey.h"

#include <stdlib.h>
#include "mgmt/agents/node_log.h"
#include "mgmt/agents/traps.h"

enum { VIOLATIONS_MAX = 0xffff };

/* A running lease timer. A request with a wrong key starts it. */
struct mkey_lease {
	struct list link;
	struct port *port;
	time_ns deadline;
};

static struct mkey_lease *find_lease(const struct agent_memory *memory, const struct port *port)
{
	list_for_each (link, &memory->leases) {
		struct mkey_lease *lease = container_of(link, struct mkey_lease, link);

		if (lease->port == port)
			return lease;
	}
	return NULL;
}

static void end_lease(struct mkey_lease *lease)
{
	list_remove(&lease->link);
	free(lease);
}

void mkey_leases_run(struct agent_memory *memory, time_ns now)
{
	if (memory->leases_due_at > now)
		return;
	memory->leases_due_at = TIME_NEVER;
	list_for_each_safe (link, &memory->leases) {
		struct mkey_lease *lease = container_of(link, struct mkey_lease, link);

		if (lease->deadline > now) {
			memory->leases_due_at =
				time_earlier(memory->leases_due_at, lease->deadline);
			continue;
		}
		/* The key stays, and a new manager can read it now. */
		lease->port->info.mkey_protect_bits = 0;
		end_lease(lease);
	}
}

static void renew_lease(const struct sma_request *request, const struct port *port)
{
	struct agent_memory *memory = request->environment->memory;
	struct mkey_lease *lease = memory ? find_lease(memory, port) : NULL;

	if (lease)
		end_lease(lease);
}

static void violated(const struct sma_request *request, struct port *port)
{
	struct agent_memory *memory = request->environment->memory;

	if (port->info.mkey_violations < VIOLATIONS_MAX)
		port->info.mkey_violations++;
	if (!memory)
		return;
	node_log_key_violation(memory, port, request->now, NODE_KEY_M,
			       request->message->address.lid);
	trap_bad_mkey(memory, request, port);
	if (!port->info.mkey_lease_period || find_lease(memory, port))
		return;

	struct mkey_lease *lease = malloc(sizeof(*lease));

	/* Without memory the lease starts at the next violation. */
	if (!lease)
		return;
	*lease = (struct mkey_lease){
		.port = port,
		.deadline = request->now + SECONDS(port->info.mkey_lease_period),
	};
	list_append(&memory->leases, &lease->link);
	memory->leases_due_at = time_earlier(memory->leases_due_at, lease->deadline);
}

bool mkey_check(const struct sma_request *request, struct port *port)
{
	if (request->environment->memory)
		mkey_leases_run(request->environment->memory, request->now);
	if (!port->info.mkey || port->info.mkey == request->mkey) {
		if (port->info.mkey_lease_period)
			renew_lease(request, port);
		return true;
	}
	if (request->header.method == MAD_GET && port->info.mkey_protect_bits < 2)
		return true;
	violated(request, port);
	return false;
}

bool mkey_is_visible(const struct sma_request *request, const struct port *port)
{
	return port->info.mkey_protect_bits == 0 || port->info.mkey == request->mkey;
}

void mkey_leases_forget(struct agent_memory *memory, const struct node *node)
{
	list_for_each_safe (link, &memory->leases) {
		struct mkey_lease *lease = container_of(link, struct mkey_lease, link);

		if (!node || lease->port->node == node)
			end_lease(lease);
	}
}
