/* SPDX-License-Identifier: Apache-2.0 */
/* The baseboard manager with one port and a scripted SA: steps, traps, subscriptions (management
 * 6.2). tests/sim/baseboard_management_test.c has whole fabrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/baseboard/baseboard_manager.h"
#include "wire/baseboard.h"
#include "wire/class_port_info.h"
#include "wire/rmpp.h"

enum { KEY = 0x99, AGENT = 0x77, SA_AGENT = 0x78, PORT_LID = 5, OWN_LID = 2, SM_LID = 1 };

static struct baseboard_manager manager;
static struct mad_message sent;
static time_ns now;
static unsigned events[BASEBOARD_SWEPT + 1];

static void tell(void *context, const struct baseboard_event *event)
{
	(void)context;
	events[event->kind]++;
}

static int begin(bool takes_over)
{
	const struct baseboard_manager_options options = {.agent_number = AGENT,
							  .sa_agent_number = SA_AGENT,
							  .keys = {.key = KEY},
							  .lease_period = 30,
							  .protects = true,
							  .takes_over = takes_over,
							  .tell = tell};
	const struct baseboard_manager_port port = {
		.lid = OWN_LID, .gid = gid_from(0xfe80000000000000, 0x20), .sm_lid = SM_LID};
	int error = baseboard_manager_init(&manager, &options);

	now = SECONDS(1);
	memset(events, 0, sizeof(events));
	if (!error)
		baseboard_manager_set_port(&manager, &port);
	return error;
}

static int setup(void **state)
{
	(void)state;
	return begin(false);
}

static int teardown(void **state)
{
	(void)state;
	baseboard_manager_release(&manager);
	return 0;
}

static bool transmit(void)
{
	return baseboard_manager_transmit(&manager, now, 1, &sent) == 1;
}

/* The SA's table with the one port, as one RMPP segment. */
static void answer_table(void)
{
	const struct sa_header header = {.attribute_offset = 112 / 8};
	const struct rmpp_header rmpp = {.version = 1,
					 .type = RMPP_TYPE_DATA,
					 .flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST |
						  RMPP_FLAG_LAST,
					 .segment_number = 1,
					 .length_or_last = SA_HEADER_BYTES + 112};
	const struct node_info info = {.port_guid = 0x50};
	struct mad_message answer = sent;

	assert_int_equal(sent.bytes[1], MAD_CLASS_SUBNET_ADMINISTRATION);
	assert_int_equal(sent.bytes[3], MAD_GET_TABLE);
	memset(answer.bytes + MAD_HEADER_BYTES, 0, MAD_BYTES - MAD_HEADER_BYTES);
	answer.bytes[3] = MAD_GET_TABLE_RESPONSE;
	rmpp_header_encode(&rmpp, answer.bytes);
	sa_header_encode(&header, answer.bytes + SA_HEADER_OFFSET);
	put_be16(answer.bytes + SA_DATA_OFFSET, PORT_LID);
	node_info_encode(&info, answer.bytes + SA_DATA_OFFSET + NODE_RECORD_INFO_OFFSET);
	baseboard_manager_receive(&manager, now, &answer);
}

/* The next request to the port; acknowledgements of the table come between. */
static void expect_request(uint8_t method, uint16_t attribute, uint64_t key)
{
	do {
		assert_true(transmit());
	} while (sent.bytes[1] == MAD_CLASS_SUBNET_ADMINISTRATION);
	assert_int_equal(sent.bytes[1], MAD_CLASS_BASEBOARD);
	assert_int_equal(sent.bytes[3], method);
	assert_int_equal(get_be16(sent.bytes + 16), attribute);
	assert_int_equal(get_be64(sent.bytes + 24), key);
	assert_int_equal(sent.address.lid, PORT_LID);
}

static void expect_quiet(void)
{
	while (transmit())
		assert_int_equal(sent.bytes[1], MAD_CLASS_SUBNET_ADMINISTRATION);
}

static void answer_request(const struct class_key_info *info)
{
	struct mad_message answer = sent;

	answer.bytes[3] = MAD_GET_RESPONSE;
	if (info)
		class_key_info_encode(info, answer.bytes + BASEBOARD_DATA_OFFSET);
	baseboard_manager_receive(&manager, now, &answer);
}

static void sweep(void)
{
	assert_true(transmit());
	answer_table();
}

