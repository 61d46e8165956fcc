/* SPDX-License-Identifier: Apache-2.0 */
/* The I/O resource manager against a real SA and scripted units (management 6.3, 4.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "fake_unit.h"
#include "mgmt/device/io_manager.h"
#include "sa_fixture.h"
#include "wire/pkey.h"

enum { HOST = 2, SA_AGENT = 55, DEVICE_AGENT = 56, TURNS_MAX = 100000 };

static struct sa_fixture fixture;
static struct io_manager manager;
static struct fake_unit units[FIXTURE_HOSTS + 1]; /* by host */
static bool is_silent[FIXTURE_HOSTS + 1];
static unsigned in_flight_max; /* requests of one turn to one unit */

static void begin(uint16_t sm_lid)
{
	const struct io_manager_options options = {
		.agent_number = DEVICE_AGENT,
		.sa = {.agent_number = SA_AGENT, .timeout = MILLISECONDS(100), .tries = 2},
		.timeout = MILLISECONDS(100),
		.tries = 2,
		.sm_lid = sm_lid,
		.sa_pkey = PKEY_DEFAULT_FULL,
		.own_gid = fixture_gid(&fixture, HOST),
	};

	assert_int_equal(io_manager_init(&manager, &options), 0);
	assert_int_equal(io_manager_scan(&manager), 0);
}

static int set_up(void **state)
{
	(void)state;
	sa_fixture_start(&fixture);
	memset(is_silent, 0, sizeof(is_silent));
	in_flight_max = 0;
	for (unsigned host = 1; host <= FIXTURE_HOSTS; host++)
		fake_unit_init(&units[host], 16);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	io_manager_release(&manager);
	sa_fixture_stop(&fixture);
	return 0;
}

static void make_target(unsigned host)
{
	fixture_port(&fixture, host)->info.capability_mask |= CAPABILITY_DEVICE_MANAGEMENT;
	fixture_sweep(&fixture);
	fixture_port(&fixture, host)->info.capability_mask |= CAPABILITY_DEVICE_MANAGEMENT;
	sa_subnet_changed(fixture.sa, fixture.now, fixture.subnet);
}

static unsigned host_at(uint16_t lid)
{
	for (unsigned host = 1; host <= FIXTURE_HOSTS; host++)
		if (fixture_lid(&fixture, host) == lid)
			return host;
	fail_msg("a request to LID %u", lid);
	return 0;
}

