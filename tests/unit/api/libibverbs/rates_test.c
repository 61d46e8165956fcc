/* SPDX-License-Identifier: Apache-2.0 */
/* Static rates, against the table of PathRecord:Rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <infiniband/verbs.h>

#include "base/attributes.h"

/* Every rate that has a name, in Mb/s of the lanes that make it. */
static const struct {
	enum ibv_rate rate;
	int mbps;
} known[] = {
	{IBV_RATE_2_5_GBPS, 2500},   {IBV_RATE_5_GBPS, 5000},	    {IBV_RATE_10_GBPS, 10000},
	{IBV_RATE_20_GBPS, 20000},   {IBV_RATE_30_GBPS, 30000},	    {IBV_RATE_40_GBPS, 40000},
	{IBV_RATE_60_GBPS, 60000},   {IBV_RATE_80_GBPS, 80000},	    {IBV_RATE_120_GBPS, 120000},
	{IBV_RATE_14_GBPS, 14062},   {IBV_RATE_56_GBPS, 56250},	    {IBV_RATE_112_GBPS, 112500},
	{IBV_RATE_168_GBPS, 168750}, {IBV_RATE_25_GBPS, 25781},	    {IBV_RATE_100_GBPS, 103125},
	{IBV_RATE_200_GBPS, 206250}, {IBV_RATE_300_GBPS, 309375},   {IBV_RATE_28_GBPS, 28125},
	{IBV_RATE_50_GBPS, 53125},   {IBV_RATE_400_GBPS, 425000},   {IBV_RATE_600_GBPS, 637500},
	{IBV_RATE_800_GBPS, 850000}, {IBV_RATE_1200_GBPS, 1275000},
};

static void test_every_rate_converts_to_mbps_and_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
		assert_int_equal(ibv_rate_to_mbps(known[i].rate), known[i].mbps);
		assert_int_equal(mbps_to_ibv_rate(known[i].mbps), known[i].rate);
	}
}

static void test_every_multiple_converts_back(void **state)
{
	int multiples = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
		int multiple = ibv_rate_to_mult(known[i].rate);

		if (multiple < 0)
			continue;
		multiples++;
		assert_int_equal(mult_to_ibv_rate(multiple), known[i].rate);
	}
	assert_int_equal(multiples, 15);
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_10_GBPS), 4);
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_100_GBPS), -1);
}

static void test_what_is_no_rate_is_refused(void **state)
{
	(void)state;
	assert_int_equal(ibv_rate_to_mult((enum ibv_rate)99), -1);
	assert_int_equal(ibv_rate_to_mbps((enum ibv_rate)1), -1);
	assert_int_equal(ibv_rate_to_mbps(IBV_RATE_MAX), -1);
	assert_int_equal(mult_to_ibv_rate(0), IBV_RATE_MAX);
	assert_int_equal(mult_to_ibv_rate(3), IBV_RATE_MAX);
	assert_int_equal(mbps_to_ibv_rate(12345), IBV_RATE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_rate_converts_to_mbps_and_back),
		cmocka_unit_test(test_every_multiple_converts_back),
		cmocka_unit_test(test_what_is_no_rate_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
