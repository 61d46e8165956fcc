/* SPDX-License-Identifier: Apache-2.0 */
/* Forward error correction: the modes of a port, and the mode that a link comes up with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/link/fec.h"
#include "net/link/link.h"
#include "net/link/port_queues.h"

enum { FDR = 1, EDR = 2, HDR = 4, NDR = 8, ALL = 15, QDR = 4 };

struct cable {
	struct port a, b;
};

static void make_port(struct port *port, uint8_t speeds)
{
	memset(port, 0, sizeof(*port));
	port->kind = PORT_OF_ADAPTER;
	port->info = (struct port_info){
		.link_width_enabled = 3,
		.link_speed_enabled = 7,
		.link_speed_ext_enabled = speeds,
		.link_speed_ext_supported = speeds,
		.mtu_cap = 5,
		.vl_cap = 4,
		.port_state = PORT_DOWN,
		.physical_state = PHYSICAL_POLLING,
		.link_down_default_state = PHYSICAL_POLLING,
	};
	assert_int_equal(port_queues_create(port), 0);
	port_fec_refresh(port);
}

static void cable_init(struct cable *cable, uint8_t speeds)
{
	make_port(&cable->a, speeds);
	make_port(&cable->b, speeds);
	assert_int_equal(link_connect(&cable->a, &cable->b), 0);
}

static void cable_release(struct cable *cable)
{
	port_queues_destroy(&cable->a);
	port_queues_destroy(&cable->b);
}

/* The speed and the mode that both ends show. */
static void expect_link(const struct cable *cable, uint8_t speed, enum fec_mode mode)
{
	assert_int_equal(cable->a.info.link_speed_ext_active, speed);
	assert_int_equal(cable->b.info.link_speed_ext_active, speed);
	assert_int_equal(cable->a.extended.fec_mode_active, mode);
	assert_int_equal(cable->b.extended.fec_mode_active, mode);
}

static void test_modes_follow_from_the_speeds_supported(void **state)
{
	struct port port;

	(void)state;
	make_port(&port, EDR | HDR);
	assert_int_equal(port.extended.capability_mask, PORT_INFO_EXTENDED_HAS_FEC);
	assert_int_equal(port.extended.fdr_fec_supported, 0);
	assert_int_equal(port.extended.edr_fec_supported, 7);
	assert_int_equal(port.extended.hdr_fec_supported, 12);
	assert_int_equal(port.extended.hdr_fec_enabled, 12);
	assert_int_equal(port.extended.ndr_fec_supported, 0);

	/* Disabled modes stay disabled while the speed stays. */
	port.extended.edr_fec_enabled = 1;
	port.info.link_speed_ext_supported = EDR;
	port_fec_refresh(&port);
	assert_int_equal(port.extended.edr_fec_enabled, 1);
	assert_int_equal(port.extended.hdr_fec_supported, 0);
	assert_int_equal(port.extended.hdr_fec_enabled, 0);
	port_queues_destroy(&port);
}

static void test_port_0_of_a_switch_has_no_link_and_no_modes(void **state)
{
	struct port port = {.kind = PORT_OF_MANAGEMENT, .info = {.link_speed_ext_supported = EDR}};

	(void)state;
	port_fec_refresh(&port);
	assert_int_equal(port.extended.capability_mask, 0);
	assert_int_equal(port.extended.edr_fec_supported, 0);
}

static void test_each_speed_comes_up_with_its_strongest_mode(void **state)
{
	static const struct {
		uint8_t speed;
		enum fec_mode mode;
	} expected[] = {{0, FEC_NONE},
			{FDR, FEC_FIRECODE},
			{EDR, FEC_REED_SOLOMON},
			{HDR, FEC_LOW_LATENCY_REED_SOLOMON},
			{NDR, FEC_LOW_LATENCY_REED_SOLOMON}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(expected); i++) {
		struct cable cable;

		cable_init(&cable, expected[i].speed);
		assert_true(link_train(&cable.a));
		expect_link(&cable, expected[i].speed, expected[i].mode);
		cable_release(&cable);
	}
}

static void test_link_uses_what_both_ends_have_enabled(void **state)
{
	const struct port_info_extended only_none = {.edr_fec_enabled = 1};
	struct cable cable;

	(void)state;
	cable_init(&cable, EDR);
	assert_true(port_fec_enable(&cable.b, &only_none));
	assert_true(link_train(&cable.a));
	expect_link(&cable, EDR, FEC_NONE);
	cable_release(&cable);
}

