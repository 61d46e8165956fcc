/* SPDX-License-Identifier: Apache-2.0 */
/* Records about nodes, ports, links and tables: literal fields, component masks, visibility
 * (management 4.4, 4.5). Covers: mgmt/sa/table_records.c mgmt/sa/trace.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "sa_fixture.h"
#include "wire/smp_tables.h"

static struct sa_fixture fixture;
static struct sa_reply reply;
static uint8_t data[SA_DATA_BYTES];

static int set_up(void **state)
{
	(void)state;
	sa_fixture_start(&fixture);
	memset(data, 0, sizeof(data));
	return 0;
}

static int set_up_lmc(void **state)
{
	(void)state;
	sa_fixture_start_lmc(&fixture, 1);
	memset(data, 0, sizeof(data));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sa_fixture_stop(&fixture);
	return 0;
}

static void ask(unsigned host, enum mad_method method, uint16_t attribute_id, uint64_t mask,
		uint64_t sm_key)
{
	const struct sa_question question = {.host = host,
					     .method = method,
					     .attribute_id = attribute_id,
					     .components = mask,
					     .sm_key = sm_key,
					     .data = data,
					     .byte_count = sizeof(data)};

	fixture_ask(&fixture, &question, &reply);
}

static const uint8_t *record(size_t index)
{
	assert_true(index < reply.count);
	return reply.bytes + index * reply.stride;
}

static void test_node_records(void **state)
{
	struct node_info info;

	(void)state;
	ask(2, MAD_GET_TABLE, SA_NODE_RECORD, 0, 0);
	assert_int_equal(reply.count, 7);
	assert_int_equal(reply.stride, 112);
	assert_int_equal(get_be16(record(2)), 3);
	node_info_decode(record(2) + 4, &info);
	assert_int_equal(info.node_type, NODE_CA);
	assert_int_equal(info.port_guid, fixture_port(&fixture, 3)->guid);
	assert_string_equal((const char *)record(2) + 44, "node 130");
	/* One by its LID. */
	put_be16(data, 6);
	ask(2, MAD_GET, SA_NODE_RECORD, SA_COMPONENT(NR_LID), 0);
	assert_int_equal(reply.status, 0);
	node_info_decode(reply.bytes + 4, &info);
	assert_int_equal(info.node_type, NODE_SWITCH);
	/* All of a type. */
	info = (struct node_info){.node_type = NODE_SWITCH};
	node_info_encode(&info, data + 4);
	ask(2, MAD_GET_TABLE, SA_NODE_RECORD, SA_COMPONENT(4), 0);
	assert_int_equal(reply.count, 2);
	/* By description. */
	memset(data, 0, sizeof(data));
	memcpy(data + 44, "node 140", 8);
	ask(2, MAD_GET, SA_NODE_RECORD, SA_COMPONENT(14), 0);
	assert_int_equal(reply.status, 0);
	assert_int_equal(get_be16(reply.bytes), 4);
}

static void test_get_wants_exactly_one(void **state)
{
	(void)state;
	ask(2, MAD_GET, SA_NODE_RECORD, 0, 0);
	assert_int_equal(reply.status, SA_STATUS_TOO_MANY_RECORDS);
	put_be16(data, 0x777);
	ask(2, MAD_GET, SA_NODE_RECORD, SA_COMPONENT(NR_LID), 0);
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
	ask(2, MAD_GET_TABLE, SA_NODE_RECORD, SA_COMPONENT(NR_LID), 0);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply.count, 0);
}

static void test_strangers_see_only_their_partition(void **state)
{
	static const uint16_t other[] = {0x8005};

	(void)state;
	fixture_set_pkeys(&fixture, 3, other, 1);
	ask(2, MAD_GET_TABLE, SA_NODE_RECORD, 0, 0);
	assert_int_equal(reply.count, 6);
	ask(3, MAD_GET_TABLE, SA_NODE_RECORD, 0, 0);
	assert_int_equal(reply.count, 1);
	ask(3, MAD_GET_TABLE, SA_NODE_RECORD, 0, FIXTURE_SM_KEY);
	assert_int_equal(reply.count, 7);
	ask(0, MAD_GET_TABLE, SA_NODE_RECORD, 0, 0);
	assert_int_equal(reply.count, 0);
}

