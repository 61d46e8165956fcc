/* SPDX-License-Identifier: Apache-2.0 */
/* Alias GUIDs assigned by GUIDInfoRecord, and lookups of ports by them (management 4.8). Covers:
 * mgmt/sa/alias_guids.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "sa_fixture.h"
#include "wire/smp.h"
#include "wire/smp_tables.h"

enum { GIVEN = 0x5555 };

static struct sa_fixture fixture;
static struct sa_reply reply;

/* A request for one entry of block 0 of host 3's table. */
static struct mad_message request(unsigned host, enum mad_method method, unsigned index,
				  uint64_t guid, uint64_t mask)
{
	const struct guid_info_record_id id = {.lid = 3};
	uint64_t guids[GUIDS_PER_BLOCK] = {0};
	uint8_t data[BLOCK_RECORD_BYTES];
	const struct sa_question question = {.host = host,
					     .method = method,
					     .attribute_id = SA_GUID_INFO_RECORD,
					     .components = mask,
					     .data = data,
					     .byte_count = sizeof(data)};

	guids[index] = guid;
	guid_info_record_id_encode(&id, data);
	guid_block_encode(guids, data + BLOCK_RECORD_BLOCK_OFFSET);
	return fixture_message(&fixture, &question);
}

static uint64_t entry(unsigned index)
{
	return SA_COMPONENT(GIR_LID) | SA_COMPONENT(GIR_BLOCK) |
	       SA_COMPONENT(GIR_GUID_FIRST + index);
}

/* Sends the request and lets the port accept or refuse the GUIDs. Returns the status of the
 * response. */
static uint16_t change(unsigned host, enum mad_method method, unsigned index, uint64_t guid,
		       uint16_t smp_status, uint64_t ret_guids[static GUIDS_PER_BLOCK])
{
	struct mad_message message = request(host, method, index, guid, entry(index));

	sa_receive(fixture.sa, fixture.now, &message);
	assert_true(fixture_next_message(&fixture, &message));
	if (message.bytes[1] == MAD_CLASS_SUBNET_LID) {
		assert_int_equal(message.address.lid, 3);
		assert_int_equal(message.bytes[3], MAD_SET);
		assert_int_equal(get_be16(message.bytes + 16), ATTRIBUTE_GUID_INFO);
		message.bytes[3] = MAD_GET_RESPONSE;
		put_be16(message.bytes + 4, smp_status);
		sa_receive(fixture.sa, fixture.now, &message);
		assert_true(fixture_next_message(&fixture, &message));
	}
	guid_block_decode(message.bytes + SA_DATA_OFFSET + BLOCK_RECORD_BLOCK_OFFSET, ret_guids);
	return get_be16(message.bytes + 4);
}

static void read_block(uint64_t ret_guids[static GUIDS_PER_BLOCK])
{
	uint8_t data[2];
	const struct sa_question question = {.host = 2,
					     .method = MAD_GET,
					     .attribute_id = SA_GUID_INFO_RECORD,
					     .components = SA_COMPONENT(GIR_LID),
					     .data = data,
					     .byte_count = sizeof(data)};

	put_be16(data, 3);
	fixture_ask(&fixture, &question, &reply);
	assert_int_equal(reply.status, 0);
	guid_block_decode(reply.bytes + BLOCK_RECORD_BLOCK_OFFSET, ret_guids);
}

static void test_given_guid_is_written_to_the_port_and_told(void **state)
{
	uint64_t guids[GUIDS_PER_BLOCK];

	(void)state;
	assert_int_equal(change(3, MAD_SET, 2, GIVEN, 0, guids), 0);
	assert_int_equal(guids[0], fixture_port(&fixture, 3)->guid);
	assert_int_equal(guids[2], GIVEN);
	read_block(guids);
	assert_int_equal(guids[2], GIVEN);
	assert_int_equal(guids[1], 0);
	/* Repeating the request changes nothing. */
	assert_int_equal(change(3, MAD_SET, 2, GIVEN, 0, guids), 0);
}

static void test_zero_lets_the_sa_choose(void **state)
{
	uint64_t first[GUIDS_PER_BLOCK], second[GUIDS_PER_BLOCK];

	(void)state;
	assert_int_equal(change(3, MAD_SET, 1, 0, 0, first), 0);
	assert_int_not_equal(first[1], 0);
	assert_int_equal(change(3, MAD_SET, 2, 0, 0, second), 0);
	assert_int_equal(second[1], first[1]);
	assert_int_not_equal(second[2], first[1]);
}

