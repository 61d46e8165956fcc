/* SPDX-License-Identifier: Apache-2.0 */
/* Links that fail on purpose: packets, counters, credits and cables, in virtual time. */
#include "unit/fabric/rig.h"

#include <stdlib.h>
#include "fabric/link_faults.h"
#include "net/link/detail_counters.h"
#include "net/link/lane_credits.h"

enum { PACKETS = 400, PAYLOAD_BYTES = 256, SEED = 11 };

static struct rig rig;

static struct port *faulty_port(void)
{
	return rig_host(&rig, 1);
}

static void begin(struct fault_settings settings)
{
	rig_star(&rig, "star:3");
	assert_int_equal(faults_set(&rig.fabric, faulty_port(), &settings, SEED, 0), 0);
}

static void end(void)
{
	if (faulty_port()->info.port_state == PORT_ACTIVE)
		assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

/* The PSN numbers the packets, so that arriving ones can be told apart. */
static void send_packet(unsigned number, time_ns now)
{
	struct frame *frame = rig_data_frame(&rig, 1, 2, PAYLOAD_BYTES);

	frame->source = &rig;
	put_be24(frame->bytes + LRH_BYTES + 9, number);
	assert_true(fabric_inject(&rig.fabric, faulty_port(), frame, now));
	rig_run(&rig, now);
}

static unsigned number_of(const struct frame *frame)
{
	return get_be24(frame->bytes + LRH_BYTES + 9);
}

static void send_all(void)
{
	for (unsigned number = 1; number <= PACKETS; number++)
		send_packet(number, 0);
}

/* When the next packet that a link holds arrives. Agents have deadlines of their own, because their
 * traps are not answered. */
static time_ns next_arrival(void)
{
	time_ns deadline = timer_queue_deadline(&rig.fabric.faults.arrivals);

	assert_true(fabric_deadline(&rig.fabric) <= deadline);
	return deadline;
}

/* Lets time pass until every packet has arrived; returns when that was. */
static time_ns run_out(void)
{
	time_ns now = 0;

	while (next_arrival() != TIME_NEVER) {
		now = next_arrival();
		rig_run(&rig, now);
	}
	return now;
}

/* Data at host 2; traps go elsewhere. */
static unsigned delivered(void)
{
	unsigned count = 0;

	for (unsigned index = 0; index < rig.delivered_count; index++)
		count += rig.delivered_at[index] == rig_host(&rig, 2);
	return count;
}

static const struct fault_counts *counts(void)
{
	return &faulty_port()->faults->counts;
}

static void test_dropped_packets_are_lost_and_no_others(void **state)
{
	(void)state;
	begin((struct fault_settings){.drop = FAULT_CERTAIN / 4});
	send_all();
	assert_int_equal(counts()->packets, PACKETS);
	assert_in_range(counts()->dropped, PACKETS / 8, PACKETS / 2);
	assert_int_equal(rig.delivered_count, PACKETS - counts()->dropped);
	assert_int_equal(rig.gone_count, counts()->dropped);
	assert_int_equal(rig.gone_reason, DROP_FAULT);
	assert_int_equal(rig.switch_node->ports[1].counters.receive_packets, rig.delivered_count);
	assert_int_equal(faulty_port()->counters.transmit_packets, PACKETS);
	end();
}

static void test_lost_packets_take_no_credits_with_them(void **state)
{
	(void)state;
	begin((struct fault_settings){.drop = FAULT_CERTAIN});
	for (unsigned round = 0; round < 20; round++)
		send_all();
	assert_int_equal(counts()->dropped, 20 * PACKETS);
	end();
}

static void test_the_next_port_counts_what_broke_on_the_wire(void **state)
{
	(void)state;
	begin((struct fault_settings){.corrupt = FAULT_CERTAIN / 4});
	/* No manager, so no trap 129. */
	rig.switch_node->ports[0].info.master_sm_lid = 0;
	send_all();
	assert_in_range(counts()->corrupted, PACKETS / 8, PACKETS / 2);
	assert_int_equal(delivered(), PACKETS - counts()->corrupted);
	assert_int_equal(rig.switch_node->ports[1].counters.drops[DROP_VCRC], counts()->corrupted);
	assert_int_equal(rig.switch_node->ports[1].counters.receive_errors, counts()->corrupted);
	/* The links of this fabric have an extended speed with Reed-Solomon codes. */
	assert_int_equal(rig.switch_node->ports[1].details->lanes.uncorrectable_blocks,
			 counts()->corrupted);
	end();
}

static void test_the_last_port_counts_what_broke_inside_a_node(void **state)
{
	(void)state;
	begin((struct fault_settings){.corrupt_inside = FAULT_CERTAIN / 4});
	send_all();
	assert_in_range(counts()->corrupted, PACKETS / 8, PACKETS / 2);
	assert_int_equal(delivered(), PACKETS - counts()->corrupted);
	assert_int_equal(rig.switch_node->ports[1].counters.receive_errors, 0);
	assert_int_equal(rig_host(&rig, 2)->counters.drops[DROP_ICRC], counts()->corrupted);
	assert_int_equal(rig_host(&rig, 2)->counters.receive_errors, counts()->corrupted);
	end();
}

static void test_duplicates_arrive_right_behind(void **state)
{
	unsigned repeated = 0;

	(void)state;
	begin((struct fault_settings){.duplicate = FAULT_CERTAIN / 4});
	send_all();
	assert_int_equal(rig.delivered_count, PACKETS + counts()->duplicated);
	for (unsigned index = 1; index < rig.delivered_count; index++) {
		unsigned before = number_of(rig.delivered[index - 1]);
		unsigned number = number_of(rig.delivered[index]);

		assert_true(number == before || number == before + 1);
		repeated += number == before;
	}
	assert_int_equal(repeated, counts()->duplicated);
	end();
}

static void test_a_reordered_packet_is_overtaken_by_one(void **state)
{
	unsigned late = 0;

	(void)state;
	begin((struct fault_settings){.reorder = FAULT_CERTAIN / 4});
	send_all();
	run_out();
	assert_int_equal(rig.delivered_count, PACKETS);
	for (unsigned index = 1; index < rig.delivered_count; index++) {
		unsigned before = number_of(rig.delivered[index - 1]);
		unsigned number = number_of(rig.delivered[index]);

		if (number < before) {
			assert_int_equal(number, before - 1);
			late++;
		}
	}
	assert_in_range(late, PACKETS / 10, counts()->reordered);
	end();
}

static void test_a_packet_that_nobody_overtakes_goes_all_the_same(void **state)
{
	(void)state;
	begin((struct fault_settings){.reorder = FAULT_CERTAIN});
	send_packet(1, 0);
	assert_int_equal(rig.delivered_count, 0);
	assert_true(next_arrival() < MILLISECONDS(1));
	run_out();
	assert_int_equal(rig.delivered_count, 1);
	end();
}

static void test_delay_is_exact_and_keeps_order(void **state)
{
	(void)state;
	begin((struct fault_settings){.delay = 1000, .jitter = 500});
	for (unsigned number = 1; number <= 100; number++)
		send_packet(number, number * 10);
	assert_true(next_arrival() >= 1010);

	time_ns last = run_out();

	assert_in_range(last, 2000, 2500);
	assert_int_equal(rig.delivered_count, 100);
	for (unsigned index = 0; index < 100; index++)
		assert_int_equal(number_of(rig.delivered[index]), index + 1);
	end();
}

static void test_a_cap_spreads_packets_over_time(void **state)
{
	(void)state;
	/* LRH, BTH, 256 bytes, ICRC and VCRC: 282 bytes, 2256 ns at 1 Gbit. */
	begin((struct fault_settings){.bits_per_second = 1000000000});
	for (unsigned number = 1; number <= 10; number++)
		send_packet(number, 0);
	assert_int_equal(next_arrival(), 2256);
	assert_int_equal(run_out(), 22560);
	assert_int_equal(rig.delivered_count, 10);
	end();
}

/* The receiver must not count blocks that the sender never sent, or it grants more than there
 * is. */
static void test_duplicates_on_a_paced_link_leave_its_credits_whole(void **state)
{
	const struct fault_settings settings = {.duplicate = FAULT_CERTAIN};
	struct port *output;
	time_ns now = 0;

	(void)state;
	rig_star(&rig, "star:3");
	rig.fabric.is_paced = true;
	output = rig_host(&rig, 2)->peer;
	assert_int_equal(faults_set(&rig.fabric, output, &settings, SEED, 0), 0);
	for (unsigned number = 1; number <= PACKETS; number++) {
		send_packet(number, now);
		while (!fabric_is_idle(&rig.fabric)) {
			now = fabric_deadline(&rig.fabric);
			assert_int_not_equal(now, TIME_NEVER);
			rig_run(&rig, now);
		}
		assert_int_equal(delivered(), 2 * number);
	}
	rig_release(&rig);
}

/* Frames that waited for credits leave when the credits came back, not when the fabric was stepped:
 * the link was never idle. */
static void test_a_cap_holds_when_the_fabric_is_stepped_late(void **state)
{
	/* LRH, BTH, 4096 bytes, ICRC and VCRC: 4122 bytes, 33 us at 1 Gbit. */
	const time_ns late = MICROSECONDS(1500), packet = 32976;

	(void)state;
	begin((struct fault_settings){.bits_per_second = 1000000000});
	for (unsigned step = 0; step < 2; step++) {
		struct frame *frame;

		/* 31 of them are on the link at a time, for a millisecond. */
		while ((frame = rig_data_frame(&rig, 1, 2, 4096)) &&
		       fabric_inject(&rig.fabric, faulty_port(), frame, step * late))
			continue;
		frame_give_back(&rig.fabric.frames, frame);
		rig_run(&rig, step * late);
	}
	assert_int_equal(delivered(), late / packet);
	rig_release(&rig);
}

static void test_packets_on_a_slow_link_are_bounded_by_credits(void **state)
{
	unsigned sent = 0;

	(void)state;
	begin((struct fault_settings){.delay = SECONDS(1)});
	for (unsigned number = 1; number <= 3000; number++) {
		struct frame *frame = rig_data_frame(&rig, 1, 2, PAYLOAD_BYTES);

		if (!fabric_inject(&rig.fabric, faulty_port(), frame, 0)) {
			frame_give_back(&rig.fabric.frames, frame);
			break;
		}
		rig_run(&rig, 0);
		sent++;
	}
	/* 282 bytes are five blocks: a receive buffer on the cable, and a queue full behind it. */
	assert_in_range(sent, 2 * VL_BUFFER_BLOCKS / 5 - 2, 2 * VL_BUFFER_BLOCKS / 5 + 2);
	run_out();
	assert_int_equal(rig.delivered_count, sent);
	end();
}

static void test_lost_credits_stop_a_link_until_the_fault_is_cleared(void **state)
{
	unsigned sent = 0;

	(void)state;
	begin((struct fault_settings){.credit_loss = FAULT_CERTAIN});
	for (; sent < 1000; sent++) {
		struct frame *frame = rig_data_frame(&rig, 1, 2, PAYLOAD_BYTES);

		if (!fabric_inject(&rig.fabric, faulty_port(), frame, 0)) {
			frame_give_back(&rig.fabric.frames, frame);
			break;
		}
		rig_run(&rig, 0);
	}
	assert_int_equal(rig.delivered_count, VL_BUFFER_BLOCKS / 5);
	assert_true(sent > rig.delivered_count);
	faults_clear(&rig.fabric, faulty_port(), 0);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, sent);
	end();
}

