/* SPDX-License-Identifier: Apache-2.0 */
/* Which links still have to come up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "daemon/managers/inactive_ports.h"
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:2");
	return 0;
}

static void test_ports_out_of_the_managers_reach_do_not_count(void **state)
{
	(void)state;
	assert_int_equal(inactive_ports_count(&softibd->core.fabric, fixture_port("h1")), 0);
	fixture_port("h2")->info.port_state = PORT_INIT;
	assert_int_equal(inactive_ports_count(&softibd->core.fabric, fixture_port("h1")), 1);
	fabric_set_cable(&softibd->core.fabric, fixture_port("h2"), false, softibd->core.loop.now);
	assert_int_equal(inactive_ports_count(&softibd->core.fabric, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ports_out_of_the_managers_reach_do_not_count,
						set_up, fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
