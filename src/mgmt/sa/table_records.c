/* SPDX-License-Identifier: Apache-2.0 */
/* Records of tables that the manager has: linear forwarding, P_Keys (management 4.4). */
#include <string.h>
#include "mgmt/sa/sa_query.h"
#include "wire/sa_records.h"
#include "wire/smp_tables.h"

static void add_linear_block(struct sa_query *query, const struct subnet_port *port, unsigned block)
{
	const struct forwarding_record_id id = {.lid = port->lid, .block = (uint16_t)block};
	unsigned lid_max = query->sa->subnet->lid_max;
	uint8_t ports[LINEAR_FORWARDING_PER_BLOCK];
	uint8_t *place = sa_query_place(query);

	if (!place)
		return;
	for (unsigned i = 0; i < LINEAR_FORWARDING_PER_BLOCK; i++) {
		unsigned lid = block * LINEAR_FORWARDING_PER_BLOCK + i;

		ports[i] = lid <= lid_max ? port->node->table[lid] : LINEAR_FORWARDING_DROP;
	}
	forwarding_record_id_encode(&id, place);
	linear_forwarding_block_encode(ports, place + BLOCK_RECORD_BLOCK_OFFSET);
	sa_query_keep_if_wanted(query, place);
}

static void visit_linear_blocks(struct sa_query *query, const struct subnet_port *port)
{
	unsigned block_last = query->sa->subnet->lid_max / LINEAR_FORWARDING_PER_BLOCK;
	struct forwarding_record_id wanted;

	if (!subnet_node_is_switch(port->node) || !port->node->table)
		return;
	forwarding_record_id_decode(query->request->data, &wanted);
	for (unsigned block = 0; block <= block_last && sa_query_wants_more(query); block++)
		if (!sa_request_has(query->request, BLOCK_NUMBER) || wanted.block == block)
			add_linear_block(query, port, block);
}

uint16_t sa_find_linear_blocks(struct sa *sa, const struct sa_request *request)
{
	return sa_query_ports(sa, request, &forwarding_record_components, visit_linear_blocks);
}

static void add_pkey_block(struct sa_query *query, const struct subnet_port *port, uint16_t lid,
			   unsigned block)
{
	const struct pkey_table_record_id id = {
		.lid = lid, .block = (uint16_t)block, .port_number = port->number};
	uint16_t pkeys[PKEYS_PER_BLOCK] = {0};
	uint8_t *place = sa_query_place(query);

	if (!place)
		return;
	for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++) {
		unsigned index = block * PKEYS_PER_BLOCK + i;

		if (index < port->pkey_count)
			pkeys[i] = port->pkeys[index];
	}
	pkey_table_record_id_encode(&id, place);
	pkey_block_encode(pkeys, place + BLOCK_RECORD_BLOCK_OFFSET);
	sa_query_keep_if_wanted(query, place);
}

static void add_pkey_blocks(struct sa_query *query, const struct subnet_port *port, uint16_t lid)
{
	unsigned block_count = (port->pkey_count + PKEYS_PER_BLOCK - 1u) / PKEYS_PER_BLOCK;

	for (unsigned block = 0; block < block_count; block++)
		add_pkey_block(query, port, lid, block);
}

static void visit_pkey_blocks(struct sa_query *query, const struct subnet_port *port)
{
	const struct subnet_node *node = port->node;

	if (!subnet_node_is_switch(node)) {
		add_pkey_blocks(query, port, port->lid);
		return;
	}
	for (unsigned i = 0; i <= node->port_count; i++)
		add_pkey_blocks(query, &node->ports[i], port->lid);
}

/* Only trusted requests see P_Key tables (management 4.5). */
uint16_t sa_find_pkey_blocks(struct sa *sa, const struct sa_request *request)
{
	if (!request->is_trusted)
		return SA_STATUS_REQ_INVALID;
	return sa_query_ports(sa, request, &pkey_table_record_components, visit_pkey_blocks);
}
