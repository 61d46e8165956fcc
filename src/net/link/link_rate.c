/* SPDX-License-Identifier: Apache-2.0 */
/* How long a port's wire is busy, and static rate control (vol 1, chapter 9; transport 8.8,
 * 8.9). */
#include "net/link/link_rate.h"

#include "net/link/port_queues.h"
#include "wire/rate.h"

enum { BITS_PER_BYTE = 8, NS_PER_US = 1000, IPD_MAX = 255 };

static unsigned active_speed(const struct port_info *info)
{
	return link_speed_from_port_info(info->link_speed_active, info->link_speed_ext_active,
					 info->link_speed_ext2_active);
}

void port_pacer_init(struct port *port)
{
	struct port_pacer *pacer = &port->queues->pacer;

	pacer->data_mbps = link_data_mbps(port->info.link_width_active, active_speed(&port->info));
	/* A width or speed code without meaning must not stop the fabric: it gets the lowest
	 * rate. */
	if (pacer->data_mbps == 0)
		pacer->data_mbps = link_data_mbps(LINK_WIDTH_1X, LINK_SPEED_SDR);
	pacer->free_at = 0;
	pacer->carry = 0;
}

time_ns port_occupy_wire(struct port *port, uint32_t wire_bytes, time_ns now)
{
	struct port_pacer *pacer = &port->queues->pacer;

	if (pacer->free_at < now) {
		pacer->free_at = now;
		pacer->carry = 0;
	}

	/* Mb/s are bits per microsecond; carry is the remainder of the last division. */
	uint64_t scaled = (uint64_t)wire_bytes * BITS_PER_BYTE * NS_PER_US + pacer->carry;

	pacer->free_at += scaled / pacer->data_mbps;
	pacer->carry = (uint32_t)(scaled % pacer->data_mbps);
	return pacer->free_at;
}

unsigned port_static_rate_ipd(const struct port *port, unsigned static_rate)
{
	/* Data rates after coding: 12x EDR would outrun 1x SDR by their signalling rates. */
	uint32_t path_mbps = rate_data_mbps(static_rate);
	uint32_t local_mbps =
		link_data_mbps(port->info.link_width_active, active_speed(&port->info));

	if (path_mbps == 0 || local_mbps <= path_mbps)
		return 0;

	uint32_t ipd = (local_mbps + path_mbps - 1) / path_mbps - 1;

	return ipd < IPD_MAX ? ipd : IPD_MAX;
}

time_ns port_static_rate_interval(const struct port *port, unsigned static_rate,
				  uint32_t wire_bytes)
{
	uint64_t scaled = (uint64_t)wire_bytes * BITS_PER_BYTE * NS_PER_US *
			  (port_static_rate_ipd(port, static_rate) + 1u);
	uint32_t data_mbps = port->queues->pacer.data_mbps;

	return (scaled + data_mbps - 1) / data_mbps;
}
