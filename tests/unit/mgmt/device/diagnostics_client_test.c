/* SPDX-License-Identifier: Apache-2.0 */
/* Running the self-test of a controller, with a unit that answers from a script (management 6.3).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/device/diagnostics_client.h"
#include "wire/device_management.h"
#include "wire/pkey.h"

enum { SLOT = 4, STEPS_MAX = 1000 };

static struct diagnostics_client client;
static time_ns now;

static int set_up(void **state)
{
	const struct class_client_options options = {.agent_number = 5, .tries = 2};
	const struct mad_address address = {.lid = 9, .qpn = QPN_GSI};

	(void)state;
	now = 1000;
	return diagnostics_client_init(&client, &options, &address, SLOT);
}

static int tear_down(void **state)
{
	(void)state;
	diagnostics_client_release(&client);
	return 0;
}

/* The client's next request, when its time has come. */
static struct mad_header next_request(struct mad_message *ret_request)
{
	struct mad_header header;
	time_ns due = diagnostics_client_deadline(&client);

	assert_int_not_equal(due, TIME_NEVER);
	now = due > now ? due : now;
	assert_int_equal(diagnostics_client_transmit(&client, now, 1, ret_request), 1);
	assert_int_equal(ret_request->address.lid, 9);
	assert_true(mad_header_decode(ret_request->bytes, MAD_BYTES, &header));
	assert_int_equal(header.management_class, MAD_CLASS_DEVICE);
	assert_int_equal(header.attribute_modifier, SLOT);
	return header;
}

static void answer(uint8_t method, uint16_t attribute, uint16_t status, uint32_t word)
{
	struct mad_message message;
	struct mad_header header = next_request(&message);

	assert_int_equal(header.method, method);
	assert_int_equal(header.attribute_id, attribute);
	header.method = MAD_GET_RESPONSE;
	header.status = status;
	mad_header_encode(&header, message.bytes);
	put_be32(message.bytes + DEVICE_DATA_OFFSET, word);
	diagnostics_client_receive(&client, now, &message);
}

static void test_steps_of_a_test(void **state)
{
	(void)state;
	answer(MAD_GET, 0x20, MAD_STATUS_OK, 500);
	answer(MAD_SET, 0x21, MAD_STATUS_OK, 0);
	for (unsigned i = 0; i < 3; i++)
		answer(MAD_GET, 0x21, MAD_STATUS_BUSY, 0);
	answer(MAD_GET, 0x21, MAD_STATUS_OK, 0);
	answer(MAD_SET, 0x22, MAD_STATUS_OK, 0);
	answer(MAD_GET, 0x24, MAD_STATUS_BUSY, 0);
	assert_false(diagnostics_client_is_done(&client));
	answer(MAD_GET, 0x24, MAD_STATUS_OK, 0x12340000);
	assert_int_equal(client.state, DIAGNOSTICS_DONE);
	assert_int_equal(client.diag_code, 0x1234);
	assert_int_equal(diagnostics_client_deadline(&client), TIME_NEVER);
}

static void test_refusal_ends_the_test(void **state)
{
	(void)state;
	answer(MAD_GET, 0x20, MAD_STATUS_OK, 500);
	answer(MAD_SET, 0x21, DEVICE_STATUS_NO_RESPONSE, 0);
	assert_int_equal(client.state, DIAGNOSTICS_REFUSED);
	assert_int_equal(client.status, DEVICE_STATUS_NO_RESPONSE);
}

static void test_silence_ends_the_test(void **state)
{
	struct mad_message message;

	(void)state;
	(void)next_request(&message);
	(void)next_request(&message);
	now = diagnostics_client_deadline(&client);
	assert_int_equal(diagnostics_client_transmit(&client, now, 1, &message), 0);
	assert_int_equal(client.state, DIAGNOSTICS_SILENT);
}

/* A controller that says that a test takes for ever is left all the same. */
static void test_test_that_never_ends_is_left(void **state)
{
	unsigned steps = 0;

	(void)state;
	answer(MAD_GET, 0x20, MAD_STATUS_OK, 500);
	answer(MAD_SET, 0x21, MAD_STATUS_OK, 0);
	while (!diagnostics_client_is_done(&client) && steps++ < STEPS_MAX)
		answer(MAD_GET, 0x21, MAD_STATUS_BUSY, 0);
	assert_int_equal(client.state, DIAGNOSTICS_TOO_LONG);
	assert_true(now >= MILLISECONDS(500));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_steps_of_a_test),
		TEST(test_refusal_ends_the_test),
		TEST(test_silence_ends_the_test),
		TEST(test_test_that_never_ends_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
