/* SPDX-License-Identifier: Apache-2.0 */
/* Baseboard management of a node: B_Key, trap 259 and the frame of commands (management 6.2). */
#include "baseboard_rig.h"
#include "mgmt/agents/node_log.h"

enum { KEY = 0x1234, WRONG = 0x4321, LEASE_S = 5 };

static struct class_key_info key_info(struct node *node, uint64_t key)
{
	struct class_key_info info;

	assert_int_equal(board_ask(node, key, MAD_GET, ATTRIBUTE_BKEY_INFO, NULL, 0),
			 MAD_STATUS_OK);
	class_key_info_decode(fixture.answer.bytes + BASEBOARD_DATA_OFFSET, &info);
	return info;
}

static int set_key(struct node *node, uint64_t under, const struct class_key_info *info)
{
	uint8_t data[CLASS_KEY_INFO_BYTES];

	class_key_info_encode(info, data);
	return board_ask(node, under, MAD_SET, ATTRIBUTE_BKEY_INFO, data, sizeof(data));
}

static void protect(struct node *node)
{
	const struct class_key_info info = {
		.key = KEY, .protect_bit = 1, .lease_period = LEASE_S, .violations = 77};

	assert_int_equal(set_key(node, 0, &info), MAD_STATUS_OK);
}

static void test_node_without_a_manager_checks_no_key(void **state)
{
	struct class_key_info info;

	(void)state;
	info = key_info(&fixture.adapter, WRONG);
	assert_int_equal(info.key, 0);
	assert_int_equal(info.violations, 0);
	assert_int_equal(board_command(&fixture.adapter, WRONG, COMMAND_GET_MODULE_STATUS, NULL, 0),
			 BASEBOARD_OK);
}

static void test_active_manager_hides_the_key(void **state)
{
	(void)state;
	protect(&fixture.adapter);
	assert_int_equal(key_info(&fixture.adapter, KEY).key, KEY);
	assert_int_equal(key_info(&fixture.adapter, WRONG).key, 0);
	assert_int_equal(key_info(&fixture.adapter, WRONG).lease_period, LEASE_S);
	/* The counter is read only, and a Get is never a violation. */
	assert_int_equal(key_info(&fixture.adapter, KEY).violations, 0);
}

/* How many violations of the B_Key the node's log has. */
static unsigned logged_violations(const struct node *node)
{
	struct node_log_entry entries[NODE_LOG_ENTRIES_PER_MAD];
	struct node_log_header header;
	unsigned count = 0;

	node_log_read(&fixture.memory, node, 0, &header, entries);
	for (unsigned i = 0; i < header.entry_count; i++)
		if (entries[i].event == NODE_EVENT_KEY_VIOLATION && entries[i].code == NODE_KEY_B)
			count += entries[i].count;
	return count;
}

static void test_wrong_key_gets_no_answer_and_is_counted(void **state)
{
	const struct class_key_info other = {.key = 99};
	uint8_t data[CLASS_PORT_INFO_BYTES] = {0};
	const uint8_t off = MODULE_OUT_OF_SERVICE;

	(void)state;
	protect(&fixture.adapter);
	assert_int_equal(set_key(&fixture.adapter, WRONG, &other), NO_ANSWER);
	assert_int_equal(board_command(&fixture.adapter, WRONG, COMMAND_SET_MODULE_STATE, &off, 1),
			 NO_ANSWER);
	assert_int_equal(board_ask(&fixture.adapter, WRONG, MAD_SET, ATTRIBUTE_CLASS_PORT_INFO,
				   data, sizeof(data)),
			 NO_ANSWER);
	assert_int_equal(key_info(&fixture.adapter, KEY).violations, 3);
	assert_int_equal(logged_violations(&fixture.adapter), 3);
	assert_int_equal(logged_violations(&fixture.hub), 0);
	assert_int_equal(board_command(&fixture.adapter, KEY, COMMAND_GET_MODULE_STATUS, NULL, 0),
			 BASEBOARD_OK);
	assert_int_equal(board_answer()[0], POWER_ON);
	assert_int_equal(set_key(&fixture.adapter, KEY, &other), MAD_STATUS_OK);
	assert_int_equal(key_info(&fixture.adapter, 0).key, 99);
}

static void test_each_port_of_an_adapter_has_its_own_key(void **state)
{
	const struct class_key_info second = {.key = 0x22};

	(void)state;
	protect(&fixture.adapter);
	fixture.arrival = 2;
	assert_int_equal(set_key(&fixture.adapter, 0, &second), MAD_STATUS_OK);
	assert_int_equal(key_info(&fixture.adapter, 0).key, 0x22);
	assert_int_equal(set_key(&fixture.adapter, KEY, &second), NO_ANSWER);
	fixture.arrival = 1;
	assert_int_equal(key_info(&fixture.adapter, KEY).key, KEY);
	assert_int_equal(key_info(&fixture.adapter, KEY).violations, 0);
}