static void test_a_flapping_cable_is_pulled_and_put_back(void **state)
{
	(void)state;
	begin((struct fault_settings){.flap_up = 1000, .flap_down = 300});
	assert_int_equal(timer_queue_deadline(&rig.fabric.faults.flaps), 1000);
	rig_run(&rig, 1000);
	assert_int_equal(faulty_port()->info.port_state, PORT_DOWN);
	assert_int_equal(timer_queue_deadline(&rig.fabric.faults.flaps), 1300);
	rig_run(&rig, 1300);
	assert_int_equal(faulty_port()->info.port_state, PORT_INIT);
	assert_int_equal(counts()->flaps, 1);
	rig_run(&rig, 2300);
	assert_int_equal(faulty_port()->info.port_state, PORT_DOWN);
	faults_clear(&rig.fabric, faulty_port(), 2300);
	assert_int_equal(faulty_port()->info.port_state, PORT_INIT);
	assert_null(faulty_port()->faults);
	end();
}

static void test_a_link_that_falls_loses_what_it_held(void **state)
{
	(void)state;
	begin((struct fault_settings){.delay = 1000});
	/* No manager, so trap 128 is not repeated. */
	rig.switch_node->ports[0].info.master_sm_lid = 0;
	send_packet(1, 0);
	send_packet(2, 0);
	fabric_set_cable(&rig.fabric, faulty_port(), false, 10);
	assert_int_equal(rig.gone_count, 2);
	run_out();
	assert_int_equal(delivered(), 0);
	end();
}

