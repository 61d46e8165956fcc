/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to one baseboard: Send answered by Send, retries, busy memories, silence (management
 * 6.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/baseboard/baseboard_client.h"
#include "wire/class_port_info.h"

enum { KEY = 0x99, AGENT = 0x77, SA_AGENT = 0x78 };

static struct baseboard_client client;
static struct mad_message sent;
static time_ns now;

static int setup(void **state)
{
	const struct class_client_options options = {.agent_number = AGENT,
						     .sa_agent_number = SA_AGENT};
	const struct mad_address node = {.lid = 5, .qpn = 1};

	(void)state;
	now = 1000;
	return baseboard_client_init(&client, &options, &node, KEY);
}

static int teardown(void **state)
{
	(void)state;
	baseboard_client_release(&client);
	return 0;
}

/* Answers the Get(ClassPortInfo). */
static void answer_place(const struct class_port_info *place)
{
	struct mad_message message = sent;

	assert_int_equal(sent.bytes[3], MAD_GET);
	assert_int_equal(get_be16(sent.bytes + 16), ATTRIBUTE_CLASS_PORT_INFO);
	message.bytes[3] = MAD_GET_RESPONSE;
	class_port_info_encode(place, message.bytes + BASEBOARD_DATA_OFFSET);
	baseboard_client_receive(&client, now, &message);
}

/* The next request, once the node has said that it does not redirect the class. */
static unsigned transmit(void)
{
	unsigned count = baseboard_client_transmit(&client, now, 1, &sent);

	if (!count || client.is_placed)
		return count;
	answer_place(&(struct class_port_info){0});
	return baseboard_client_transmit(&client, now, 1, &sent);
}

/* Answers the last command. */
static void answer(const uint8_t *parameters, uint8_t count)
{
	struct mad_message message = sent;

	put_be32(message.bytes + MAD_MODIFIER_OFFSET, 1);
	message.bytes[BASEBOARD_DATA_OFFSET + 3] = count;
	memcpy(message.bytes + BASEBOARD_DATA_OFFSET + 4, parameters,
	       count < PARAMETERS_MAX ? count : PARAMETERS_MAX);
	baseboard_client_receive(&client, now, &message);
}

static void test_command_is_a_send_and_so_is_its_answer(void **state)
{
	(void)state;
	baseboard_client_add_command(&client, COMMAND_READ_VPD, (uint8_t *)"\xa0\0\4\0\0", 5);
	assert_int_equal(baseboard_client_deadline(&client), 0);
	assert_int_equal(transmit(), 1);
	assert_int_equal(sent.address.lid, 5);
	assert_int_equal(sent.bytes[1], MAD_CLASS_BASEBOARD);
	assert_int_equal(sent.bytes[3], MAD_SEND);
	assert_int_equal(get_be32(sent.bytes + 8), AGENT);
	assert_int_equal(get_be16(sent.bytes + 16), COMMAND_READ_VPD);
	assert_int_equal(get_be32(sent.bytes + 20), 0);
	assert_int_equal(get_be64(sent.bytes + 24), KEY);
	assert_int_equal(sent.bytes[66], SOURCE_DEVICE_BM);
	assert_int_equal(sent.bytes[67], 5);
	/* Our own command, looped back, is no answer. */
	baseboard_client_receive(&client, now, &sent);
	assert_false(baseboard_client_is_done(&client));
	answer((uint8_t *)"\0FRU=", 5);
	assert_true(baseboard_client_is_done(&client));
	assert_int_equal(client.requests[0].outcome, BASEBOARD_ANSWERED);
	assert_int_equal(client.requests[0].status, BASEBOARD_OK);
	assert_int_equal(client.requests[0].answer_bytes, 4);
	assert_memory_equal(client.requests[0].answer, "FRU=", 4);
	/* A duplicate changes nothing. */
	answer((uint8_t *)"\1", 1);
	assert_int_equal(client.requests[0].status, BASEBOARD_OK);
}

static void test_requests_go_one_after_the_other(void **state)
{
	struct mad_message message;

	(void)state;
	baseboard_client_add(&client, MAD_GET, ATTRIBUTE_BKEY_INFO, NULL, 0);
	baseboard_client_add_command(&client, COMMAND_RESET_IBML, NULL, 0);
	assert_int_equal(transmit(), 1);
	assert_int_equal(transmit(), 0);
	message = sent;
	message.bytes[3] = MAD_GET_RESPONSE;
	put_be16(message.bytes + 4, MAD_STATUS_BAD_FIELD);
	baseboard_client_receive(&client, now, &message);
	assert_int_equal(client.requests[0].status, MAD_STATUS_BAD_FIELD);
	assert_int_equal(transmit(), 1);
	assert_int_equal(get_be16(sent.bytes + 16), COMMAND_RESET_IBML);
	answer((uint8_t *)"\4", 1);
	assert_int_equal(client.requests[1].status, BASEBOARD_NOT_SUPPORTED);
	assert_true(baseboard_client_is_done(&client));
	assert_int_equal(baseboard_client_deadline(&client), TIME_NEVER);
}

static void test_busy_memory_is_asked_again(void **state)
{
	(void)state;
	baseboard_client_add_command(&client, COMMAND_READ_VPD, (uint8_t *)"\xa0\0\4\0\0", 5);
	assert_int_equal(transmit(), 1);
	answer((uint8_t *)"\x43", 1);
	assert_false(baseboard_client_is_done(&client));
	assert_int_equal(transmit(), 0);
	now = baseboard_client_deadline(&client);
	assert_int_equal(transmit(), 1);
	answer((uint8_t *)"\0FRU=", 5);
	assert_int_equal(client.requests[0].status, BASEBOARD_OK);
}

static void test_memory_that_stays_busy_ends_the_request(void **state)
{
	unsigned tries = 0;

	(void)state;
	baseboard_client_add_command(&client, COMMAND_READ_VPD, (uint8_t *)"\xa0\0\4\0\0", 5);
	for (; tries < 1000 && !baseboard_client_is_done(&client); tries++) {
		assert_int_equal(transmit(), 1);
		answer((uint8_t *)"\x43", 1);
		now += SECONDS(1);
	}
	assert_int_equal(tries, BASEBOARD_BUSY_TRIES);
	assert_int_equal(client.requests[0].status, BASEBOARD_BUSY);
}

static void test_silence_ends_all_requests(void **state)
{
	unsigned tries = 0;

	(void)state;
	baseboard_client_add_command(&client, COMMAND_RESET_IBML, NULL, 0);
	baseboard_client_add_command(&client, COMMAND_RESET_IBML, NULL, 0);
	while (!baseboard_client_is_done(&client)) {
		tries += baseboard_client_transmit(&client, now, 1, &sent);
		assert_true(tries <= MAD_TRIES_DEFAULT);
		now = time_earlier(now + SECONDS(1), baseboard_client_deadline(&client));
	}
	assert_int_equal(tries, MAD_TRIES_DEFAULT);
	assert_int_equal(client.requests[0].outcome, BASEBOARD_SILENT);
	assert_int_equal(client.requests[1].outcome, BASEBOARD_SILENT);
}

/* An answer without parameters, or with more than fit. */
static void test_bad_answer_is_an_error(void **state)
{
	static const uint8_t counts[] = {0, PARAMETERS_MAX + 1, 0xff};

	(void)state;
	for (unsigned i = 0; i < sizeof(counts); i++) {
		uint8_t parameters[PARAMETERS_MAX] = {0};

		baseboard_client_add_command(&client, COMMAND_RESET_IBML, NULL, 0);
		assert_int_equal(transmit(), 1);
		answer(parameters, counts[i]);
		assert_int_equal(client.requests[i].outcome, BASEBOARD_ANSWERED);
		assert_int_equal(client.requests[i].status, BASEBOARD_ERROR);
		assert_int_equal(client.requests[i].answer_bytes, 0);
	}
}

/* A node does not redirect commands, so the client finds the place first. */
static void test_commands_go_where_the_class_is_redirected(void **state)
{
	const struct class_port_info place = {
		.redirect_lid = 9, .redirect_qpn = 0x20, .redirect_qkey = 0x1111};

	(void)state;
	baseboard_client_add_command(&client, COMMAND_RESET_IBML, NULL, 0);
	baseboard_client_add(&client, MAD_GET, ATTRIBUTE_BKEY_INFO, NULL, 0);
	assert_int_equal(baseboard_client_transmit(&client, now, 1, &sent), 1);
	assert_int_equal(sent.address.lid, 5);
	answer_place(&place);
	assert_int_equal(transmit(), 1);
	assert_int_equal(sent.bytes[3], MAD_SEND);
	assert_int_equal(sent.address.lid, 9);
	assert_int_equal(sent.address.qpn, 0x20);
	assert_int_equal(sent.address.qkey, 0x1111);
	answer((uint8_t *)"\0", 1);
	assert_int_equal(transmit(), 1);
	assert_int_equal(get_be16(sent.bytes + 16), ATTRIBUTE_BKEY_INFO);
	assert_int_equal(sent.address.lid, 9);
}

/* The client has no SA here. */
static void test_redirection_to_nowhere_ends_all_requests(void **state)
{
	const struct class_port_info place = {.redirect_gid_guid = 9};

	(void)state;
	baseboard_client_add_command(&client, COMMAND_RESET_IBML, NULL, 0);
	baseboard_client_add_command(&client, COMMAND_RESET_IBML, NULL, 0);
	assert_int_equal(baseboard_client_transmit(&client, now, 1, &sent), 1);
	answer_place(&place);
	assert_true(baseboard_client_is_done(&client));
	assert_int_equal(client.requests[0].outcome, BASEBOARD_REDIRECTED);
	assert_int_equal(client.requests[1].outcome, BASEBOARD_REDIRECTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(test_command_is_a_send_and_so_is_its_answer),
		TEST(test_requests_go_one_after_the_other),
		TEST(test_busy_memory_is_asked_again),
		TEST(test_memory_that_stays_busy_ends_the_request),
		TEST(test_silence_ends_all_requests),
		TEST(test_bad_answer_is_an_error),
		TEST(test_commands_go_where_the_class_is_redirected),
		TEST(test_redirection_to_nowhere_ends_all_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
