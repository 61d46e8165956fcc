/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a path with the functions that forward packets: whether a flow may be offloaded, and why
 * not. */
#include "fabric/walk.h"

#include "fabric/fabric_state.h"
#include "net/link/congestion_state.h"
#include "net/switch/forwarding.h"
#include "wire/pkey.h"

static void stop(struct fabric_path *path, enum drop_reason verdict, struct port *where)
{
	path->verdict = verdict;
	path->destination = where;
}

static enum drop_reason check_source(const struct port *source, uint16_t dlid, uint8_t sl,
				     uint16_t pkey)
{
	if (!port_is_active(source))
		return DROP_PORT_INACTIVE;
	if (!port_pkey_is_own(source, pkey))
		return DROP_PKEY_OUTBOUND;
	if (!lid_is_unicast(dlid))
		return DROP_NO_ROUTE;
	return port_output_vl(source, 0, sl) == VL_MANAGEMENT ? DROP_VL_MAPPING : DROP_NONE;
}

static enum drop_reason check_destination(const struct port *port, uint16_t dlid, uint16_t pkey)
{
	if (!port_owns_lid(port, dlid) || port->info.port_state < PORT_ARMED)
		return DROP_MALFORMED;
	return port_pkey_matches(port, pkey) ? DROP_NONE : DROP_PKEY_INBOUND;
}

/* Crosses one cable; returns the port at its other end. */
static struct port *take_hop(struct fabric_path *path, struct port *output, uint8_t vl)
{
	path->hops[path->hop_count++] =
		(struct fabric_hop){.output = output, .input = output->peer, .vl = vl};
	/* Programs do not count opcodes; responses come in by the output. */
	if (output->tap_count || output->faults || output->peer->tap_count ||
	    output->counts_opcode || output->peer->counts_opcode ||
	    port_controls_congestion(output))
		path->is_watched = true;
	if (output->info.neighbor_mtu < path->mtu_code)
		path->mtu_code = output->info.neighbor_mtu;
	return output->peer;
}

/* Responses take the same cables the other way, through the SL to VL tables of those ports. */
static void find_return_vls(struct fabric_path *path, uint8_t sl)
{
	for (unsigned index = 0; index < path->hop_count; index++) {
		struct fabric_hop *hop = &path->hops[index];
		bool is_last = index + 1 == path->hop_count;
		unsigned from = is_last ? 0 : path->hops[index + 1].output->number;

		hop->return_vl = port_output_vl(hop->input, from, sl);
	}
}

void fabric_walk(struct fabric *fabric, struct port *source, uint16_t dlid, uint8_t sl,
		 uint16_t pkey, struct fabric_path *ret_path)
{
	enum drop_reason reason = check_source(source, dlid, sl & 15, pkey);

	ret_path->hop_count = 0;
	ret_path->mtu_code = source->info.neighbor_mtu;
	ret_path->is_watched = source->tap_count != 0;
	stop(ret_path, reason, source);
	if (reason != DROP_NONE)
		return;
	if (port_owns_lid(source, dlid)) {
		stop(ret_path, check_destination(source, dlid, pkey), source);
		return;
	}

	fabric_walk_on(fabric, source, port_output_vl(source, 0, sl), dlid, sl, pkey, ret_path);
}

void fabric_walk_on(struct fabric *fabric, struct port *output, uint8_t vl, uint16_t dlid,
		    uint8_t sl, uint16_t pkey, struct fabric_path *ret_path)
{
	const struct forwarding_header header = {.dlid = dlid, .sl = sl, .pkey = pkey};
	struct port *input;

	(void)fabric;
	ret_path->hop_count = 0;
	ret_path->mtu_code = output->info.neighbor_mtu;
	ret_path->is_watched = output->tap_count != 0;
	input = take_hop(ret_path, output, vl);
	while (input->kind == PORT_OF_SWITCH) {
		struct node *node = input->node;
		struct forwarding_decision decision =
			forwarding_unicast(node, input->number, &header);

		if (decision.verdict != DROP_NONE) {
			stop(ret_path, decision.verdict, &node->ports[decision.blamed_port]);
			return;
		}
		if (decision.output_port == 0) {
			stop(ret_path, DROP_NONE, &node->ports[0]);
			return;
		}
		/* The path is longer than any without a loop in the tables. */
		if (ret_path->hop_count == FABRIC_HOPS_MAX) {
			stop(ret_path, DROP_LOOPING, input);
			return;
		}
		input = take_hop(ret_path, &node->ports[decision.output_port], decision.vl);
	}
	stop(ret_path, check_destination(input, dlid, pkey), input);
	find_return_vls(ret_path, sl & 15);
}
