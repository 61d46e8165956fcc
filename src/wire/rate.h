/* SPDX-License-Identifier: Apache-2.0 */
/* Link widths, speeds and the rate codes that stand for both (vol 1, chapters 9, 14 and 15;
 * transport 8.9). */
#ifndef SOFTIB_WIRE_RATE_H
#define SOFTIB_WIRE_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of PortInfo.LinkWidth*. */
enum link_width {
	LINK_WIDTH_1X = 1,
	LINK_WIDTH_4X = 2,
	LINK_WIDTH_8X = 4,
	LINK_WIDTH_12X = 8,
	LINK_WIDTH_2X = 16,
};

/* Numbered as in verbs; PortInfo spreads them over LinkSpeed* and LinkSpeedExt*. */
enum link_speed {
	LINK_SPEED_SDR = 1,
	LINK_SPEED_DDR = 2,
	LINK_SPEED_QDR = 4,
	LINK_SPEED_FDR10 = 8,
	LINK_SPEED_FDR = 16,
	LINK_SPEED_EDR = 32,
	LINK_SPEED_HDR = 64,
	LINK_SPEED_NDR = 128,
	LINK_SPEED_XDR = 256,
};

enum { RATE_PORT_CURRENT = 0, RATE_CODE_FIRST = 2, RATE_CODE_LAST = 25 };

/* Lanes of a width; 0 unless it is a single width. */
unsigned link_lanes(unsigned width);

/* From PortInfo.LinkSpeedActive, LinkSpeedExtActive and LinkSpeedExtActive2; 0 when none has a
 * speed. */
unsigned link_speed_from_port_info(unsigned speed_active, unsigned speed_ext_active,
				   unsigned speed_ext2_active);

/* The code for PathRecord.Rate and static rates; 0 when this width and speed have none. */
unsigned rate_code(unsigned width, unsigned speed);

/* Signalling rate of a code in Mb/s; 0 for a reserved code. */
uint32_t rate_mbps(unsigned code);

/* Data rate of a code after coding, in Mb/s. */
uint32_t rate_data_mbps(unsigned code);

/* Data rate of a link after coding, in Mb/s; 0 for an invalid width or speed. */
uint32_t link_data_mbps(unsigned width, unsigned speed);

/* Codes are not in order of bandwidth. Negative, 0 or positive as a carries less than, as much as
 * or more than b; reserved codes come first. */
int rate_compare(unsigned a, unsigned b);

#endif
