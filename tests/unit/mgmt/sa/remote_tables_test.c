/* SPDX-License-Identifier: Apache-2.0 */
/* Records that the SA reads from nodes: SLtoVL, VL arbitration, multicast tables, other managers
 * (management 4.3). Covers: mgmt/sa/remote_kinds.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "sa_fixture.h"
#include "wire/rmpp.h"
#include "wire/smp.h"
#include "wire/smp_tables.h"

static struct sa_fixture fixture;
static uint8_t data[SA_DATA_BYTES];

static int set_up(void **state)
{
	(void)state;
	sa_fixture_start(&fixture);
	memset(data, 0, sizeof(data));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sa_fixture_stop(&fixture);
	return 0;
}

static void ask(enum mad_method method, uint16_t attribute_id, uint64_t components)
{
	const struct sa_question question = {.host = 2,
					     .method = method,
					     .attribute_id = attribute_id,
					     .components = components,
					     .data = data,
					     .byte_count = sizeof(data)};
	struct mad_message message = fixture_message(&fixture, &question);

	sa_receive(fixture.sa, fixture.now, &message);
}

/* The node's response: byte 0 of the block is the lowest byte of the modifier. */
static void answer(const struct mad_message *smp, uint16_t status)
{
	struct mad_message response = *smp;

	response.bytes[3] = MAD_GET_RESPONSE;
	put_be16(response.bytes + 4, status);
	response.bytes[SMP_DATA_OFFSET] = smp->bytes[23];
	sa_receive(fixture.sa, fixture.now, &response);
}

static bool is_smp(const struct mad_message *message)
{
	return message->bytes[1] == MAD_CLASS_SUBNET_LID;
}

/* Answers SMPs until the SA sends a MAD itself. Returns their number. */
static unsigned serve(uint16_t status, struct mad_message *ret_answer)
{
	unsigned smp_count = 0;

	while (fixture_next_message(&fixture, ret_answer)) {
		if (!is_smp(ret_answer))
			return smp_count;
		smp_count++;
		answer(ret_answer, status);
	}
	fail_msg("no answer");
	return 0;
}

static void test_one_map_of_a_switch_is_asked_for_and_told(void **state)
{
	const struct sl_to_vl_record_id wanted = {.lid = 5, .input_port = 3, .output_port = 8};
	struct mad_message message;

	(void)state;
	sl_to_vl_record_id_encode(&wanted, data);
	ask(MAD_GET, SA_SL_TO_VL_RECORD,
	    SA_COMPONENT(SLVL_LID) | SA_COMPONENT(SLVL_INPUT_PORT) |
		    SA_COMPONENT(SLVL_OUTPUT_PORT));
	assert_true(fixture_next_message(&fixture, &message));
	assert_true(is_smp(&message));
	assert_int_equal(message.address.lid, 5);
	assert_int_equal(message.address.qpn, 0);
	assert_int_equal(get_be16(message.bytes + 16), ATTRIBUTE_SL_TO_VL);
	assert_int_equal(get_be32(message.bytes + 20), 0x0308);
	answer(&message, 0);
	assert_true(fixture_next_message(&fixture, &message));
	assert_int_equal(message.bytes[3], MAD_GET_RESPONSE);
	assert_int_equal(get_be16(message.bytes + 4), 0);
	assert_int_equal(get_be32(message.bytes + SA_DATA_OFFSET), 0x00050308);
	assert_int_equal(message.bytes[SA_DATA_OFFSET + 8], 8);
}

static void test_table_of_a_switch_has_every_pair_of_ports(void **state)
{
	struct mad_message message;

	(void)state;
	put_be16(data, 5);
	ask(MAD_GET_TABLE, SA_SL_TO_VL_RECORD, SA_COMPONENT(SLVL_LID));
	assert_int_equal(serve(0, &message), 9 * 8);
	assert_int_equal(message.bytes[3], MAD_GET_TABLE_RESPONSE);
	assert_int_equal(get_be16(message.bytes + SA_HEADER_OFFSET + 8), 2);
}

static void test_arbitration_has_the_blocks_that_the_port_says(void **state)
{
	struct mad_message message;

	(void)state;
	fixture_port(&fixture, 3)->info.vl_arbitration_low_cap = 64;
	fixture_port(&fixture, 3)->info.vl_arbitration_high_cap = 8;
	fixture_sweep(&fixture);
	put_be16(data, 3);
	ask(MAD_GET_TABLE, SA_VL_ARBITRATION_RECORD, SA_COMPONENT(0));
	assert_int_equal(serve(0, &message), 3);
	assert_int_equal(get_be16(message.bytes + SA_HEADER_OFFSET + 8), 9);
}

static void test_multicast_tables_are_asked_for_as_far_as_there_are_groups(void **state)
{
	const struct multicast_characteristics values = {.pkey = 0xffff};
	struct multicast_groups *groups = &fixture.subnet->multicast_groups;
	struct multicast_group *group;
	struct mad_message message;

	(void)state;
	for (unsigned i = 0; i < 33; i++) {
		struct gid mgid = gid_from(0xff12000000000000, i);

		assert_int_equal(multicast_groups_create(groups, &mgid, &values, &group), 0);
	}
	put_be16(data, 5);
	ask(MAD_GET_TABLE, SA_MULTICAST_FORWARDING_RECORD, SA_COMPONENT(MFR_LID));
	assert_true(fixture_next_message(&fixture, &message));
	assert_int_equal(get_be16(message.bytes + 16), ATTRIBUTE_MULTICAST_FORWARDING);
	assert_int_equal(get_be32(message.bytes + 20), 0);
	answer(&message, 0);
	assert_true(fixture_next_message(&fixture, &message));
	assert_int_equal(get_be32(message.bytes + 20), 1);
	answer(&message, 0);
	assert_true(fixture_next_message(&fixture, &message));
	assert_int_equal(get_be16(message.bytes + SA_HEADER_OFFSET + 8), 9);
	assert_int_equal(get_be32(message.bytes + SA_DATA_OFFSET), 0x00050000);
	assert_int_equal(get_be32(message.bytes + SA_DATA_OFFSET + 72), 0x00050001);
	assert_int_equal(message.bytes[SA_DATA_OFFSET + 72 + 8], 1);
}

