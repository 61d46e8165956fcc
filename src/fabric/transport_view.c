/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric's port as the transport sees it: the state, LIDs and tables that queue pairs use. */
#include "fabric/transport_view.h"

#include <string.h>
#include "net/link/port.h"
#include "net/transport/port_view.h"
#include "wire/rate.h"

void transport_view_of(const struct port *port, struct port_view *ret_view)
{
	const struct port_info *info = &port->info;
	struct port_view view = {
		.number = port->number,
		.state = info->port_state,
		.physical_state = info->physical_state,
		.lmc = info->lmc,
		.mtu_code = info->neighbor_mtu,
		.mtu_cap_code = info->mtu_cap,
		.sm_sl = info->master_sm_sl,
		.subnet_timeout = info->subnet_timeout,
		.link_width_active = info->link_width_active,
		.link_speed_active = (uint16_t)link_speed_from_port_info(
			info->link_speed_active, info->link_speed_ext_active,
			info->link_speed_ext2_active),
		.vl_count_code = info->vl_cap,
		.init_type_reply = info->init_type_reply,
		.lid = info->lid,
		.sm_lid = info->master_sm_lid,
		.capability_mask = info->capability_mask,
		.gid_prefix = info->gid_prefix,
		.guid = port->guid,
		.pkey_count = port->pkey_count < PORT_PKEYS_MAX ? port->pkey_count : PORT_PKEYS_MAX,
		.gid_count = info->guid_cap < PORT_GIDS_MAX ? info->guid_cap : PORT_GIDS_MAX,
	};

	memcpy(view.pkeys, port->pkeys, view.pkey_count * sizeof(view.pkeys[0]));
	for (unsigned index = 0; index < view.gid_count; index++) {
		uint64_t guid = index == 0 ? port->guid : port->guids[index];

		if (guid)
			view.gids[index] = gid_from(info->gid_prefix, guid);
	}
	*ret_view = view;
}