/* EDR without a common mode is not used; FDR is. Without any common mode QDR remains. */
static void test_speed_without_a_common_mode_is_not_used(void **state)
{
	const struct port_info_extended none = {.fdr_fec_enabled = 1, .edr_fec_enabled = 1};
	const struct port_info_extended reed_solomon = {.edr_fec_enabled = 4};
	const struct port_info_extended firecode = {.fdr_fec_enabled = 2, .edr_fec_enabled = 4};
	struct cable cable;

	(void)state;
	cable_init(&cable, FDR | EDR);
	assert_true(port_fec_enable(&cable.a, &none));
	assert_true(port_fec_enable(&cable.b, &reed_solomon));
	assert_true(link_train(&cable.a));
	expect_link(&cable, FDR, FEC_NONE);

	assert_true(link_fall(&cable.a, PHYSICAL_POLLING));
	assert_true(port_fec_enable(&cable.b, &firecode));
	assert_true(link_train(&cable.b));
	expect_link(&cable, 0, FEC_NONE);
	assert_int_equal(cable.a.info.link_speed_active, QDR);
	cable_release(&cable);
}

/* With no other speed enabled the link stays down. */
static void test_no_common_mode_and_no_lower_speed_keeps_the_link_down(void **state)
{
	const struct port_info_extended none = {.edr_fec_enabled = 1};
	const struct port_info_extended firecode = {.edr_fec_enabled = 2};
	struct cable cable;

	(void)state;
	cable_init(&cable, EDR);
	cable.a.info.link_speed_enabled = 0;
	assert_true(port_fec_enable(&cable.a, &none));
	assert_true(port_fec_enable(&cable.b, &firecode));
	assert_false(link_train(&cable.a));
	assert_int_equal(cable.a.info.port_state, PORT_DOWN);
	cable_release(&cable);
}

static void test_enabling_takes_no_change_all_and_subsets_only(void **state)
{
	const struct port_info_extended nothing = {0};
	const struct port_info_extended all = {.edr_fec_enabled = 0xffff,
					       .ndr_fec_enabled = 0xffff};
	const struct port_info_extended partly_bad = {.fdr_fec_enabled = 1, .edr_fec_enabled = 8};
	struct port port;

	(void)state;
	make_port(&port, FDR | EDR);
	port.extended.edr_fec_enabled = 2;
	assert_true(port_fec_enable(&port, &nothing));
	assert_int_equal(port.extended.edr_fec_enabled, 2);
	assert_false(port_fec_enable(&port, &partly_bad));
	assert_int_equal(port.extended.fdr_fec_enabled, 3);
	assert_true(port_fec_enable(&port, &all));
	assert_int_equal(port.extended.edr_fec_enabled, 7);
	/* A speed that the port does not support has no modes. */
	assert_int_equal(port.extended.ndr_fec_enabled, 0);
	port_queues_destroy(&port);
}

static void test_common_speeds_are_those_with_a_common_mode(void **state)
{
	struct cable cable;

	(void)state;
	cable_init(&cable, ALL);
	assert_int_equal(fec_common_speeds(&cable.a, &cable.b, ALL), ALL);
	assert_int_equal(fec_common_speeds(&cable.a, &cable.b, HDR), HDR);
	cable.a.extended.hdr_fec_enabled = 4;
	cable.b.extended.hdr_fec_enabled = 8;
	assert_int_equal(fec_common_speeds(&cable.a, &cable.b, ALL), ALL & ~HDR);
	/* Enabled bits that the port does not support are ignored. */
	cable.a.extended.hdr_fec_enabled = cable.b.extended.hdr_fec_enabled = 1;
	assert_int_equal(fec_common_speeds(&cable.a, &cable.b, HDR), 0);
	cable_release(&cable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes_follow_from_the_speeds_supported),
		cmocka_unit_test(test_port_0_of_a_switch_has_no_link_and_no_modes),
		cmocka_unit_test(test_each_speed_comes_up_with_its_strongest_mode),
		cmocka_unit_test(test_link_uses_what_both_ends_have_enabled),
		cmocka_unit_test(test_speed_without_a_common_mode_is_not_used),
		cmocka_unit_test(test_no_common_mode_and_no_lower_speed_keeps_the_link_down),
		cmocka_unit_test(test_enabling_takes_no_change_all_and_subsets_only),
		cmocka_unit_test(test_common_speeds_are_those_with_a_common_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
