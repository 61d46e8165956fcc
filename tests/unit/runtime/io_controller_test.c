/* SPDX-License-Identifier: Apache-2.0 */
/* A program's I/O controller in an adapter of the embedded default fabric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/io_controller.h"
#include "runtime/session.h"
#include "runtime/softibd_connection.h"

static char runtime[] = "/tmp/softib-unit-XXXXXX";

static int start(void **state)
{
	(void)state;
	if (!mkdtemp(runtime))
		return -1;
	setenv("SOFTIB_RUNTIME_DIR", runtime, 1);
	unsetenv("SOFTIB_SOCKET");
	unsetenv("SOFTIB_HOST");
	unsetenv("SOFTIB_FABRIC");
	return 0;
}

/* The fabric ends by itself when its last user has left. */
static int stop(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", runtime);
	return system(command) == -1;
}

static const struct io_service_entry services[] = {{"SRP.T10:0123456789abcdef", UINT64_MAX},
						   {"other", 2}};

static struct io_controller_description described(unsigned slot)
{
	return (struct io_controller_description){
		.slot = slot,
		.profile = {.guid = 0xfedcba9876543210,
			    .io_class = 0x0100,
			    .io_subclass = 0x609e,
			    .protocol = 0x0108,
			    .protocol_version = 1,
			    .send_message_size = UINT32_MAX,
			    .service_entries = 77 /* is not read */},
		.id_string = "disk",
		.services = services,
		.service_count = 2,
	};
}

/* softibd's list has the controller as it was described. */
static void expect_listed(unsigned slot)
{
	struct session *session;
	json_t *answer;

	assert_int_equal(session_get(&session), 0);
	assert_int_equal(session_ask_plain(session, "{\"command\":\"io\"}", &answer), 0);

	const json_t *row = json_array_get(json_object_get(answer, "controllers"), 0);
	const json_t *listed = json_object_get(row, "services");

	assert_int_equal(json_array_size(json_object_get(answer, "controllers")), 1);
	assert_int_equal(json_integer_value(json_object_get(row, "slot")), slot);
	assert_string_equal(json_string_value(json_object_get(row, "guid")), "0xfedcba9876543210");
	assert_string_equal(json_string_value(json_object_get(row, "id_string")), "disk");
	assert_int_equal(json_integer_value(json_object_get(row, "io_class")), 0x0100);
	assert_int_equal(json_array_size(listed), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(listed, 0), "id")),
			    "0xffffffffffffffff");
	json_decref(answer);
}

static void test_controller_is_plugged_and_pulled(void **state)
{
	struct io_controller_description description = described(0);
	unsigned slot = 0;
	uint64_t guid = 0;

	(void)state;
	assert_int_equal(io_controller_plug(&description, &slot, &guid), 0);
	assert_int_equal(slot, 1);
	assert_int_equal(guid, 0xfedcba9876543210);
	expect_listed(1);
	assert_int_equal(io_controller_pull(NULL, 2), -ENOENT);
	assert_int_equal(io_controller_pull(NULL, 1), 0);
	assert_int_equal(io_controller_pull("softib0", 1), -ENOENT);
}

static void test_errors_come_back(void **state)
{
	struct io_controller_description description = described(5);
	unsigned slot;
	uint64_t guid;

	(void)state;
	assert_int_equal(io_controller_plug(&description, &slot, &guid), 0);
	assert_int_equal(io_controller_plug(&description, &slot, &guid), -EBUSY);
	description.slot = 6;
	assert_int_equal(io_controller_plug(&description, &slot, &guid), -EEXIST);
	description.profile.guid = 0;
	assert_int_equal(io_controller_plug(&description, &slot, &guid), -EADDRINUSE);
	description.slot = 300;
	assert_int_equal(io_controller_plug(&description, &slot, &guid), -EINVAL);
	description.slot = 0;
	description.adapter = "softib9";
	assert_int_equal(io_controller_plug(&description, &slot, &guid), -ENODEV);
	assert_int_equal(io_controller_pull(NULL, 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_controller_is_plugged_and_pulled),
		cmocka_unit_test(test_errors_come_back),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
