/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets through one switch: arrival, order, back-pressure, lifetimes, faults, counters.
 * Covers: fabric/movement.c, fabric/arrivals.c, fabric/fetch_ahead.c
 */
#include "rig.h"
#include <stdlib.h>
#include "fabric/link_faults.h"

#include "net/link/detail_counters.h"
#include "net/link/lane_credits.h"

static void inject(struct rig *rig, unsigned host, struct frame *frame, time_ns now)
{
	assert_true(fabric_inject(&rig->fabric, rig_host(rig, host), frame, now));
}

/* As after a change of its tables: the port runs again. */
static void wake_third_port(struct rig *rig)
{
	rig->fabric.agents.port_changed(rig->fabric.agents.context, &rig->switch_node->ports[3]);
}

static void test_packet_crosses_a_switch_and_is_counted(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	inject(&rig, 1, rig_data_frame(&rig, 1, 2, 256), 0);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], rig_host(&rig, 2));
	assert_true(fabric_is_idle(&rig.fabric));

	uint64_t words = (LRH_BYTES + BTH_BYTES + 256 + ICRC_BYTES) / 4;
	struct port *hops[] = {rig_host(&rig, 1), &rig.switch_node->ports[2]};

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(hops[i]->counters.transmit_packets, 1);
		assert_int_equal(hops[i]->counters.transmit_words, words);
		assert_int_equal(hops[i]->peer->counters.receive_packets, 1);
		assert_int_equal(hops[i]->peer->counters.receive_words, words);
		assert_int_equal(hops[i]->peer->counters.unicast_receive_packets, 1);
	}
	rig_release(&rig);
}

/* Each port counts on the lane of its own link, and one port the opcode that it was told to. */
static void test_packets_are_counted_by_lane_and_opcode(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	rig_host(&rig, 1)->sl_to_vl[0][0] = 2;
	rig.switch_node->ports[2].sl_to_vl[1][0] = 5;

	struct frame *frame = rig_data_frame(&rig, 1, 2, 256);
	uint8_t opcode = frame->bytes[LRH_BYTES];

	assert_int_equal(port_count_opcode(&rig.switch_node->ports[1], (uint8_t)(opcode + 1)), 0);
	assert_int_equal(port_count_opcode(rig_host(&rig, 2), opcode), 0);
	inject(&rig, 1, frame, 0);
	rig_run(&rig, 0);

	uint64_t words = (LRH_BYTES + BTH_BYTES + 256 + ICRC_BYTES) / 4;

	assert_int_equal(rig_host(&rig, 1)->counters.transmit_levels[2].vl_words, words);
	assert_int_equal(rig.switch_node->ports[1].counters.receive_levels[2].vl_packets, 1);
	assert_int_equal(rig.switch_node->ports[2].counters.transmit_levels[5].vl_packets, 1);
	assert_int_equal(rig_host(&rig, 2)->counters.receive_levels[5].vl_words, words);
	assert_int_equal(rig_host(&rig, 2)->counters.receive_levels[0].vl_words, 0);
	assert_int_equal(rig.switch_node->ports[1].details->opcode.packets, 0);
	assert_int_equal(rig_host(&rig, 2)->details->opcode.packets, 1);
	assert_int_equal(rig_host(&rig, 2)->details->opcode.vl_words[5], words);
	rig_release(&rig);
}

static void test_packets_of_a_flow_stay_in_order(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:3");
	for (unsigned i = 0; i < 100; i++) {
		struct frame *frame = rig_data_frame(&rig, 1, 3, 64);

		frame->bytes[LRH_BYTES + BTH_BYTES] = (uint8_t)i;
		inject(&rig, 1, frame, 0);
	}
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 100);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(rig.delivered[i]->bytes[LRH_BYTES + BTH_BYTES], i);
	rig_release(&rig);
}

/* A receiver that takes nothing fills its buffer, then the switch's, then the sender's queue;
 * nothing is lost. */