static void deliver(struct mad_message *message)
{
	struct mad_message answer;

	if (message->bytes[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_ADMINISTRATION) {
		message->address.lid = fixture_lid(&fixture, HOST);
		sa_receive(fixture.sa, fixture.now, message);
		return;
	}

	unsigned host = host_at(message->address.lid);

	assert_int_equal(message->address.pkey, PKEY_DEFAULT_FULL);
	if (is_silent[host])
		return;
	fake_unit_answer(&units[host], message, &answer);
	io_manager_receive(&manager, fixture.now, &answer);
	io_manager_receive(&manager, fixture.now, &answer); /* a repeated response is ignored */
}

static void scan(void)
{
	static struct mad_message messages[1024];
	struct mad_message message;

	for (unsigned turn = 0; turn < TURNS_MAX && !io_manager_is_done(&manager); turn++) {
		unsigned count = io_manager_transmit(&manager, fixture.now, 1024, messages);
		bool is_busy = count > 0;

		in_flight_max = count > in_flight_max ? count : in_flight_max;
		for (unsigned i = 0; i < count; i++)
			deliver(&messages[i]);
		while (fixture_next_message(&fixture, &message)) {
			message.address.lid = 1;
			io_manager_receive(&manager, fixture.now, &message);
			is_busy = true;
		}
		if (!is_busy && !io_manager_is_done(&manager)) {
			time_ns due = io_manager_deadline(&manager);

			assert_int_not_equal(due, TIME_NEVER);
			fixture.now = due > fixture.now ? due : fixture.now + 1;
		}
	}
	assert_true(io_manager_is_done(&manager));
}

static const struct io_found_unit *found(unsigned host)
{
	for (unsigned i = 0; i < manager.unit_count; i++)
		if (manager.units[i]->lid == fixture_lid(&fixture, host))
			return manager.units[i];
	return NULL;
}

static void test_units_are_found_by_capability(void **state)
{
	(void)state;
	make_target(3);
	make_target(4);
	fake_unit_plug(&units[3], 2, 5);
	begin(1);
	scan();
	assert_int_equal(manager.state, IO_SCAN_DONE);
	assert_int_equal(manager.unit_count, 2);
	assert_non_null(found(3));
	assert_int_equal(found(3)->reader.controller_count, 1);
	assert_int_equal(found(3)->reader.controllers[0].service_count, 5);
	assert_int_equal(gid_guid(&found(3)->gid), fixture_port(&fixture, 3)->guid);
	assert_string_equal(found(3)->description, "node 130");
	assert_int_equal(found(4)->reader.state, UNIT_READER_DONE);
	assert_int_equal(found(4)->reader.controller_count, 0);
}

static void test_subnet_without_units(void **state)
{
	(void)state;
	begin(1);
	scan();
	assert_int_equal(manager.state, IO_SCAN_DONE);
	assert_int_equal(manager.unit_count, 0);
}

static void test_subnet_without_sa(void **state)
{
	(void)state;
	begin(0);
	scan();
	assert_int_equal(manager.state, IO_SCAN_NO_SA);
}

static void test_silent_unit_does_not_stop_the_scan(void **state)
{
	(void)state;
	make_target(3);
	make_target(4);
	fake_unit_plug(&units[4], 1, 1);
	is_silent[3] = true;
	begin(1);
	scan();
	assert_int_equal(manager.state, IO_SCAN_DONE);
	assert_int_equal(found(3)->reader.state, UNIT_READER_SILENT);
	assert_int_equal(found(4)->reader.controller_count, 1);
}

static struct class_port_info place_of(unsigned host, bool by_lid)
{
	struct class_port_info place = {.redirect_qpn = 1};

	if (by_lid) {
		place.redirect_lid = fixture_lid(&fixture, host);
		return place;
	}
	place.redirect_gid_prefix = GID_PREFIX_LINK_LOCAL;
	place.redirect_gid_guid = fixture_port(&fixture, host)->guid;
	return place;
}

static void test_redirected_unit_is_read_at_its_place(void **state)
{
	(void)state;
	make_target(3);
	fake_unit_plug(&units[4], 2, 5);
	begin(1);
	for (unsigned by_lid = 0; by_lid <= 1; by_lid++) {
		const struct class_port_info place = place_of(4, by_lid);

		units[3].redirect = &place;
		assert_int_equal(io_manager_scan(&manager), 0);
		scan();
		assert_int_equal(manager.state, IO_SCAN_DONE);
		assert_int_equal(found(3)->reader.state, UNIT_READER_DONE);
		assert_int_equal(found(3)->reader.controller_count, 1);
		assert_int_equal(found(3)->reader.controllers[0].service_count, 5);
	}
}

static void test_redirection_without_a_path_is_a_refusal(void **state)
{
	const struct class_port_info place = {.redirect_gid_prefix = GID_PREFIX_LINK_LOCAL,
					      .redirect_gid_guid = 0x999};

	(void)state;
	make_target(3);
	units[3].redirect = &place;
	begin(1);
	scan();
	assert_int_equal(manager.state, IO_SCAN_DONE);
	assert_int_equal(found(3)->reader.state, UNIT_READER_REFUSED);
}

static void test_unit_without_a_common_partition_is_unreachable(void **state)
{
	static const uint16_t other[] = {0x8001};

	(void)state;
	make_target(3);
	fixture_set_pkeys(&fixture, 3, other, 1);
	sa_subnet_changed(fixture.sa, fixture.now, fixture.subnet);
	begin(1);
	scan();
	assert_int_equal(manager.state, IO_SCAN_DONE);
	/* The SA does not show it, or shows it without a path. */
	for (unsigned i = 0; i < manager.unit_count; i++)
		assert_int_equal(manager.units[i]->state, IO_UNIT_UNREACHABLE);
}

static void test_full_units_are_read_with_bounded_requests(void **state)
{
	(void)state;
	for (unsigned host = 3; host <= 4; host++) {
		make_target(host);
		fake_unit_init(&units[host], 255);
		for (unsigned slot = 1; slot <= 255; slot++)
			fake_unit_plug(&units[host], slot, 9);
	}
	begin(1);
	scan();
	for (unsigned host = 3; host <= 4; host++) {
		const struct unit_reader *reader = &found(host)->reader;

		assert_int_equal(reader->controller_count, 255);
		for (unsigned i = 0; i < 255; i++)
			assert_int_equal(reader->controllers[i].service_count, 9);
	}
	assert_true(in_flight_max <= 2 * 32);
}

static void test_second_scan_forgets_the_first(void **state)
{
	(void)state;
	make_target(3);
	fake_unit_plug(&units[3], 1, 1);
	begin(1);
	scan();
	assert_int_equal(found(3)->reader.controller_count, 1);
	fake_unit_plug(&units[3], 2, 1);
	assert_int_equal(io_manager_scan(&manager), 0);
	assert_false(io_manager_is_done(&manager));
	scan();
	assert_int_equal(manager.unit_count, 1);
	assert_int_equal(found(3)->reader.controller_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_units_are_found_by_capability),
		TEST(test_subnet_without_units),
		TEST(test_subnet_without_sa),
		TEST(test_silent_unit_does_not_stop_the_scan),
		TEST(test_redirected_unit_is_read_at_its_place),
		TEST(test_redirection_without_a_path_is_a_refusal),
		TEST(test_unit_without_a_common_partition_is_unreachable),
		TEST(test_full_units_are_read_with_bounded_requests),
		TEST(test_second_scan_forgets_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
