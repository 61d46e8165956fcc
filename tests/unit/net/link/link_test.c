/* SPDX-License-Identifier: Apache-2.0 */
/* Links that train, negotiate, fall and come back (transport 8.3, 8.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include "net/link/link.h"
#include "net/link/port_queues.h"
#include "wire/rate.h"

struct pair {
	struct port a, b;
};

static void pair_init(struct pair *pair)
{
	memset(pair, 0, sizeof(*pair));
	for (unsigned i = 0; i < 2; i++) {
		struct port *port = i ? &pair->b : &pair->a;

		port->kind = PORT_OF_ADAPTER;
		port->info = (struct port_info){
			.link_width_enabled = 3,
			.link_speed_enabled = 7,
			.link_speed_ext_enabled = 3,
			.link_speed_ext_supported = 3,
			.mtu_cap = 5,
			.vl_cap = 4,
			.port_state = PORT_DOWN,
			.physical_state = PHYSICAL_POLLING,
			.link_down_default_state = PHYSICAL_POLLING,
		};
		assert_int_equal(port_queues_create(port), 0);
	}
}

static void pair_release(struct pair *pair)
{
	port_queues_destroy(&pair->a);
	port_queues_destroy(&pair->b);
}

static void test_connected_ports_train_to_init(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	assert_false(link_train(&pair.a)); /* no cable */
	assert_int_equal(link_connect(&pair.a, &pair.b), 0);
	assert_true(link_train(&pair.a));
	assert_int_equal(pair.a.info.port_state, PORT_INIT);
	assert_int_equal(pair.b.info.port_state, PORT_INIT);
	assert_int_equal(pair.b.info.physical_state, PHYSICAL_LINK_UP);
	assert_int_equal(pair.a.info.link_width_active, 2);
	assert_int_equal(pair.a.info.link_speed_ext_active, 2);
	assert_int_equal(pair.a.info.link_speed_active, 4);
	assert_false(link_train(&pair.a)); /* it is up already */
	pair_release(&pair);
}

static void test_lesser_end_decides(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.b.info.link_width_enabled = 1;
	pair.b.info.link_speed_enabled = 3;
	pair.b.info.link_speed_ext_enabled = 0;
	pair.b.info.mtu_cap = 4;
	pair.b.info.vl_cap = 2;
	assert_int_equal(link_connect(&pair.a, &pair.b), 0);
	assert_true(link_train(&pair.b));
	assert_int_equal(pair.a.info.link_width_active, 1);
	assert_int_equal(pair.a.info.link_speed_active, 2);
	assert_int_equal(pair.a.info.link_speed_ext_active, 0);
	assert_int_equal(pair.a.info.neighbor_mtu, 4);
	assert_int_equal(pair.b.info.neighbor_mtu, 4);
	assert_int_equal(pair.a.info.operational_vls, 2);
	pair_release(&pair);
}

/* The widths and speeds that a port of this width and this speed supports: itself and slower
 * ones. */
static const struct {
	uint8_t mask, active, lanes;
} widths[] = {{1, 1, 1}, {17, 16, 2}, {3, 2, 4}, {7, 4, 8}, {15, 8, 12}};

static const struct {
	uint8_t speeds, extended, second;
	unsigned speed;
} speeds[] = {
	{1, 0, 0, LINK_SPEED_SDR},  {3, 0, 0, LINK_SPEED_DDR},	{7, 0, 0, LINK_SPEED_QDR},
	{7, 1, 0, LINK_SPEED_FDR},  {7, 3, 0, LINK_SPEED_EDR},	{7, 7, 0, LINK_SPEED_HDR},
	{7, 15, 0, LINK_SPEED_NDR}, {7, 15, 1, LINK_SPEED_XDR},
};

static void set_capabilities(struct port *port, unsigned width, unsigned speed)
{
	port->info.link_width_enabled = widths[width].mask;
	port->info.link_speed_enabled = speeds[speed].speeds;
	port->info.link_speed_ext_enabled = port->info.link_speed_ext_supported =
		speeds[speed].extended;
	port->info.link_speed_ext2_enabled = port->info.link_speed_ext2_supported =
		speeds[speed].second;
}

/* Every width and speed against every other. A port has 2x or wider, not both: then 1x is
 * common. */
static void test_every_pair_of_widths_and_speeds_comes_to_the_lesser(void **state)
{
	unsigned width_count = sizeof(widths) / sizeof(widths[0]);
	unsigned speed_count = sizeof(speeds) / sizeof(speeds[0]);

	(void)state;
	for (unsigned i = 0; i < width_count * width_count * speed_count * speed_count; i++) {
		unsigned width_a = i % width_count, width_b = i / width_count % width_count;
		unsigned speed_a = i / width_count / width_count % speed_count;
		unsigned speed_b = i / width_count / width_count / speed_count;
		unsigned lesser = width_a < width_b ? width_a : width_b;
		unsigned greater = width_a < width_b ? width_b : width_a;
		unsigned slower = speed_a < speed_b ? speed_a : speed_b;
		struct pair pair;

		if (lesser == 1 && greater > 1)
			lesser = 0;
		pair_init(&pair);
		set_capabilities(&pair.a, width_a, speed_a);
		set_capabilities(&pair.b, width_b, speed_b);
		assert_int_equal(link_connect(&pair.a, &pair.b), 0);
		assert_true(link_train(&pair.a));
		for (unsigned end = 0; end < 2; end++) {
			const struct port_info *info = end ? &pair.b.info : &pair.a.info;

			assert_int_equal(info->link_width_active, widths[lesser].active);
			assert_int_equal(link_speed_from_port_info(info->link_speed_active,
								   info->link_speed_ext_active,
								   info->link_speed_ext2_active),
					 speeds[slower].speed);
		}
		/* The data rate is that of the table. */
		assert_int_equal(pair.a.queues->pacer.data_mbps,
				 link_data_mbps(widths[lesser].active, speeds[slower].speed));
		pair_release(&pair);
	}
}

