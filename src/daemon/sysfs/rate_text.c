/* SPDX-License-Identifier: Apache-2.0 */
/* A link's width and speed as Linux writes them. */
#include "daemon/sysfs/rate_text.h"

#include <stdio.h>
#include "base/attributes.h"
#include "wire/rate.h"

/* The lane rates that Linux prints, in 0.1 Gb/s. */
static const struct {
	unsigned speed; /* enum link_speed */
	unsigned decigigabits;
	const char *name;
} lane_rates[] = {
	{LINK_SPEED_SDR, 25, "SDR"},   {LINK_SPEED_DDR, 50, "DDR"},
	{LINK_SPEED_QDR, 100, "QDR"},  {LINK_SPEED_FDR10, 100, "FDR10"},
	{LINK_SPEED_FDR, 140, "FDR"},  {LINK_SPEED_EDR, 250, "EDR"},
	{LINK_SPEED_HDR, 500, "HDR"},  {LINK_SPEED_NDR, 1000, "NDR"},
	{LINK_SPEED_XDR, 2000, "XDR"},
};

void link_rate_text(const struct port_info *info, char ret_text[static LINK_RATE_TEXT_BYTES])
{
	unsigned speed = link_speed_from_port_info(
		info->link_speed_active, info->link_speed_ext_active, info->link_speed_ext2_active);
	unsigned lanes = link_lanes(info->link_width_active);
	unsigned row = 0;

	for (unsigned index = 0; index < ARRAY_COUNT(lane_rates); index++) {
		if (lane_rates[index].speed == speed)
			row = index;
	}
	/* A port that never had a link shows the lowest rate, as the kernel's drivers do. */
	if (!lanes)
		lanes = 1;

	unsigned decigigabits = lane_rates[row].decigigabits * lanes;

	snprintf(ret_text, LINK_RATE_TEXT_BYTES, "%u%s Gb/sec (%uX %s)", decigigabits / 10,
		 decigigabits % 10 ? ".5" : "", lanes, lane_rates[row].name);
}
