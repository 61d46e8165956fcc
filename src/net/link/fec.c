/* SPDX-License-Identifier: Apache-2.0 */
/* Forward error correction: the modes of each extended speed, and the mode of a link. */
#include "net/link/fec.h"

#include <stddef.h>

enum { BIT_NONE = 1, BIT_FIRECODE = 2, BIT_RS = 4, BIT_LOW_LATENCY_RS = 8 };

/* One row per extended speed that has modes to choose from, in the order of PortInfoExtended. */
static const struct fec_speed {
	uint8_t speed; /* bit in LinkSpeedExt* */
	uint16_t modes;
	size_t supported, enabled; /* offsets */
} fec_speeds[] = {
#define SPEED(bit, modes, name)                                                                    \
	{                                                                                          \
		bit, modes, offsetof(struct port_info_extended, name##_fec_supported),             \
			offsetof(struct port_info_extended, name##_fec_enabled)                    \
	}
	SPEED(1, BIT_NONE | BIT_FIRECODE, fdr),
	SPEED(2, BIT_NONE | BIT_FIRECODE | BIT_RS, edr),
	/* Links of 50 Gb/s per lane and more do not come up without it. */
	SPEED(4, BIT_RS | BIT_LOW_LATENCY_RS, hdr),
	SPEED(8, BIT_RS | BIT_LOW_LATENCY_RS, ndr),
#undef SPEED
};

static uint16_t *modes_at(struct port_info_extended *info, size_t offset)
{
	return (uint16_t *)(void *)((char *)info + offset);
}

static uint16_t modes_read(const struct port_info_extended *info, size_t offset)
{
	return *(const uint16_t *)(const void *)((const char *)info + offset);
}

void port_fec_refresh(struct port *port)
{
	struct port_info_extended *info = &port->extended;

	if (port->kind == PORT_OF_MANAGEMENT)
		return;
	info->capability_mask |= PORT_INFO_EXTENDED_HAS_FEC;
	for (size_t i = 0; i < ARRAY_COUNT(fec_speeds); i++) {
		const struct fec_speed *row = &fec_speeds[i];
		uint16_t *supported = modes_at(info, row->supported);
		uint16_t modes = port->info.link_speed_ext_supported & row->speed ? row->modes : 0;

		if (*supported == modes)
			continue;
		*supported = modes;
		*modes_at(info, row->enabled) = modes;
	}
}

bool port_fec_enable(struct port *port, const struct port_info_extended *written)
{
	enum { ALL_MODES = 0xffff };

	for (size_t i = 0; i < ARRAY_COUNT(fec_speeds); i++) {
		uint16_t modes = modes_read(written, fec_speeds[i].enabled);

		if (modes != ALL_MODES &&
		    (modes & ~modes_read(&port->extended, fec_speeds[i].supported)))
			return false;
	}
	for (size_t i = 0; i < ARRAY_COUNT(fec_speeds); i++) {
		uint16_t modes = modes_read(written, fec_speeds[i].enabled);

		if (modes)
			*modes_at(&port->extended, fec_speeds[i].enabled) =
				modes & modes_read(&port->extended, fec_speeds[i].supported);
	}
	return true;
}

static uint16_t common_modes(const struct fec_speed *row, const struct port *a,
			     const struct port *b)
{
	return modes_read(&a->extended, row->supported) & modes_read(&a->extended, row->enabled) &
	       modes_read(&b->extended, row->supported) & modes_read(&b->extended, row->enabled);
}

uint8_t fec_common_speeds(const struct port *a, const struct port *b, uint8_t extended_speeds)
{
	uint8_t speeds = 0;

	for (size_t i = 0; i < ARRAY_COUNT(fec_speeds); i++)
		if ((extended_speeds & fec_speeds[i].speed) && common_modes(&fec_speeds[i], a, b))
			speeds |= fec_speeds[i].speed;
	return speeds;
}

static uint16_t strongest(uint16_t modes)
{
	uint16_t mode = FEC_LOW_LATENCY_REED_SOLOMON;

	while (mode > FEC_NONE && !(modes & (1u << mode)))
		mode--;
	return mode;
}

void port_fec_negotiate(struct port *port, const struct port *peer)
{
	/* XDR has no fields of its own, and always uses Reed-Solomon. */
	uint16_t active = port->info.link_speed_ext2_active ? FEC_REED_SOLOMON : FEC_NONE;

	for (size_t i = 0; i < ARRAY_COUNT(fec_speeds); i++)
		if (port->info.link_speed_ext_active == fec_speeds[i].speed)
			active = strongest(common_modes(&fec_speeds[i], port, peer));
	port->extended.fec_mode_active = active;
}
