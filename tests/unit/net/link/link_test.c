/* SPDX-License-Identifier: Apache-2.0 */
/* Links that train, agree, fall and come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include "net/link/link.h"
#include "net/link/port_queues.h"

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
		cmocka_unit_test(test_ends_with_nothing_in_common_stay_down),
		cmocka_unit_test(test_port_takes_one_cable),
		cmocka_unit_test(test_disabled_end_keeps_the_link_down_until_it_polls),
		cmocka_unit_test(test_pulled_cable_does_not_train),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
