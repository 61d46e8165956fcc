/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors: every selector with every pair of codes, compared in bytes and Mb/s (management 4.6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/sa/selectors.h"
#include "wire/mtu.h"
#include "wire/rate.h"

static bool means(unsigned selector, int compared)
{
	switch (selector) {
	case SELECT_GREATER:
		return compared > 0;
	case SELECT_LESS:
		return compared < 0;
	case SELECT_EXACTLY:
		return compared == 0;
	default:
		return true;
	}
}

/* The chosen value is offered, satisfies the request, and is the largest one that does. */
static void test_chosen_mtu_is_the_largest_that_satisfies(void **state)
{
	(void)state;
	for (uint8_t selector = 0; selector < 4; selector++) {
		for (uint8_t wanted = MTU_256; wanted <= MTU_4096; wanted++) {
			for (uint8_t offered = MTU_256; offered <= MTU_4096; offered++) {
				uint8_t expected = 0, chosen = 0;

				for (uint8_t mtu = MTU_256; mtu <= offered; mtu++)
					if (means(selector, mtu - wanted))
						expected = mtu;
				assert_int_equal(
					selector_choose_mtu(selector, wanted, offered, &chosen),
					expected != 0);
				assert_int_equal(chosen, expected);
				assert_int_equal(selector_accepts_mtu(selector, wanted, offered),
						 means(selector, offered - wanted));
			}
		}
	}
}

static void test_chosen_rate_is_the_fastest_that_satisfies(void **state)
{
	(void)state;
	for (uint8_t selector = 0; selector < 4; selector++) {
		for (uint8_t wanted = RATE_CODE_FIRST; wanted <= RATE_CODE_LAST; wanted++) {
			for (uint8_t offered = RATE_CODE_FIRST; offered <= RATE_CODE_LAST;
			     offered++) {
				uint8_t expected = 0, chosen = 0;

				for (uint8_t rate = RATE_CODE_FIRST; rate <= RATE_CODE_LAST; rate++)
					if (rate_compare(rate, offered) <= 0 &&
					    means(selector, rate_compare(rate, wanted)) &&
					    rate_compare(rate, expected) > 0)
						expected = rate;
				assert_int_equal(
					selector_choose_rate(selector, wanted, offered, &chosen),
					expected != 0);
				assert_int_equal(chosen, expected);
			}
		}
	}
}

/* A lifetime may be longer than necessary, never shorter. */
static void test_chosen_lifetime_is_the_shortest_that_satisfies(void **state)
{
	(void)state;
	for (uint8_t selector = 0; selector < 4; selector++) {
		for (unsigned wanted = 0; wanted < 64; wanted++) {
			for (unsigned offered = 0; offered < 64; offered++) {
				unsigned expected = 64;
				uint8_t chosen = 64;

				for (unsigned life = 63; life >= offered && life < 64; life--)
					if (means(selector, (int)life - (int)wanted))
						expected = life;
				assert_int_equal(
					selector_choose_life_time(selector, (uint8_t)wanted,
								  (uint8_t)offered, &chosen),
					expected != 64);
				assert_int_equal(chosen, expected);
			}
		}
	}
}

static void test_codes_that_mean_nothing(void **state)
{
	(void)state;
	assert_false(selector_mtu_is_valid(SELECT_EXACTLY, 0));
	assert_false(selector_mtu_is_valid(SELECT_GREATER, 6));
	assert_true(selector_mtu_is_valid(SELECT_BEST, 0));
	assert_false(selector_rate_is_valid(SELECT_LESS, 0));
	assert_false(selector_rate_is_valid(SELECT_LESS, 60));
	assert_true(selector_rate_is_valid(SELECT_BEST, 60));
}

static void test_the_lower_of_two_is_taken_by_speed(void **state)
{
	uint8_t mtu = MTU_4096, rate = 3; /* 10 Gb/s */

	(void)state;
	selector_take_lower(MTU_1024, 5 /* 5 Gb/s */, &mtu, &rate);
	assert_int_equal(mtu, MTU_1024);
	assert_int_equal(rate, 5);
	selector_take_lower(MTU_4096, 16, &mtu, &rate);
	assert_int_equal(mtu, MTU_1024);
	assert_int_equal(rate, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chosen_mtu_is_the_largest_that_satisfies),
		cmocka_unit_test(test_chosen_rate_is_the_fastest_that_satisfies),
		cmocka_unit_test(test_chosen_lifetime_is_the_shortest_that_satisfies),
		cmocka_unit_test(test_codes_that_mean_nothing),
		cmocka_unit_test(test_the_lower_of_two_is_taken_by_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
