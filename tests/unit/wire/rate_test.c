/* SPDX-License-Identifier: Apache-2.0 */
/* Rate codes against the table of widths and speeds (transport 8.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/attributes.h"
#include "wire/rate.h"

static void test_every_width_and_speed_has_its_code(void **state)
{
	(void)state;
	static const unsigned widths[] = {LINK_WIDTH_1X, LINK_WIDTH_2X, LINK_WIDTH_4X,
					  LINK_WIDTH_8X, LINK_WIDTH_12X};
	static const unsigned codes[][5] = {
		[0] = {2, 5, 3, 6, 4},	    [1] = {5, 3, 6, 7, 8},	[2] = {3, 6, 7, 9, 10},
		[3] = {3, 6, 7, 9, 10},	    [4] = {11, 19, 12, 13, 14}, [5] = {15, 20, 16, 17, 18},
		[6] = {20, 16, 17, 21, 22}, [7] = {16, 17, 21, 23, 24}, [8] = {17, 21, 23, 25, 25},
	};

	for (unsigned speed = 0; speed < ARRAY_COUNT(codes); speed++)
		for (unsigned width = 0; width < ARRAY_COUNT(widths); width++)
			assert_int_equal(rate_code(widths[width], 1u << speed),
					 codes[speed][width]);
	assert_int_equal(rate_code(3, LINK_SPEED_EDR), 0);
	assert_int_equal(rate_code(LINK_WIDTH_4X, 3), 0);
	assert_int_equal(rate_code(0, 0), 0);
}

/* A code's rate is lanes x signalling rate of the lane, whichever way that code is reached. */
static void test_codes_agree_with_lane_rates(void **state)
{
	(void)state;
	static const struct {
		unsigned speed;
		double lane_mbps;
	} speeds[] = {{LINK_SPEED_SDR, 2500},	  {LINK_SPEED_DDR, 5000},
		      {LINK_SPEED_QDR, 10000},	  {LINK_SPEED_FDR, 14062.5},
		      {LINK_SPEED_EDR, 25781.25}, {LINK_SPEED_HDR, 53125},
		      {LINK_SPEED_NDR, 106250},	  {LINK_SPEED_XDR, 212500}};

	for (size_t i = 0; i < ARRAY_COUNT(speeds); i++)
		for (unsigned width = 1; width <= 16; width <<= 1) {
			unsigned code = rate_code(width, speeds[i].speed);
			double mbps = speeds[i].lane_mbps * link_lanes(width);

			/* 12x XDR has no code of its own; it uses the highest. */
			if (!code || (width == LINK_WIDTH_12X && speeds[i].speed == LINK_SPEED_XDR))
				continue;
			/* Generations share codes although their lane rates differ by a few
			 * percent. */
			assert_true(rate_mbps(code) <= mbps * 1.05);
			assert_true(rate_mbps(code) >= mbps * 0.95);
		}
	assert_int_equal(rate_mbps(0), 0);
	assert_int_equal(rate_mbps(1), 0);
	assert_int_equal(rate_mbps(26), 0);
	assert_int_equal(rate_mbps(~0u), 0);
}

static void test_codes_compare_by_what_they_carry(void **state)
{
	(void)state;
	static const unsigned widths[] = {1, 2, 4, 8, 16};

	for (unsigned a = 0; a < 9 * ARRAY_COUNT(widths); a++)
		for (unsigned b = 0; b < 9 * ARRAY_COUNT(widths); b++) {
			unsigned a_speed = 1u << a / 5;
			unsigned b_speed = 1u << b / 5;
			unsigned a_code = rate_code(widths[a % 5], a_speed);
			unsigned b_code = rate_code(widths[b % 5], b_speed);

			/* FDR10 uses QDR's codes, but carries more. */
			if (!a_code || !b_code || a_speed == LINK_SPEED_FDR10 ||
			    b_speed == LINK_SPEED_FDR10)
				continue;
			if (a_code == b_code)
				assert_int_equal(rate_compare(a_code, b_code), 0);
			else if (link_data_mbps(widths[a % 5], a_speed) <
				 link_data_mbps(widths[b % 5], b_speed))
				assert_true(rate_compare(a_code, b_code) < 0);
			else
				assert_true(rate_compare(a_code, b_code) > 0);
		}
	assert_true(rate_compare(0, 2) < 0);
	assert_true(rate_compare(2, 99) > 0);
}

static void test_links_carry_less_than_they_signal(void **state)
{
	(void)state;
	assert_int_equal(link_data_mbps(LINK_WIDTH_4X, LINK_SPEED_SDR), 8000);
	assert_int_equal(link_data_mbps(LINK_WIDTH_4X, LINK_SPEED_FDR), 54545);
	assert_int_equal(link_data_mbps(LINK_WIDTH_4X, LINK_SPEED_EDR), 100000);
	assert_int_equal(link_data_mbps(LINK_WIDTH_12X, LINK_SPEED_NDR), 1200000);
	assert_int_equal(link_data_mbps(5, LINK_SPEED_NDR), 0);
	assert_int_equal(link_data_mbps(LINK_WIDTH_1X, 0), 0);
}

static void test_speed_comes_from_the_extended_field_first(void **state)
{
	(void)state;
	assert_int_equal(link_speed_from_port_info(4, 2, 0), LINK_SPEED_EDR);
	assert_int_equal(link_speed_from_port_info(0, 8, 0), LINK_SPEED_NDR);
	assert_int_equal(link_speed_from_port_info(4, 0, 0), LINK_SPEED_QDR);
	assert_int_equal(link_speed_from_port_info(0, 0, 0), 0);
	assert_int_equal(link_speed_from_port_info(3, 0, 0), 0);
	/* The second extended field has precedence. */
	assert_int_equal(link_speed_from_port_info(4, 0, 1), LINK_SPEED_XDR);
	assert_int_equal(link_speed_from_port_info(4, 8, 1), LINK_SPEED_XDR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_width_and_speed_has_its_code),
		cmocka_unit_test(test_codes_agree_with_lane_rates),
		cmocka_unit_test(test_codes_compare_by_what_they_carry),
		cmocka_unit_test(test_links_carry_less_than_they_signal),
		cmocka_unit_test(test_speed_comes_from_the_extended_field_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
