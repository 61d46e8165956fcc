/* SPDX-License-Identifier: Apache-2.0 */
/* A 12x sender and a 1x receiver on a virtual clock: which flows are delayed, by how much, and
 * which are not (transport 8.8). */
#include "rig.h"

#include "net/link/congestion_state.h"
#include "net/link/lane_credits.h"
#include "net/link/link_rate.h"
#include "net/link/port_queues.h"
#include "wire/rate.h"

enum { RATE_2_5_GBPS = 2, PAYLOAD_BYTES = 1024 };

static void set_width(struct port *port, uint8_t width)
{
	port->info.link_width_active = width;
	port->info.link_speed_active = 1;
	port->info.link_speed_ext_active = 0;
	port_pacer_init(port);
}

/* Host 1 has 12x SDR, host 2 1x SDR, host 3 12x SDR. */
static void unequal_star(struct rig *rig)
{
	static const uint8_t widths[] = {LINK_WIDTH_12X, LINK_WIDTH_1X, LINK_WIDTH_12X};

	rig_star(rig, "star:3");
	rig->fabric.is_paced = true;
	for (unsigned number = 1; number <= 3; number++) {
		set_width(&rig->switch_node->ports[number], widths[number - 1]);
		set_width(rig_host(rig, number), widths[number - 1]);
	}
}

static bool offer(struct rig *rig, unsigned to, uint8_t static_rate, time_ns now)
{
	struct frame *frame = rig_data_frame(rig, 1, (uint16_t)to, PAYLOAD_BYTES);

	frame->static_rate = static_rate;
	if (fabric_inject(&rig->fabric, rig_host(rig, 1), frame, now))
		return true;
	frame_give_back(&rig->fabric.frames, frame);
	return false;
}

static void run_until(struct rig *rig, time_ns now, time_ns end)
{
	rig_run(rig, now);
	while (fabric_deadline(&rig->fabric) <= end)
		rig_run(rig, fabric_deadline(&rig->fabric));
}

static void test_starts_are_an_interval_apart(void **state)
{
	uint32_t wire_bytes = frame_wire_bytes(LRH_BYTES + BTH_BYTES + PAYLOAD_BYTES);
	struct rig rig;
	struct port *source;

	(void)state;
	unequal_star(&rig);
	source = rig_host(&rig, 1);

	time_ns interval = port_static_rate_interval(source, RATE_2_5_GBPS, wire_bytes);

	assert_int_equal(interval, 12ull * wire_bytes * 8000 / 24000);
	for (unsigned i = 0; i < 10; i++)
		assert_true(offer(&rig, 2, RATE_2_5_GBPS, 0));
	for (unsigned sent = 1; sent <= 10; sent++) {
		run_until(&rig, (sent - 1) * interval, (sent - 1) * interval);
		assert_int_equal(source->counters.transmit_packets, sent);
		run_until(&rig, (sent - 1) * interval, sent * interval - 1);
		assert_int_equal(source->counters.transmit_packets, sent);
	}
	rig_release(&rig);
}

/* With congestion control each queue pair is a flow of its own, but all share the static rate of
 * their DLID. */
static void test_queue_pairs_share_the_rate_of_a_port(void **state)
{
	const struct congestion_reaction reaction = {.ccti_limit = 127};
	uint32_t wire_bytes = frame_wire_bytes(LRH_BYTES + BTH_BYTES + PAYLOAD_BYTES);
	struct rig rig;
	struct port *source;

	(void)state;
	unequal_star(&rig);
	source = rig_host(&rig, 1);
	assert_int_equal(port_set_reaction(source, &reaction), 0);

	time_ns interval = port_static_rate_interval(source, RATE_2_5_GBPS, wire_bytes);

	for (uint32_t i = 0; i < 12; i++) {
		struct frame *frame = rig_data_frame(&rig, 1, 2, PAYLOAD_BYTES);

		frame->static_rate = RATE_2_5_GBPS;
		frame->source_qpn = 20 + i % 3;
		assert_true(fabric_inject(&rig.fabric, source, frame, 0));
	}
	for (unsigned sent = 1; sent <= 12; sent++) {
		run_until(&rig, (sent - 1) * interval, (sent - 1) * interval);
		assert_int_equal(source->counters.transmit_packets, sent);
		run_until(&rig, (sent - 1) * interval, sent * interval - 1);
		assert_int_equal(source->counters.transmit_packets, sent);
	}
	/* A new frame waits as well. */
	struct frame *frame = rig_data_frame(&rig, 1, 2, PAYLOAD_BYTES);

	frame->static_rate = RATE_2_5_GBPS;
	frame->source_qpn = 30;
	assert_true(fabric_inject(&rig.fabric, source, frame, 12 * interval - 1));
	run_until(&rig, 12 * interval - 1, 12 * interval - 1);
	assert_int_equal(source->counters.transmit_packets, 12);
	run_until(&rig, 12 * interval, 12 * interval);
	assert_int_equal(source->counters.transmit_packets, 13);
	rig_release(&rig);
}

