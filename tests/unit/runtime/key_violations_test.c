/* SPDX-License-Identifier: Apache-2.0 */
/* Packets with wrong keys: softibd hears of the first at once, and of all others in few records. */
#include "runtime/key_violations.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "unit/runtime/runtime_pair.h"

static uint32_t told(const uint32_t *count)
{
	return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

static void note(enum violated_key key, unsigned count)
{
	const struct packet packet = {
		.lrh = {.slid = 9, .dlid = 2, .sl = 5},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = 0x8001,
			.destination_qpn = 0x654321},
		.deth = {.qkey = 0x11111112, .source_qpn = 0x123456},
		.packet_count = 1,
	};

	adapter_lock(pair.ends[1].adapter);
	for (unsigned i = 0; i < count; i++)
		key_violation_note(&pair.ends[1].qp->qp, &packet, key);
	adapter_unlock(pair.ends[1].adapter);
}

/* The next thread that works for the process reports the rest when the time has come. */
static void await(const uint32_t *count, uint32_t expected)
{
	time_ns start = runtime_now();

	while (told(count) != expected) {
		adapter_lock(pair.ends[1].adapter);
		adapter_progress(pair.ends[1].adapter, adapter_now(pair.ends[1].adapter));
		adapter_unlock(pair.ends[1].adapter);
		assert_false(pair_is_overdue(start));
	}
}

static void test_first_violation_is_told_with_its_addresses(void **state)
{
	const struct key_violation *last = &pair.softibd.violation;

	(void)state;
	note(VIOLATED_QKEY, 1);
	await(&pair.softibd.qkey_violations, 1);
	assert_int_equal(last->key, 0x11111112);
	assert_int_equal(last->slid, 9);
	assert_int_equal(last->dlid, 2);
	assert_int_equal(last->sl, 5);
	assert_int_equal(last->source_qpn, 0x123456);
	assert_int_equal(last->destination_qpn, 0x654321);
	assert_int_equal(pair.softibd.violation_port, 1 << 8 | 1);
	assert_int_equal(told(&pair.softibd.pkey_violations), 0);
}

static void test_a_flood_is_told_in_few_records(void **state)
{
	(void)state;

	uint32_t records = told(&pair.softibd.violation_records);

	note(VIOLATED_PKEY, 100000);
	await(&pair.softibd.pkey_violations, 100000);
	assert_int_equal(pair.softibd.violation.key, 0x8001);
	assert_true(told(&pair.softibd.violation_records) - records <= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_violation_is_told_with_its_addresses),
		cmocka_unit_test(test_a_flood_is_told_in_few_records),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