static void manage(void)
{
	sweep();
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	answer_request(&(struct class_key_info){0});
	expect_request(MAD_SET, ATTRIBUTE_CLASS_PORT_INFO, KEY);
	answer_request(NULL);
	expect_request(MAD_SET, ATTRIBUTE_BKEY_INFO, KEY);
	answer_request(NULL);
	assert_int_equal(baseboard_manager_count(&manager, MANAGED_OURS), 1);
}

static void set_key_is_answered(const struct class_key_info *info)
{
	sweep();
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	answer_request(&(struct class_key_info){0});
	expect_request(MAD_SET, ATTRIBUTE_CLASS_PORT_INFO, KEY);
	answer_request(NULL);
	expect_request(MAD_SET, ATTRIBUTE_BKEY_INFO, KEY);
	answer_request(info);
	expect_quiet();
	now += SECONDS(10);
}

/* A port is ours when the answer to the Set says so, and not because there is one. */
static void test_answer_to_set_tells_whether_port_took_the_key(void **state)
{
	(void)state;
	set_key_is_answered(&(struct class_key_info){.key = KEY + 1, .protect_bit = 1});
	assert_int_equal(baseboard_manager_count(&manager, MANAGED_FOREIGN), 1);
	set_key_is_answered(&(struct class_key_info){0});
	assert_int_equal(baseboard_manager_count(&manager, MANAGED_SILENT), 1);
	assert_int_equal(events[BASEBOARD_PORT_OURS], 0);
	/* Not shown, but there. */
	set_key_is_answered(&(struct class_key_info){.protect_bit = 1});
	assert_int_equal(baseboard_manager_count(&manager, MANAGED_OURS), 1);
	set_key_is_answered(&(struct class_key_info){0});
	assert_int_equal(baseboard_manager_count(&manager, MANAGED_SILENT), 1);
	set_key_is_answered(&(struct class_key_info){.key = KEY, .protect_bit = 1});
	assert_int_equal(baseboard_manager_count(&manager, MANAGED_OURS), 1);
}

static void test_free_port_gets_address_and_key(void **state)
{
	struct class_port_info address;
	struct class_key_info key;

	(void)state;
	sweep();
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	answer_request(&(struct class_key_info){0});
	expect_request(MAD_SET, ATTRIBUTE_CLASS_PORT_INFO, KEY);
	class_port_info_decode(sent.bytes + BASEBOARD_DATA_OFFSET, &address);
	assert_int_equal(address.trap_lid, OWN_LID);
	assert_int_equal(address.trap_qpn, 1);
	assert_int_equal(address.trap_gid_guid, 0x20);
	answer_request(NULL);
	expect_request(MAD_SET, ATTRIBUTE_BKEY_INFO, KEY);
	class_key_info_decode(sent.bytes + BASEBOARD_DATA_OFFSET, &key);
	assert_int_equal(key.key, KEY);
	assert_int_equal(key.protect_bit, 1);
	assert_int_equal(key.lease_period, 30);
	answer_request(NULL);
	assert_int_equal(events[BASEBOARD_PORT_OURS], 1);
	/* A third of the lease later it is read again, which renews the lease. */
	now += SECONDS(10);
	sweep();
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	answer_request(&key);
	expect_quiet();
	/* A port that lost the protect bit is set again. */
	now += SECONDS(10);
	sweep();
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	key.protect_bit = 0;
	answer_request(&key);
	expect_request(MAD_SET, ATTRIBUTE_CLASS_PORT_INFO, KEY);
}

static void test_key_of_another_manager_is_left_alone(void **state)
{
	(void)state;
	sweep();
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	answer_request(&(struct class_key_info){.key = 0, .protect_bit = 1});
	assert_int_equal(events[BASEBOARD_PORT_FOREIGN], 1);
	expect_quiet();
}

static void test_key_that_can_be_read_is_taken_over(void **state)
{
	(void)state;
	baseboard_manager_release(&manager);
	assert_int_equal(begin(true), 0);
	sweep();
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	/* Hidden: an attempt starts its lease. */
	answer_request(&(struct class_key_info){.key = 0, .protect_bit = 1});
	expect_request(MAD_SET, ATTRIBUTE_BKEY_INFO, KEY);
	for (unsigned i = 0; i < 3; i++) {
		now += SECONDS(1);
		(void)transmit();
	}
	now += SECONDS(10);
	sweep();
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	answer_request(&(struct class_key_info){.key = 0x55});
	expect_request(MAD_SET, ATTRIBUTE_CLASS_PORT_INFO, 0x55);
	answer_request(NULL);
	expect_request(MAD_SET, ATTRIBUTE_BKEY_INFO, 0x55);
	answer_request(NULL);
	assert_int_equal(baseboard_manager_count(&manager, MANAGED_OURS), 1);
}

