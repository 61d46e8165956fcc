/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric's port as an adapter's queue pairs see it. */
#include "sim/port_views.h"

#include "net/link/port.h"
#include "net/transport/port_view.h"

/* The verbs count on where PortInfo starts again: SDR 1, DDR 2, QDR 4, then FDR 16 and up for the
 * extended ones. */
static uint16_t verbs_speed(const struct port_info *info)
{
	enum { EXTENDED_SHIFT = 4 };

	return info->link_speed_ext_active
		       ? (uint16_t)(info->link_speed_ext_active << EXTENDED_SHIFT)
		       : info->link_speed_active;
}

void port_view_read(const struct port *port, struct port_view *ret_view)
{
	const struct port_info *info = &port->info;
	unsigned gid_count = info->guid_cap < PORT_GIDS_MAX ? info->guid_cap : PORT_GIDS_MAX;
	unsigned pkey_count = port->pkey_count < PORT_PKEYS_MAX ? port->pkey_count : PORT_PKEYS_MAX;

	*ret_view = (struct port_view){
		.number = port->number,
		.state = info->port_state,
		.physical_state = info->physical_state,
		.lmc = info->lmc,
		.mtu_code = info->neighbor_mtu,
		.mtu_cap_code = info->mtu_cap,
		.sm_sl = info->master_sm_sl,
		.subnet_timeout = info->subnet_timeout,
		.link_width_active = info->link_width_active,
		.link_speed_active = verbs_speed(info),
		.vl_count_code = info->operational_vls,
		.init_type_reply = info->init_type_reply,
		.lid = info->lid,
		.sm_lid = info->master_sm_lid,
		.capability_mask = info->capability_mask,
		.gid_prefix = info->gid_prefix,
		.guid = port->guid,
		.pkey_count = (uint16_t)pkey_count,
		.gid_count = (uint16_t)gid_count,
	};
	for (unsigned i = 0; i < pkey_count; i++)
		ret_view->pkeys[i] = port->pkeys[i];
	for (unsigned i = 0; i < gid_count; i++)
		if (port->guids[i])
			ret_view->gids[i] = gid_from(info->gid_prefix, port->guids[i]);
}
