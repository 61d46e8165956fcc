/* SPDX-License-Identifier: Apache-2.0 */
/* QP1 of routers' ports: open while the fabric is up, with the port's present state, and a client
 * of its subnet's SA. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "daemon/managers/router_ports.h"
#include "fabric/fabric.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/pkey.h"

static struct daemon *softibd;
static struct router_ports *ports;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("routed:2x2");
	ports = &softibd->managers.router_groups.ports;
	return 0;
}

static bool all_are_settled(void)
{
	for (uint32_t index = 0; index < ports->count; index++)
		if (!group_client_is_settled(&ports->ports[index].groups))
			return false;
	return true;
}

static bool all_are_subscribed(void)
{
	for (uint32_t index = 0; index < ports->count; index++)
		for (unsigned trap = 0; trap < GROUP_CLIENT_TRAPS; trap++)
			if (!ports->ports[index].groups.is_subscribed[trap])
				return false;
	return all_are_settled();
}

static void test_every_router_port_is_open_and_subscribed(void **state)
{
	(void)state;
	assert_int_equal(ports->count, softibd->core.fabric.routers.nodes[0]->port_count);
	for (uint32_t index = 0; index < ports->count; index++) {
		const struct router_port *made = &ports->ports[index];

		assert_ptr_equal(made->port->endpoint, &made->endpoint);
		assert_null(made->endpoint.adapter);
		assert_int_equal(made->groups.port.lid, made->port->info.lid);
		assert_true(made->groups.port.is_active);
	}
	/* Each port asks the SA of its own subnet. */
	assert_int_not_equal(gid_prefix(&ports->ports[0].groups.port.gid),
			     gid_prefix(&ports->ports[1].groups.port.gid));
	fixture_await(all_are_subscribed);
}

static void test_fabric_without_routers_has_none(void **state)
{
	(void)state;
	fixture_stop();
	softibd = fixture_start("star:2");
	ports = &softibd->managers.router_groups.ports;
	assert_int_equal(ports->count, 0);
	assert_false(router_ports_run(ports, softibd->core.loop.now));
	assert_int_equal(router_ports_deadline(ports), TIME_NEVER);
	router_ports_refresh(ports);
}

static void test_closed_ports_leave_nothing_at_the_router(void **state)
{
	struct node *router = softibd->core.fabric.routers.nodes[0];

	(void)state;
	router_ports_close(ports);
	assert_int_equal(ports->count, 0);
	for (unsigned number = 1; number <= router->port_count; number++)
		assert_null(router->ports[number].endpoint);
	assert_int_equal(router_ports_open(ports, &softibd->mads), 0);
	assert_int_equal(ports->count, router->port_count);
	router_ports_refresh(ports);
	fixture_await(all_are_subscribed);
}

static void test_port_that_goes_down_asks_no_more(void **state)
{
	struct router_port *made = &ports->ports[0];

	(void)state;
	fixture_await(all_are_subscribed);
	fabric_set_cable(&softibd->core.fabric, made->port, false, softibd->core.loop.now);
	router_ports_refresh(ports);
	assert_false(made->groups.port.is_active);
	/* The port has no SA to ask, so nothing is outstanding. */
	assert_true(group_client_is_settled(&made->groups));
	fixture_settle();
	assert_false(made->groups.is_subscribed[0]);
	fabric_set_cable(&softibd->core.fabric, made->port, true, softibd->core.loop.now);
	fixture_await(all_are_subscribed);
	assert_true(made->groups.port.is_active);
}

/* The manager sets ClientReregister once, and the port joins its groups again. */
static void test_reregistration_begins_anew_and_is_done_once(void **state)
{
	struct router_port *made = &ports->ports[1];

	(void)state;
	fixture_await(all_are_subscribed);
	made->port->info.client_reregister = 1;
	router_ports_refresh(ports);
	assert_int_equal(made->port->info.client_reregister, 0);
	assert_false(made->groups.is_subscribed[0]);
	assert_true(ports->ports[0].groups.is_subscribed[0]);
	assert_int_equal(router_ports_deadline(ports), 0);
	fixture_await(all_are_subscribed);
	router_ports_refresh(ports);
	assert_true(made->groups.is_subscribed[0]);
}

/* The SA is in the default partition, whatever other partitions the port is in. */
static void test_default_partition_comes_before_others(void **state)
{
	struct router_port *made = &ports->ports[0];
	struct port *port = made->port;

	(void)state;
	assert_true(port->pkey_count >= 2);
	port->pkeys[0] = 0x8001;
	port->pkeys[1] = PKEY_DEFAULT_LIMITED;
	router_ports_refresh(ports);
	assert_int_equal(made->groups.port.pkey, PKEY_DEFAULT_LIMITED);
	port->pkeys[1] = 0;
	router_ports_refresh(ports);
	assert_int_equal(made->groups.port.pkey, 0x8001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_router_port_is_open_and_subscribed,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_fabric_without_routers_has_none, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_closed_ports_leave_nothing_at_the_router,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_port_that_goes_down_asks_no_more, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_reregistration_begins_anew_and_is_done_once,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_default_partition_comes_before_others, set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
