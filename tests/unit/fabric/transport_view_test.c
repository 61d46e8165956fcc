/* SPDX-License-Identifier: Apache-2.0 */
/* The port as queue pairs see it. */
#include "fabric/transport_view.h"

#include "net/transport/port_view.h"
#include "rig.h"
#include "wire/rate.h"

static void test_a_view_shows_what_the_port_has(void **state)
{
	struct port_view view;
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	transport_view_of(rig_host(&rig, 2), &view);
	assert_int_equal(view.number, 1);
	assert_int_equal(view.state, PORT_ACTIVE);
	assert_int_equal(view.lid, 2);
	assert_int_equal(view.sm_lid, 1);
	assert_int_equal(view.pkeys[0], PKEY_DEFAULT_FULL);
	assert_int_equal(view.link_speed_active, LINK_SPEED_EDR);
	assert_int_equal(view.link_width_active, LINK_WIDTH_4X);
	assert_int_equal(view.vl_count_code, rig_host(&rig, 2)->info.vl_cap);
	rig_release(&rig);
}

/* GID 0 is the port's own; unwritten entries stay zero instead of a prefix without a GUID. */
static void test_gids_are_prefix_and_guid(void **state)
{
	struct port_view view;
	struct port *port;
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	port = rig_host(&rig, 1);
	port->guids[2] = 0x1234;
	transport_view_of(port, &view);
	assert_int_equal(gid_prefix(&view.gids[0]), GID_PREFIX_LINK_LOCAL);
	assert_int_equal(gid_guid(&view.gids[0]), port->guid);
	assert_int_equal(gid_prefix(&view.gids[1]), 0);
	assert_int_equal(gid_guid(&view.gids[1]), 0);
	assert_int_equal(gid_guid(&view.gids[2]), 0x1234);
	rig_release(&rig);
}

static void test_tables_larger_than_a_view_are_cut(void **state)
{
	struct port_view view;
	struct port *port;
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	port = rig_host(&rig, 1);
	port->info.guid_cap = 255;
	transport_view_of(port, &view);
	assert_int_equal(view.gid_count, PORT_GIDS_MAX);
	assert_true(view.pkey_count <= PORT_PKEYS_MAX);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_view_shows_what_the_port_has),
		cmocka_unit_test(test_gids_are_prefix_and_guid),
		cmocka_unit_test(test_tables_larger_than_a_view_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
