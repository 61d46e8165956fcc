/* SPDX-License-Identifier: Apache-2.0 */
/* Records about nodes, ports and links: NodeRecord, PortInfoRecord, SwitchInfoRecord, LinkRecord
 * (management 4.4). */
#include <string.h>
#include "mgmt/sa/sa_query.h"
#include "wire/sa_records.h"

/* AttributeModifier of a PortInfoRecord request: matches ports that have at least the given
 * capabilities (management 4.4). */

/* The record of this end port. The ports of an adapter share the node, but each has its own record.
 */
static void visit_node(struct sa_query *query, const struct subnet_port *port)
{
	const struct record_lid id = {.lid = port->lid};
	struct node_info info = port->node->info;
	uint8_t *place = sa_query_place(query);

	if (!place)
		return;
	info.port_guid = port->guid;
	if (!subnet_node_is_switch(port->node))
		info.local_port_number = port->number;
	record_lid_encode(&id, place);
	node_info_encode(&info, place + NODE_RECORD_INFO_OFFSET);
	memcpy(place + NODE_RECORD_DESCRIPTION_OFFSET, port->node->description,
	       NODE_DESCRIPTION_BYTES);
	sa_query_keep_if_wanted(query, place);
}

uint16_t sa_find_nodes(struct sa *sa, const struct sa_request *request)
{
	return sa_query_ports(sa, request, &node_record_components, visit_node);
}

static bool has_capabilities(const struct sa_request *request, const struct port_info *info)
{
	const uint8_t *wanted_info = request->data + PORT_INFO_RECORD_INFO_OFFSET;
	struct port_info wanted;

	if (!(request->header.attribute_modifier & PORT_INFO_SUBSET_MATCH) ||
	    !sa_request_has(request, PIR_CAPABILITY_MASK))
		return true;
	port_info_decode(wanted_info, &wanted);
	return (info->capability_mask & wanted.capability_mask) == wanted.capability_mask;
}

static void add_port_info(struct sa_query *query, const struct subnet_port *port, uint16_t lid)
{
	const struct port_record_id id = {.lid = lid, .port_number = port->number};
	struct port_info info = port->info;
	uint8_t *place = sa_query_place(query);

	if (!place || !has_capabilities(query->request, &info))
		return;
	/* Only a trusted request sees the M_Key (management 4.5). */
	if (!query->request->is_trusted || query->sa->options.hides_mkeys)
		info.mkey = 0;
	port_record_id_encode(&id, place);
	port_info_encode(&info, place + PORT_INFO_RECORD_INFO_OFFSET);
	sa_query_keep_if_wanted(query, place);
}

static void visit_port_infos(struct sa_query *query, const struct subnet_port *port)
{
	const struct subnet_node *node = port->node;

	if (!subnet_node_is_switch(node)) {
		add_port_info(query, port, port->lid);
		return;
	}
	for (unsigned i = 0; i <= node->port_count; i++)
		if (node->ports[i].is_known)
			add_port_info(query, &node->ports[i], port->lid);
}

uint16_t sa_find_port_infos(struct sa *sa, const struct sa_request *request)
{
	uint64_t handled = SA_COMPONENT(PIR_LID);
	struct port_record_id wanted;
	struct sa_query query;

	port_record_id_decode(request->data, &wanted);
	if (request->header.attribute_modifier & PORT_INFO_SUBSET_MATCH)
		handled |= SA_COMPONENT(PIR_CAPABILITY_MASK);
	sa_query_begin(&query, sa, request, &port_info_record_components, handled);
	sa_query_visit_ports(&query, PIR_LID, wanted.lid, visit_port_infos);
	return MAD_STATUS_OK;
}

static void visit_switch_info(struct sa_query *query, const struct subnet_port *port)
{
	const struct record_lid id = {.lid = port->lid};
	uint8_t *place = sa_query_place(query);

	if (!place || !subnet_node_is_switch(port->node))
		return;
	record_lid_encode(&id, place);
	switch_info_encode(&port->node->switch_info, place + SWITCH_INFO_RECORD_INFO_OFFSET);
	sa_query_keep_if_wanted(query, place);
}

uint16_t sa_find_switch_infos(struct sa *sa, const struct sa_request *request)
{
	return sa_query_ports(sa, request, &switch_info_record_components, visit_switch_info);
}

/* The end port whose LID this port uses. */
static const struct subnet_port *end_port_of(const struct subnet_port *port)
{
	return subnet_node_is_switch(port->node) ? &port->node->ports[0] : port;
}

static void add_link(struct sa_query *query, const struct subnet_port *from)
{
	const struct subnet_port *to = from->peer;
	struct link_record wanted;

	if (!to || !sa_request_sees(query->sa, query->request, to))
		return;
	link_record_decode(query->request->data, &wanted);
	if (sa_request_has(query->request, LR_TO_LID) &&
	    end_port_of(to) != subnet_port_by_lid(query->sa->subnet, wanted.to_lid))
		return;

	const struct link_record link = {.from_lid = end_port_of(from)->lid,
					 .from_port = from->number,
					 .to_port = to->number,
					 .to_lid = end_port_of(to)->lid};
	uint8_t *place = sa_query_place(query);

	if (!place || !link.to_lid)
		return;
	link_record_encode(&link, place);
	sa_query_keep_if_wanted(query, place);
}

static void visit_links(struct sa_query *query, const struct subnet_port *port)
{
	const struct subnet_node *node = port->node;

	if (!subnet_node_is_switch(node)) {
		add_link(query, port);
		return;
	}
	for (unsigned i = 1; i <= node->port_count; i++)
		add_link(query, &node->ports[i]);
}

uint16_t sa_find_links(struct sa *sa, const struct sa_request *request)
{
	uint64_t handled = SA_COMPONENT(LR_FROM_LID) | SA_COMPONENT(LR_TO_LID);
	struct link_record wanted;
	struct sa_query query;

	link_record_decode(request->data, &wanted);
	sa_query_begin(&query, sa, request, &link_record_components, handled);
	sa_query_visit_ports(&query, LR_FROM_LID, wanted.from_lid, visit_links);
	return MAD_STATUS_OK;
}
