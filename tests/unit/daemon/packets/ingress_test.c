/* SPDX-License-Identifier: Apache-2.0 */
/* Packets from rings to ports: accepted, refused, and those that a program leaves when it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "fabric/link_faults.h"
#include "ipc/doorbell.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/packet.h"
#include "wire/pkey.h"

static struct daemon *softibd;
static struct program a, b;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start_pair("star:2", &a, &b);
	return 0;
}

/* Programs may not send to QP0. */
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

/* An invalid record ends its writer, and no other program. */
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

enum { PACKETS = 220, PACKET_BYTES = 2048, LATE_PACKETS = 200 };

/* A packet takes a second on a link of this rate, with its CRCs: longer than the test. */
static const struct fault_settings slow_link = {.bits_per_second = (PACKET_BYTES + 6) * 8};

static void send_large(struct program *program, uint32_t qpn)
{
	static uint8_t payload[PACKET_BYTES - LRH_BYTES - BTH_BYTES - DETH_BYTES];
	struct packet packet = {
		.lrh = {.dlid = b.lid, .slid = program->lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = qpn},
		.packet_count = 1,
	};

	packet_set_payload(&packet, payload, sizeof(payload));
	program_send_packet(program, &packet);
}

static void slow_down(void)
{
	assert_int_equal(faults_set(&softibd->core.fabric, fixture_port("h1"), &slow_link, 1,
				    softibd->core.loop.now),
			 0);
	fixture_settle();
}

/* Returns how many packets have arrived. */
static uint64_t fill_up(void)
{
	fixture_settle();
	return fixture_port("h2")->counters.receive_packets;
}

static void come_late(void)
{
	softibd->core.loop.now += LATE_PACKETS * SECONDS(1);
	(void)daemon_turn(softibd);
}

/* While softibd is late, more packets than the port and the link hold wait in the ring. */
static void test_a_link_of_a_rate_is_busy_all_the_time_that_softibd_is_late(void **state)
{
	uint64_t before;

	(void)state;
	slow_down();
	for (unsigned i = 0; i < PACKETS; i++)
		send_large(&a, b.first_qpn);
	before = fill_up();
	come_late();
	assert_int_equal(fixture_port("h2")->counters.receive_packets - before, LATE_PACKETS);
}

/* Counts them by queue pair. */
static void take_all(unsigned counts[2])
{
	const struct ring_record *record;

	while ((record = ring_next(&b.down))) {
		if (record->kind == RECORD_PACKET)
			counts[get_be24(record->body + LRH_BYTES + 5) - b.first_qpn]++;
		(void)!ring_release(&b.down);
	}
}

static void test_programs_of_a_host_share_the_time_that_is_past(void **state)
{
	unsigned counts[2] = {0}, before[2] = {0};
	struct program other;

	(void)state;
	program_start(&other, "h1");
	slow_down();
	for (unsigned i = 0; i < PACKETS; i++) {
		send_large(&a, b.first_qpn);
		send_large(&other, b.first_qpn + 1);
	}
	(void)fill_up();
	take_all(before);
	for (unsigned turn = 0; turn < 2; turn++) {
		come_late();
		take_all(counts);
	}
	assert_int_equal(counts[0] + counts[1], 2 * LATE_PACKETS);
	/* One program was first when the port filled up; from then on they take turns. */
	assert_in_range(counts[1], LATE_PACKETS / 2, LATE_PACKETS);
	program_end(&other);
}

static struct client *client_of(const char *host)
{
	return container_of(list_first(&host_table_find(&softibd->core.hosts, host)->programs),
			    struct client, host_link);
}

/* Time gives nothing back. */
static struct account *account_without_time(struct client *client, time_ns time_spent)
{
	client->account->time_spent = time_spent;
	client->account->paid_at = event_loop_clock() + SECONDS(1000);
	return client->account;
}

static void commit_resolve(void)
{
	struct ring_record *record = ring_reserve(&a.up, sizeof(struct resolve_request));
	const struct resolve_request request = {.source_port = 1, .dlid = b.lid};

	record->kind = RECORD_RESOLVE;
	record->packet_count = 0;
	record->byte_count = sizeof(request);
	memcpy(record->body, &request, sizeof(request));
	ring_commit(&a.up, record);
	(void)!ring_publish(&a.up);
}

/* A command took 14 ms beside 64 doorbells that rang all the time. */
static void test_doorbells_are_charged_to_their_process(void **state)
{
	const struct account *account = account_without_time(client_of("h1"), 0);

	(void)state;
	doorbell_ring(a.softibd_doorbell);
	fixture_settle();
	assert_true(account->time_spent > 0);
}

static void test_resolving_is_charged_and_packets_are_not(void **state)
{
	const struct account *account;

	(void)state;
	/* softibd reads the ring without a doorbell. */
	client_wake(client_of("h1"));
	account = account_without_time(client_of("h1"), 0);
	program_send(&a, b.lid, b.first_qpn, "x");
	daemon_step(softibd, 0);
	assert_int_equal(account->time_spent, 0);
	client_wake(client_of("h1"));
	commit_resolve();
	daemon_step(softibd, 0);
	assert_true(account->time_spent > 0);
}

static uint64_t records_read(void)
{
	return __atomic_load_n(&a.up.shared->head, __ATOMIC_ACQUIRE);
}

static void test_a_process_that_took_too_much_waits_until_it_has_time_again(void **state)
{
	struct account *other = account_of(&softibd->core.accounts, 1, 0);
	struct account *account = account_without_time(client_of("h1"), 2 * SHARE_BURST);
	const uint64_t before = records_read();

	(void)state;
	/* softibd works for another process for the next 1,000 s. */
	share_note(&softibd->core.shares, other, event_loop_clock() + SECONDS(1000));
	share_note(&softibd->core.shares, account, event_loop_clock());
	commit_resolve();
	doorbell_ring(a.softibd_doorbell);
	fixture_settle();
	assert_int_equal(records_read(), before);
	client_wake(client_of("h1"));
	fixture_settle();
	assert_int_equal(records_read(), before);
	account->time_spent = 0;
	fixture_settle();
	assert_true(records_read() > before);
	account_release(other);
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
		cmocka_unit_test_setup_teardown(
			test_a_link_of_a_rate_is_busy_all_the_time_that_softibd_is_late, set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_programs_of_a_host_share_the_time_that_is_past,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_doorbells_are_charged_to_their_process, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_resolving_is_charged_and_packets_are_not,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_process_that_took_too_much_waits_until_it_has_time_again, set_up,
			fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
