/* SPDX-License-Identifier: Apache-2.0 */
/* Path records as connections use them (vol 1, chapter 12 and annex A11). */
#include "daemon/cm/cm_paths.h"

#include <string.h>
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_port.h"
#include "daemon/core/host_table.h"
#include "wire/cm_ip_header.h"

enum { TIME_CODE_MAX = 31 };

/* The smallest 5-bit time that covers the round trip. */
static uint8_t ack_timeout(uint8_t packet_life_time, uint8_t ack_delay)
{
	time_ns wanted = 2 * time_from_code(packet_life_time) + time_from_code(ack_delay);
	uint8_t code = 0;

	while (code < TIME_CODE_MAX && time_from_code(code) < wanted)
		code++;
	return code;
}

uint8_t cm_ack_timeout(const struct cm_id *id, const struct path_record *path, uint8_t ack_delay)
{
	return id->options.ack_timeout ? id->options.ack_timeout
				       : ack_timeout(path->packet_life_time, ack_delay);
}

struct mad_address cm_path_address(const struct cm_route *route)
{
	const struct path_record *path = &route->path;

	return (struct mad_address){.lid = path->dlid,
				    .sl = path->sl,
				    .pkey = route->pkey,
				    .has_grh = path->hop_limit > 1,
				    .gid = route->dgid,
				    .hop_limit = path->hop_limit,
				    .traffic_class = path->traffic_class,
				    .flow_label = path->flow_label};
}

struct cm_path cm_path_of_req(const struct cm_id *id)
{
	const struct path_record *path = &id->route.path;

	return (struct cm_path){
		.local_lid = path->slid,
		.remote_lid = path->dlid,
		.local_gid_prefix = gid_prefix(&id->route.sgid),
		.local_gid_guid = gid_guid(&id->route.sgid),
		.remote_gid_prefix = gid_prefix(&id->route.dgid),
		.remote_gid_guid = gid_guid(&id->route.dgid),
		.flow_label = path->flow_label,
		.packet_rate = path->rate,
		.traffic_class = path->traffic_class,
		.hop_limit = path->hop_limit,
		.sl = path->sl,
		.subnet_local = path->hop_limit <= 1,
		.ack_timeout = cm_ack_timeout(id, path, CM_ACK_DELAY),
	};
}

struct cm_vector cm_path_vector(const struct cm_port *port, const struct path_record *path)
{
	uint8_t lmc_mask = (uint8_t)((1u << port->endpoint->port->info.lmc) - 1);

	return (struct cm_vector){.dlid = path->dlid,
				  .sl = path->sl,
				  .path_bits = (uint8_t)(path->slid & lmc_mask),
				  .rate = path->rate,
				  .has_grh = path->hop_limit > 1,
				  .hop_limit = path->hop_limit,
				  .traffic_class = path->traffic_class,
				  .flow_label = path->flow_label,
				  .dgid = gid_from(path->dgid_prefix, path->dgid_guid)};
}

bool cm_request_private(const struct cm_id *id, size_t room, struct cm_private_data private_data,
			uint8_t *ret_bytes, size_t *ret_byte_count)
{
	const struct cm_address *source = &id->route.source;
	const struct cm_address *destination = &id->route.destination;
	bool is_ip = destination->family != CM_ADDRESS_IB;
	size_t header_bytes = is_ip ? CM_IP_HEADER_BYTES : 0;

	if (header_bytes + private_data.byte_count > room)
		return false;
	if (is_ip) {
		const struct cm_ip_header header = {
			.ip_version = cm_address_ip_version(destination),
			.source_port = source->port,
			.source = cm_address_ip(source),
			.destination = cm_address_ip(destination),
		};

		cm_ip_header_encode(&header, ret_bytes);
	}
	if (private_data.byte_count)
		memcpy(ret_bytes + header_bytes, private_data.bytes, private_data.byte_count);
	*ret_byte_count = header_bytes + private_data.byte_count;
	return true;
}

void cm_id_use_port(struct cm_id *id, struct cm_port *port)
{
	struct cm_route *route = &id->route;

	id->port = port;
	route->sgid = cm_port_gid(port);
	route->pkey = cm_port_pkey(port);
	route->adapter_index = (uint8_t)port->endpoint->adapter->index;
	route->port_number = (uint8_t)port->endpoint->port->number;
	if (!cm_port_pkey_index(port, route->pkey, &route->pkey_index))
		route->pkey_index = 0;
}