static void test_silent_port_is_asked_again_later(void **state)
{
	(void)state;
	sweep();
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	for (unsigned i = 0; i < 5; i++) {
		now += MILLISECONDS(300);
		(void)transmit();
	}
	assert_int_equal(events[BASEBOARD_PORT_SILENT], 1);
	now += SECONDS(10);
	manage();
}

static struct mad_message make_trap(uint16_t number, uint64_t transaction_id, uint16_t lid)
{
	const struct mad_header header = {.base_version = 1,
					  .management_class = MAD_CLASS_BASEBOARD,
					  .class_version = 1,
					  .method = MAD_TRAP,
					  .transaction_id = transaction_id,
					  .attribute_id = ATTRIBUTE_NOTICE};
	const struct notice notice = {.header = {.is_generic = 1,
						 .type = NOTICE_URGENT,
						 .producer_type = 1,
						 .trap_number = number,
						 .issuer_lid = lid}};
	struct mad_message trap = {.address = {.lid = lid, .qpn = 1}};

	mad_header_encode(&header, trap.bytes);
	notice_encode(&notice, trap.bytes + BASEBOARD_DATA_OFFSET);
	return trap;
}

static void test_trap_is_repressed_and_told_once(void **state)
{
	struct mad_message trap = make_trap(TRAP_BASEBOARD, 0x1234, PORT_LID);

	(void)state;
	manage();
	for (unsigned i = 0; i < 3; i++) {
		baseboard_manager_receive(&manager, now, &trap);
		expect_request(MAD_TRAP_REPRESS, ATTRIBUTE_NOTICE, KEY);
		assert_int_equal(get_be64(sent.bytes + 8), 0x1234);
	}
	assert_int_equal(events[BASEBOARD_TRAP], 1);
	/* Ports that are not known wait for the next sweep. */
	trap = make_trap(TRAP_BASEBOARD, 0x1235, 77);
	baseboard_manager_receive(&manager, now, &trap);
	expect_quiet();
}

static void test_bad_key_is_followed_by_a_renewal(void **state)
{
	const struct mad_message trap = make_trap(TRAP_BAD_BKEY, 0x1234, PORT_LID);

	(void)state;
	manage();
	baseboard_manager_receive(&manager, now, &trap);
	expect_request(MAD_TRAP_REPRESS, ATTRIBUTE_NOTICE, KEY);
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
}

/* Returns the status of the response. */
static uint16_t subscribe(uint16_t lid, uint64_t key, const struct inform_info *info)
{
	const struct mad_header header = {.base_version = 1,
					  .management_class = MAD_CLASS_BASEBOARD,
					  .class_version = 1,
					  .method = MAD_SET,
					  .transaction_id = 9,
					  .attribute_id = ATTRIBUTE_INFORM_INFO};
	struct mad_message request = {.address = {.lid = lid, .qpn = 1}};

	mad_header_encode(&header, request.bytes);
	put_be64(request.bytes + CLASS_KEY_OFFSET, key);
	inform_info_encode(info, request.bytes + BASEBOARD_DATA_OFFSET);
	baseboard_manager_receive(&manager, now, &request);
	assert_true(transmit());
	assert_int_equal(sent.bytes[3], MAD_GET_RESPONSE);
	/* The key does not go back. */
	assert_int_equal(get_be64(sent.bytes + CLASS_KEY_OFFSET), 0);
	return get_be16(sent.bytes + MAD_STATUS_OFFSET);
}

