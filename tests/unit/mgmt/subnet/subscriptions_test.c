/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions: which are equal, and which notices they cover (management 4.8). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/subnet/subscriptions.h"

static struct subscriptions subscriptions;

static int set_up(void **state)
{
	(void)state;
	subscriptions_init(&subscriptions);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	subscriptions_release(&subscriptions);
	return 0;
}

static const struct inform_info everything = {
	.lid_range_begin = INFORM_ANY_LID,
	.is_generic = 1,
	.type = INFORM_ANY_TYPE,
	.trap_number = INFORM_ANY_TRAP,
	.producer_type = INFORM_ANY_PRODUCER,
};

static const struct notice link_state = {.header = {.is_generic = 1,
						    .type = NOTICE_URGENT,
						    .producer_type = PRODUCER_SWITCH,
						    .trap_number = TRAP_LINK_STATE_CHANGE,
						    .issuer_lid = 7}};

static bool matches(struct inform_info info)
{
	struct gid issuer = gid_from(0xfe80000000000000, 0x77);

	return inform_info_matches(&info, &link_state, &issuer);
}

static void test_each_field_narrows_what_matches(void **state)
{
	struct inform_info info = everything;

	(void)state;
	assert_true(matches(info));
	info.trap_number = TRAP_LINK_STATE_CHANGE;
	assert_true(matches(info));
	info.trap_number = TRAP_LOCAL_CHANGE;
	assert_false(matches(info));
	info = everything;
	info.type = NOTICE_URGENT;
	assert_true(matches(info));
	info.type = NOTICE_FATAL;
	assert_false(matches(info));
	info = everything;
	info.producer_type = PRODUCER_SWITCH;
	assert_true(matches(info));
	info.producer_type = PRODUCER_CA;
	assert_false(matches(info));
	info = everything;
	info.is_generic = 0;
	assert_false(matches(info));
	info.is_generic = 0xff;
	assert_true(matches(info));
}

static void test_issuer_is_meant_by_range_or_gid(void **state)
{
	struct inform_info info = everything;

	(void)state;
	info.lid_range_begin = 5;
	info.lid_range_end = 7;
	assert_true(matches(info));
	info.lid_range_end = 6;
	assert_false(matches(info));
	info.lid_range_begin = 8;
	info.lid_range_end = 9;
	assert_false(matches(info));
	/* A GID is used instead of the LID range. */
	info.gid_prefix = 0xfe80000000000000;
	info.gid_guid = 0x77;
	assert_true(matches(info));
	info.gid_guid = 0x78;
	assert_false(matches(info));
}

static struct subscription *add(uint64_t port_guid, uint32_t qpn, struct inform_info info)
{
	const struct mad_address address = {.lid = 3, .qpn = qpn};
	struct subscription *subscription;

	assert_int_equal(
		subscriptions_add(&subscriptions, &address, port_guid, &info, &subscription), 0);
	return subscription;
}

static void test_a_subscription_is_of_a_port_a_qp_and_notices(void **state)
{
	struct inform_info other = everything;
	struct subscription *first = add(1, 1, everything);

	(void)state;
	other.trap_number = 5;
	assert_ptr_equal(subscriptions_find(&subscriptions, 1, 1, &everything), first);
	assert_null(subscriptions_find(&subscriptions, 2, 1, &everything));
	assert_null(subscriptions_find(&subscriptions, 1, 2, &everything));
	assert_null(subscriptions_find(&subscriptions, 1, 1, &other));
	/* Subscribe, QPN and RespTimeValue do not distinguish subscriptions. */
	other = everything;
	other.subscribe = 1;
	other.qpn = 9;
	other.resp_time_value = 3;
	other.lid_range_end = 44;
	assert_ptr_equal(subscriptions_find(&subscriptions, 1, 1, &other), first);
}

static void test_numbers_count_per_port(void **state)
{
	struct inform_info other = everything;

	(void)state;
	other.trap_number = 5;
	assert_int_equal(add(1, 1, everything)->number, 0);
	assert_int_equal(add(1, 1, other)->number, 1);
	assert_int_equal(add(2, 1, everything)->number, 0);
}

/* The limit of one port leaves room for others. */
static void test_there_is_an_end_to_a_ports_subscriptions(void **state)
{
	const struct mad_address address = {.lid = 3, .qpn = 1};
	struct subscription *subscription;
	struct inform_info info = everything;

	(void)state;
	for (unsigned i = 0; i < SUBSCRIPTIONS_PER_PORT_MAX; i++) {
		info.trap_number = (uint16_t)i;
		add(1, 1, info);
	}
	assert_int_equal(subscriptions_add(&subscriptions, &address, 1, &info, &subscription),
			 -ENOSPC);
	add(2, 1, info);
}

#define SUBSCRIPTION_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SUBSCRIPTION_TEST(test_each_field_narrows_what_matches),
		SUBSCRIPTION_TEST(test_issuer_is_meant_by_range_or_gid),
		SUBSCRIPTION_TEST(test_a_subscription_is_of_a_port_a_qp_and_notices),
		SUBSCRIPTION_TEST(test_numbers_count_per_port),
		SUBSCRIPTION_TEST(test_there_is_an_end_to_a_ports_subscriptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