static void test_full_endpoint_pushes_back_to_the_sender(void **state)
{
	struct rig rig;
	unsigned accepted = 0;
	struct frame *frame;

	(void)state;
	rig_star(&rig, "star:2");
	rig_host(&rig, 2)->node->ports[1].info.hoq_life = 20;
	rig.switch_node->ports[2].info.hoq_life = 20;
	rig.room = 0;
	for (;;) {
		frame = rig_data_frame(&rig, 1, 2, 4096);
		if (!fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0))
			break;
		accepted++;
		rig_run(&rig, 0);
		assert_true(accepted < 1000);
	}
	/* Three buffers of 2048 blocks; a packet of this size takes 65. */
	assert_int_equal(accepted, 3 * (2048 / frame_credit_blocks(frame->byte_count)));
	assert_int_equal(rig.delivered_count, 0);
	rig.room = RIG_FRAMES_MAX;
	fabric_endpoint_ready(&rig.fabric, rig_host(&rig, 2));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, accepted);
	assert_true(fabric_is_idle(&rig.fabric));
	for (unsigned vl = 0; vl < VL_COUNT; vl++) {
		assert_int_equal(port_arrival_lane(rig_host(&rig, 2), vl)->peer_buffer_blocks, 0);
		assert_int_equal(
			port_arrival_lane(&rig.switch_node->ports[1], vl)->peer_buffer_blocks, 0);
	}
	rig_release(&rig);
}

/* A manager disables VLs while packets wait on them: the packets are dropped and counted, and
 * neither block the port nor keep credits. */
static void test_packets_on_lost_lanes_are_dropped_when_credits_come(void **state)
{
	struct rig rig;
	struct port *host;
	unsigned accepted = 0;
	struct frame *frame;

	(void)state;
	rig_star(&rig, "star:2");
	host = rig_host(&rig, 1);
	rig.switch_node->ports[2].info.hoq_life = 20;
	memset(host->sl_to_vl[0], 5, SL_COUNT);
	rig.room = 0;
	while (fabric_inject(&rig.fabric, host, frame = rig_data_frame(&rig, 1, 2, 4096), 0)) {
		accepted++;
		rig_run(&rig, 0);
		assert_true(accepted < 1000);
	}
	frame_give_back(&rig.fabric.frames, frame);

	uint32_t waiting = host->queues->vls[5].frame_count;

	assert_true(waiting > 0);
	host->info.operational_vls = 1;
	rig.room = RIG_FRAMES_MAX;
	fabric_endpoint_ready(&rig.fabric, rig_host(&rig, 2));
	rig_run(&rig, 0);
	assert_int_equal(host->counters.drops[DROP_VL_MAPPING], waiting);
	assert_int_equal(rig.delivered_count, accepted - waiting);
	assert_true(fabric_is_idle(&rig.fabric));
	assert_int_equal(host->queues->vls[5].fctbs, host->queues->vls[5].peer_abr);
	/* The remaining VL carries the same SL. */
	assert_true(fabric_inject(&rig.fabric, host, rig_data_frame(&rig, 1, 2, 64), 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, accepted - waiting + 1);
	rig_release(&rig);
}

static void test_head_of_queue_lifetime_discards_what_waits_too_long(void **state)
{
	struct rig rig;
	struct port *output;

	(void)state;
	rig_star(&rig, "star:2");
	output = &rig.switch_node->ports[2];
	output->info.hoq_life = 10; /* 4.19 ms */
	rig.switch_node->switch_info.life_time_value = 20;
	rig.room = 0;
	for (unsigned i = 0; i < 40; i++) {
		struct frame *frame = rig_data_frame(&rig, 1, 2, 4096);

		frame->source = &rig;
		if (!fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 1000))
			break;
		rig_run(&rig, 1000);
	}

	time_ns deadline = fabric_deadline(&rig.fabric);

	assert_int_equal(deadline, 1000 + time_from_code(10));
	rig_run(&rig, deadline - 1);
	assert_int_equal(output->counters.transmit_discards, 0);
	rig_run(&rig, deadline);
	assert_int_equal(output->counters.transmit_discards, 1);
	assert_int_equal(output->counters.drops[DROP_HEAD_OF_QUEUE], 1);
	assert_int_equal(output->details->vl_congestion[0], 1);
	assert_true(output->details->vl_transmit_wait[0] > 0);
	assert_int_equal(rig.gone_count, 1);
	assert_int_equal(rig.gone_reason, DROP_HEAD_OF_QUEUE);
	rig_release(&rig);
}

static void test_packet_to_own_lid_never_leaves_the_adapter(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	inject(&rig, 1, rig_data_frame(&rig, 1, 1, 16), 0);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], rig_host(&rig, 1));
	assert_int_equal(rig_host(&rig, 1)->counters.transmit_packets, 0);
	rig_release(&rig);
}

