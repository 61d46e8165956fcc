/* SPDX-License-Identifier: Apache-2.0 */
/* Queries for records, and which records a requester may see (management 4.5). */
#include "mgmt/sa/sa_query.h"

#include "mgmt/subnet/subnet_path.h"
#include "wire/sa_records.h"

static const struct subnet_port *end_port_of(const struct subnet_port *port)
{
	return subnet_node_is_switch(port->node) ? &port->node->ports[0] : port;
}

bool sa_ports_share_partition(const struct subnet_port *a, const struct subnet_port *b)
{
	uint16_t key;

	a = end_port_of(a);
	b = end_port_of(b);
	return a == b || subnet_shared_pkeys(a, b, 1, &key) > 0;
}

bool sa_port_holds_pkey(const struct subnet_port *port, uint16_t pkey)
{
	for (unsigned i = 0; i < port->pkey_count; i++)
		if (port->pkeys[i] && pkey_matches(port->pkeys[i], pkey))
			return true;
	return false;
}

bool sa_request_sees(const struct sa *sa, const struct sa_request *request,
		     const struct subnet_port *port)
{
	if (request->is_trusted)
		return true;
	if (!request->requester)
		return false;
	return request->requester->guid == sa->options.port_guid ||
	       sa_ports_share_partition(request->requester, port);
}

bool sa_prefix_is_local(const struct sa *sa, uint64_t prefix)
{
	return prefix == sa->subnet->gid_prefix || prefix == GID_PREFIX_LINK_LOCAL;
}

const struct subnet_port *sa_port_by_guid(const struct sa *sa, uint64_t guid)
{
	const struct subnet_port *port = subnet_port_by_guid(sa->subnet, guid);
	uint64_t owner = port ? 0 : alias_guids_owner(&sa->alias_guids, guid);

	return owner ? subnet_port_by_guid(sa->subnet, owner) : port;
}

const struct subnet_port *sa_port_by_gid(const struct sa *sa, uint64_t prefix, uint64_t guid)
{
	return sa_prefix_is_local(sa, prefix) ? sa_port_by_guid(sa, guid) : NULL;
}

void sa_query_begin(struct sa_query *query, struct sa *sa, const struct sa_request *request,
		    const struct sa_components *components, uint64_t handled)
{
	query->sa = sa;
	query->request = request;
	sa_match_make(components, request->sa_header.component_mask & ~handled, request->data,
		      &query->match);
}

void sa_query_keep_if_wanted(struct sa_query *query, const uint8_t *place)
{
	if (sa_match_accepts(&query->match, place))
		sa_records_keep(&query->sa->records);
}

static void visit_if_seen(struct sa_query *query, const struct subnet_port *port,
			  sa_visit_function *visit)
{
	if (sa_request_sees(query->sa, query->request, port))
		visit(query, port);
}

void sa_query_visit_ports(struct sa_query *query, unsigned lid_component, uint16_t lid,
			  sa_visit_function *visit)
{
	const struct subnet *subnet = query->sa->subnet;

	if (sa_request_has(query->request, lid_component)) {
		const struct subnet_port *port = subnet_port_by_lid(subnet, lid);

		if (port)
			visit_if_seen(query, port, visit);
		return;
	}
	for (unsigned i = LID_UNICAST_FIRST; i <= subnet->lid_max && sa_query_wants_more(query);
	     i++) {
		const struct subnet_port *port = subnet->by_lid[i];

		if (port && port->lid == i)
			visit_if_seen(query, port, visit);
	}
}

uint16_t sa_query_ports(struct sa *sa, const struct sa_request *request,
			const struct sa_components *components, sa_visit_function *visit)
{
	struct record_lid wanted;
	struct sa_query query;

	record_lid_decode(request->data, &wanted);
	sa_query_begin(&query, sa, request, components, SA_COMPONENT(RECORD_LID));
	sa_query_visit_ports(&query, RECORD_LID, wanted.lid, visit);
	return MAD_STATUS_OK;
}
