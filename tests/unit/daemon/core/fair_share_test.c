/* SPDX-License-Identifier: Apache-2.0 */
/* A process that takes too much of softibd's time waits for others, and only for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "daemon/core/fair_share.h"

static struct fair_shares shares;
static struct account flooder, other;
static unsigned resumed_count;

static void resume(struct share_hold *hold)
{
	(void)hold;
	resumed_count++;
}

static int set_up(void **state)
{
	(void)state;
	fair_shares_init(&shares);
	flooder = (struct account){0};
	other = (struct account){0};
	resumed_count = 0;
	return 0;
}

static void test_a_process_alone_is_never_held_back(void **state)
{
	time_ns now = SECONDS(1);

	(void)state;
	for (unsigned count = 0; count < 1000; count++, now += MILLISECONDS(10)) {
		assert_false(share_is_used_up(&shares, &flooder, now));
		share_charge(&shares, &flooder, now, now + MILLISECONDS(10));
	}
}

static void test_a_flood_gets_a_tenth_of_the_time_while_others_work(void **state)
{
	const time_ns step = MILLISECONDS(1);
	time_ns now = SECONDS(1), spent = 0;

	(void)state;
	/* Both ask all the time; each request of the flood takes a millisecond. */
	for (unsigned count = 0; count < 10000; count++, now += step) {
		assert_false(share_is_used_up(&shares, &other, now));
		share_charge(&shares, &other, now, now + step / 100);
		if (share_is_used_up(&shares, &flooder, now))
			continue;
		share_charge(&shares, &flooder, now, now + step);
		spent += step;
	}
	assert_in_range(spent, SECONDS(1), SECONDS(1) + MILLISECONDS(250));
}

/* Nobody would gain by that. */
static void test_processes_that_all_take_much_are_not_held_back(void **state)
{
	const time_ns step = MILLISECONDS(1);
	time_ns now = SECONDS(1);
	unsigned held = 0;

	(void)state;
	for (unsigned count = 0; count < 10000; count++, now += 2 * step) {
		struct account *account = count % 2 ? &flooder : &other;

		held += share_is_used_up(&shares, account, now);
		share_charge(&shares, account, now, now + 2 * step);
	}
	assert_in_range(held, 0, 100);
}

static void test_a_hold_ends_when_others_rest_or_time_has_paid(void **state)
{
	struct share_hold hold = {.account = &flooder, .resume = resume};
	time_ns now = SECONDS(1);

	(void)state;
	list_init(&hold.link);
	share_charge(&shares, &other, now, now);
	share_charge(&shares, &flooder, now, now + SECONDS(1));
	now += SECONDS(1);
	share_note(&shares, &other, now);
	assert_true(share_is_used_up(&shares, &flooder, now));
	share_hold_back(&shares, &hold);
	share_hold_back(&shares, &hold);
	assert_true(fair_shares_deadline(&shares, now) > now);
	fair_shares_resume(&shares, now + MILLISECONDS(25));
	assert_int_equal(resumed_count, 0);
	fair_shares_resume(&shares, now + MILLISECONDS(50));
	assert_int_equal(resumed_count, 1);
	assert_int_equal(fair_shares_deadline(&shares, now), TIME_NEVER);

	/* Others work on, but 10 s pay for one. */
	share_hold_back(&shares, &hold);
	for (unsigned count = 0; count < 2000 && resumed_count == 1; count++) {
		now += MILLISECONDS(5);
		share_note(&shares, &other, now);
		fair_shares_resume(&shares, now);
	}
	assert_int_equal(resumed_count, 2);
	assert_false(share_is_used_up(&shares, &flooder, now));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_process_alone_is_never_held_back, set_up),
		cmocka_unit_test_setup(test_a_flood_gets_a_tenth_of_the_time_while_others_work,
				       set_up),
		cmocka_unit_test_setup(test_processes_that_all_take_much_are_not_held_back, set_up),
		cmocka_unit_test_setup(test_a_hold_ends_when_others_rest_or_time_has_paid, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
