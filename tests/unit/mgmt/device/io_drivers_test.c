/* SPDX-License-Identifier: Apache-2.0 */
/* Which driver serves a controller: by class, protocol, ID string and services (management 6.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "mgmt/device/io_drivers.h"

static struct io_service_entry srp_services[] = {{"other", 1}, {"SRP.T10:0123456789abcdef", 2}};

static struct io_found_controller srp_target(void)
{
	return (struct io_found_controller){.profile = {.io_class = 0x0100,
							.io_subclass = 0x609e,
							.protocol = 0x0108,
							.protocol_version = 1},
					    .id_string = "a target",
					    .services = srp_services,
					    .service_count = 2};
}

static void test_srp_targets_have_a_driver(void **state)
{
	static const uint16_t classes[] = {0x0100, 0xff00}, subclasses[] = {0x609e, 0x690e};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct io_found_controller target = srp_target();

		target.profile.io_class = classes[i % 2];
		target.profile.io_subclass = subclasses[i / 2];
		assert_int_equal(io_driver_for(&target), IO_DRIVER_SRP);
		assert_int_equal(io_driver_service(IO_DRIVER_SRP, &target)->id, 2);
	}
	assert_string_equal(io_driver_name(IO_DRIVER_SRP), "srp");
}

static void test_other_controllers_have_none(void **state)
{
	struct io_found_controller target = srp_target();

	(void)state;
	target.profile.io_class = 0x0200;
	assert_int_equal(io_driver_for(&target), IO_DRIVER_NONE);
	target = srp_target();
	target.profile.io_subclass = 0;
	assert_int_equal(io_driver_for(&target), IO_DRIVER_NONE);
	target = srp_target();
	target.profile.protocol = 0x0109;
	assert_int_equal(io_driver_for(&target), IO_DRIVER_NONE);
	target = srp_target();
	target.profile.protocol_version = 2;
	assert_int_equal(io_driver_for(&target), IO_DRIVER_NONE);
	target = srp_target();
	target.service_count = 1; /* none to connect to */
	assert_int_equal(io_driver_for(&target), IO_DRIVER_NONE);
	target = srp_target();
	target.state = IO_CONTROLLER_FAILED;
	assert_int_equal(io_driver_for(&target), IO_DRIVER_NONE);
	assert_string_equal(io_driver_name(IO_DRIVER_NONE), "-");
	assert_null(io_driver_service(IO_DRIVER_NONE, &target));
}

static void test_consoles_are_known_by_their_id_string(void **state)
{
	struct io_service_entry service = {"console.softib:1", 9};
	struct io_found_controller controller = {.profile = {.io_class = 0xfe01,
							     .io_subclass = 1,
							     .protocol = 0xfe01,
							     .protocol_version = 1},
						 .id_string = "softib console",
						 .services = &service,
						 .service_count = 1};

	(void)state;
	assert_int_equal(io_driver_for(&controller), IO_DRIVER_CONSOLE);
	assert_int_equal(io_driver_service(IO_DRIVER_CONSOLE, &controller)->id, 9);
	snprintf(controller.id_string, sizeof(controller.id_string), "something else");
	assert_int_equal(io_driver_for(&controller), IO_DRIVER_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_srp_targets_have_a_driver),
		cmocka_unit_test(test_other_controllers_have_none),
		cmocka_unit_test(test_consoles_are_known_by_their_id_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
