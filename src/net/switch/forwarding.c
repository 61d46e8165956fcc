/* SPDX-License-Identifier: Apache-2.0 */
/* Forwarding of a switch: tables, enforcement and virtual lanes (vol 1, chapter 18; transport
 * 8.11). */
#include "net/switch/forwarding.h"

#include "net/link/port_queues.h"
#include "wire/pkey.h"

bool port_pkey_matches(const struct port *port, uint16_t pkey)
{
	for (unsigned i = 0; i < port->pkey_count; i++)
		if (pkey_matches(port->pkeys[i], pkey))
			return true;
	return false;
}

bool port_pkey_may_send(const struct port *port, uint16_t pkey)
{
	for (unsigned i = 0; i < port->pkey_count; i++)
		if (pkey_may_send(port->pkeys[i], pkey))
			return true;
	return false;
}

bool port_pkey_is_own(const struct port *port, uint16_t pkey)
{
	for (unsigned i = 0; i < port->pkey_count; i++)
		if (port->pkeys[i] == pkey && (pkey & 0x7fff) != 0)
			return true;
	return false;
}

uint8_t port_output_vl(const struct port *output, unsigned input_port, uint8_t sl)
{
	unsigned row = output->kind == PORT_OF_ADAPTER ? 0 : input_port;
	uint8_t vl = output->sl_to_vl[row][sl];
	unsigned lane_count = port_data_vl_count(output);

	if (likely(vl < lane_count))
		return vl;
	/* On a link with one data VL every SL uses it, even if the table names other VLs. */
	return lane_count == 1 && vl != VL_MANAGEMENT ? 0 : VL_MANAGEMENT;
}

static struct forwarding_decision drop(enum drop_reason reason, unsigned blamed_port)
{
	return (struct forwarding_decision){.verdict = reason, .blamed_port = (uint8_t)blamed_port};
}

/*
 * P_Key enforcement (vol 1, chapter 18; transport 8.11): the table of a switch port holds the keys
 * of the end port at the other end of its cable. An inbound packet comes from that member, so a
 * limited key passes a limited entry. An outbound packet goes to that member, so there it does not.
 * The management port and VL15 are exempt.
 */
static enum drop_reason check_inbound(const struct port *input,
				      const struct forwarding_header *header)
{
	if (header->is_management || input->kind != PORT_OF_SWITCH)
		return DROP_NONE;
	if (header->is_raw)
		return input->info.filter_raw_inbound ? DROP_PKEY_INBOUND : DROP_NONE;
	if (input->info.partition_enforcement_inbound && !port_pkey_may_send(input, header->pkey))
		return DROP_PKEY_INBOUND;
	return DROP_NONE;
}

static enum drop_reason check_outbound(const struct port *output,
				       const struct forwarding_header *header)
{
	if (header->is_raw)
		return output->info.filter_raw_outbound ? DROP_PKEY_OUTBOUND : DROP_NONE;
	if (output->info.partition_enforcement_outbound && !port_pkey_matches(output, header->pkey))
		return DROP_PKEY_OUTBOUND;
	return DROP_NONE;
}

struct forwarding_decision forwarding_output(const struct node *node, unsigned input_port,
					     unsigned output_port,
					     const struct forwarding_header *header)
{
	const struct port *output = &node->ports[output_port];

	if (output_port == input_port)
		return drop(DROP_LOOPING, input_port);
	if (output_port == 0)
		return (struct forwarding_decision){.vl = header->is_management ? VL_MANAGEMENT
										: 0};
	if (header->is_management)
		return port_carries_management(output)
			       ? (struct forwarding_decision){.output_port = (uint8_t)output_port,
							      .vl = VL_MANAGEMENT}
			       : drop(DROP_PORT_INACTIVE, output_port);
	if (!port_is_active(output))
		return drop(DROP_PORT_INACTIVE, output_port);
	if (header->payload_bytes > mtu_bytes(output->info.neighbor_mtu))
		return drop(DROP_MTU, output_port);

	uint8_t vl = port_output_vl(output, input_port, header->sl);

	if (vl == VL_MANAGEMENT)
		return drop(DROP_VL_MAPPING, input_port);
	if (check_outbound(output, header) != DROP_NONE)
		return drop(DROP_PKEY_OUTBOUND, output_port);
	return (struct forwarding_decision){.output_port = (uint8_t)output_port, .vl = vl};
}

struct forwarding_decision forwarding_unicast(const struct node *node, unsigned input_port,
					      const struct forwarding_header *header)
{
	enum drop_reason inbound = check_inbound(&node->ports[input_port], header);

	if (inbound != DROP_NONE)
		return drop(inbound, input_port);
	if (header->dlid > node->switch_info.linear_fdb_top ||
	    header->dlid >= node->switch_info.linear_fdb_cap)
		return drop(DROP_NO_ROUTE, input_port);

	/* 255, or any number that is no port, means no route (transport 8.11). */
	uint8_t output_port = node->lft[header->dlid];

	if (output_port > node->port_count)
		return drop(DROP_NO_ROUTE, input_port);
	return forwarding_output(node, input_port, output_port, header);
}

/* MLIDs that the table does not cover go to the default ports. */
static void default_outputs(const struct node *node, unsigned input_port,
			    struct port_set *ret_outputs)
{
	unsigned primary = node->switch_info.default_multicast_primary_port;
	unsigned output = input_port == primary
				  ? node->switch_info.default_multicast_not_primary_port
				  : primary;

	if (output <= node->port_count)
		ret_outputs->words[output / 64] |= UINT64_C(1) << (output % 64);
}

enum drop_reason forwarding_multicast(const struct node *node, unsigned input_port,
				      const struct forwarding_header *header,
				      struct port_set *ret_outputs)
{
	const struct switch_info *info = &node->switch_info;
	enum drop_reason inbound = check_inbound(&node->ports[input_port], header);
	unsigned index = (unsigned)header->dlid - LID_MULTICAST_FIRST;
	struct port_set outputs = {{0}};

	if (inbound != DROP_NONE)
		return inbound;
	if (index >= info->multicast_fdb_cap ||
	    (info->multicast_fdb_top && header->dlid > info->multicast_fdb_top))
		default_outputs(node, input_port, &outputs);
	else
		for (unsigned position = 0; position * 16 <= node->port_count; position++)
			outputs.words[position / 4] |= (uint64_t)node->mft[index][position]
						       << (position % 4 * 16);
	outputs.words[input_port / 64] &= ~(UINT64_C(1) << (input_port % 64));
	/* Bits beyond the last port are ignored. */
	unsigned last_word = node->port_count / 64;

	outputs.words[last_word] &= ~UINT64_C(0) >> (63 - node->port_count % 64);
	for (unsigned word = last_word + 1; word < ARRAY_COUNT(outputs.words); word++)
		outputs.words[word] = 0;
	if (!(outputs.words[0] | outputs.words[1] | outputs.words[2] | outputs.words[3]))
		return DROP_NO_ROUTE;
	*ret_outputs = outputs;
	return DROP_NONE;
}
