/* SPDX-License-Identifier: Apache-2.0 */
/* Port changes reach programs and the sysfs files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>
#include "daemon/packets/port_updates.h"
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:2");
	return 0;
}

static struct port_view next_view(struct program *program)
{
	const struct ring_record *record = NULL;
	struct port_update update;

	/* The manager may wait for its next sweep. */
	for (unsigned turns = 0; !record && turns < 5000; turns++)
		record = program_next_of(program, RECORD_PORT_UPDATE);

	assert_non_null(record);
	memcpy(&update, record->body, sizeof(update));
	return update.view;
}

static void test_a_link_that_goes_down_is_told(void **state)
{
	struct program program, other;
	struct port_view view;

	(void)state;
	program_start(&program, "h2");
	program_start(&other, "h1");
	fabric_set_cable(&softibd->core.fabric, fixture_port("h2"), false, softibd->core.loop.now);
	assert_int_equal(next_view(&program).state, PORT_DOWN);
	assert_null(program_next_of(&other, RECORD_PORT_UPDATE));
	fabric_set_cable(&softibd->core.fabric, fixture_port("h2"), true, softibd->core.loop.now);
	do {
		view = next_view(&program);
	} while (view.state != PORT_ACTIVE);
	assert_int_equal(view.lid, program.lid);
	program_end(&program);
	program_end(&other);
}

/* A program whose ring was full gets the latest state when it reads again. */
static void test_a_full_ring_catches_up(void **state)
{
	struct program program;
	struct port *port = fixture_port("h2");
	uint8_t last = 0;
	const struct ring_record *record;

	(void)state;
	program_start(&program, "h2");
	/* Otherwise the files would be written a thousand times. */
	host_table_find(&softibd->core.hosts, "h2")->sysfs_is_rendered = false;
	for (unsigned count = 0; count < 2000; count++) {
		port->info.subnet_timeout = count % 32;
		daemon_core_port_changed(&softibd->core, port);
		port_updates_send(&softibd->packets);
	}
	port->info.subnet_timeout = 21;
	daemon_core_port_changed(&softibd->core, port);
	port_updates_send(&softibd->packets);
	fixture_settle();
	for (unsigned count = 0; count < 4000; count++) {
		uint64_t one = 1;

		record = program_next(&program);
		if (!record)
			break;
		if (record->kind == RECORD_PORT_UPDATE) {
			struct port_update update;

			memcpy(&update, record->body, sizeof(update));
			last = update.view.subnet_timeout;
		}
		if (ring_release(&program.down))
			assert_int_equal(write(program.softibd_doorbell, &one, sizeof(one)),
					 sizeof(one));
	}
	assert_int_equal(last, 21);
	program_end(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_link_that_goes_down_is_told, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_full_ring_catches_up, set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