static void test_guids_that_somebody_has_are_refused(void **state)
{
	uint64_t guids[GUIDS_PER_BLOCK];

	(void)state;
	assert_int_equal(change(3, MAD_SET, 1, fixture_port(&fixture, 2)->guid, 0, guids),
			 SA_STATUS_REQ_INVALID);
	assert_int_equal(change(3, MAD_SET, 1, GIVEN, 0, guids), 0);
	assert_int_equal(change(3, MAD_SET, 2, GIVEN, 0, guids), SA_STATUS_REQ_INVALID);
	/* The port GUID is the first entry and stays. */
	assert_int_equal(change(3, MAD_SET, 0, GIVEN + 1, 0, guids), SA_STATUS_REQ_INVALID);
	assert_int_equal(change(3, MAD_DELETE, 0, 0, 0, guids), SA_STATUS_REQ_INVALID);
}

static void test_lid_and_block_must_be_given(void **state)
{
	struct mad_message message = request(3, MAD_SET, 1, GIVEN, SA_COMPONENT(GIR_LID));

	(void)state;
	sa_receive(fixture.sa, fixture.now, &message);
	assert_true(fixture_next_message(&fixture, &message));
	assert_int_equal(get_be16(message.bytes + 4), SA_STATUS_INSUFFICIENT_COMPONENTS);
}

static void test_others_may_not_change_a_ports_guids(void **state)
{
	uint64_t guids[GUIDS_PER_BLOCK];

	(void)state;
	assert_int_equal(change(2, MAD_SET, 1, GIVEN, 0, guids), SA_STATUS_REQ_INVALID);
}

static void test_deleted_guid_is_free_again(void **state)
{
	uint64_t guids[GUIDS_PER_BLOCK];

	(void)state;
	assert_int_equal(change(3, MAD_SET, 1, GIVEN, 0, guids), 0);
	assert_int_equal(change(3, MAD_DELETE, 1, 0, 0, guids), 0);
	assert_int_equal(guids[1], 0);
	assert_int_equal(change(3, MAD_SET, 4, GIVEN, 0, guids), 0);
	assert_int_equal(guids[4], GIVEN);
}

static void test_port_that_refuses_keeps_what_it_has(void **state)
{
	uint64_t guids[GUIDS_PER_BLOCK];

	(void)state;
	assert_int_equal(change(3, MAD_SET, 1, GIVEN, MAD_STATUS_BAD_FIELD, guids),
			 SA_STATUS_NO_RESOURCES);
	read_block(guids);
	assert_int_equal(guids[1], 0);
	assert_int_equal(change(3, MAD_SET, 2, GIVEN, 0, guids), 0);
}

static void test_paths_and_groups_know_the_given_guid(void **state)
{
	struct path_record wanted = {.sgid_prefix = GID_PREFIX_LINK_LOCAL,
				     .sgid_guid = fixture_port(&fixture, 2)->guid,
				     .dgid_prefix = GID_PREFIX_LINK_LOCAL,
				     .dgid_guid = GIVEN};
	uint64_t mask = SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_DGID);
	uint64_t guids[GUIDS_PER_BLOCK];

	(void)state;
	fixture_ask_path(&fixture, 2, MAD_GET, &wanted, mask, &reply);
	assert_int_equal(reply.status, SA_STATUS_INVALID_GID);
	assert_int_equal(change(3, MAD_SET, 1, GIVEN, 0, guids), 0);
	fixture_ask_path(&fixture, 2, MAD_GET, &wanted, mask, &reply);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply_path(&reply, 0).dlid, 3);
	assert_int_equal(reply_path(&reply, 0).dgid_guid, GIVEN);
	/* Until the port is gone. */
	fixture_sweep_without(&fixture, 3);
	fixture_sweep_without(&fixture, 0);
	fixture_ask_path(&fixture, 2, MAD_GET, &wanted, mask, &reply);
	assert_int_equal(reply.status, SA_STATUS_INVALID_GID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SA_FIXTURE_TEST(test_given_guid_is_written_to_the_port_and_told),
		SA_FIXTURE_TEST(test_zero_lets_the_sa_choose),
		SA_FIXTURE_TEST(test_guids_that_somebody_has_are_refused),
		SA_FIXTURE_TEST(test_lid_and_block_must_be_given),
		SA_FIXTURE_TEST(test_others_may_not_change_a_ports_guids),
		SA_FIXTURE_TEST(test_deleted_guid_is_free_again),
		SA_FIXTURE_TEST(test_port_that_refuses_keeps_what_it_has),
		SA_FIXTURE_TEST(test_paths_and_groups_know_the_given_guid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
