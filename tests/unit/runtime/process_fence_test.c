/* SPDX-License-Identifier: Apache-2.0 */
/* Process fences: a second registration does no harm, and a sleeper that fences never misses a
 * producer that does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include "runtime/process_fence.h"

enum { ROUNDS = 3000 };

/* One word of each side, as in base/ring.h: one written by the producer, one by the consumer. */
static uint32_t record, sleeping;
static uint32_t round_number;
static uint32_t rings;

static void test_registering_again_is_harmless(void **state)
{
	(void)state;
	assert_true(process_fence_register() == process_fence_register());
}

static void *produce(void *context)
{
	(void)context;
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		while (__atomic_load_n(&round_number, __ATOMIC_ACQUIRE) != i)
			sched_yield();
		__atomic_store_n(&record, i, __ATOMIC_RELEASE);
		/* The producer has no fence of its own: the sleeper's must suffice. */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(&sleeping, __ATOMIC_RELAXED) == i)
			__atomic_store_n(&rings, i, __ATOMIC_RELEASE);
		else
			__atomic_store_n(&rings, 0, __ATOMIC_RELEASE);
		while (__atomic_load_n(&round_number, __ATOMIC_ACQUIRE) == i && i != ROUNDS)
			sched_yield();
	}
	return NULL;
}

static void test_no_record_is_missed_by_both(void **state)
{
	pthread_t thread;

	(void)state;
	if (!process_fence_register()) {
		printf("membarrier is not to be had: skipped\n");
		skip();
	}
	assert_int_equal(pthread_create(&thread, NULL, produce, NULL), 0);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		__atomic_store_n(&rings, UINT32_MAX, __ATOMIC_RELEASE);
		__atomic_store_n(&round_number, i, __ATOMIC_RELEASE);
		__atomic_store_n(&sleeping, i, __ATOMIC_RELAXED);
		process_fence();

		bool is_seen = __atomic_load_n(&record, __ATOMIC_ACQUIRE) == i;
		uint32_t told;

		while ((told = __atomic_load_n(&rings, __ATOMIC_ACQUIRE)) == UINT32_MAX)
			sched_yield();
		assert_true(is_seen || told == i);
	}
	__atomic_store_n(&round_number, ROUNDS + 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registering_again_is_harmless),
		cmocka_unit_test(test_no_record_is_missed_by_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
