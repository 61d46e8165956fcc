/* SPDX-License-Identifier: Apache-2.0 */
/* A paced fabric on a virtual clock: when frames leave, when they arrive, when credits are back
 * (transport 8.5, 8.9). */
#include "rig.h"

#include "net/link/link_rate.h"
#include "net/link/port_queues.h"

enum { MBPS = 100000 /* 4x EDR, what generated links have */ };

static time_ns wire_time(uint32_t byte_count)
{
	return (time_ns)frame_wire_bytes(byte_count) * 8 * 1000 / MBPS;
}

static void paced_star(struct rig *rig, const char *generator)
{
	rig_star(rig, generator);
	rig->fabric.is_paced = true;
}

/* Lets time pass from deadline to deadline; returns the time of the last one. */
static time_ns run_to_end(struct rig *rig, time_ns now)
{
	rig_run(rig, now);
	for (;;) {
		time_ns deadline = fabric_deadline(&rig->fabric);

		if (deadline == TIME_NEVER)
			return now;
		assert_true(deadline >= now);
		now = deadline;
		rig_run(rig, now);
	}
}

static void run_until(struct rig *rig, time_ns now, time_ns end)
{
	rig_run(rig, now);
	while (fabric_deadline(&rig->fabric) <= end)
		rig_run(rig, fabric_deadline(&rig->fabric));
}

static void send_data(struct rig *rig, unsigned from, unsigned to, uint32_t payload_bytes,
		      time_ns now)
{
	assert_true(fabric_inject(&rig->fabric, rig_host(rig, from),
				  rig_data_frame(rig, (uint16_t)from, (uint16_t)to, payload_bytes),
				  now));
}

