/* SPDX-License-Identifier: Apache-2.0 */
/* The route that a communication id shows: addresses, path, device. */
#include <arpa/inet.h>
#include <string.h>

#include "api/librdmacm/identifier.h"

static void take_path(struct identifier *identifier, const struct path_record *path)
{
	struct gid dgid = gid_from(path->dgid_prefix, path->dgid_guid);
	struct gid sgid = gid_from(path->sgid_prefix, path->sgid_guid);

	identifier->path = (struct ibv_sa_path_rec){
		.dlid = htons(path->dlid),
		.slid = htons(path->slid),
		.raw_traffic = path->raw_traffic,
		.flow_label = htonl(path->flow_label),
		.hop_limit = path->hop_limit,
		.traffic_class = path->traffic_class,
		.reversible = path->reversible,
		.numb_path = path->path_count,
		.pkey = htons(path->pkey),
		.sl = path->sl,
		.mtu_selector = path->mtu_selector,
		.mtu = path->mtu,
		.rate_selector = path->rate_selector,
		.rate = path->rate,
		.packet_life_time_selector = path->packet_life_time_selector,
		.packet_life_time = path->packet_life_time,
		.preference = path->preference,
	};
	memcpy(identifier->path.dgid.raw, dgid.bytes, sizeof(dgid.bytes));
	memcpy(identifier->path.sgid.raw, sgid.bytes, sizeof(sgid.bytes));
	identifier->public.route.path_rec = &identifier->path;
	identifier->public.route.num_paths = 1;
}

void identifier_take_route(struct identifier *identifier, const struct cm_route *route)
{
	struct rdma_cm_id *id = &identifier->public;
	struct rdma_addr *address = &id->route.addr;

	address_to_socket(&route->source, &address->src_storage);
	address_to_socket(&route->destination, &address->dst_storage);
	memcpy(address->addr.ibaddr.sgid.raw, route->sgid.bytes, sizeof(route->sgid.bytes));
	memcpy(address->addr.ibaddr.dgid.raw, route->dgid.bytes, sizeof(route->dgid.bytes));
	address->addr.ibaddr.pkey = htons(route->pkey);
	identifier->qkey = route->qkey;
	identifier->pkey_index = route->pkey_index;
	if (route->has_path)
		take_path(identifier, &route->path);
	if (!route->port_number)
		return;
	id->port_num = route->port_number;
	if (!id->verbs)
		id->verbs = devices_context(route->adapter_index);
	if (!id->pd) {
		identifier->default_pd = devices_pd(route->adapter_index);
		id->pd = identifier->default_pd;
	}
}