static void test_every_pair_of_mtus_and_lanes_comes_to_the_lesser(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5 * 5 * 5 * 5; i++) {
		uint8_t mtu_a = (uint8_t)(1 + i % 5), mtu_b = (uint8_t)(1 + i / 5 % 5);
		uint8_t vls_a = (uint8_t)(1 + i / 25 % 5), vls_b = (uint8_t)(1 + i / 125);
		struct pair pair;

		pair_init(&pair);
		pair.a.info.mtu_cap = mtu_a;
		pair.b.info.mtu_cap = mtu_b;
		pair.a.info.vl_cap = vls_a;
		pair.b.info.vl_cap = vls_b;
		assert_int_equal(link_connect(&pair.a, &pair.b), 0);
		assert_true(link_train(&pair.b));
		assert_int_equal(pair.a.info.neighbor_mtu, mtu_a < mtu_b ? mtu_a : mtu_b);
		assert_int_equal(pair.b.info.neighbor_mtu, pair.a.info.neighbor_mtu);
		assert_int_equal(pair.a.info.operational_vls, vls_a < vls_b ? vls_a : vls_b);
		assert_int_equal(pair.b.info.operational_vls, pair.a.info.operational_vls);
		pair_release(&pair);
	}
}

/* CapabilityMask2 shows the widths and speeds beyond the original ones. */
static void test_new_widths_and_speeds_are_shown(void **state)
{
	struct port_info info = {.link_width_supported = 3, .link_speed_ext_supported = 3};

	(void)state;
	port_info_show_speeds(&info);
	assert_int_equal(info.capability_mask2, 0);
	assert_int_equal(info.capability_mask & CAPABILITY_MASK2, 0);
	info.link_width_supported = 17;
	info.link_speed_ext_supported = 15;
	info.link_speed_ext2_supported = 1;
	port_info_show_speeds(&info);
	assert_int_equal(info.capability_mask2,
			 CAPABILITY2_LINK_WIDTH_2X | CAPABILITY2_LINK_SPEED_HDR |
				 CAPABILITY2_LINK_SPEED_NDR | CAPABILITY2_EXTENDED_SPEEDS_2 |
				 CAPABILITY2_LINK_SPEED_XDR);
	assert_int_equal(info.capability_mask & CAPABILITY_MASK2, CAPABILITY_MASK2);
}

static void test_ends_with_nothing_in_common_stay_down(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.link_width_enabled = 1;
	pair.b.info.link_width_enabled = 2;
	assert_int_equal(link_connect(&pair.a, &pair.b), 0);
	assert_false(link_train(&pair.a));
	assert_int_equal(pair.a.info.port_state, PORT_DOWN);
	pair_release(&pair);
}

static void test_port_takes_one_cable(void **state)
{
	struct pair pair, other;

	(void)state;
	pair_init(&pair);
	pair_init(&other);
	assert_int_equal(link_connect(&pair.a, &pair.a), -EINVAL);
	assert_int_equal(link_connect(&pair.a, &pair.b), 0);
	assert_int_equal(link_connect(&other.a, &pair.b), -EBUSY);
	assert_null(other.a.peer);
	pair_release(&pair);
	pair_release(&other);
}

static void test_disabled_end_keeps_the_link_down_until_it_polls(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	assert_int_equal(link_connect(&pair.a, &pair.b), 0);
	assert_true(link_train(&pair.a));
	assert_true(link_fall(&pair.a, PHYSICAL_DISABLED));
	assert_int_equal(pair.a.info.physical_state, PHYSICAL_DISABLED);
	assert_int_equal(pair.b.info.physical_state, PHYSICAL_POLLING);
	assert_int_equal(pair.b.info.port_state, PORT_DOWN);
	assert_int_equal(pair.b.counters.link_downed, 1);
	assert_false(link_train(&pair.b));
	assert_false(link_fall(&pair.a, PHYSICAL_POLLING));
	assert_true(link_train(&pair.b));
	assert_int_equal(pair.a.info.port_state, PORT_INIT);
	pair_release(&pair);
}

static void test_pulled_cable_does_not_train(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	assert_int_equal(link_connect(&pair.a, &pair.b), 0);
	pair.b.cable_is_down = true;
	assert_false(link_train(&pair.a));
	pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connected_ports_train_to_init),
		cmocka_unit_test(test_lesser_end_decides),
		cmocka_unit_test(test_every_pair_of_widths_and_speeds_comes_to_the_lesser),
		cmocka_unit_test(test_every_pair_of_mtus_and_lanes_comes_to_the_lesser),
		cmocka_unit_test(test_new_widths_and_speeds_are_shown),
		cmocka_unit_test(test_ends_with_nothing_in_common_stay_down),
		cmocka_unit_test(test_port_takes_one_cable),
		cmocka_unit_test(test_disabled_end_keeps_the_link_down_until_it_polls),
		cmocka_unit_test(test_pulled_cable_does_not_train),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
