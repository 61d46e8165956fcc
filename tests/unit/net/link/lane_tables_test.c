/* SPDX-License-Identifier: Apache-2.0 */
/* Data VLs of ports, and their tables at power-on (transport 8.1, 8.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/link/arbitration.h"
#include "net/link/lane_tables.h"
#include "net/link/link.h"
#include "net/link/port_queues.h"

enum { ROWS = 3 };

static struct port ports[3];
static uint8_t maps[3][ROWS][SL_COUNT];

static int power_on(void **state)
{
	(void)state;
	memset(ports, 0, sizeof(ports));
	memset(maps, 0xff, sizeof(maps));
	for (unsigned i = 0; i < ARRAY_COUNT(ports); i++) {
		ports[i].kind = PORT_OF_SWITCH;
		ports[i].info = (struct port_info){.link_width_enabled = 2,
						   .link_speed_enabled = 4,
						   .mtu_cap = 5,
						   .physical_state = PHYSICAL_POLLING,
						   .link_down_default_state = PHYSICAL_POLLING};
		ports[i].sl_to_vl = maps[i];
		ports[i].sl_to_vl_row_count = ROWS;
		assert_int_equal(port_queues_create(&ports[i]), 0);
		port_set_vl_cap(&ports[i], VL_CODE_8);
	}
	return 0;
}

static int power_off(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(ports); i++)
		port_queues_destroy(&ports[i]);
	return 0;
}

static void cable(struct port *a, struct port *b)
{
	if (a->peer) {
		(void)link_fall(a, PHYSICAL_POLLING);
		a->peer->peer = NULL;
		a->peer = NULL;
	}
	assert_int_equal(link_connect(a, b), 0);
	assert_true(link_train(a));
}

static void write_maps(struct port *port, const uint8_t lanes)
{
	for (unsigned row = 0; row < ROWS; row++)
		for (unsigned sl = 0; sl < SL_COUNT; sl++)
			port->sl_to_vl[row][sl] = (uint8_t)(sl % lanes);
}

static void expect_all_on_vl_0(const struct port *port)
{
	for (unsigned row = 0; row < ROWS; row++)
		for (unsigned sl = 0; sl < SL_COUNT; sl++)
			assert_int_equal(port->sl_to_vl[row][sl], 0);
}

static void test_every_code_names_its_number_of_lanes(void **state)
{
	static const uint8_t counts[] = {[1] = 1, [2] = 2, [3] = 4, [4] = 8, [5] = 15};

	(void)state;
	for (uint8_t code = 1; code <= VL_CODE_MAX; code++) {
		assert_int_equal(data_vl_count_of(code), counts[code]);
		assert_int_equal(vl_code_of(counts[code]), code);
	}
	for (unsigned count = 0; count < 20; count++)
		if (count != 1 && count != 2 && count != 4 && count != 8 && count != 15)
			assert_int_equal(vl_code_of(count), 0);
}

static void test_every_sl_goes_to_vl_0_at_power_on(void **state)
{
	(void)state;
	expect_all_on_vl_0(&ports[0]);
	cable(&ports[0], &ports[1]);
	expect_all_on_vl_0(&ports[0]);
}

static void test_every_lane_has_weight_at_power_on(void **state)
{
	(void)state;
	for (uint8_t code = 2; code <= VL_CODE_MAX; code++) {
		port_set_vl_cap(&ports[0], code);
		assert_true(ports[0].info.vl_arbitration_low_cap >= data_vl_count_of(code));
		for (unsigned vl = 0; vl < data_vl_count_of(code); vl++)
			assert_int_equal(port_arbitrate(&ports[0], (uint16_t)(1u << vl)).vl, vl);
	}
}

/* PortInfo says 0 entries where there is nothing to arbitrate. */
static void test_port_with_one_lane_has_no_arbitration(void **state)
{
	(void)state;
	port_set_vl_cap(&ports[0], 1);
	assert_int_equal(ports[0].info.vl_arbitration_low_cap, 0);
	assert_int_equal(ports[0].info.vl_arbitration_high_cap, 0);
	assert_int_equal(ports[0].vl_arbitration[TABLE_LOW][0][1], 0);
}

/* The port with more VLs steps down, for every pair of numbers. */
static void test_link_has_the_lanes_of_the_lesser_end(void **state)
{
	(void)state;
	for (uint8_t a = 1; a <= VL_CODE_MAX; a++)
		for (uint8_t b = 1; b <= VL_CODE_MAX; b++) {
			port_set_vl_cap(&ports[0], a);
			port_set_vl_cap(&ports[1], b);
			cable(&ports[0], &ports[1]);
			assert_int_equal(ports[0].info.operational_vls, a < b ? a : b);
			assert_int_equal(ports[1].info.operational_vls, a < b ? a : b);
		}
}

/* The cable is moved to a port with fewer VLs than the manager's tables name. */
static void test_tables_for_lost_lanes_go_back_to_power_on(void **state)
{
	(void)state;
	cable(&ports[0], &ports[1]);
	write_maps(&ports[0], 8);
	for (unsigned entry = 0; entry < VL_ARBITRATION_ENTRIES; entry++)
		port_arbitration_set(&ports[0], TABLE_LOW, entry, 7, entry == 0 ? 9 : 0);
	port_set_vl_cap(&ports[2], 2);
	cable(&ports[0], &ports[2]);
	assert_int_equal(ports[0].info.operational_vls, 2);
	expect_all_on_vl_0(&ports[0]);
	assert_int_equal(port_arbitrate(&ports[0], 1).vl, 0);
	assert_int_equal(port_arbitrate(&ports[0], 2).vl, 1);
}

static void test_tables_for_lanes_that_are_there_stay(void **state)
{
	(void)state;
	cable(&ports[0], &ports[1]);
	write_maps(&ports[0], 2);
	ports[0].sl_to_vl[1][9] = VL_MANAGEMENT; /* dropped by policy */
	port_arbitration_set(&ports[0], TABLE_HIGH, 0, 1, 77);
	port_set_vl_cap(&ports[2], 2);
	cable(&ports[0], &ports[2]);
	assert_int_equal(ports[0].sl_to_vl[2][3], 1);
	assert_int_equal(ports[0].sl_to_vl[1][9], VL_MANAGEMENT);
	assert_int_equal(ports[0].vl_arbitration[TABLE_HIGH][0][1], 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_code_names_its_number_of_lanes, power_on,
						power_off),
		cmocka_unit_test_setup_teardown(test_every_sl_goes_to_vl_0_at_power_on, power_on,
						power_off),
		cmocka_unit_test_setup_teardown(test_every_lane_has_weight_at_power_on, power_on,
						power_off),
		cmocka_unit_test_setup_teardown(test_port_with_one_lane_has_no_arbitration,
						power_on, power_off),
		cmocka_unit_test_setup_teardown(test_link_has_the_lanes_of_the_lesser_end, power_on,
						power_off),
		cmocka_unit_test_setup_teardown(test_tables_for_lost_lanes_go_back_to_power_on,
						power_on, power_off),
		cmocka_unit_test_setup_teardown(test_tables_for_lanes_that_are_there_stay, power_on,
						power_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