static void test_switch_has_one_key(void **state)
{
	(void)state;
	protect(&fixture.hub);
	assert_int_equal(key_info(&fixture.hub, KEY).key, KEY);
	assert_int_equal(board_command(&fixture.hub, WRONG, COMMAND_RESET_IBML, NULL, 0),
			 NO_ANSWER);
	assert_int_equal(key_info(&fixture.hub, KEY).violations, 1);
}

/* If the manager fails, the first refused request starts the lease; at its end a new manager can
 * read the key and take over. */
static void test_lease_that_is_over_shows_the_key(void **state)
{
	const struct class_key_info other = {.key = 99};

	(void)state;
	protect(&fixture.adapter);
	assert_int_equal(set_key(&fixture.adapter, WRONG, &other), NO_ANSWER);
	fixture.now = SECONDS(LEASE_S) - 1;
	assert_int_equal(key_info(&fixture.adapter, WRONG).protect_bit, 1);
	/* The manager is alive: its request stops the timer. */
	assert_int_equal(key_info(&fixture.adapter, KEY).protect_bit, 1);
	fixture.now = SECONDS(LEASE_S) + 1;
	assert_int_equal(key_info(&fixture.adapter, WRONG).protect_bit, 1);
	assert_int_equal(set_key(&fixture.adapter, WRONG, &other), NO_ANSWER);
	fixture.now += SECONDS(LEASE_S);
	assert_int_equal(key_info(&fixture.adapter, WRONG).protect_bit, 0);
	assert_int_equal(key_info(&fixture.adapter, WRONG).key, KEY);
	assert_int_equal(set_key(&fixture.adapter, KEY, &other), MAD_STATUS_OK);
}

static void test_violation_is_told_by_trap_259(void **state)
{
	const uint8_t on = ATTENTION_ON;
	struct agent_trap traps[4];
	struct bad_bkey_details details;
	struct notice notice;

	(void)state;
	protect(&fixture.adapter);
	board_listen(&fixture.adapter.ports[1], KEY);
	assert_int_equal(
		board_command(&fixture.adapter, WRONG, COMMAND_SET_MODULE_ATTENTION, &on, 1),
		NO_ANSWER);
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 4, traps), 1);
	assert_int_equal(traps[0].message.address.lid, 6);
	assert_int_equal(traps[0].message.address.sl, 3);
	notice = board_notice(&traps[0]);
	assert_int_equal(notice.header.type, NOTICE_SECURITY);
	assert_int_equal(notice.header.trap_number, 259);
	assert_int_equal(notice.header.issuer_lid, 2);
	bad_bkey_details_decode(notice.details, &details);
	assert_int_equal(details.lid, MANAGER_LID);
	assert_int_equal(details.method, MAD_SEND);
	assert_int_equal(details.attribute_id, COMMAND_SET_MODULE_ATTENTION);
	assert_int_equal(details.attribute_modifier, 0);
	assert_int_equal(details.qpn, MANAGER_QPN);
	assert_int_equal(details.bkey, WRONG);
}

static void test_trap_is_repeated_until_it_is_repressed(void **state)
{
	time_ns distance = time_from_code(fixture.adapter.ports[1].info.subnet_timeout);
	struct mad_message repress;
	struct agent_trap traps[4];

	(void)state;
	protect(&fixture.adapter);
	board_listen(&fixture.adapter.ports[1], KEY);
	assert_int_equal(board_command(&fixture.adapter, WRONG, COMMAND_RESET_IBML, NULL, 0),
			 NO_ANSWER);
	for (unsigned repetition = 0; repetition < 3; repetition++) {
		assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 4, traps), 1);
		assert_int_equal(agent_deadline(&fixture.memory), fixture.now + distance);
		assert_int_equal(
			agent_take_traps(&fixture.memory, fixture.now + distance - 1, 4, traps), 0);
		fixture.now += distance;
	}
	/* TrapRepress needs the key too. */
	repress = board_request(WRONG, MAD_TRAP_REPRESS, ATTRIBUTE_NOTICE, 0);
	memcpy(repress.bytes + 8, traps[0].message.bytes + 8, 8);
	assert_false(board_deliver(&fixture.adapter, &repress));
	assert_int_equal(key_info(&fixture.adapter, KEY).violations, 2);
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 4, traps), 1);
	fixture.now += distance;
	for (unsigned pending = 0; pending < 2; pending++) {
		assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 4, traps), 1);
		repress = board_request(KEY, MAD_TRAP_REPRESS, ATTRIBUTE_NOTICE, 0);
		memcpy(repress.bytes + 8, traps[0].message.bytes + 8, 8);
		assert_false(board_deliver(&fixture.adapter, &repress));
		fixture.now += distance;
	}
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 4, traps), 0);
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