static void test_management_passes_unless_it_is_meant_too(void **state)
{
	uint8_t mad[MAD_BYTES] = {1, MAD_CLASS_SUBNET_LID, 1, MAD_GET, [17] = 0x11};

	(void)state;
	for (unsigned includes_mads = 0; includes_mads < 2; includes_mads++) {
		begin((struct fault_settings){.drop = FAULT_CERTAIN,
					      .includes_mads = includes_mads});
		assert_true(fabric_inject(
			&rig.fabric, faulty_port(),
			rig_mad_frame(&rig, VL_MANAGEMENT, 1, RIG_SWITCH_LID, 0, mad), 0));
		rig_run(&rig, 0);
		assert_int_equal(rig.delivered_count, includes_mads ? 0 : 1);
		end();
	}
}

static void test_a_faulty_link_is_seen_by_who_walks_it_and_no_other(void **state)
{
	struct fabric_path path;

	(void)state;
	begin((struct fault_settings){.delay = 5});
	fabric_walk(&rig.fabric, rig_host(&rig, 1), 2, 0, PKEY_DEFAULT_FULL, &path);
	assert_int_equal(path.verdict, DROP_NONE);
	assert_true(path.is_watched);
	fabric_walk(&rig.fabric, rig_host(&rig, 2), 1, 0, PKEY_DEFAULT_FULL, &path);
	assert_false(path.is_watched);
	fabric_walk(&rig.fabric, rig_host(&rig, 2), 3, 0, PKEY_DEFAULT_FULL, &path);
	assert_false(path.is_watched);

	unsigned changes = rig.path_changes;

	faults_clear(&rig.fabric, faulty_port(), 0);
	assert_int_equal(rig.path_changes, changes + 1);
	fabric_walk(&rig.fabric, rig_host(&rig, 1), 2, 0, PKEY_DEFAULT_FULL, &path);
	assert_false(path.is_watched);
	end();
}