static void test_multicast_reaches_each_member_once_and_the_senders_own_port(void **state)
{
	struct rig rig;
	unsigned copies[5] = {0};

	(void)state;
	rig_star(&rig, "star:4");
	rig.switch_node->mft[3][0] = 1 << 1 | 1 << 2 | 1 << 4;
	inject(&rig, 1, rig_data_frame(&rig, 1, 0xc003, 16), 0);
	rig_run(&rig, 0);
	for (unsigned i = 0; i < rig.delivered_count; i++)
		for (unsigned host = 1; host <= 4; host++)
			copies[host] += rig.delivered_at[i] == rig_host(&rig, host);
	assert_int_equal(copies[1], 1); /* inside its adapter: no switch sends it back */
	assert_int_equal(copies[2], 1);
	assert_int_equal(copies[3], 0);
	assert_int_equal(copies[4], 1);
	assert_true(fabric_is_idle(&rig.fabric));
	assert_int_equal(rig.switch_node->ports[1].counters.transmit_packets, 0);
	assert_int_equal(rig.switch_node->ports[2].counters.multicast_transmit_packets, 1);
	rig_release(&rig);
}

/* One member takes nothing: its copies stop the sender by credits, and no member loses a packet. */
static void test_multicast_waits_for_the_slowest_member(void **state)
{
	unsigned accepted = 0, copies[4] = {0};
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:3");
	rig.switch_node->mft[3][0] = 1 << 2 | 1 << 3;
	rig.switch_node->switch_info.life_time_value = 20;
	for (unsigned number = 1; number <= 3; number++)
		rig.switch_node->ports[number].info.hoq_life = 20;
	/* Host 3 grants no credits for the VL. */
	rig.switch_node->ports[3].queues->vls[0].fccl = 0;
	for (; accepted < 1000; accepted++) {
		struct frame *frame = rig_data_frame(&rig, 1, 0xc003, 4096);

		if (!fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0)) {
			frame_give_back(&rig.fabric.frames, frame);
			break;
		}
		rig_run(&rig, 0);
	}
	/* As many as the switch's receive buffer and the sender's queue hold, and a few that left
	 * early. */
	assert_in_range(accepted, 62, 70);
	port_credits_init(&rig.switch_node->ports[3]);
	wake_third_port(&rig);
	rig_run(&rig, 0);
	for (unsigned i = 0; i < rig.delivered_count; i++)
		for (unsigned host = 1; host <= 3; host++)
			copies[host] += rig.delivered_at[i] == rig_host(&rig, host);
	assert_int_equal(copies[2], accepted);
	assert_int_equal(copies[3], accepted);
	for (unsigned number = 1; number <= 3; number++)
		assert_int_equal(rig.switch_node->ports[number].counters.transmit_discards, 0);
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

static void test_data_arriving_at_an_armed_port_makes_it_active(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	rig_host(&rig, 2)->info.port_state = PORT_ARMED;
	inject(&rig, 1, rig_data_frame(&rig, 1, 2, 16), 0);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 1);
	assert_true(port_is_active(rig_host(&rig, 2)));
	assert_int_equal(rig.port_changes, 2 * 1 + 1); /* two when the links came up */
	rig_release(&rig);
}

static void test_partition_of_the_receiving_port_is_enforced(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	rig_host(&rig, 2)->pkeys[0] = 0x8001;
	inject(&rig, 1, rig_data_frame(&rig, 1, 2, 16), 0);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 0);
	assert_int_equal(rig_host(&rig, 2)->counters.receive_constraint_errors, 1);
	assert_int_equal(rig_host(&rig, 2)->info.pkey_violations, 1);
	rig_release(&rig);
}

/* Applies these faults to the first packets of the first host. */
static void play(struct rig *rig, const enum fault_action actions[], size_t count)
{
	struct fault_decision *script = calloc(count, sizeof(*script));

	assert_non_null(script);
	for (size_t i = 0; i < count; i++)
		script[i] = (struct fault_decision){.sequence = i + 1, .actions = actions[i]};
	assert_int_equal(faults_replay(&rig->fabric, rig_host(rig, 1), &(struct fault_settings){0},
				       script, count, 0),
			 0);
}