static void test_class_port_info_tells_what_the_agent_can(void **state)
{
	struct class_port_info info;

	(void)state;
	assert_int_equal(board_ask(&fixture.hub, 0, MAD_GET, ATTRIBUTE_CLASS_PORT_INFO, NULL, 0),
			 MAD_STATUS_OK);
	class_port_info_decode(fixture.answer.bytes + BASEBOARD_DATA_OFFSET, &info);
	assert_int_equal(info.capability_mask, 0x0303);
}

static struct notice read_notice(const struct notice *removed)
{
	uint8_t data[NOTICE_BYTES] = {0};
	struct notice notice;

	if (removed)
		notice_encode(removed, data);
	assert_int_equal(board_ask(&fixture.adapter, KEY, removed ? MAD_SET : MAD_GET,
				   ATTRIBUTE_NOTICE, data, sizeof(data)),
			 MAD_STATUS_OK);
	notice_decode(fixture.answer.bytes + BASEBOARD_DATA_OFFSET, &notice);
	return notice;
}

/* Notices can be read and removed without traps (management 5.3). */
static void test_notices_are_read_one_by_one(void **state)
{
	struct notice notice;
	struct agent_trap trap;

	(void)state;
	protect(&fixture.adapter);
	board_listen(&fixture.adapter.ports[1], KEY);
	assert_int_equal(read_notice(NULL).header.type, NOTICE_EMPTY);
	assert_int_equal(board_command(&fixture.adapter, WRONG, COMMAND_RESET_IBML, NULL, 0),
			 NO_ANSWER);
	assert_int_equal(board_command(&fixture.adapter, WRONG, COMMAND_GET_MODULE_STATUS, NULL, 0),
			 NO_ANSWER);
	notice = read_notice(NULL);
	assert_int_equal(notice.header.trap_number, TRAP_BAD_BKEY);
	assert_int_equal(notice.header.count, 2);
	notice = read_notice(&notice);
	assert_int_equal(notice.header.count, 1);
	assert_int_equal(read_notice(&notice).header.type, NOTICE_EMPTY);
	assert_int_equal(agent_take_traps(&fixture.memory, SECONDS(10), 1, &trap), 0);
}

static void test_answer_is_not_answered(void **state)
{
	struct mad_message answer = board_request(WRONG, MAD_SEND, COMMAND_READ_VPD, 1);

	(void)state;
	protect(&fixture.hub);
	assert_false(board_deliver(&fixture.hub, &answer));
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
	assert_int_equal(key_info(&fixture.hub, KEY).violations, 0);
}

static void test_bad_fields_are_refused(void **state)
{
	struct mad_message request = board_request(0, MAD_SET, ATTRIBUTE_BKEY_INFO, 1);

	(void)state;
	assert_true(board_deliver(&fixture.hub, &request));
	assert_int_equal(get_be16(fixture.answer.bytes + 4), MAD_STATUS_BAD_FIELD);
	request = board_request(0, MAD_GET, ATTRIBUTE_BKEY_INFO, 1);
	assert_true(board_deliver(&fixture.hub, &request));
	assert_int_equal(get_be16(fixture.answer.bytes + 4), MAD_STATUS_BAD_FIELD);
	/* More parameters than fit. */
	request = board_request(0, MAD_SEND, COMMAND_OEM, 0);
	request.bytes[BASEBOARD_DATA_OFFSET + 3] = PARAMETERS_MAX + 1;
	assert_true(board_deliver(&fixture.hub, &request));
	assert_int_equal(fixture.answer.bytes[BASEBOARD_DATA_OFFSET + 4],
			 BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(board_answer_bytes(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_node_without_a_manager_checks_no_key),
		TEST(test_active_manager_hides_the_key),
		TEST(test_wrong_key_gets_no_answer_and_is_counted),
		TEST(test_each_port_of_an_adapter_has_its_own_key),
		TEST(test_switch_has_one_key),
		TEST(test_lease_that_is_over_shows_the_key),
		TEST(test_violation_is_told_by_trap_259),
		TEST(test_trap_is_repeated_until_it_is_repressed),
		TEST(test_class_port_info_tells_what_the_agent_can),
		TEST(test_notices_are_read_one_by_one),
		TEST(test_answer_is_not_answered),
		TEST(test_bad_fields_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