/* The slow link's queue in the switch never holds more than the frame that it sends and the next
 * one. */
static void test_switch_does_not_fill_up(void **state)
{
	struct rig rig;
	unsigned most = 0;

	(void)state;
	unequal_star(&rig);
	for (unsigned i = 0; i < 100; i++)
		assert_true(offer(&rig, 2, RATE_2_5_GBPS, 0));
	rig_run(&rig, 0);
	while (fabric_deadline(&rig.fabric) != TIME_NEVER) {
		rig_run(&rig, fabric_deadline(&rig.fabric));

		unsigned count = rig.switch_node->ports[2].queues->vls[0].frame_count;

		most = count > most ? count : most;
	}
	assert_int_equal(rig.delivered_count, 100);
	assert_in_range(most, 0, 2);
	rig_release(&rig);
}

static void test_frames_to_others_are_not_held_up(void **state)
{
	uint32_t wire_bytes = frame_wire_bytes(LRH_BYTES + BTH_BYTES + PAYLOAD_BYTES);
	time_ns wire_time = (time_ns)wire_bytes * 8000 / 24000;
	struct rig rig;
	unsigned to_three = 0;

	(void)state;
	unequal_star(&rig);
	for (unsigned i = 0; i < 20; i++) {
		assert_true(offer(&rig, 2, RATE_2_5_GBPS, 0));
		assert_true(offer(&rig, 3, 0, 0));
	}
	/* 20 to the third host and two to the second in the time of 23 frames. */
	run_until(&rig, 0, 23 * wire_time + 2 * LINK_DELAY_NS);
	for (unsigned i = 0; i < rig.delivered_count; i++)
		to_three += rig.delivered_at[i] == rig_host(&rig, 3);
	assert_int_equal(to_three, 20);
	assert_int_equal(rig_host(&rig, 1)->counters.transmit_packets, 22);
	rig_release(&rig);
}

static void test_rate_at_or_above_the_links_own_does_nothing(void **state)
{
	struct rig rig;

	(void)state;
	unequal_star(&rig);
	for (unsigned i = 0; i < 10; i++)
		assert_true(offer(&rig, 3, 4 /* 30 Gb/s */, 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.fabric.pacing.gate_count, 0);
	rig_release(&rig);
}

static void test_gate_is_bounded_and_what_it_holds_is_lost_with_the_link(void **state)
{
	struct rig rig;
	unsigned accepted = 0;

	(void)state;
	unequal_star(&rig);
	while (offer(&rig, 2, RATE_2_5_GBPS, 0))
		assert_true(++accepted < 1000);
	assert_int_equal(accepted,
			 1 + ADAPTER_QUEUE_BLOCKS / frame_credit_blocks(LRH_BYTES + BTH_BYTES +
									PAYLOAD_BYTES));
	assert_true(offer(&rig, 3, 0, 0));
	fabric_set_cable(&rig.fabric, rig_host(&rig, 1), false, 1);
	assert_true(fabric_is_idle(&rig.fabric));
	assert_int_equal(rig_host(&rig, 1)->counters.drops[DROP_PORT_INACTIVE], accepted + 1);
	rig_release(&rig);
}

/* Links without pacing have no rates. */
static void test_unpaced_fabric_holds_nothing_back(void **state)
{
	struct rig rig;

	(void)state;
	unequal_star(&rig);
	rig.fabric.is_paced = false;
	for (unsigned i = 0; i < 10; i++)
		assert_true(offer(&rig, 2, RATE_2_5_GBPS, 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 10);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts_are_an_interval_apart),
		cmocka_unit_test(test_queue_pairs_share_the_rate_of_a_port),
		cmocka_unit_test(test_switch_does_not_fill_up),
		cmocka_unit_test(test_frames_to_others_are_not_held_up),
		cmocka_unit_test(test_rate_at_or_above_the_links_own_does_nothing),
		cmocka_unit_test(test_gate_is_bounded_and_what_it_holds_is_lost_with_the_link),
		cmocka_unit_test(test_unpaced_fabric_holds_nothing_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
