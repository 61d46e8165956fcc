/* SPDX-License-Identifier: Apache-2.0 */
/* softib's vendor class: its attributes, and what it refuses (management 1.4, 1.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "agent_fixture.h"
#include "base/bytes.h"
#include "mgmt/agents/node_log.h"
#include "wire/vendor_softib.h"

static struct mad_message request;

static void make(uint8_t method, uint16_t attribute, uint32_t modifier)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_SOFTIB,
		.class_version = 1,
		.method = method,
		.transaction_id = 0x55,
		.attribute_id = attribute,
		.attribute_modifier = modifier,
	};

	request = (struct mad_message){.address = {.lid = 4, .qpn = 1}};
	mad_header_encode(&header, request.bytes);
	put_be24(request.bytes + VENDOR_OUI_OFFSET, SOFTIB_OUI);
}

/* The status of the response; -1: none. */
static int send_to(struct node *node)
{
	fixture.verdict =
		gsa_receive(&fixture.environment, node, 1, fixture.now, &request, &fixture.answer);
	return fixture.verdict == AGENT_ANSWERED ? get_be16(fixture.answer.bytes + 4) : -1;
}

static const uint8_t *data(void)
{
	return fixture.answer.bytes + VENDOR_DATA_OFFSET;
}

static void test_every_node_has_the_class(void **state)
{
	struct node *nodes[] = {&fixture.adapter, &fixture.hub, &fixture.router};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		make(MAD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
		assert_int_equal(send_to(nodes[i]), MAD_STATUS_OK);
		assert_int_equal(fixture.answer.bytes[3], MAD_GET_RESPONSE);
		assert_int_equal(get_be24(fixture.answer.bytes + VENDOR_OUI_OFFSET), SOFTIB_OUI);
		assert_int_equal(data()[0], 1);
		assert_int_equal(data()[1], 1);
		assert_true(gsa_is_first(request.bytes));
	}
}

static void test_another_vendors_oui_is_not_served(void **state)
{
	(void)state;
	make(MAD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
	put_be24(request.bytes + VENDOR_OUI_OFFSET, 0x001405);
	assert_int_equal(send_to(&fixture.hub), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_false(gsa_is_first(request.bytes));
	make(0x12, ATTRIBUTE_NODE_LOG, 0);
	put_be24(request.bytes + VENDOR_OUI_OFFSET, 0x001405);
	assert_int_equal(send_to(&fixture.hub), -1);
}

static void test_log_is_read_by_number(void **state)
{
	(void)state;
	for (uint8_t number = 0; number < 20; number++) {
		fixture.hub.ports[1].info.port_state = (uint8_t)(1 + number % 2);
		node_log_port_state(&fixture.memory, &fixture.hub.ports[1], number);
	}
	fixture.now = 0x123456789a;
	make(MAD_GET, ATTRIBUTE_NODE_LOG, 18);
	assert_int_equal(send_to(&fixture.hub), MAD_STATUS_OK);
	assert_int_equal(get_be64(data()), 0x123456789a);
	assert_int_equal(get_be32(data() + 12), 20);
	assert_int_equal(get_be32(data() + 16), 18);
	assert_int_equal(data()[20], 2);
	assert_int_equal(get_be64(data() + 24), 18);
	assert_int_equal(get_be64(data() + 48), 19);
	assert_int_equal(data()[48 + 8], NODE_EVENT_PORT_STATE);
	/* Entries that are not there are zeros. */
	assert_int_equal(get_be64(data() + 72), 0);
}

static void test_identify_is_set_and_shown(void **state)
{
	(void)state;
	make(MAD_SET, ATTRIBUTE_IDENTIFY, 0);
	request.bytes[VENDOR_DATA_OFFSET] = 0x80;
	request.bytes[VENDOR_DATA_OFFSET + 7] = 30;
	assert_int_equal(send_to(&fixture.adapter), MAD_STATUS_OK);
	fixture.now = SECONDS(10);
	make(MAD_GET, ATTRIBUTE_IDENTIFY, 0);
	assert_int_equal(send_to(&fixture.adapter), MAD_STATUS_OK);
	assert_int_equal(data()[0], 0x80);
	assert_int_equal(get_be32(data() + 4), 20);
	assert_true(fixture.adapter.ports[2].led_is_on);
}

static void test_bad_requests_change_nothing(void **state)
{
	(void)state;
	make(MAD_SET, ATTRIBUTE_IDENTIFY, 1);
	request.bytes[VENDOR_DATA_OFFSET] = 0x80;
	assert_int_equal(send_to(&fixture.hub), MAD_STATUS_BAD_FIELD);
	make(MAD_SET, ATTRIBUTE_IDENTIFY, 0);
	request.bytes[VENDOR_DATA_OFFSET + 7] = 30; /* off, for 30 s */
	assert_int_equal(send_to(&fixture.hub), MAD_STATUS_BAD_FIELD);
	make(MAD_SET, ATTRIBUTE_NODE_LOG, 0);
	assert_int_equal(send_to(&fixture.hub), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	make(MAD_GET, 0x0012, 0);
	assert_int_equal(send_to(&fixture.hub), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	make(MAD_GET, ATTRIBUTE_IDENTIFY, 0);
	request.bytes[2] = 2;
	assert_int_equal(send_to(&fixture.hub), MAD_STATUS_BAD_VERSION);
	make(0x30, ATTRIBUTE_IDENTIFY, 0);
	assert_int_equal(send_to(&fixture.hub), MAD_STATUS_BAD_METHOD);
	assert_false(fixture.hub.ports[0].led_is_on);
	/* Parts of RMPP transfers. */
	for (uint8_t type = 0; type < 6; type++) {
		make(MAD_GET, ATTRIBUTE_IDENTIFY, 0);
		request.bytes[24] = 1;
		request.bytes[25] = type;
		request.bytes[26] = 1;
		assert_int_equal(send_to(&fixture.hub), -1);
	}
}

static void test_agents_without_memory_are_busy(void **state)
{
	(void)state;
	fixture.environment.memory = NULL;
	make(MAD_SET, ATTRIBUTE_IDENTIFY, 0);
	request.bytes[VENDOR_DATA_OFFSET] = 0x80;
	assert_int_equal(send_to(&fixture.hub), MAD_STATUS_BUSY);
	make(MAD_GET, ATTRIBUTE_NODE_LOG, 0);
	assert_int_equal(send_to(&fixture.hub), MAD_STATUS_OK);
	assert_int_equal(data()[20], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_every_node_has_the_class),
		TEST(test_another_vendors_oui_is_not_served),
		TEST(test_log_is_read_by_number),
		TEST(test_identify_is_set_and_shown),
		TEST(test_bad_requests_change_nothing),
		TEST(test_agents_without_memory_are_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
