/* SPDX-License-Identifier: Apache-2.0 */
/* CC_Key: which requests may set, when the key is shown, leases, violations and trap 0 (management
 * 6.5). */
#include "congestion_rig.h"

#include "wire/notice.h"

enum { KEY = 0x1234, WRONG = 0x4321, LEASE_S = 5 };

static struct class_key_info key_info(uint64_t key)
{
	struct class_key_info info;

	assert_int_equal(congestion_ask(&fixture.adapter, key, MAD_GET,
					ATTRIBUTE_CONGESTION_KEY_INFO, 0, NULL),
			 MAD_STATUS_OK);
	class_key_info_decode(congestion_data(), &info);
	return info;
}

static int set_key(uint64_t under, const struct class_key_info *info)
{
	uint8_t data[DATA_BYTES] = {0};

	class_key_info_encode(info, data);
	return congestion_ask(&fixture.adapter, under, MAD_SET, ATTRIBUTE_CONGESTION_KEY_INFO, 0,
			      data);
}

static void protect(void)
{
	const struct class_key_info info = {.key = KEY, .protect_bit = 1, .lease_period = LEASE_S};

	assert_int_equal(set_key(0, &info), MAD_STATUS_OK);
}

static void test_key_is_shown_to_who_has_it(void **state)
{
	(void)state;
	assert_int_equal(key_info(WRONG).key, 0);
	protect();
	assert_int_equal(key_info(KEY).key, KEY);
	assert_int_equal(key_info(WRONG).key, 0);
	assert_int_equal(key_info(WRONG).lease_period, LEASE_S);
	/* A Get is never a violation. */
	assert_int_equal(key_info(KEY).violations, 0);
}

static void test_set_under_a_wrong_key_gets_no_answer_and_counts(void **state)
{
	const struct class_key_info other = {.key = 99};
	uint8_t data[DATA_BYTES] = {0};

	(void)state;
	protect();
	assert_int_equal(set_key(WRONG, &other), -1);
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
	assert_int_equal(congestion_ask(&fixture.adapter, WRONG, MAD_SET,
					ATTRIBUTE_CA_CONGESTION_SETTING, 0, data),
			 -1);
	assert_null(fixture.adapter.ports[1].congestion);
	assert_int_equal(key_info(KEY).violations, 2);
	assert_int_equal(key_info(KEY).key, KEY);
	assert_int_equal(set_key(KEY, &other), MAD_STATUS_OK);
	assert_int_equal(key_info(0).key, 99);
}

static void test_lease_that_is_over_shows_the_key(void **state)
{
	const struct class_key_info other = {.key = 99};

	(void)state;
	protect();
	assert_int_equal(set_key(WRONG, &other), -1);
	fixture.now = SECONDS(LEASE_S) - 1;
	assert_int_equal(key_info(WRONG).protect_bit, 1);
	/* A request with the key renews the lease. */
	assert_int_equal(key_info(KEY).protect_bit, 1);
	fixture.now = SECONDS(LEASE_S) + 1;
	assert_int_equal(key_info(WRONG).protect_bit, 1);
	assert_int_equal(set_key(WRONG, &other), -1);
	fixture.now += SECONDS(LEASE_S);
	assert_int_equal(key_info(WRONG).protect_bit, 0);
	assert_int_equal(key_info(WRONG).key, KEY);
}

/* The trap goes from QP1 to the address in ClassPortInfo, and traps keep the distance of
 * SubnetTimeOut. */
static void test_violation_is_told_by_trap_0(void **state)
{
	const struct class_port_info place = {
		.trap_lid = 6, .trap_qpn = 1, .trap_qkey = 0x80010000, .trap_sl = 3};
	const struct class_key_info other = {.key = 99};
	uint8_t data[DATA_BYTES] = {0};
	struct agent_trap traps[4];
	struct bad_cc_key_details details;
	struct notice notice;

	(void)state;
	fixture.adapter.ports[1].info.port_state = PORT_ACTIVE;
	fixture.adapter.ports[1].info.lid = 2;
	protect();
	assert_int_equal(set_key(WRONG, &other), -1);
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 4, traps), 0);

	class_port_info_encode(&place, data);
	assert_int_equal(
		congestion_ask(&fixture.adapter, KEY, MAD_SET, ATTRIBUTE_CLASS_PORT_INFO, 0, data),
		MAD_STATUS_OK);
	assert_int_equal(set_key(WRONG, &other), -1);
	assert_int_equal(set_key(WRONG, &other), -1);
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 4, traps), 1);
	assert_ptr_equal(traps[0].port, &fixture.adapter.ports[1]);
	assert_int_equal(traps[0].message.address.lid, 6);
	assert_int_equal(traps[0].message.address.qpn, 1);
	assert_int_equal(traps[0].message.address.qkey, 0x80010000);
	assert_int_equal(traps[0].message.address.sl, 3);
	assert_int_equal(traps[0].message.bytes[1], MAD_CLASS_CONGESTION_CONTROL);
	assert_int_equal(traps[0].message.bytes[3], MAD_TRAP);
	notice_decode(traps[0].message.bytes + SMP_DATA_OFFSET, &notice);
	assert_int_equal(notice.header.type, NOTICE_SECURITY);
	assert_int_equal(notice.header.trap_number, TRAP_BAD_CC_KEY);
	assert_int_equal(notice.header.issuer_lid, 2);
	bad_cc_key_details_decode(notice.details, &details);
	assert_int_equal(details.slid, MANAGER_LID);
	assert_int_equal(details.qpn, MANAGER_QPN);
	assert_int_equal(details.method, MAD_SET);
	assert_int_equal(details.attribute_id, ATTRIBUTE_CONGESTION_KEY_INFO);
	assert_int_equal(details.cc_key, WRONG);

	fixture.now += time_from_code(fixture.adapter.ports[1].info.subnet_timeout);
	assert_int_equal(set_key(WRONG, &other), -1);
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 4, traps), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_key_is_shown_to_who_has_it),
		TEST(test_set_under_a_wrong_key_gets_no_answer_and_counts),
		TEST(test_lease_that_is_over_shows_the_key),
		TEST(test_violation_is_told_by_trap_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
