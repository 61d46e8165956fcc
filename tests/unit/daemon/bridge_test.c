/* SPDX-License-Identifier: Apache-2.0 */
/* Packets from rings to ports: taken, refused, and what a program that ends has left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "unit/daemon/daemon_fixture.h"
#include "wire/pkey.h"

static struct program a, b;

static int set_up(void **state)
{
	(void)state;
	fixture_start("star:2");
	program_start(&a, "h1");
	program_start(&b, "h2");
	return 0;
}

/* Only the manager speaks to the subnet management interface. */
static void test_programs_do_not_reach_queue_pair_0(void **state)
{
	uint64_t before = fixture_port("h1")->counters.drops[DROP_MALFORMED];

	(void)state;
	program_send(&a, b.lid, QPN_SMI, "x");
	fixture_settle();
	assert_int_equal(fixture_port("h1")->counters.drops[DROP_MALFORMED], before + 1);
	fixture_order(a.socket, "{\"command\":\"status\"}");
}

/* Raw packets are for the program that has the port's raw queue pair. */
static void test_a_raw_packet_needs_the_raw_queue_pair(void **state)
{
	static const uint8_t raw[] = {
		0x00, 0x00, 0x00, 0x02, 0x00, 0x04, 0x00, 0x01, /* LRH: no IBA transport */
		0x00, 0x00, 0x12, 0x34, 0x00, 0x00, 0x00, 0x00, /* RWH, and a word */
	};
	uint64_t before = fixture_port("h1")->counters.drops[DROP_MALFORMED];
	struct ring_record *record = ring_reserve(&a.up, sizeof(raw));

	(void)state;
	record->kind = RECORD_PACKET;
	record->port = 1;
	record->packet_count = 1;
	record->byte_count = sizeof(raw);
	memcpy(record->body, raw, sizeof(raw));
	program_show(&a, record);
	fixture_settle();
	assert_int_equal(fixture_port("h1")->counters.drops[DROP_MALFORMED], before + 1);
	fixture_order(a.socket, "{\"command\":\"status\"}");
}

static void test_a_foreign_source_lid_goes_nowhere(void **state)
{
	(void)state;
	a.lid = b.lid;
	program_send(&a, b.lid, b.first_qpn, "x");
	assert_null(program_next_of(&b, RECORD_PACKET));
}

static void test_what_was_sent_before_the_end_still_arrives(void **state)
{
	unsigned arrived = 0;

	(void)state;
	for (unsigned count = 0; count < 500; count++)
		program_send(&a, b.lid, b.first_qpn, "last words");
	program_end(&a);
	while (program_next_of(&b, RECORD_PACKET))
		arrived++;
	assert_int_equal(arrived, 500);
}

/* Ends its writer, and nobody else notices. */
static void expect_cut_off(struct ring_record *record)
{
	program_show(&a, record);
	assert_true(fixture_is_cut_off(a.socket));
	fixture_order(b.socket, "{\"command\":\"status\"}");
}

static void test_nonsense_in_the_ring_ends_its_writer_only(void **state)
{
	struct ring_record *record = ring_reserve(&a.up, 16);

	(void)state;
	record->kind = 99;
	record->byte_count = 16;
	expect_cut_off(record);
}

static void test_a_packet_by_a_port_that_is_not_there_ends_its_writer(void **state)
{
	struct ring_record *record = ring_reserve(&a.up, 16);

	(void)state;
	record->kind = RECORD_PACKET;
	record->port = 7 << 8 | 1;
	record->packet_count = 1;
	record->byte_count = 16;
	expect_cut_off(record);
}

static void test_a_question_of_another_size_ends_its_writer(void **state)
{
	struct ring_record *record = ring_reserve(&a.up, 8);

	(void)state;
	record->kind = RECORD_RESOLVE;
	record->byte_count = 8;
	expect_cut_off(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_programs_do_not_reach_queue_pair_0, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_raw_packet_needs_the_raw_queue_pair, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_foreign_source_lid_goes_nowhere, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_what_was_sent_before_the_end_still_arrives,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_nonsense_in_the_ring_ends_its_writer_only,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_packet_by_a_port_that_is_not_there_ends_its_writer, set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_question_of_another_size_ends_its_writer,
						set_up, fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