static void test_frame_takes_wire_time_and_delay_at_each_hop(void **state)
{
	time_ns hop = wire_time(LRH_BYTES + BTH_BYTES + 1024) + LINK_DELAY_NS;
	struct rig rig;

	(void)state;
	paced_star(&rig, "star:2");
	send_data(&rig, 1, 2, 1024, 5000);
	run_until(&rig, 5000, 5000 + 2 * hop - 1);
	assert_int_equal(rig.delivered_count, 0);
	run_until(&rig, 5000, 5000 + 2 * hop);
	assert_int_equal(rig.delivered_count, 1);
	run_to_end(&rig, 5000 + 2 * hop);
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

static void test_wire_sends_one_frame_after_the_other(void **state)
{
	uint32_t byte_count = LRH_BYTES + BTH_BYTES + 4096;
	struct rig rig;

	(void)state;
	paced_star(&rig, "star:2");
	for (unsigned i = 0; i < 25; i++)
		send_data(&rig, 1, 2, 4096, 0);
	/* 25 frames back to back on the first link, and the last one once more on the second. */
	time_ns first_link = (time_ns)frame_wire_bytes(byte_count) * 25 * 8 * 1000 / MBPS;
	time_ns end = first_link + wire_time(byte_count) + 2 * LINK_DELAY_NS;

	run_until(&rig, 0, end - 2);
	assert_int_equal(rig.delivered_count, 24);
	run_until(&rig, end - 2, end + 2);
	assert_int_equal(rig.delivered_count, 25);
	rig_release(&rig);
}

/* Two senders to one port: it is the bottleneck and never idle. */
static void test_output_is_shared_and_full(void **state)
{
	uint32_t byte_count = LRH_BYTES + BTH_BYTES + 2048;
	unsigned from_one = 0;
	struct rig rig;

	(void)state;
	paced_star(&rig, "star:3");
	for (unsigned i = 0; i < 50; i++) {
		send_data(&rig, 1, 3, 2048, 0);
		send_data(&rig, 2, 3, 2048, 0);
	}

	time_ns hop = wire_time(byte_count);

	run_until(&rig, 0, hop + LINK_DELAY_NS + 60 * hop + LINK_DELAY_NS + 60);
	assert_in_range(rig.delivered_count, 59, 61);
	for (unsigned i = 0; i < rig.delivered_count; i++)
		from_one += get_be16(rig.delivered[i]->bytes + 6) == 1;
	assert_in_range(from_one, 29, 31);
	run_to_end(&rig, 61 * hop + 2 * LINK_DELAY_NS);
	assert_int_equal(rig.delivered_count, 100);
	rig_release(&rig);
}

/* A step function that is called late does what it would have done in time. */
static void test_late_caller_loses_no_bandwidth(void **state)
{
	struct rig rig;

	(void)state;
	paced_star(&rig, "star:2");
	for (unsigned i = 0; i < 30; i++)
		send_data(&rig, 1, 2, 4096, 0);
	rig_run(&rig, 0);
	rig_run(&rig, MILLISECONDS(1));
	assert_int_equal(rig.delivered_count, 30);
	assert_in_range(rig.fabric.late_ns_max, MICROSECONDS(900), MILLISECONDS(1));
	rig_release(&rig);
}

static void assert_credits_are_whole(struct rig *rig)
{
	for (unsigned number = 1; number <= rig->switch_node->port_count; number++) {
		struct port *ends[] = {&rig->switch_node->ports[number], rig_host(rig, number)};

		for (unsigned end = 0; end < 2; end++) {
			const struct vl_queue *lane = &ends[end]->queues->vls[0];

			assert_int_equal(lane->peer_buffer_blocks, 0);
			assert_int_equal(lane->cable_blocks, 0);
			assert_int_equal(lane->peer_abr, lane->fctbs);
			assert_int_equal(lane->fccl, (lane->fctbs + 2048) % 4096);
		}
	}
}

static void test_credits_are_whole_when_all_has_arrived(void **state)
{
	struct rig rig;
	unsigned sent = 0;
	time_ns now = 0;

	(void)state;
	paced_star(&rig, "star:3");
	while (sent < 1500) {
		struct frame *frame = rig_data_frame(&rig, (uint16_t)(1 + sent % 2), 3,
						     64 + sent * 37 % 4000 / 4 * 4);

		if (fabric_inject(&rig.fabric, rig_host(&rig, 1 + sent % 2), frame, now)) {
			sent++;
			continue;
		}
		frame_give_back(&rig.fabric.frames, frame);
		rig_run(&rig, now);
		assert_true(fabric_deadline(&rig.fabric) != TIME_NEVER);
		now = fabric_deadline(&rig.fabric);
		rig_run(&rig, now);
	}
	run_to_end(&rig, now);
	assert_int_equal(rig.delivered_count, 1500);
	assert_true(fabric_is_idle(&rig.fabric));
	assert_credits_are_whole(&rig);
	assert_int_equal(rig.switch_node->ports[3].counters.transmit_discards, 0);
	rig_release(&rig);
}

/* A receiver that takes nothing stops the sender by credits; when it takes frames again, the first
 * frame that waited starts one link delay later. */
static void test_credits_take_a_link_delay_to_come_back(void **state)
{
	struct rig rig;
	struct port *output;
	time_ns now = 0;

	(void)state;
	paced_star(&rig, "star:2");
	output = &rig.switch_node->ports[2];
	output->info.hoq_life = 20;
	rig.switch_node->switch_info.life_time_value = 20;
	rig.room = 0;
	/* One frame more than fits into the receive buffer. */
	for (unsigned i = 0; i < 2048 / 65 + 1; i++) {
		send_data(&rig, 1, 2, 4096, now);
		now = run_to_end(&rig, now);
	}
	now += 1000;
	assert_int_equal(output->queues->vls[0].frame_count, 1);
	rig.room = 1;
	fabric_endpoint_ready(&rig.fabric, rig_host(&rig, 2));
	rig_run(&rig, now);
	assert_int_equal(rig.delivered_count, 1);
	assert_int_equal(output->queues->vls[0].frame_count, 1);

	time_ns back = fabric_deadline(&rig.fabric);

	assert_in_range(back - now, LINK_DELAY_NS, LINK_DELAY_NS + 1);
	rig_run(&rig, back - 1);
	assert_int_equal(output->queues->vls[0].frame_count, 1);
	rig_run(&rig, back);
	assert_int_equal(output->queues->vls[0].frame_count, 0);
	rig_release(&rig);
}

static void test_cable_that_is_pulled_loses_what_is_on_it(void **state)
{
	struct rig rig;
	struct port *host;

	(void)state;
	paced_star(&rig, "star:2");
	host = rig_host(&rig, 1);
	for (unsigned i = 0; i < 4; i++)
		send_data(&rig, 1, 2, 4096, 0);
	rig_run(&rig, 0);
	fabric_set_cable(&rig.fabric, host, false, 10);
	run_until(&rig, 10, 999);
	assert_int_equal(rig.delivered_count, 0);
	assert_int_equal(host->counters.drops[DROP_PORT_INACTIVE], 4);
	assert_true(fabric_is_idle(&rig.fabric));
	fabric_set_cable(&rig.fabric, host, true, 1000);
	host->info.port_state = PORT_ACTIVE;
	host->peer->info.port_state = PORT_ACTIVE;
	send_data(&rig, 1, 2, 4096, 1000);
	run_until(&rig, 1000, 5000);
	assert_int_equal(rig.delivered_count, 1);
	assert_credits_are_whole(&rig);
	rig_release(&rig);
}

static void test_management_lane_goes_first_at_the_next_frame(void **state)
{
	uint8_t mad[MAD_BYTES] = {1, MAD_CLASS_SUBNET_DIRECTED, 1, 0x01};
	struct rig rig;

	(void)state;
	paced_star(&rig, "star:2");
	for (unsigned i = 0; i < 10; i++)
		send_data(&rig, 1, 2, 4096, 0);
	rig_run(&rig, 0);
	mad[1] = 0x01;
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1),
				  rig_mad_frame(&rig, 15, 1, 100, 0, mad), 1));
	run_until(&rig, 1, 2 * wire_time(LRH_BYTES + BTH_BYTES + 4096) + LINK_DELAY_NS);
	assert_int_equal(rig.switch_node->ports[1].counters.receive_packets, 2);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_takes_wire_time_and_delay_at_each_hop),
		cmocka_unit_test(test_wire_sends_one_frame_after_the_other),
		cmocka_unit_test(test_output_is_shared_and_full),
		cmocka_unit_test(test_late_caller_loses_no_bandwidth),
		cmocka_unit_test(test_credits_are_whole_when_all_has_arrived),
		cmocka_unit_test(test_credits_take_a_link_delay_to_come_back),
		cmocka_unit_test(test_cable_that_is_pulled_loses_what_is_on_it),
		cmocka_unit_test(test_management_lane_goes_first_at_the_next_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