static void test_faults_do_to_packets_what_they_say(void **state)
{
	static const enum fault_action actions[] = {FAULT_DROP, FAULT_CORRUPT, FAULT_DUPLICATE,
						    FAULT_REORDER};
	static const uint8_t expected[] = {2, 2, 4, 3, 5};
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	play(&rig, actions, ARRAY_COUNT(actions));
	for (uint8_t i = 0; i < 6; i++) {
		struct frame *frame = rig_data_frame(&rig, 1, 2, 4);

		frame->bytes[LRH_BYTES + BTH_BYTES] = i;
		inject(&rig, 1, frame, 0);
	}
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, ARRAY_COUNT(expected));
	for (unsigned i = 0; i < ARRAY_COUNT(expected); i++)
		assert_int_equal(rig.delivered[i]->bytes[LRH_BYTES + BTH_BYTES], expected[i]);
	assert_int_equal(rig.switch_node->ports[1].counters.receive_errors, 1);
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

/* Lost packets do not lose credits. */
static void test_lost_packets_leak_no_credits(void **state)
{
	enum fault_action actions[500];
	struct rig rig;

	(void)state;
	for (unsigned i = 0; i < 500; i++)
		actions[i] = i % 2 ? FAULT_DROP : FAULT_CORRUPT;
	rig_star(&rig, "star:2");
	play(&rig, actions, ARRAY_COUNT(actions));
	for (unsigned i = 0; i < 501; i++) {
		/* This many errors in a row would end the link. */
		rig.switch_node->ports[1].errors = (struct link_errors){0};
		inject(&rig, 1, rig_data_frame(&rig, 1, 2, 4096), 0);
		rig_run(&rig, 0);
	}
	assert_int_equal(rig.delivered_count, 1);
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

/* LocalPhyErrors is 8: at the ninth error the port recovers. A link that does not recover goes down
 * and comes back in Init. */
static void test_link_with_nothing_but_errors_goes_down(void **state)
{
	enum fault_action actions[36];
	struct rig rig;
	struct port *input;

	(void)state;
	for (unsigned i = 0; i < 36; i++)
		actions[i] = FAULT_CORRUPT;
	rig_star(&rig, "star:2");
	input = &rig.switch_node->ports[1];
	play(&rig, actions, ARRAY_COUNT(actions));
	for (unsigned i = 0; i < 35; i++) {
		inject(&rig, 1, rig_data_frame(&rig, 1, 2, 16), 0);
		rig_run(&rig, 0);
	}
	assert_int_equal(input->counters.symbol_errors, 35);
	assert_int_equal(input->counters.local_link_integrity_errors, 3);
	assert_int_equal(input->counters.link_error_recovery, 3);
	assert_true(port_is_active(input));
	inject(&rig, 1, rig_data_frame(&rig, 1, 2, 16), 0);
	rig_run(&rig, 0);
	assert_int_equal(input->counters.local_link_integrity_errors, 4);
	assert_int_equal(input->counters.link_downed, 1);
	assert_int_equal(input->info.port_state, PORT_INIT);
	assert_int_equal(input->peer->info.port_state, PORT_INIT);
	rig_release(&rig);
}

static void test_budget_bounds_a_step(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	for (unsigned i = 0; i < 100; i++)
		inject(&rig, 1, rig_data_frame(&rig, 1, 2, 16), 0);
	assert_true(fabric_step(&rig.fabric, 0, 10));
	assert_true(rig.delivered_count < 100);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 100);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packet_crosses_a_switch_and_is_counted),
		cmocka_unit_test(test_packets_are_counted_by_lane_and_opcode),
		cmocka_unit_test(test_packets_of_a_flow_stay_in_order),
		cmocka_unit_test(test_full_endpoint_pushes_back_to_the_sender),
		cmocka_unit_test(test_packets_on_lost_lanes_are_dropped_when_credits_come),
		cmocka_unit_test(test_head_of_queue_lifetime_discards_what_waits_too_long),
		cmocka_unit_test(test_packet_to_own_lid_never_leaves_the_adapter),
		cmocka_unit_test(test_multicast_reaches_each_member_once_and_the_senders_own_port),
		cmocka_unit_test(test_multicast_waits_for_the_slowest_member),
		cmocka_unit_test(test_data_arriving_at_an_armed_port_makes_it_active),
		cmocka_unit_test(test_partition_of_the_receiving_port_is_enforced),
		cmocka_unit_test(test_faults_do_to_packets_what_they_say),
		cmocka_unit_test(test_lost_packets_leak_no_credits),
		cmocka_unit_test(test_link_with_nothing_but_errors_goes_down),
		cmocka_unit_test(test_budget_bounds_a_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
