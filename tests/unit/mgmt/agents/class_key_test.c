/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that CC_Key and B_Key share: each method and key, the lease, the counter (management
 * 2.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/agents/class_key.h"

enum { KEY = 0x1234, WRONG = 0x4321, LEASE_S = 5 };

static struct class_key key;
static struct mad_message message;
static struct gs_request request;

static int setup(void **state)
{
	(void)state;
	class_key_init(&key);
	request = (struct gs_request){.message = &message};
	return 0;
}

static bool admits(uint64_t with, uint8_t method, time_ns now)
{
	put_be64(message.bytes + CLASS_KEY_OFFSET, with);
	request.header.method = method;
	request.now = now;
	return class_key_admits(&key, &request);
}

static struct class_key_info show(uint64_t with, time_ns now)
{
	put_be64(message.bytes + CLASS_KEY_OFFSET, with);
	request.now = now;
	return class_key_show(&key, &request);
}

static void give(uint8_t protect_bit, uint16_t lease_period)
{
	const struct class_key_info info = {
		.key = KEY, .protect_bit = protect_bit, .lease_period = lease_period};

	class_key_change(&key, &info);
}

static void test_key_0_admits_everything(void **state)
{
	(void)state;
	assert_true(admits(WRONG, MAD_SET, 0));
	assert_true(admits(WRONG, MAD_SEND, 0));
	assert_int_equal(show(0, 0).violations, 0);
}

static void test_only_a_get_passes_without_the_key(void **state)
{
	static const uint8_t methods[] = {MAD_SET, MAD_SEND, MAD_TRAP_REPRESS};

	(void)state;
	give(1, 0);
	assert_true(admits(WRONG, MAD_GET, 0));
	for (uint16_t i = 0; i < sizeof(methods); i++) {
		assert_true(admits(KEY, methods[i], 0));
		assert_false(admits(WRONG, methods[i], 0));
		assert_false(admits(0, methods[i], 0));
		assert_int_equal(show(KEY, 0).violations, 2 * (i + 1));
	}
}

static void test_protect_bit_hides_the_key(void **state)
{
	(void)state;
	give(0, 0);
	assert_int_equal(show(WRONG, 0).key, KEY);
	give(1, 0);
	assert_int_equal(show(WRONG, 0).key, 0);
	assert_int_equal(show(KEY, 0).key, KEY);
}

static void test_lease_runs_from_the_first_violation(void **state)
{
	(void)state;
	give(1, LEASE_S);
	assert_int_equal(show(WRONG, SECONDS(100)).protect_bit, 1);
	assert_false(admits(WRONG, MAD_SET, SECONDS(100)));
	assert_false(admits(WRONG, MAD_SET, SECONDS(103)));
	assert_int_equal(show(WRONG, SECONDS(105) - 1).protect_bit, 1);
	assert_int_equal(show(WRONG, SECONDS(105)).protect_bit, 0);
	assert_int_equal(show(WRONG, SECONDS(105)).key, KEY);
	/* The key itself still guards. */
	assert_false(admits(WRONG, MAD_SET, SECONDS(106)));
}

static void test_matching_request_stops_the_lease(void **state)
{
	(void)state;
	give(1, LEASE_S);
	assert_false(admits(WRONG, MAD_SET, 0));
	assert_true(admits(KEY, MAD_GET, SECONDS(4)));
	assert_int_equal(show(WRONG, SECONDS(60)).protect_bit, 1);
	/* So does a new key. */
	assert_false(admits(WRONG, MAD_SET, SECONDS(61)));
	give(1, LEASE_S);
	assert_int_equal(show(WRONG, SECONDS(100)).protect_bit, 1);
}

static void test_period_0_never_ends(void **state)
{
	(void)state;
	give(1, 0);
	assert_false(admits(WRONG, MAD_SET, 0));
	assert_int_equal(show(WRONG, SECONDS(1000000)).protect_bit, 1);
}

static void test_counter_sticks_at_its_maximum(void **state)
{
	(void)state;
	give(1, 0);
	key.info.violations = 0xfffe;
	for (unsigned i = 0; i < 3; i++)
		assert_false(admits(WRONG, MAD_SET, 0));
	assert_int_equal(show(KEY, 0).violations, 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_key_0_admits_everything, setup),
		cmocka_unit_test_setup(test_only_a_get_passes_without_the_key, setup),
		cmocka_unit_test_setup(test_protect_bit_hides_the_key, setup),
		cmocka_unit_test_setup(test_lease_runs_from_the_first_violation, setup),
		cmocka_unit_test_setup(test_matching_request_stops_the_lease, setup),
		cmocka_unit_test_setup(test_period_0_never_ends, setup),
		cmocka_unit_test_setup(test_counter_sticks_at_its_maximum, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
