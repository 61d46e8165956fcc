/* SPDX-License-Identifier: Apache-2.0 */
/* Forwarding of a router (vol 1, chapter 19; transport 8.12). */
#include "net/router/routing.h"

#include "base/bytes.h"
#include "net/switch/forwarding.h"
#include "wire/grh.h"
#include "wire/mtu.h"

enum {
	SCOPE_MASK = 0xf,
	SCOPE_LINK = 2, /* and narrower scopes */
};

bool router_owns_gid(const struct node *node, const struct gid *gid)
{
	for (unsigned number = 1; number <= node->port_count; number++) {
		const struct port *port = &node->ports[number];
		uint64_t prefix = gid_prefix(gid);

		if (gid_guid(gid) == port->guid &&
		    (prefix == port->info.gid_prefix || prefix == GID_PREFIX_LINK_LOCAL))
			return true;
	}
	return false;
}

bool gid_prefix_is_routable(uint64_t prefix)
{
	return prefix != 0 && prefix >> 54 != GID_PREFIX_LINK_LOCAL >> 54;
}

bool gid_multicast_is_routable(const struct gid *mgid)
{
	return (mgid->bytes[1] & SCOPE_MASK) > SCOPE_LINK;
}

bool routing_header_read(const struct frame *frame, const struct lrh *lrh,
			 struct routing_header *ret_header)
{
	struct forwarding_header forwarding;
	struct grh grh;
	/* The GRH has the format of an IPv6 header, so a raw IPv6 packet is read the same way
	 * (transport 9.4). */
	bool has_gids = lrh->lnh == LNH_GLOBAL || lrh->lnh == LNH_RAW_IPV6;

	if (!has_gids || !forwarding_header_read(frame, lrh, &forwarding) ||
	    !grh_decode(frame->bytes + LRH_BYTES, frame->byte_count - LRH_BYTES, &grh))
		return false;
	*ret_header = (struct routing_header){
		.sgid = grh.sgid,
		.dgid = grh.dgid,
		.hop_limit = grh.hop_limit,
		.sl = lrh->sl,
		.is_raw = forwarding.is_raw,
		.pkey = forwarding.pkey,
		.payload_bytes = forwarding.payload_bytes,
	};
	return true;
}

enum drop_reason routing_check_inbound(const struct port *input,
				       const struct routing_header *header)
{
	if (header->is_raw)
		return input->info.filter_raw_inbound ? DROP_PKEY_INBOUND : DROP_NONE;
	if (input->info.partition_enforcement_inbound && !port_pkey_matches(input, header->pkey))
		return DROP_PKEY_INBOUND;
	return DROP_NONE;
}

/* The port sends into its subnet as a member with its own P_Keys. */
static enum drop_reason check_outbound(const struct port *output,
				       const struct routing_header *header)
{
	if (header->is_raw)
		return output->info.filter_raw_outbound ? DROP_PKEY_OUTBOUND : DROP_NONE;
	if (output->info.partition_enforcement_outbound &&
	    !port_pkey_may_send(output, header->pkey))
		return DROP_PKEY_OUTBOUND;
	return DROP_NONE;
}

struct routing_decision routing_from_gateway(const struct node *node,
					     const struct routing_header *header)
{
	uint64_t prefix = gid_prefix(&header->dgid);

	/* A forwarded packet has a hop left, so 0 and 1 are dropped (transport 8.12). */
	if (header->hop_limit <= 1)
		return (struct routing_decision){.verdict = DROP_HOP_LIMIT};
	if (!gid_prefix_is_routable(prefix))
		return (struct routing_decision){.verdict = DROP_NO_ROUTE};

	const struct router_route *route = router_table_find(node->router, prefix);

	if (!route)
		return (struct routing_decision){.verdict = DROP_NO_ROUTE};
	return (struct routing_decision){.route = route};
}

struct routing_decision routing_unicast(const struct node *node, unsigned input_port,
					const struct routing_header *header)
{
	enum drop_reason inbound = routing_check_inbound(&node->ports[input_port], header);

	if (inbound != DROP_NONE)
		return (struct routing_decision){.verdict = inbound};

	struct routing_decision decision = routing_from_gateway(node, header);

	if (decision.route && decision.route->output_port == input_port)
		return (struct routing_decision){.verdict = DROP_LOOPING};
	return decision;
}

enum drop_reason routing_output(const struct node *node, unsigned output_port,
				const struct routing_header *header, uint8_t *ret_vl)
{
	const struct port *output = &node->ports[output_port];

	if (!port_is_active(output))
		return DROP_PORT_INACTIVE;
	if (header->payload_bytes > mtu_bytes(output->info.neighbor_mtu))
		return DROP_MTU;

	uint8_t vl = port_output_vl(output, 0, header->sl);

	if (vl == VL_MANAGEMENT)
		return DROP_VL_MAPPING;
	if (check_outbound(output, header) != DROP_NONE)
		return DROP_PKEY_OUTBOUND;
	*ret_vl = vl;
	return DROP_NONE;
}

void routing_rewrite(struct frame *frame, uint16_t slid, uint16_t dlid)
{
	put_be16(frame->bytes + LRH_DLID_OFFSET, dlid);
	put_be16(frame->bytes + LRH_SLID_OFFSET, slid);
	frame->bytes[LRH_BYTES + GRH_HOP_LIMIT_OFFSET]--;
}
