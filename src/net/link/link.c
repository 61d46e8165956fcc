/* SPDX-License-Identifier: Apache-2.0 */
/* A link: training, negotiation and loss (vol 1, chapters 5 and 7; vol 2; transport 8.3, 8.9). */
#include "net/link/link.h"

#include <errno.h>
#include "net/link/fec.h"
#include "net/link/link_rate.h"
#include "net/link/lane_credits.h"
#include "net/link/lane_tables.h"

enum { SPEED_QDR = 4 };

int link_connect(struct port *a, struct port *b)
{
	if (a == b || a->kind == PORT_OF_MANAGEMENT || b->kind == PORT_OF_MANAGEMENT)
		return -EINVAL;
	if (a->peer || b->peer)
		return -EBUSY;
	a->peer = b;
	b->peer = a;
	a->info.physical_state = PHYSICAL_POLLING;
	b->info.physical_state = PHYSICAL_POLLING;
	return 0;
}

/* Width bits in order of lanes: 12x, 8x, 4x, 2x, 1x. */
static uint8_t widest(uint8_t widths)
{
	static const uint8_t order[] = {8, 4, 2, 16, 1};

	for (unsigned i = 0; i < ARRAY_COUNT(order); i++)
		if (widths & order[i])
			return order[i];
	return 0;
}

static uint8_t highest_bit(uint8_t bits)
{
	uint8_t highest = 0x80;

	while (highest && !(bits & highest))
		highest >>= 1;
	return highest;
}

static uint8_t lesser(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

void port_info_show_speeds(struct port_info *info)
{
	enum { WIDTH_2X = 16, SPEED_HDR = 4, SPEED_NDR = 8 };
	unsigned mask = info->capability_mask2 &
			~(unsigned)(CAPABILITY2_LINK_WIDTH_2X | CAPABILITY2_LINK_SPEED_HDR |
				    CAPABILITY2_LINK_SPEED_NDR | CAPABILITY2_EXTENDED_SPEEDS_2 |
				    CAPABILITY2_LINK_SPEED_XDR);

	if (info->link_width_supported & WIDTH_2X)
		mask |= CAPABILITY2_LINK_WIDTH_2X;
	if (info->link_speed_ext_supported & SPEED_HDR)
		mask |= CAPABILITY2_LINK_SPEED_HDR;
	if (info->link_speed_ext_supported & SPEED_NDR)
		mask |= CAPABILITY2_LINK_SPEED_NDR;
	if (info->link_speed_ext2_supported)
		mask |= CAPABILITY2_EXTENDED_SPEEDS_2 | CAPABILITY2_LINK_SPEED_XDR;
	info->capability_mask2 = (uint16_t)mask;
	if (mask)
		info->capability_mask |= CAPABILITY_MASK2;
}

/* 30 and 31 are commands, which the agent turns into masks, so at most 4 bits are set here. A speed
 * counts only if the ports have a FEC mode in common. */
static uint8_t common_extended_speeds(const struct port *a, const struct port *b)
{
	uint8_t speeds = a->info.link_speed_ext_enabled & a->info.link_speed_ext_supported &
			 b->info.link_speed_ext_enabled & b->info.link_speed_ext_supported;

	return fec_common_speeds(a, b, speeds);
}

static uint8_t second_extended_speeds(const struct port_info *info)
{
	return info->link_speed_ext2_enabled & info->link_speed_ext2_supported;
}

static void negotiate(struct port *port, const struct port *peer)
{
	struct port_info *own = &port->info;
	const struct port_info *other = &peer->info;

	own->link_width_active = widest(own->link_width_enabled & other->link_width_enabled);
	own->link_speed_active = highest_bit(own->link_speed_enabled & other->link_speed_enabled);
	own->link_speed_ext_active = highest_bit(common_extended_speeds(port, peer));
	own->link_speed_ext2_active =
		highest_bit(second_extended_speeds(own) & second_extended_speeds(other));
	if (own->link_speed_ext2_active)
		own->link_speed_ext_active = 0;
	/* A link at an extended speed shows as 10 Gb/s to software that does not know it. */
	if (own->link_speed_ext_active || own->link_speed_ext2_active)
		own->link_speed_active = SPEED_QDR;
	port_fec_negotiate(port, peer);
	own->neighbor_mtu = lesser(own->mtu_cap, other->mtu_cap);
	own->operational_vls = lesser(own->vl_cap, other->vl_cap);
}

static bool is_polling(const struct port *port)
{
	return port->info.physical_state == PHYSICAL_POLLING && !port->cable_is_down &&
	       !port->has_no_power;
}

static bool have_common_ground(const struct port *a, const struct port *b)
{
	return (a->info.link_width_enabled & b->info.link_width_enabled) &&
	       ((a->info.link_speed_enabled & b->info.link_speed_enabled) ||
		common_extended_speeds(a, b));
}

static void come_up(struct port *port)
{
	port->info.physical_state = PHYSICAL_LINK_UP;
	port->info.port_state = PORT_INIT;
	port->state_changes++;
	port_lanes_trained(port);
	port_credits_init(port);
	port_pacer_init(port);
}

bool link_train(struct port *port)
{
	struct port *peer = port->peer;

	if (!peer || !is_polling(port) || !is_polling(peer))
		return false;
	port_fec_refresh(port);
	port_fec_refresh(peer);
	if (!have_common_ground(port, peer))
		return false;
	negotiate(port, peer);
	negotiate(peer, port);
	come_up(port);
	come_up(peer);
	return true;
}

static void go_down(struct port *port, uint8_t physical)
{
	if (port->info.physical_state == PHYSICAL_LINK_UP)
		port->counters.link_downed++;
	if (port->info.port_state != PORT_DOWN)
		port->state_changes++;
	port->info.port_state = PORT_DOWN;
	port->info.physical_state = physical;
}

bool link_fall(struct port *port, enum physical_state physical)
{
	bool was_up = port->info.physical_state == PHYSICAL_LINK_UP;

	go_down(port, (uint8_t)physical);
	/* A neighbour that is already in Sleep or Disabled stays so. */
	if (port->peer && port->peer->info.physical_state == PHYSICAL_LINK_UP)
		go_down(port->peer, port->peer->info.link_down_default_state);
	return was_up;
}
