/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an I/O unit, with units that tell the truth, that lie, that change and that are silent
 * (management 6.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "fake_unit.h"
#include "mgmt/device/unit_reader.h"

enum { REQUESTS_MAX = 100000 };

static struct fake_unit unit;
static struct unit_reader reader;
static unsigned services_left;

static int set_up(void **state)
{
	(void)state;
	fake_unit_init(&unit, 16);
	services_left = 1000;
	unit_reader_init(&reader, &services_left);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unit_reader_release(&reader);
	assert_int_equal(services_left, 1000);
	return 0;
}

static void answer(const struct unit_request *request, bool is_answered)
{
	const struct mad_header header = {.base_version = 1,
					  .management_class = MAD_CLASS_DEVICE,
					  .class_version = 1,
					  .method = MAD_GET,
					  .attribute_id = request->attribute_id,
					  .attribute_modifier = request->attribute_modifier};
	struct mad_message message = {0}, response;

	mad_header_encode(&header, message.bytes);
	fake_unit_answer(&unit, &message, &response);
	unit_reader_receive(&reader, request->detail, is_answered ? &response : NULL);
}

/* Sends everything there is to send, then answers it, the last request first. */
static void read_unit(void)
{
	static struct unit_request requests[REQUESTS_MAX];

	while (!unit_reader_is_done(&reader)) {
		unsigned count = 0;

		while (count < REQUESTS_MAX && unit_reader_next(&reader, &requests[count]))
			count++;
		assert_true(count > 0 && count < REQUESTS_MAX);
		assert_int_equal(reader.under_way, count);
		while (count)
			answer(&requests[--count], true);
	}
}

static void test_empty_unit_is_read_by_one_request(void **state)
{
	(void)state;
	read_unit();
	assert_int_equal(reader.state, UNIT_READER_DONE);
	assert_int_equal(reader.info.max_controllers, 16);
	assert_int_equal(reader.controller_count, 0);
	assert_int_equal(unit.request_count, 1);
}

static void test_controllers_and_services_are_read(void **state)
{
	(void)state;
	fake_unit_plug(&unit, 1, 0);
	fake_unit_plug(&unit, 7, 9);
	fake_unit_plug(&unit, 16, 255);
	read_unit();
	assert_int_equal(reader.state, UNIT_READER_DONE);
	assert_int_equal(reader.controller_count, 3);
	assert_int_equal(reader.controllers[1].slot, 7);
	assert_int_equal(reader.controllers[1].profile.guid, 0xc007);
	assert_string_equal(reader.controllers[1].id_string, "controller 7");
	assert_int_equal(reader.controllers[1].service_count, 9);
	assert_int_equal(reader.controllers[2].service_count, 255);
	assert_int_equal(reader.controllers[2].bad_service_count, 0);
	/* IOUnitInfo twice, three profiles, 3 and 64 ranges of services. */
	assert_int_equal(unit.request_count, 2 + 3 + 3 + 64);
	assert_int_equal(services_left, 1000 - 9 - 255);
}

static void test_full_unit_is_read(void **state)
{
	(void)state;
	fake_unit_init(&unit, 255);
	for (unsigned slot = 1; slot <= 255; slot++)
		fake_unit_plug(&unit, slot, 1);
	read_unit();
	assert_int_equal(reader.controller_count, 255);
	for (unsigned i = 0; i < 255; i++)
		assert_int_equal(reader.controllers[i].services[0].id, (i + 1) << 8);
}

static void test_slots_that_do_not_exist_are_not_read(void **state)
{
	(void)state;
	fake_unit_plug(&unit, 2, 1);
	fake_unit_plug(&unit, 17, 1);
	fake_unit_plug(&unit, 255, 1);
	read_unit();
	assert_int_equal(reader.state, UNIT_READER_DONE);
	assert_true(reader.lists_impossible_slots);
	assert_int_equal(reader.controller_count, 1);
}

static void test_unknown_slot_states_are_not_read(void **state)
{
	(void)state;
	fake_unit_plug(&unit, 2, 1);
	unit.slot_states[3] = 7;
	read_unit();
	assert_true(reader.lists_impossible_slots);
	assert_int_equal(reader.controller_count, 1);
}

static void test_profile_of_an_empty_slot(void **state)
{
	(void)state;
	fake_unit_plug(&unit, 2, 1);
	unit.slot_states[5] = IO_SLOT_HAS_CONTROLLER;
	read_unit();
	assert_int_equal(reader.state, UNIT_READER_DONE);
	assert_int_equal(reader.controller_count, 2);
	assert_int_equal(reader.controllers[0].state, IO_CONTROLLER_WORKS);
	assert_int_equal(reader.controllers[1].state, IO_CONTROLLER_ABSENT);
}

static void test_more_services_told_than_there_are(void **state)
{
	(void)state;
	fake_unit_plug(&unit, 2, 5);
	unit.controllers[2].services_told = 255;
	read_unit();
	assert_int_equal(reader.controllers[0].state, IO_CONTROLLER_WORKS);
	assert_int_equal(reader.controllers[0].service_count, 4);
	assert_int_equal(reader.controllers[0].bad_service_count, 251);
}

static void test_services_that_overlap_are_kept_once(void **state)
{
	(void)state;
	fake_unit_plug(&unit, 2, 6);
	unit.controllers[2].repeats_services = true;
	read_unit();
	assert_int_equal(reader.controllers[0].service_count, 1);
	assert_int_equal(reader.controllers[0].bad_service_count, 5);
}

static void test_names_without_end_are_not_kept(void **state)
{
	(void)state;
	fake_unit_plug(&unit, 2, 3);
	unit.controllers[2].has_endless_names = true;
	read_unit();
	assert_int_equal(reader.controllers[0].service_count, 0);
	assert_int_equal(reader.controllers[0].bad_service_count, 3);
}

static void test_services_beyond_the_bound_are_not_kept(void **state)
{
	(void)state;
	services_left = 100;
	fake_unit_plug(&unit, 2, 90);
	fake_unit_plug(&unit, 3, 90);
	read_unit();
	assert_int_equal(services_left, 0);
	assert_int_equal(reader.controllers[0].service_count + reader.controllers[1].service_count,
			 100);
	services_left += 900;
}

static void test_failed_controller_has_a_code(void **state)
{
	(void)state;
	fake_unit_plug(&unit, 2, 3);
	unit.controllers[2].status = DEVICE_STATUS_CONTROLLER_FAILURE;
	fake_unit_plug(&unit, 3, 3);
	unit.controllers[3].status = MAD_STATUS_BAD_METHOD;
	read_unit();
	assert_int_equal(reader.controllers[0].state, IO_CONTROLLER_FAILED);
	assert_int_equal(reader.controllers[0].diag_code, 0x4321);
	assert_int_equal(reader.controllers[1].state, IO_CONTROLLER_REFUSED);
}

static void test_unit_that_changes_is_read_again(void **state)
{
	struct unit_request request;

	(void)state;
	fake_unit_plug(&unit, 2, 1);
	assert_true(unit_reader_next(&reader, &request));
	answer(&request, true);
	fake_unit_plug(&unit, 3, 1); /* after the first IOUnitInfo */
	read_unit();
	assert_int_equal(reader.state, UNIT_READER_DONE);
	assert_int_equal(reader.round, 2);
	assert_int_equal(reader.controller_count, 2);
}

static void test_unit_that_always_changes_is_left_after_some_rounds(void **state)
{
	(void)state;
	fake_unit_plug(&unit, 2, 1);
	unit.changes_after = 1;
	read_unit();
	assert_int_equal(reader.state, UNIT_READER_UNSTEADY);
	assert_int_equal(reader.round, UNIT_READER_ROUNDS_MAX);
	assert_int_equal(reader.controller_count, 1);
	assert_int_equal(reader.controllers[0].service_count, 1);
}

static void test_silent_unit_and_unit_that_refuses(void **state)
{
	struct unit_request request;

	(void)state;
	assert_true(unit_reader_next(&reader, &request));
	assert_false(unit_reader_next(&reader, &request));
	answer(&request, false);
	assert_int_equal(reader.state, UNIT_READER_SILENT);
	assert_false(unit_reader_next(&reader, &request));
	unit_reader_init(&reader, &services_left);
	unit.info_status = MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	read_unit();
	assert_int_equal(reader.state, UNIT_READER_REFUSED);
}

static void test_unit_that_falls_silent_keeps_what_it_showed(void **state)
{
	struct unit_request requests[2];

	(void)state;
	fake_unit_plug(&unit, 2, 1);
	fake_unit_plug(&unit, 3, 1);
	assert_true(unit_reader_next(&reader, &requests[0]));
	answer(&requests[0], true);
	assert_true(unit_reader_next(&reader, &requests[0]));
	assert_true(unit_reader_next(&reader, &requests[1]));
	answer(&requests[0], true);
	answer(&requests[1], false);
	assert_true(unit_reader_next(&reader, &requests[0])); /* services of slot 2 */
	answer(&requests[0], true);
	assert_true(unit_reader_next(&reader, &requests[0])); /* IOUnitInfo */
	assert_int_equal(requests[0].attribute_id, ATTRIBUTE_IO_UNIT_INFO);
	answer(&requests[0], false);
	assert_int_equal(reader.state, UNIT_READER_SILENT);
	assert_int_equal(reader.controllers[0].state, IO_CONTROLLER_WORKS);
	assert_int_equal(reader.controllers[1].state, IO_CONTROLLER_SILENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_empty_unit_is_read_by_one_request),
		TEST(test_controllers_and_services_are_read),
		TEST(test_full_unit_is_read),
		TEST(test_slots_that_do_not_exist_are_not_read),
		TEST(test_unknown_slot_states_are_not_read),
		TEST(test_profile_of_an_empty_slot),
		TEST(test_more_services_told_than_there_are),
		TEST(test_services_that_overlap_are_kept_once),
		TEST(test_names_without_end_are_not_kept),
		TEST(test_services_beyond_the_bound_are_not_kept),
		TEST(test_failed_controller_has_a_code),
		TEST(test_unit_that_changes_is_read_again),
		TEST(test_unit_that_always_changes_is_left_after_some_rounds),
		TEST(test_silent_unit_and_unit_that_refuses),
		TEST(test_unit_that_falls_silent_keeps_what_it_showed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