/* Its own manager is known; the SA reads SMInfo of the other one. */
static void test_other_managers_are_asked_for_themselves(void **state)
{
	struct mad_message message;

	(void)state;
	fixture_port(&fixture, 3)->info.capability_mask |= CAPABILITY_IS_SM;
	fixture_sweep(&fixture);
	ask(MAD_GET_TABLE, SA_SM_INFO_RECORD, 0);
	assert_true(fixture_next_message(&fixture, &message));
	assert_true(is_smp(&message));
	assert_int_equal(message.address.lid, 3);
	assert_int_equal(get_be16(message.bytes + 16), ATTRIBUTE_SM_INFO);
	memset(message.bytes + SMP_DATA_OFFSET, 0x11, SM_INFO_BYTES);
	answer(&message, 0);
	assert_true(fixture_next_message(&fixture, &message));
	assert_false(is_smp(&message));
	assert_int_equal(get_be16(message.bytes + SA_HEADER_OFFSET + 8), 4);
	/* Two records of 32 bytes; the SM_Keys are hidden (management 4.5). */
	assert_int_equal(get_be16(message.bytes + SA_DATA_OFFSET), 1);
	assert_int_equal(get_be64(message.bytes + SA_DATA_OFFSET + 4 + 8), 0);
	assert_int_equal(get_be16(message.bytes + SA_DATA_OFFSET + 32), 3);
	assert_int_equal(get_be32(message.bytes + SA_DATA_OFFSET + 32 + 8), 0x11111111);
	assert_int_equal(get_be64(message.bytes + SA_DATA_OFFSET + 32 + 4 + 8), 0);
}

static void test_nodes_that_refuse_have_no_records(void **state)
{
	struct mad_message message;

	(void)state;
	put_be16(data, 3);
	ask(MAD_GET, SA_SL_TO_VL_RECORD, SA_COMPONENT(SLVL_LID));
	assert_int_equal(serve(MAD_STATUS_BAD_METHOD_ATTRIBUTE, &message), 1);
	assert_int_equal(get_be16(message.bytes + 4), SA_STATUS_NO_RECORDS);
}

static void test_silent_node_delays_but_does_not_hang(void **state)
{
	struct mad_message message;
	bool was_answered = false;

	(void)state;
	put_be16(data, 3);
	ask(MAD_GET_TABLE, SA_SL_TO_VL_RECORD, SA_COMPONENT(SLVL_LID));
	for (unsigned i = 0; i < 100 && !was_answered; i++) {
		while (fixture_next_message(&fixture, &message))
			was_answered |= !is_smp(&message);
		if (sa_deadline(fixture.sa) > fixture.now && !was_answered)
			fixture.now = sa_deadline(fixture.sa);
	}
	assert_true(was_answered);
	assert_true(rmpp_mad_is_active(message.bytes));
	assert_int_equal(get_be16(message.bytes + SA_HEADER_OFFSET + 8), 0);
}

static void test_unknown_lid_is_answered_at_once(void **state)
{
	struct mad_message message;

	(void)state;
	put_be16(data, 0x777);
	ask(MAD_GET, SA_SL_TO_VL_RECORD, SA_COMPONENT(SLVL_LID));
	assert_true(fixture_next_message(&fixture, &message));
	assert_int_equal(get_be16(message.bytes + 4), SA_STATUS_NO_RECORDS);
}

static void test_too_many_requests_are_dropped(void **state)
{
	struct sa_status status;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		ask(MAD_GET_TABLE, SA_SL_TO_VL_RECORD, 0);
	sa_status(fixture.sa, &status);
	assert_int_equal(status.dropped_count, 100 - 16);
}

/* The subnet may change while responses arrive. */
static void test_sweep_in_between_does_no_harm(void **state)
{
	struct mad_message message, answer_message;

	(void)state;
	put_be16(data, 4);
	ask(MAD_GET, SA_SL_TO_VL_RECORD, SA_COMPONENT(SLVL_LID));
	assert_true(fixture_next_message(&fixture, &message));
	fixture_sweep_without(&fixture, 4);
	answer(&message, 0);
	assert_true(fixture_next_message(&fixture, &answer_message));
	assert_int_equal(get_be16(answer_message.bytes + 4), 0);
}

#define TABLE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE_TEST(test_one_map_of_a_switch_is_asked_for_and_told),
		TABLE_TEST(test_table_of_a_switch_has_every_pair_of_ports),
		TABLE_TEST(test_arbitration_has_the_blocks_that_the_port_says),
		TABLE_TEST(test_multicast_tables_are_asked_for_as_far_as_there_are_groups),
		TABLE_TEST(test_other_managers_are_asked_for_themselves),
		TABLE_TEST(test_nodes_that_refuse_have_no_records),
		TABLE_TEST(test_silent_node_delays_but_does_not_hang),
		TABLE_TEST(test_unknown_lid_is_answered_at_once),
		TABLE_TEST(test_too_many_requests_are_dropped),
		TABLE_TEST(test_sweep_in_between_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
