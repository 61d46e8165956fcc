/* SPDX-License-Identifier: Apache-2.0 */
/* Link widths, speeds and rate codes (vol 1, chapters 9, 14 and 15; transport 8.9). */
#include "wire/rate.h"

#include <stddef.h>
#include "base/attributes.h"

enum { WIDTH_COUNT = 5 };

/* The columns of the table below. */
static const struct {
	uint8_t width;
	uint8_t lanes;
} widths[WIDTH_COUNT] = {
	{LINK_WIDTH_1X, 1}, {LINK_WIDTH_2X, 2},	  {LINK_WIDTH_4X, 4},
	{LINK_WIDTH_8X, 8}, {LINK_WIDTH_12X, 12},
};

/* clang-format off */
static const struct speed_row {
	uint16_t speed;
	uint32_t lane_data_kbps; /* after coding: 8b/10b up to QDR, 64b/66b or FEC above */
	uint8_t codes[WIDTH_COUNT];
} speeds[] = {
	/* speed            data/lane     1x  2x  4x  8x 12x */
	{LINK_SPEED_SDR,     2000000u, {  2,  5,  3,  6,  4}},
	{LINK_SPEED_DDR,     4000000u, {  5,  3,  6,  7,  8}},
	{LINK_SPEED_QDR,     8000000u, {  3,  6,  7,  9, 10}},
	{LINK_SPEED_FDR10,  10000000u, {  3,  6,  7,  9, 10}},
	{LINK_SPEED_FDR,    13636364u, { 11, 19, 12, 13, 14}},
	{LINK_SPEED_EDR,    25000000u, { 15, 20, 16, 17, 18}},
	{LINK_SPEED_HDR,    50000000u, { 20, 16, 17, 21, 22}},
	{LINK_SPEED_NDR,   100000000u, { 16, 17, 21, 23, 24}},
	/* 12x XDR has no code of its own: the highest code. */
	{LINK_SPEED_XDR,   200000000u, { 17, 21, 23, 25, 25}},
};

/* clang-format on */

static const uint32_t code_mbps[RATE_CODE_LAST + 1] = {
	[2] = 2500,    [3] = 10000,   [4] = 30000,   [5] = 5000,    [6] = 20000,    [7] = 40000,
	[8] = 60000,   [9] = 80000,   [10] = 120000, [11] = 14062,  [12] = 56250,   [13] = 112500,
	[14] = 168750, [15] = 25781,  [16] = 103125, [17] = 206250, [18] = 309375,  [19] = 28125,
	[20] = 53125,  [21] = 425000, [22] = 637500, [23] = 850000, [24] = 1275000, [25] = 1700000,
};

/* From slow to fast by data rate after coding, so that 12x SDR (30 Gb/s, 24 of data) comes before
 * 1x EDR. */
static const uint8_t code_order[] = {
	2, 5, 3, 11, 6, 4, 15, 19, 7, 8, 20, 12, 9, 10, 16, 13, 14, 17, 18, 21, 22, 23, 24, 25,
};

static int width_column(unsigned width)
{
	for (int column = 0; column < WIDTH_COUNT; column++)
		if (widths[column].width == width)
			return column;
	return -1;
}

static const struct speed_row *speed_row(unsigned speed)
{
	for (size_t i = 0; i < ARRAY_COUNT(speeds); i++)
		if (speeds[i].speed == speed)
			return &speeds[i];
	return NULL;
}

unsigned link_lanes(unsigned width)
{
	int column = width_column(width);

	return column < 0 ? 0 : widths[column].lanes;
}

unsigned link_speed_from_port_info(unsigned speed_active, unsigned speed_ext_active,
				   unsigned speed_ext2_active)
{
	if (speed_ext2_active == 1)
		return LINK_SPEED_XDR;
	switch (speed_ext_active) {
	case 1:
		return LINK_SPEED_FDR;
	case 2:
		return LINK_SPEED_EDR;
	case 4:
		return LINK_SPEED_HDR;
	case 8:
		return LINK_SPEED_NDR;
	}
	switch (speed_active) {
	case LINK_SPEED_SDR:
	case LINK_SPEED_DDR:
	case LINK_SPEED_QDR:
		return speed_active;
	}
	return 0;
}

unsigned rate_code(unsigned width, unsigned speed)
{
	int column = width_column(width);
	const struct speed_row *row = speed_row(speed);

	return column < 0 || !row ? 0 : row->codes[column];
}

uint32_t rate_mbps(unsigned code)
{
	return code <= RATE_CODE_LAST ? code_mbps[code] : 0;
}

uint32_t link_data_mbps(unsigned width, unsigned speed)
{
	const struct speed_row *row = speed_row(speed);

	return row ? (uint32_t)((uint64_t)row->lane_data_kbps * link_lanes(width) / 1000) : 0;
}

uint32_t rate_data_mbps(unsigned code)
{
	for (size_t row = 0; code && row < ARRAY_COUNT(speeds); row++)
		for (unsigned column = 0; column < WIDTH_COUNT; column++)
			if (speeds[row].codes[column] == code)
				return link_data_mbps(widths[column].width, speeds[row].speed);
	return 0;
}

/* 0 for a reserved code. */
static int rank(unsigned code)
{
	for (size_t i = 0; i < ARRAY_COUNT(code_order); i++)
		if (code_order[i] == code)
			return (int)i + 1;
	return 0;
}

int rate_compare(unsigned a, unsigned b)
{
	return rank(a) - rank(b);
}