static void test_port_info_records(void **state)
{
	struct port_info info;

	(void)state;
	ask(2, MAD_GET_TABLE, SA_PORT_INFO_RECORD, 0, 0);
	/* Four hosts, the router, and nine ports of each switch. */
	assert_int_equal(reply.count, 5 + 2 * 9);
	assert_int_equal(reply.stride, 72);
	put_be16(data, 5);
	data[2] = 8;
	ask(2, MAD_GET, SA_PORT_INFO_RECORD, SA_COMPONENT(PIR_LID) | SA_COMPONENT(PIR_PORT_NUMBER),
	    0);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply.bytes[2], 8);
	port_info_decode(reply.bytes + 4, &info);
	assert_int_equal(info.neighbor_mtu, 5);
	assert_int_equal(info.mkey, 0);
	ask(2, MAD_GET, SA_PORT_INFO_RECORD, SA_COMPONENT(PIR_LID) | SA_COMPONENT(PIR_PORT_NUMBER),
	    FIXTURE_SM_KEY);
	port_info_decode(reply.bytes + 4, &info);
	assert_int_equal(info.mkey, 0x4242);
}

/* Tools find managers this way: every port with IsSM, whatever else it has (management 4.4). */
static void test_capabilities_can_be_matched_as_a_subset(void **state)
{
	struct port_info wanted = {.capability_mask = CAPABILITY_IS_SM};
	struct sa_question question = {.host = 2,
				       .method = MAD_GET_TABLE,
				       .attribute_id = SA_PORT_INFO_RECORD,
				       .attribute_modifier = 0x80000000,
				       .components = SA_COMPONENT(PIR_CAPABILITY_MASK),
				       .data = data,
				       .byte_count = sizeof(data)};

	(void)state;
	fixture_port(&fixture, 3)->info.capability_mask |= CAPABILITY_IS_SM;
	fixture_sweep(&fixture);
	port_info_encode(&wanted, data + 4);
	fixture_ask(&fixture, &question, &reply);
	assert_int_equal(reply.count, 1);
	assert_int_equal(get_be16(reply.bytes), 3);
	question.attribute_modifier = 0;
	fixture_ask(&fixture, &question, &reply);
	assert_int_equal(reply.count, 0);
}

static void test_switch_info_records(void **state)
{
	(void)state;
	fixture.switches[2]->switch_info.linear_fdb_top = 0x123;
	fixture_sweep(&fixture);
	ask(2, MAD_GET_TABLE, SA_SWITCH_INFO_RECORD, 0, 0);
	assert_int_equal(reply.count, 2);
	assert_int_equal(reply.stride, 24);
	put_be16(data, 6);
	ask(2, MAD_GET, SA_SWITCH_INFO_RECORD, SA_COMPONENT(RECORD_LID), 0);
	assert_int_equal(reply.status, 0);
	assert_int_equal(get_be16(reply.bytes + 4 + 6), 0x123);
	put_be16(data, 3);
	ask(2, MAD_GET, SA_SWITCH_INFO_RECORD, SA_COMPONENT(RECORD_LID), 0);
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
}

static void test_sm_info_record_hides_the_key(void **state)
{
	struct sm_info info;

	(void)state;
	ask(2, MAD_GET, SA_SM_INFO_RECORD, 0, 0);
	assert_int_equal(reply.status, 0);
	assert_int_equal(get_be16(reply.bytes), 1);
	sm_info_decode(reply.bytes + 4, &info);
	assert_int_equal(info.sm_state, SM_MASTER);
	assert_int_equal(info.priority, 3);
	assert_int_equal(info.sm_key, 0);
	ask(2, MAD_GET, SA_SM_INFO_RECORD, 0, FIXTURE_SM_KEY);
	sm_info_decode(reply.bytes + 4, &info);
	assert_int_equal(info.sm_key, FIXTURE_SM_KEY);
}

static void test_link_records(void **state)
{
	struct link_record link;

	(void)state;
	ask(2, MAD_GET_TABLE, SA_LINK_RECORD, 0, 0);
	/* Six links, from both ends. */
	assert_int_equal(reply.count, 12);
	assert_int_equal(reply.stride, 8);
	put_be16(data, 3);
	ask(2, MAD_GET, SA_LINK_RECORD, SA_COMPONENT(LR_FROM_LID), 0);
	link_record_decode(reply.bytes, &link);
	assert_int_equal(link.from_lid, 3);
	assert_int_equal(link.from_port, 1);
	assert_int_equal(link.to_lid, 6);
	assert_int_equal(link.to_port, 3);
	link = (struct link_record){.to_lid = 6};
	link_record_encode(&link, data);
	ask(2, MAD_GET_TABLE, SA_LINK_RECORD, SA_COMPONENT(LR_TO_LID), 0);
	assert_int_equal(reply.count, 4);
}

static void test_linear_forwarding_records(void **state)
{
	(void)state;
	ask(2, MAD_GET_TABLE, SA_LINEAR_FORWARDING_RECORD, 0, 0);
	assert_int_equal(reply.count, 2);
	assert_int_equal(reply.stride, 72);
	put_be16(data, 6);
	ask(2, MAD_GET, SA_LINEAR_FORWARDING_RECORD, SA_COMPONENT(BLOCK_LID), 0);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply.bytes[8 + 1], 8);
	assert_int_equal(reply.bytes[8 + 3], 3);
	assert_int_equal(reply.bytes[8 + 6], 0);
	assert_int_equal(reply.bytes[8 + 8], 0xff);
	put_be16(data + 2, 1);
	ask(2, MAD_GET, SA_LINEAR_FORWARDING_RECORD,
	    SA_COMPONENT(BLOCK_LID) | SA_COMPONENT(BLOCK_NUMBER), 0);
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
}

