/* SPDX-License-Identifier: Apache-2.0 */
/* Device management of a node without I/O controllers (management 6.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"

static struct mad_message request;

static int ask(uint8_t class, uint8_t method, uint16_t attribute, uint32_t modifier)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = class,
		.class_version = 1,
		.method = method,
		.transaction_id = 9,
		.attribute_id = attribute,
		.attribute_modifier = modifier,
	};

	mad_header_encode(&header, request.bytes);
	fixture.verdict =
		gsa_receive(&fixture.environment, &fixture.hub, 0, 0, &request, &fixture.answer);
	return fixture.verdict == AGENT_ANSWERED ? get_be16(fixture.answer.bytes + 4) : -1;
}

static const uint8_t *data(void)
{
	return fixture.answer.bytes + 64;
}

static void test_io_unit_has_no_controllers(void **state)
{
	(void)state;
	assert_int_equal(ask(MAD_CLASS_DEVICE, MAD_GET, 0x10, 0), 0);
	assert_int_equal(data()[2], 0);
	for (unsigned i = 0; i < 128; i++)
		assert_int_equal(data()[4 + i], 0xff);
	assert_int_equal(data()[132], 0);
	assert_int_equal(ask(MAD_CLASS_DEVICE, MAD_GET, 0x10, 1), MAD_STATUS_BAD_FIELD);
	assert_int_equal(ask(MAD_CLASS_DEVICE, MAD_SET, 0x10, 0), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_no_slot_has_a_profile_or_services(void **state)
{
	(void)state;
	for (uint32_t slot = 0; slot < 256; slot++) {
		assert_int_equal(ask(MAD_CLASS_DEVICE, MAD_GET, 0x11, slot), MAD_STATUS_BAD_FIELD);
		assert_int_equal(ask(MAD_CLASS_DEVICE, MAD_GET, 0x12, slot << 16 | 0x300),
				 MAD_STATUS_BAD_FIELD);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_io_unit_has_no_controllers),
		TEST(test_no_slot_has_a_profile_or_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
