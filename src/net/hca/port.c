/* SPDX-License-Identifier: Apache-2.0 */
/* A port's new state becomes asynchronous events (vol 1, chapter 11: unaffiliated events; transport
 * 5.8). */
#include "net/hca/hca.h"

#include <string.h>
#include "wire/subnet_attributes.h"

static void raise_port_event(struct hca *hca, uint8_t port_number, enum hca_event_type type)
{
	hca->owner.event(hca->owner.context,
			 &(struct hca_event){.type = type, .port_number = port_number});
}

static bool pkeys_differ(const struct port_view *a, const struct port_view *b)
{
	return a->pkey_count != b->pkey_count || memcmp(a->pkeys, b->pkeys, sizeof(a->pkeys)) != 0;
}

static bool gids_differ(const struct port_view *a, const struct port_view *b)
{
	return a->gid_count != b->gid_count || memcmp(a->gids, b->gids, sizeof(a->gids)) != 0;
}

void hca_port_update(struct hca *hca, const struct port_view *view, bool client_reregister)
{
	if (view->number == 0 || view->number > hca->port_count)
		return;

	struct port_view *port = &hca->ports[view->number - 1];
	const struct port_view before = *port;

	*port = *view;
	invalidate(&hca->environment);
	/* Violations are counted in the process, not by the fabric. */
	port->pkey_violations = before.pkey_violations;
	port->qkey_violations = before.qkey_violations;
	/* The first state after the adapter was opened is not a change, so it raises no event. */
	if (before.number == 0)
		return;

	if (before.state == PORT_ACTIVE && port->state != PORT_ACTIVE)
		raise_port_event(hca, port->number, HCA_EVENT_PORT_ERROR);
	if (before.lid != port->lid || before.lmc != port->lmc)
		raise_port_event(hca, port->number, HCA_EVENT_LID_CHANGE);
	if (pkeys_differ(&before, port))
		raise_port_event(hca, port->number, HCA_EVENT_PKEY_CHANGE);
	if (before.sm_lid != port->sm_lid || before.sm_sl != port->sm_sl)
		raise_port_event(hca, port->number, HCA_EVENT_SM_CHANGE);
	if (gids_differ(&before, port))
		raise_port_event(hca, port->number, HCA_EVENT_GID_CHANGE);
	if (client_reregister)
		raise_port_event(hca, port->number, HCA_EVENT_CLIENT_REREGISTER);
	if (before.state != PORT_ACTIVE && port->state == PORT_ACTIVE)
		raise_port_event(hca, port->number, HCA_EVENT_PORT_ACTIVE);
}
