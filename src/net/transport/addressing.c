/* SPDX-License-Identifier: Apache-2.0 */
/* The headers that say where a packet goes (vol 1, chapters 7, 8, 9). */
#include "net/transport/addressing.h"

#include "net/transport/port_view.h"
#include "net/transport/qp_state.h"
#include "wire/packet.h"

uint16_t qp_pkey(const struct qp *qp)
{
	return qp->port->pkeys[qp->attributes.pkey_index];
}

bool address_leaves_subnet(const struct port_view *port, const struct address_vector *address)
{
	uint64_t prefix = gid_prefix(&address->dgid);

	return unlikely(address->is_global) && prefix != port->gid_prefix &&
	       prefix != GID_PREFIX_LINK_LOCAL && !gid_is_multicast(&address->dgid);
}

static void fill_grh(const struct port_view *port, const struct address_vector *address,
		     struct grh *ret_grh)
{
	*ret_grh = (struct grh){
		.version = 6,
		.next_header = GRH_NEXT_HEADER_IBA,
		.traffic_class = address->traffic_class,
		.hop_limit = address->hop_limit,
		.flow_label = address->flow_label & 0xfffff,
		.sgid = port->gids[address->sgid_index % PORT_GIDS_MAX],
		.dgid = address->dgid,
	};
}

void packet_address(const struct qp *qp, const struct address_vector *address,
		    uint32_t destination_qpn, struct packet *ret_packet)
{
	const struct port_view *port = qp->port;

	ret_packet->lrh = (struct lrh){
		.sl = address->sl,
		.lnh = address->is_global ? LNH_GLOBAL : LNH_LOCAL,
		.dlid = address->dlid,
		.slid = (uint16_t)(port->lid |
				   (address->source_path_bits & ((1u << port->lmc) - 1))),
	};
	ret_packet->kind = PACKET_IBA;
	ret_packet->has_grh = address->is_global;
	if (address->is_global)
		fill_grh(port, address, &ret_packet->grh);
	ret_packet->bth = (struct bth){
		.migrated = qp->attributes.path_migration == PATH_MIGRATED,
		.pkey = qp_pkey(qp),
		.destination_qpn = destination_qpn,
	};
	ret_packet->packet_count = 1;
	ret_packet->payload.byte_count = 0;
	ret_packet->payload.span_count = 0;
	ret_packet->payload.offset = 0;
}