struct log {
	struct fault_decision decisions[PACKETS];
	size_t count;
};

static void note(void *context, const struct link_faults *faults,
		 const struct fault_decision *decision)
{
	struct log *log = context;

	assert_ptr_equal(faults->output, faulty_port());
	assert_true(log->count < PACKETS);
	log->decisions[log->count++] = *decision;
}

/* A hash of all that arrived. */
static uint64_t fingerprint(void)
{
	uint64_t sum = 0;

	for (unsigned index = 0; index < rig.delivered_count; index++)
		sum = sum * 31 + number_of(rig.delivered[index]);
	return sum;
}

static void test_a_record_replays_to_the_same_packets(void **state)
{
	const struct fault_settings settings = {.drop = FAULT_CERTAIN / 10,
						.corrupt = FAULT_CERTAIN / 10,
						.duplicate = FAULT_CERTAIN / 10,
						.reorder = FAULT_CERTAIN / 10,
						.jitter = 50};
	static struct log first, second;

	(void)state;
	begin(settings);
	rig.fabric.faults.observer = (struct fault_observer){.decided = note, .context = &first};
	send_all();
	run_out();

	uint64_t expected = fingerprint();

	end();

	struct fault_decision *script = malloc(sizeof(first.decisions));

	assert_non_null(script);
	memcpy(script, first.decisions, sizeof(first.decisions));
	rig_star(&rig, "star:3");
	assert_int_equal(faults_replay(&rig.fabric, faulty_port(), &(struct fault_settings){0},
				       script, first.count, 0),
			 0);
	rig.fabric.faults.observer = (struct fault_observer){.decided = note, .context = &second};
	send_all();
	run_out();
	assert_int_equal(fingerprint(), expected);
	assert_int_equal(second.count, first.count);
	assert_memory_equal(second.decisions, first.decisions, sizeof(first.decisions));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dropped_packets_are_lost_and_no_others),
		cmocka_unit_test(test_lost_packets_take_no_credits_with_them),
		cmocka_unit_test(test_the_next_port_counts_what_broke_on_the_wire),
		cmocka_unit_test(test_the_last_port_counts_what_broke_inside_a_node),
		cmocka_unit_test(test_duplicates_arrive_right_behind),
		cmocka_unit_test(test_a_reordered_packet_is_overtaken_by_one),
		cmocka_unit_test(test_a_packet_that_nobody_overtakes_goes_all_the_same),
		cmocka_unit_test(test_delay_is_exact_and_keeps_order),
		cmocka_unit_test(test_a_cap_spreads_packets_over_time),
		cmocka_unit_test(test_duplicates_on_a_paced_link_leave_its_credits_whole),
		cmocka_unit_test(test_a_cap_holds_when_the_fabric_is_stepped_late),
		cmocka_unit_test(test_packets_on_a_slow_link_are_bounded_by_credits),
		cmocka_unit_test(test_lost_credits_stop_a_link_until_the_fault_is_cleared),
		cmocka_unit_test(test_a_flapping_cable_is_pulled_and_put_back),
		cmocka_unit_test(test_a_link_that_falls_loses_what_it_held),
		cmocka_unit_test(test_management_passes_unless_it_is_meant_too),
		cmocka_unit_test(test_a_faulty_link_is_seen_by_who_walks_it_and_no_other),
		cmocka_unit_test(test_a_record_replays_to_the_same_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