static void test_pkey_records_are_for_the_trusted(void **state)
{
	static const uint16_t keys[] = {0xffff, 0x8005};

	(void)state;
	fixture_set_pkeys(&fixture, 3, keys, 2);
	put_be16(data, 3);
	ask(2, MAD_GET, SA_PKEY_TABLE_RECORD, SA_COMPONENT(BLOCK_LID), 0);
	assert_int_equal(reply.status, SA_STATUS_REQ_INVALID);
	ask(2, MAD_GET, SA_PKEY_TABLE_RECORD, SA_COMPONENT(BLOCK_LID), FIXTURE_SM_KEY);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply.bytes[4], 1);
	assert_int_equal(get_be16(reply.bytes + 8), 0xffff);
	assert_int_equal(get_be16(reply.bytes + 10), 0x8005);
	assert_int_equal(get_be16(reply.bytes + 12), 0);
	/* The SM_Key is never sent back (management 4.1). */
	assert_int_equal(reply.sm_key, 0);
}

static void test_guid_records(void **state)
{
	(void)state;
	put_be16(data, 3);
	ask(2, MAD_GET, SA_GUID_INFO_RECORD, SA_COMPONENT(GIR_LID), 0);
	assert_int_equal(reply.status, 0);
	assert_int_equal(get_be64(reply.bytes + 8), fixture_port(&fixture, 3)->guid);
	assert_int_equal(get_be64(reply.bytes + 16), 0);
}

/* Any LID of a port finds its record, which has the base LID. */
static void test_every_lid_of_a_port_finds_its_records(void **state)
{
	(void)state;
	put_be16(data, 7);
	ask(2, MAD_GET, SA_NODE_RECORD, SA_COMPONENT(NR_LID), 0);
	assert_int_equal(reply.status, 0);
	assert_int_equal(get_be16(reply.bytes), 6);
}

static void trace(unsigned from_lid, unsigned to_lid)
{
	const struct path_record wanted = {.slid = (uint16_t)from_lid, .dlid = (uint16_t)to_lid};

	path_record_encode(&wanted, data);
	ask(2, MAD_GET_TRACE_TABLE, SA_TRACE_RECORD, SA_COMPONENT(PR_SLID) | SA_COMPONENT(PR_DLID),
	    0);
}

/* C15-0.1.8.6: GetTraceTable returns the nodes of a path in order. */
static void test_trace_names_every_node_in_order(void **state)
{
	static const struct {
		uint8_t type, entry, exit;
	} expected[] = {{NODE_CA, 0, 1}, {NODE_SWITCH, 2, 8}, {NODE_SWITCH, 8, 3}, {NODE_CA, 1, 0}};
	struct trace_record step;

	(void)state;
	trace(2, 3);
	assert_int_equal(reply.method, MAD_GET_TABLE_RESPONSE);
	assert_int_equal(reply.count, ARRAY_COUNT(expected));
	assert_int_equal(reply.stride, 48);
	for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
		trace_record_decode(record(i), &step);
		assert_int_equal(step.node_type, expected[i].type);
		assert_int_equal(step.entry_port, expected[i].entry);
		assert_int_equal(step.exit_port, expected[i].exit);
		/* Ids distinguish nodes without revealing their GUIDs. */
		assert_int_not_equal(step.node_id, 0x120);
	}
	trace(5, 6);
	assert_int_equal(reply.count, 2);
	trace(2, 2);
	assert_int_equal(reply.count, 1);
	trace(2, 0x777);
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
}

#define RECORD_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RECORD_TEST(test_node_records),
		RECORD_TEST(test_get_wants_exactly_one),
		RECORD_TEST(test_strangers_see_only_their_partition),
		RECORD_TEST(test_port_info_records),
		RECORD_TEST(test_capabilities_can_be_matched_as_a_subset),
		RECORD_TEST(test_switch_info_records),
		RECORD_TEST(test_sm_info_record_hides_the_key),
		RECORD_TEST(test_link_records),
		RECORD_TEST(test_linear_forwarding_records),
		RECORD_TEST(test_pkey_records_are_for_the_trusted),
		RECORD_TEST(test_guid_records),
		cmocka_unit_test_setup_teardown(test_every_lid_of_a_port_finds_its_records,
						set_up_lmc, tear_down),
		RECORD_TEST(test_trace_names_every_node_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