static void test_subscriber_gets_reports(void **state)
{
	const struct inform_info all = {.lid_range_begin = INFORM_ANY_LID,
					.is_generic = 1,
					.subscribe = 1,
					.type = INFORM_ANY_TYPE,
					.trap_number = INFORM_ANY_TRAP,
					.producer_type = INFORM_ANY_PRODUCER};
	struct inform_info none = all, bad = all;
	struct mad_message trap = make_trap(TRAP_BASEBOARD, 1, PORT_LID);

	(void)state;
	none.subscribe = 0;
	bad.subscribe = 2;
	manage();
	assert_int_equal(subscribe(77, 0, &all), MAD_STATUS_BUSY);
	assert_int_equal(subscribe(PORT_LID, 0, &bad), MAD_STATUS_BAD_FIELD);
	assert_int_equal(subscribe(PORT_LID, 0, &all), MAD_STATUS_OK);
	assert_int_equal(subscribe(PORT_LID, 0, &all), MAD_STATUS_OK);
	assert_int_equal(manager.subscriptions.count, 1);
	baseboard_manager_receive(&manager, now, &trap);
	expect_request(MAD_TRAP_REPRESS, ATTRIBUTE_NOTICE, KEY);
	expect_request(MAD_REPORT, ATTRIBUTE_NOTICE, 0);
	assert_int_equal(get_be64(sent.bytes + BASEBOARD_DATA_OFFSET + NOTICE_BYTES + 8), 0x50);
	sent.bytes[3] = MAD_REPORT_RESPONSE;
	baseboard_manager_receive(&manager, now, &sent);
	/* Trap 259 has a key in it: only a subscriber with the manager's own key gets it. */
	trap = make_trap(TRAP_BAD_BKEY, 2, PORT_LID);
	baseboard_manager_receive(&manager, now, &trap);
	expect_request(MAD_TRAP_REPRESS, ATTRIBUTE_NOTICE, KEY);
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	expect_quiet();
	assert_int_equal(subscribe(PORT_LID, KEY, &all), MAD_STATUS_OK);
	trap = make_trap(TRAP_BAD_BKEY, 3, PORT_LID);
	baseboard_manager_receive(&manager, now, &trap);
	expect_request(MAD_TRAP_REPRESS, ATTRIBUTE_NOTICE, KEY);
	expect_request(MAD_REPORT, ATTRIBUTE_NOTICE, 0);
	assert_int_equal(subscribe(PORT_LID, 0, &none), MAD_STATUS_OK);
	assert_int_equal(subscribe(PORT_LID, 0, &none), MAD_STATUS_BAD_FIELD);
	assert_int_equal(manager.subscriptions.count, 0);
}

/* More traps than the outbox holds: the others are repeated, nothing is lost or written beyond. */
static void test_flood_of_traps_is_bounded(void **state)
{
	unsigned count = 0;

	(void)state;
	manage();
	for (uint64_t id = 1; id <= 2 * BASEBOARD_OUTBOX_MAX; id++) {
		const struct mad_message trap = make_trap(TRAP_BASEBOARD, id, PORT_LID);

		baseboard_manager_receive(&manager, now, &trap);
	}
	assert_int_equal(events[BASEBOARD_TRAP], BASEBOARD_OUTBOX_MAX);
	while (transmit())
		count += sent.bytes[3] == MAD_TRAP_REPRESS;
	assert_int_equal(count, BASEBOARD_OUTBOX_MAX);
}

/* The manager knows the LID of the GID, so it needs no question to the SA. */
static void test_redirection_to_a_gid_is_followed_by_the_table(void **state)
{
	const struct class_port_info place = {.redirect_gid_prefix = 0xfe80000000000000,
					      .redirect_gid_guid = 0x50,
					      .redirect_qpn = 7};
	const struct class_port_info unknown = {.redirect_gid_prefix = 0xfe80000000000000,
						.redirect_gid_guid = 0x51,
						.redirect_qpn = 7};
	struct mad_message answer;

	(void)state;
	sweep();
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	answer = sent;
	answer.bytes[3] = MAD_GET_RESPONSE;
	put_be16(answer.bytes + 4, MAD_STATUS_REDIRECT);
	put_be16(answer.bytes + 16, ATTRIBUTE_CLASS_PORT_INFO);
	class_port_info_encode(&place, answer.bytes + BASEBOARD_DATA_OFFSET);
	baseboard_manager_receive(&manager, now, &answer);
	expect_request(MAD_GET, ATTRIBUTE_BKEY_INFO, KEY);
	assert_int_equal(sent.address.qpn, 7);
	class_port_info_encode(&unknown, answer.bytes + BASEBOARD_DATA_OFFSET);
	baseboard_manager_receive(&manager, now, &answer);
	expect_quiet();
	assert_int_equal(baseboard_manager_count(&manager, MANAGED_SILENT), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(test_free_port_gets_address_and_key),
		TEST(test_answer_to_set_tells_whether_port_took_the_key),
		TEST(test_redirection_to_a_gid_is_followed_by_the_table),
		TEST(test_key_of_another_manager_is_left_alone),
		TEST(test_key_that_can_be_read_is_taken_over),
		TEST(test_silent_port_is_asked_again_later),
		TEST(test_trap_is_repressed_and_told_once),
		TEST(test_bad_key_is_followed_by_a_renewal),
		TEST(test_subscriber_gets_reports),
		TEST(test_flood_of_traps_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
