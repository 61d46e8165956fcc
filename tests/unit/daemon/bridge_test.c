/* SPDX-License-Identifier: Apache-2.0 */
/* Packets between rings and ports: there, back, refused, and what happens when nobody reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>
#include "daemon/bridge.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/packet.h"
#include "wire/pkey.h"

static struct daemon *softibd;
static struct program a, b;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:2");
	program_start(&a, "h1");
	program_start(&b, "h2");
	return 0;
}

static void test_a_packet_arrives_as_it_was_sent(void **state)
{
	const struct ring_record *record;
	struct packet packet;
	char text[16] = "";

	(void)state;
	program_send(&a, b.lid, b.first_qpn + 3, "hello, fabric");
	record = program_next_of(&b, RECORD_PACKET);
	assert_non_null(record);
	assert_int_equal(record->port, 1);
	assert_int_equal(record->packet_count, 1);
	assert_int_equal(packet_decode(record->body, record->byte_count, 1, &packet), PACKET_OK);
	assert_int_equal(packet.bth.destination_qpn, b.first_qpn + 3);
	assert_int_equal(packet.lrh.slid, a.lid);
	payload_copy(&packet.payload, 0, 13, (uint8_t *)text);
	assert_string_equal(text, "hello, fabric");
}

static void test_a_number_that_is_nobodys_is_counted(void **state)
{
	uint64_t before = fixture_port("h2")->counters.drops[DROP_NO_LISTENER];

	(void)state;
	program_send(&a, b.lid, b.first_qpn + QPN_BLOCK, "x");
	fixture_settle();
	assert_int_equal(fixture_port("h2")->counters.drops[DROP_NO_LISTENER], before + 1);
	assert_null(program_next_of(&b, RECORD_PACKET));
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

static void test_nonsense_in_the_ring_ends_its_writer_only(void **state)
{
	struct ring_record *record = ring_reserve(&a.up, 16);

	(void)state;
	record->kind = 99;
	record->byte_count = 16;
	program_show(&a, record);
	assert_true(fixture_is_cut_off(a.socket));
	fixture_order(b.socket, "{\"command\":\"status\"}");
}

static unsigned send_until_full(void)
{
	unsigned sent = 0;

	/* 64 bytes each: more than the down ring holds. */
	while (sent < 10000) {
		program_send(&a, b.lid, b.first_qpn, "0123456789");
		sent++;
		if (sent % 100 == 0)
			fixture_settle();
	}
	return sent;
}

static bool is_waiting(void)
{
	return !list_is_empty(&softibd->blocked);
}

static void test_a_full_ring_holds_packets_back_and_then_gives_up(void **state)
{
	struct client *reader =
		container_of(list_first(&host_table_find(&softibd->hosts, "h2")->programs),
			     struct client, host_link);
	uint64_t before = fixture_port("h2")->counters.drops[DROP_LIFETIME];

	(void)state;
	send_until_full();
	assert_true(is_waiting() || fixture_port("h2")->counters.drops[DROP_LIFETIME] > before);
	/* As if the reader had been stopped for a second. */
	reader->full_since = softibd->now - SECONDS(1);
	softibd->now += 1;
	bridge_expire(softibd);
	fixture_settle();
	assert_false(is_waiting());
	assert_true(fixture_port("h2")->counters.drops[DROP_LIFETIME] > before);

	/* Once it reads again, packets arrive again. */
	while (program_next_of(&b, RECORD_PACKET))
		(void)!ring_release(&b.down);
	program_send(&a, b.lid, b.first_qpn, "again");
	assert_non_null(program_next_of(&b, RECORD_PACKET));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_packet_arrives_as_it_was_sent, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_number_that_is_nobodys_is_counted, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_programs_do_not_reach_queue_pair_0, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_foreign_source_lid_goes_nowhere, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_what_was_sent_before_the_end_still_arrives,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_nonsense_in_the_ring_ends_its_writer_only,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_full_ring_holds_packets_back_and_then_gives_up, set_up,
			fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
