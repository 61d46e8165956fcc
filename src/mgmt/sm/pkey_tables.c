/* SPDX-License-Identifier: Apache-2.0 */
/* P_Key tables of end ports, and of switch ports that enforce them (management 3.5). */
#include "mgmt/sm/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wire/smp.h"
#include "wire/smp_tables.h"

static void wanted_block(const struct subnet_port *port, unsigned block,
			 uint16_t ret_pkeys[static PKEYS_PER_BLOCK])
{
	unsigned start = block * PKEYS_PER_BLOCK;

	memset(ret_pkeys, 0, PKEYS_PER_BLOCK * sizeof(*ret_pkeys));
	for (unsigned i = 0; i < PKEYS_PER_BLOCK && start + i < port->pkey_count; i++)
		ret_pkeys[i] = port->pkeys[start + i];
}

static bool block_is_there(const struct subnet_port *port, unsigned block,
			   const uint16_t pkeys[static PKEYS_PER_BLOCK])
{
	unsigned start = block * PKEYS_PER_BLOCK;

	return start + PKEYS_PER_BLOCK <= port->pkeys_present_count &&
	       memcmp(port->pkeys_present + start, pkeys, PKEYS_PER_BLOCK * sizeof(*pkeys)) == 0;
}

static int partitions_begin(struct sm *sm)
{
	sweep_cursor_reset(sm);
	return 0;
}

/* sm->cursor.part: the next block of the port at cursor.index. */
static bool next_block(struct sm *sm, const struct subnet_port *port, unsigned *ret_block,
		       uint16_t ret_pkeys[static PKEYS_PER_BLOCK])
{
	if (!port->is_known || !port->pkeys)
		return false;
	/* A table without keys is cleared once. */
	while (sm->cursor.part == 0 || sm->cursor.part * PKEYS_PER_BLOCK < port->pkey_count) {
		*ret_block = sm->cursor.part++;
		wanted_block(port, *ret_block, ret_pkeys);
		if (!block_is_there(port, *ret_block, ret_pkeys))
			return true;
	}
	return false;
}

static bool partitions_next(struct sm *sm, struct mad_message *ret_request,
			    struct mad_purpose *ret_purpose)
{
	uint16_t pkeys[PKEYS_PER_BLOCK];
	unsigned block;

	while (sm->cursor.node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor.node);
		struct subnet_port *port = &node->ports[sm->cursor.index];
		uint8_t port_number = subnet_node_is_switch(node) ? port->number : 0;

		if (node->is_settled) {
			sm->cursor.node = sm->cursor.node->next;
			sm->cursor.index = 0;
			continue;
		}
		if (next_block(sm, port, &block, pkeys)) {
			sweep_port_request(sm, port, MAD_SET, ATTRIBUTE_PKEY_TABLE,
					   pkey_table_modifier((uint16_t)block, port_number),
					   ret_request);
			pkey_block_encode(pkeys, smp_data(ret_request->bytes));
			*ret_purpose = (struct mad_purpose){.subject = node,
							    .detail = block << 8 | port->number};
			return true;
		}
		sm->cursor.part = 0;
		if (++sm->cursor.index > node->port_count) {
			sm->cursor.node = sm->cursor.node->next;
			sm->cursor.index = 0;
		}
	}
	return false;
}

static void partitions_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;
	struct subnet_port *port = &node->ports[purpose.detail & 0xff];
	unsigned end = ((purpose.detail >> 8) + 1) * PKEYS_PER_BLOCK;
	uint16_t *present = port->pkeys_present;

	if (end > port->pkeys_present_count) {
		present = realloc(present, end * sizeof(*present));
		if (!present) {
			sweep_mark_incomplete(sm, purpose);
			return;
		}
		port->pkeys_present = present;
		memset(present + port->pkeys_present_count, 0,
		       (end - port->pkeys_present_count) * sizeof(*present));
		port->pkeys_present_count = (uint16_t)end;
	}
	pkey_block_decode(data, present + end - PKEYS_PER_BLOCK);
}

const struct phase_operations sweep_partitions = {
	.name = "partitions",
	.begin = partitions_begin,
	.next = partitions_next,
	.answered = partitions_answered,
	.failed = sweep_mark_incomplete,
	.following = PHASE_FORWARDING,
};
