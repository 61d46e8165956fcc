/* SPDX-License-Identifier: Apache-2.0 */
/* Classes that a port redirects, and the ClassPortInfo of the responses (management 1.6). */
#include "mgmt/agents/gs_agent.h"

#include <errno.h>
#include <stdlib.h>
#include "wire/pkey.h"
#include "wire/smp.h"

struct redirect {
	struct list link; /* in the agents' memory */
	const struct port *port;
	uint8_t management_class;
	struct class_port_info place;
};

static struct redirect *redirect_of(struct list *link)
{
	return container_of(link, struct redirect, link);
}

static struct redirect *find(const struct agent_memory *memory, const struct port *port,
			     uint8_t management_class)
{
	list_for_each (link, &memory->redirects) {
		struct redirect *redirect = redirect_of(link);

		if (redirect->port == port && redirect->management_class == management_class)
			return redirect;
	}
	return NULL;
}

static void end(struct redirect *redirect)
{
	list_remove(&redirect->link);
	free(redirect);
}

void redirects_forget(struct agent_memory *memory, const struct node *node)
{
	list_for_each_safe (link, &memory->redirects) {
		if (!node || redirect_of(link)->port->node == node)
			end(redirect_of(link));
	}
}

int agent_redirect(struct agent_memory *memory, const struct port *port, uint8_t management_class,
		   uint16_t lid, uint32_t qpn)
{
	struct redirect *redirect = find(memory, port, management_class);

	if (!lid) {
		if (redirect)
			end(redirect);
		return 0;
	}
	if (!redirect) {
		redirect = calloc(1, sizeof(*redirect));
		if (!redirect)
			return -ENOMEM;
		list_append(&memory->redirects, &redirect->link);
	}
	redirect->port = port;
	redirect->management_class = management_class;
	redirect->place = (struct class_port_info){
		.base_version = MAD_BASE_VERSION,
		.resp_time_value = CLASS_PORT_INFO_RESP_TIME_USUAL,
		.redirect_lid = lid,
		.redirect_qpn = qpn,
		.redirect_qkey = QKEY_GSI,
		.redirect_pkey = PKEY_DEFAULT_FULL,
	};
	return 0;
}

bool redirect_find(const struct gs_request *request, struct class_port_info *ret_place)
{
	const struct agent_memory *memory = request->environment->memory;
	const struct redirect *redirect =
		memory ? find(memory, request->arrival, request->header.management_class) : NULL;

	if (!redirect)
		return false;
	*ret_place = redirect->place;
	ret_place->class_version = request->header.class_version;
	return true;
}
