/* SPDX-License-Identifier: Apache-2.0 */
/* Packets from ports to rings: which program gets them, and what happens when it does not read.
 * Covers: daemon/packets/packet_plane.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "daemon/packets/delivery.h"
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

/* A reliable datagram goes to the owner of its EE context, whatever queue pair it names. */
static void test_an_rd_packet_goes_to_who_has_its_ee_context(void **state)
{
	struct packet packet = {
		.lrh = {.dlid = b.lid, .slid = a.lid},
		.bth = {.opcode = TRANSPORT_RD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = b.first_qpn + QPN_BLOCK},
		.rdeth_eecn = b.first_qpn + 5,
		.packet_count = 1,
	};

	(void)state;
	program_send_packet(&a, &packet);
	assert_non_null(program_next_of(&b, RECORD_PACKET));
	packet.bth.destination_qpn = b.first_qpn;
	packet.rdeth_eecn = b.first_qpn + QPN_BLOCK;
	program_send_packet(&a, &packet);
	assert_null(program_next_of(&b, RECORD_PACKET));
}

/* Two programs of one host: a multicast packet is for both, and each decides by its groups. */
static void test_a_multicast_packet_reaches_every_program_of_the_host(void **state)
{
	uint16_t mlid = 0xc123;
	struct frame *frame = frame_take(&softibd->core.fabric.frames);
	struct packet packet = {
		.lrh = {.dlid = mlid, .slid = a.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = QPN_MULTICAST},
		.packet_count = 1,
	};
	struct program other;

	(void)state;
	program_start(&other, "h2");
	assert_non_null(frame);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->source = NULL;
	assert_true(delivery_make(&softibd->packets, fixture_port("h2"), frame));
	assert_non_null(program_next_of(&b, RECORD_PACKET));
	assert_non_null(program_next_of(&other, RECORD_PACKET));
	assert_null(program_next_of(&a, RECORD_PACKET));
	program_end(&other);
}

/* A router's port has QP1 only. */
static void test_a_router_port_has_no_other_queue_pairs(void **state)
{
	struct port *port;
	uint64_t before;

	(void)state;
	fixture_stop();
	softibd = fixture_start("routed:2x2");
	program_start(&a, "h1");
	port = softibd->managers.router_groups.ports.ports[0].port;
	before = port->counters.drops[DROP_NO_LISTENER];
	program_send(&a, port->info.lid, a.first_qpn, "x");
	fixture_settle();
	assert_int_equal(port->counters.drops[DROP_NO_LISTENER], before + 1);
	program_send(&a, port->info.lid, QPN_GSI, "x");
	fixture_settle();
	assert_int_equal(port->counters.drops[DROP_NO_LISTENER], before + 1);
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
	return !list_is_empty(&softibd->packets.blocked);
}

static bool deliver_one(void)
{
	struct frame *frame = frame_take(&softibd->core.fabric.frames);
	struct packet packet = {
		.lrh = {.dlid = b.lid, .slid = a.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = b.first_qpn},
		.packet_count = 1,
	};

	assert_non_null(frame);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);

	bool is_taken = delivery_make(&softibd->packets, fixture_port("h2"), frame);

	if (!is_taken)
		frame_give_back(&softibd->core.fabric.frames, frame);
	return is_taken;
}

/* It would keep MADs and the packets of other programs waiting at its port. */
static void test_a_reader_that_takes_a_packet_now_and_then_holds_its_port_up_once(void **state)
{
	const time_ns pause = MILLISECONDS(20);
	time_ns held = 0;
	unsigned count = 0;

	(void)state;
	while (deliver_one())
		assert_true(++count < 100000);
	for (unsigned round = 0; round < 100; round++) {
		softibd->core.loop.now += pause;
		/* Several records, because the ring does not take every record size at its end. */
		for (unsigned record = 0; record < 4 && ring_next(&b.down); record++)
			(void)!ring_release(&b.down);
		for (count = 0; count < 8 && deliver_one(); count++)
			;
		if (count < 8)
			held += time_earlier(pause, delivery_deadline(&softibd->packets) -
							    softibd->core.loop.now);
	}
	assert_true(held >= pause);
	/* 100 ms, and 100 us for each of at most 400 packets that it took. */
	assert_true(held <= MILLISECONDS(140));
	while (deliver_one() && !fixture_port("h2")->counters.drops[DROP_RECEIVER_FULL])
		;
	softibd->core.loop.now += MILLISECONDS(1);
	assert_true(deliver_one());
	assert_true(fixture_port("h2")->counters.drops[DROP_RECEIVER_FULL] > 0);
}

static void test_a_full_ring_holds_packets_back_and_then_gives_up(void **state)
{
	struct client *reader =
		container_of(list_first(&host_table_find(&softibd->core.hosts, "h2")->programs),
			     struct client, host_link);
	uint64_t before = fixture_port("h2")->counters.drops[DROP_RECEIVER_FULL];

	(void)state;
	send_until_full();
	assert_true(is_waiting() ||
		    fixture_port("h2")->counters.drops[DROP_RECEIVER_FULL] > before);
	/* As if the reader had been stopped for a second. */
	reader->delivery.held_since = softibd->core.loop.now - SECONDS(1);
	softibd->core.loop.now += 1;
	delivery_expire(&softibd->packets);
	fixture_settle();
	assert_false(is_waiting());
	assert_true(fixture_port("h2")->counters.drops[DROP_RECEIVER_FULL] > before);

	/* Once the program reads again, packets arrive again. */
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
		cmocka_unit_test_setup_teardown(test_an_rd_packet_goes_to_who_has_its_ee_context,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_multicast_packet_reaches_every_program_of_the_host, set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_router_port_has_no_other_queue_pairs, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_full_ring_holds_packets_back_and_then_gives_up, set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_reader_that_takes_a_packet_now_and_then_holds_its_port_up_once,
			set_up, fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
