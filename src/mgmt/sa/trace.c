/* SPDX-License-Identifier: Apache-2.0 */
/* TraceRecords: the nodes on a path, in order (C15-0.1.8.6, management 4.6). */
#include "mgmt/sa/path_records.h"

enum { TRACE_HOPS_MAX = 64 };

/* Ids are opaque and change with each sweep, so that traces do not disclose the topology
 * (management 4.4). */
static uint64_t opaque(const struct sa *sa, uint64_t guid)
{
	uint64_t mixed = (uint64_t)sa->subnet->sweep * 0x9e3779b97f4a7c15u;

	return guid ? guid ^ (mixed ^ mixed >> 29) : 0;
}

static uint64_t port_id(const struct sa *sa, const struct subnet_port *port)
{
	return port ? opaque(sa, port->node->info.node_guid + port->number) : 0;
}

static void add_node(struct sa *sa, const struct subnet_node *node, const struct subnet_port *entry,
		     const struct subnet_port *exit)
{
	const struct trace_record record = {
		.gid_prefix = sa->subnet->gid_prefix,
		.id_generation = (uint16_t)sa->subnet->sweep,
		.node_type = node->info.node_type,
		.node_id = opaque(sa, node->info.node_guid),
		.chassis_id = opaque(sa, node->info.system_image_guid),
		.entry_port_id = port_id(sa, entry),
		.exit_port_id = port_id(sa, exit),
		.entry_port = entry ? entry->number : 0,
		.exit_port = exit ? exit->number : 0,
	};
	uint8_t *place = sa_records_place(&sa->records);

	if (!place)
		return;
	trace_record_encode(&record, place);
	sa_records_keep(&sa->records);
}

/* path_add() has walked the tables: they lead to the target. */
static void walk(struct sa *sa, const struct subnet_port *source,
		 const struct subnet_port *destination, uint16_t dlid)
{
	const struct subnet_port *here = source->peer;

	add_node(sa, source->node, NULL, source->node == destination->node ? NULL : source);
	if (subnet_node_is_switch(source->node) && source->node != destination->node) {
		uint8_t output = source->node->table[dlid];

		sa->records.count = 0;
		add_node(sa, source->node, NULL, &source->node->ports[output]);
		here = source->node->ports[output].peer;
	}
	for (unsigned hop = 0; hop < TRACE_HOPS_MAX && source->node != destination->node; hop++) {
		const struct subnet_port *output = NULL;

		if (here->node != destination->node)
			output = &here->node->ports[here->node->table[dlid]];
		add_node(sa, here->node, here, output);
		if (!output)
			return;
		here = output->peer;
	}
}

uint16_t sa_find_trace(struct sa *sa, const struct sa_request *request)
{
	struct path_request asked = {.components = request->sa_header.component_mask |
						   SA_COMPONENT(PR_PATH_COUNT)};
	const struct subnet_port *source = NULL;
	struct path_target target = {0};
	uint16_t status;

	path_record_decode(request->data, &asked.wanted);
	asked.wanted.path_count = 1;
	status = path_request_check(&asked);
	if (status == MAD_STATUS_OK)
		status = path_find_ends(sa, &asked, &source, &target);
	if (status != MAD_STATUS_OK)
		return status;
	if (!source || !target.port)
		return SA_STATUS_INSUFFICIENT_COMPONENTS;

	/* The path determines the LID, and whether the requester may see it. */
	struct path_record path;
	size_t trace_bytes = sa->records.record_bytes;

	sa_records_begin(&sa->records, PATH_RECORD_BYTES, 1);
	if (!path_add(sa, request, &asked, source, &target))
		return SA_STATUS_NO_RECORDS;
	path_record_decode(sa_records_at(&sa->records, 0), &path);
	sa_records_begin(&sa->records, trace_bytes, SIZE_MAX);
	walk(sa, source, target.port, path.dlid);
	return MAD_STATUS_OK;
}
