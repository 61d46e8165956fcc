/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a path through the subnet, by the forwarding tables (management 4.6). */
#include "mgmt/subnet/subnet_path.h"

#include "mgmt/subnet/subnet.h"
#include "wire/mtu.h"
#include "wire/rate.h"

enum { HOPS_MAX = 64 };

uint8_t subnet_port_rate(const struct subnet_port *port)
{
	const struct port_info *info = &port->info;
	unsigned speed = link_speed_from_port_info(
		info->link_speed_active, info->link_speed_ext_active, info->link_speed_ext2_active);

	return (uint8_t)rate_code(info->link_width_active, speed);
}

uint8_t subnet_link_mtu(const struct subnet_port *port)
{
	const struct subnet_port *peer = port->peer;
	uint8_t mtu = port->info.port_state == PORT_ACTIVE && port->info.neighbor_mtu
			      ? port->info.neighbor_mtu
			      : port->info.mtu_cap;

	if (!peer || !peer->is_known)
		return mtu;
	return peer->info.mtu_cap < mtu ? peer->info.mtu_cap : mtu;
}

/* The link that leaves by this port. */
static void take_link(const struct subnet_port *port, struct subnet_path *path)
{
	uint8_t rate = subnet_port_rate(port);

	if (port->info.neighbor_mtu && port->info.neighbor_mtu < path->mtu)
		path->mtu = port->info.neighbor_mtu;
	if (rate && (!path->rate || rate_compare(rate, path->rate) < 0))
		path->rate = rate;
	path->hop_count++;
}

static uint8_t service_level(const struct subnet *subnet, const struct subnet_node *first_switch,
			     uint16_t dlid)
{
	if (!subnet->service_levels || !first_switch ||
	    first_switch->switch_index >= subnet->service_levels_switch_count ||
	    dlid > subnet->service_levels_lid_max)
		return 0;
	return subnet->service_levels[(size_t)first_switch->switch_index *
					      (subnet->service_levels_lid_max + 1u) +
				      dlid];
}

bool subnet_path_find(const struct subnet *subnet, const struct subnet_port *source, uint16_t dlid,
		      struct subnet_path *ret_path)
{
	const struct subnet_port *destination = subnet_port_by_lid(subnet, dlid);
	const struct subnet_port *here = source;
	const struct subnet_node *first_switch = NULL;
	struct subnet_path path = {.mtu = MTU_4096, .packet_life_time = SUBNET_PACKET_LIFE_TIME};

	if (!destination)
		return false;
	if (source == destination) {
		path.mtu = source->info.mtu_cap ? source->info.mtu_cap : MTU_4096;
		path.rate = subnet_port_rate(source);
	}
	if (!subnet_node_is_switch(source->node) && source != destination) {
		here = source->peer;
		take_link(source, &path);
	}
	while (here && here->node != destination->node) {
		const struct subnet_node *node = here->node;
		uint8_t output = subnet_node_is_switch(node) ? node->table[dlid] : 0;

		if (!first_switch)
			first_switch = node;
		if (output == 0 || output > node->port_count || path.hop_count >= HOPS_MAX)
			return false;
		take_link(&node->ports[output], &path);
		here = node->ports[output].peer;
	}
	/* The packet reached another port of the destination's adapter. */
	if (!here || (!subnet_node_is_switch(here->node) && here != destination))
		return false;
	path.sl = service_level(subnet, first_switch, dlid);
	*ret_path = path;
	return true;
}

static bool has_match(const struct subnet_port *port, uint16_t pkey)
{
	for (unsigned i = 0; i < port->pkey_count; i++) {
		if (pkey_matches(port->pkeys[i], pkey))
			return true;
	}
	return false;
}

static bool contains(const uint16_t keys[], unsigned key_count, uint16_t pkey)
{
	for (unsigned i = 0; i < key_count; i++) {
		if ((keys[i] & 0x7fff) == (pkey & 0x7fff))
			return true;
	}
	return false;
}

unsigned subnet_shared_pkeys(const struct subnet_port *a, const struct subnet_port *b,
			     unsigned keys_max, uint16_t ret_keys[])
{
	unsigned key_count = 0;

	for (unsigned i = 0; i < a->pkey_count && key_count < keys_max; i++) {
		if (has_match(b, a->pkeys[i]) && !contains(ret_keys, key_count, a->pkeys[i]))
			ret_keys[key_count++] = a->pkeys[i];
	}
	return key_count;
}

bool subnet_ports_share_pkey(const struct subnet_port *a, const struct subnet_port *b,
			     uint16_t pkey)
{
	for (unsigned i = 0; i < a->pkey_count; i++) {
		if ((a->pkeys[i] & 0x7fff) == (pkey & 0x7fff) && has_match(b, a->pkeys[i]))
			return true;
	}
	return false;
}
