/* SPDX-License-Identifier: Apache-2.0 */
/* Incast on a virtual clock: FECN at the switch, BECN to the sources, and sources that slow down
 * (transport 8.13). */
#include "rig.h"

#include "fabric/congestion_control.h"
#include "net/link/congestion_state.h"
#include "net/link/detail_counters.h"
#include "net/link/port_queues.h"

enum { MARKS_OFFSET = LRH_BYTES + BTH_BYTES - 8, FECN = 0x80, BECN = 0x40 };

static struct frame *ud_frame(struct rig *rig, uint16_t slid, uint16_t dlid)
{
	static uint8_t payload[1024];
	struct frame *frame = frame_take(&rig->fabric.frames);
	struct packet packet = {
		.lrh = {.dlid = dlid, .slid = slid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = 17},
		.deth = {.source_qpn = 99},
		.packet_count = 1,
	};

	packet_set_payload(&packet, payload, sizeof(payload));
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->source_qpn = 99;
	return frame;
}

static void controlled_star(struct rig *rig)
{
	const struct congestion_marking marking = {.threshold = 12};
	struct congestion_reaction reaction = {.ccti_limit = 127,
					       .by_sl[0] = {.increase = 1, .timer = 20}};

	for (unsigned index = 0; index < CONGESTION_TABLE_ENTRIES; index++)
		reaction.table[index] = (uint16_t)index;
	rig_star(rig, "star:4");
	rig->fabric.is_paced = true;
	for (unsigned number = 1; number <= 4; number++) {
		assert_int_equal(port_set_marking(&rig->switch_node->ports[number], &marking), 0);
		assert_int_equal(port_set_reaction(rig_host(rig, number), &reaction), 0);
	}
}

/* Three hosts send as much as they can to the fourth; returns the most blocks that waited at its
 * port. */
static uint32_t run_incast(struct rig *rig, bool is_reliable)
{
	uint32_t most = 0;
	time_ns now = 0;

	while (now < MICROSECONDS(400)) {
		for (unsigned host = 1; host <= 3; host++) {
			struct frame *frame = is_reliable
						      ? rig_data_frame(rig, (uint16_t)host, 4, 1024)
						      : ud_frame(rig, (uint16_t)host, 4);

			if (!fabric_inject(&rig->fabric, rig_host(rig, host), frame, now))
				frame_give_back(&rig->fabric.frames, frame);
		}
		rig_run(rig, now);
		/* The receiver of a reliable packet answers it. */
		for (unsigned i = 0; i < rig->delivered_count; i++) {
			uint16_t slid = get_be16(rig->delivered[i]->bytes + 6);

			if (is_reliable && rig->delivered_at[i] == rig_host(rig, 4))
				(void)!fabric_inject(&rig->fabric, rig_host(rig, 4),
						     rig_data_frame(rig, 4, slid, 0), now);
			frame_give_back(&rig->fabric.frames, rig->delivered[i]);
		}
		rig->delivered_count = 0;
		rig->room = RIG_FRAMES_MAX;
		now = fabric_deadline(&rig->fabric);

		uint32_t blocks = rig->switch_node->ports[4].queues->vls[0].block_count;

		if (now > MICROSECONDS(200) && blocks > most)
			most = blocks;
	}
	return most;
}

static void test_sources_slow_down_until_little_waits(void **state)
{
	(void)state;
	for (unsigned is_reliable = 0; is_reliable < 2; is_reliable++) {
		struct rig controlled, plain;

		controlled_star(&controlled);
		rig_star(&plain, "star:4");
		plain.fabric.is_paced = true;

		uint32_t with = run_incast(&controlled, is_reliable);
		uint32_t without = run_incast(&plain, is_reliable);

		const struct detail_counters *switch_details =
			controlled.switch_node->ports[4].details;
		const struct detail_counters *receiver = rig_host(&controlled, 4)->details;

		/* What the ports count: marks that arrive, words that come back, and the time for
		 * which the output was congested. */
		assert_true(receiver->receive_fecn > 0);
		assert_int_equal(receiver->sl_receive_fecn[0], receiver->receive_fecn);
		assert_int_equal(receiver->receive_becn, 0);
		assert_true(rig_host(&controlled, 1)->details->receive_becn > 0);
		assert_in_range(switch_details->transmit_time_congested, 1, 400);
		assert_int_equal(switch_details->vl_transmit_time_congested[0],
				 switch_details->transmit_time_congested);
		/* Without congestion control the buffers of all three inputs are full. */
		assert_true(without > 3 * 2048 * 9 / 10);
		assert_true(with < without / 3);
		rig_release(&controlled);
		rig_release(&plain);
	}
}

/* Most packets carry no CRCs, and has_icrc is not set then. */
static void test_mark_renews_only_crcs_that_a_packet_carries(void **state)
{
	struct rig rig;
	uint8_t before[FRAME_CRC_BYTES];

	(void)state;
	controlled_star(&rig);

	struct vl_queue *queue = &rig.switch_node->ports[4].queues->vls[0];
	struct frame *frame = ud_frame(&rig, 1, 4);

	memset(before, 0xa5, sizeof(before));
	memcpy(frame->crcs, before, sizeof(before));
	frame->vl = 0;
	assert_true(frame_read_header(frame));
	queue->block_count = 100000;
	congestion_mark(&rig.fabric, &rig.switch_node->ports[4], frame, MICROSECONDS(100));
	queue->block_count = 0;
	assert_true(frame->bytes[MARKS_OFFSET] & FECN);
	assert_memory_equal(frame->crcs, before, sizeof(before));
	frame_give_back(&rig.fabric.frames, frame);
	rig_release(&rig);
}

static void test_reliable_answer_carries_the_word_back(void **state)
{
	struct rig rig;
	struct frame *frame;

	(void)state;
	controlled_star(&rig);
	rig.fabric.is_paced = false;
	frame = rig_data_frame(&rig, 1, 4, 1024);
	frame->bytes[MARKS_OFFSET] |= FECN;
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 1);
	/* A packet to another host carries no BECN; one to the sender does, once. */
	for (unsigned round = 0; round < 3; round++) {
		uint16_t dlid = round == 0 ? 2 : 1;

		assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 4),
					  rig_data_frame(&rig, 4, dlid, 0), 0));
		rig_run(&rig, 0);
		assert_int_equal(rig.delivered[1 + round]->bytes[MARKS_OFFSET] & BECN,
				 round == 1 ? BECN : 0);
	}
	rig_release(&rig);
}

static void test_unreliable_service_gets_a_packet_of_its_own(void **state)
{
	struct rig rig;
	struct frame *frame;

	(void)state;
	controlled_star(&rig);
	rig.fabric.is_paced = false;
	frame = ud_frame(&rig, 1, 4);
	frame->bytes[MARKS_OFFSET] |= FECN;
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0));
	rig_run(&rig, 0);
	/* Only the datagram is delivered: the adapter consumes the CNP. */
	assert_int_equal(rig.delivered_count, 1);
	assert_int_equal(rig_host(&rig, 4)->counters.transmit_packets, 1);
	assert_int_equal(rig_host(&rig, 1)->counters.receive_packets, 1);
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

/* Every adapter answers a FECN with a BECN, also one without settings. */
static void test_adapter_that_was_never_set_passes_the_word_on(void **state)
{
	struct rig rig;
	struct frame *frame;

	(void)state;
	rig_star(&rig, "star:4");
	rig.fabric.has_marks = true;
	frame = rig_data_frame(&rig, 1, 4, 1024);
	frame->bytes[MARKS_OFFSET] |= FECN;
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0));
	rig_run(&rig, 0);
	assert_true(
		fabric_inject(&rig.fabric, rig_host(&rig, 4), rig_data_frame(&rig, 4, 1, 0), 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered[1]->bytes[MARKS_OFFSET] & BECN, BECN);
	rig_release(&rig);
}

static void test_logs_tell_who_met_congestion(void **state)
{
	struct rig rig;
	const struct congestion_log *log;

	(void)state;
	controlled_star(&rig);
	for (unsigned number = 1; number <= 4; number++)
		rig_host(&rig, number)->congestion->reaction.by_sl[0].trigger = 3;
	(void)run_incast(&rig, true);
	log = rig.switch_node->ports[0].congestion->log;
	assert_non_null(log);
	assert_true(log->event_count > 0);
	assert_int_equal(log->kept, 3);
	assert_int_equal(log->port_map[0], 1 << 4);
	for (unsigned i = 0; i < log->kept; i++)
		assert_int_equal(log->events[i].dlid, 4);
	log = rig_host(&rig, 1)->congestion->log;
	assert_non_null(log);
	assert_int_equal(log->events[0].slid, 4);
	assert_int_equal(log->events[0].dlid, 1);
	assert_int_equal(log->sls, 1);
	rig_release(&rig);
}

/* Host 1 gets a BECN for its queue pair 17 towards host 4 and sends a packet of that flow. Then it
 * sends this packet, of another flow or SL. Returns whether it waits. */
static bool other_packet_waits(bool is_per_sl, uint16_t dlid, uint32_t source_qpn)
{
	struct rig rig;
	struct frame *frame;
	uint64_t before;

	controlled_star(&rig);
	rig_host(&rig, 1)->congestion->reaction.is_per_sl = is_per_sl;
	for (unsigned i = 0; i < 20; i++) {
		frame = rig_data_frame(&rig, 4, 1, 0);
		frame->bytes[MARKS_OFFSET] |= BECN;
		assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 4), frame, 0));
	}
	for (time_ns now = 0; now < MICROSECONDS(10); now = fabric_deadline(&rig.fabric))
		rig_run(&rig, now);
	before = rig_host(&rig, 1)->counters.transmit_packets;
	for (unsigned i = 0; i < 2; i++) {
		frame = rig_data_frame(&rig, 1, i ? dlid : 4, 1024);
		if (i)
			frame->source_qpn = source_qpn;
		assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, MICROSECONDS(10)));
	}
	rig_run(&rig, MICROSECONDS(10));
	rig_run(&rig, MICROSECONDS(10) + 200);

	bool waits = rig_host(&rig, 1)->counters.transmit_packets - before < 2;

	rig_release(&rig);
	return waits;
}

/* A10: PortControl bit 0 chooses. */
static void test_flow_is_a_queue_pair_or_an_sl(void **state)
{
	(void)state;
	assert_true(other_packet_waits(false, 4, 17));
	assert_false(other_packet_waits(false, 4, 18));
	assert_false(other_packet_waits(false, 2, 17));
	assert_true(other_packet_waits(true, 2, 17));
	assert_true(other_packet_waits(true, 4, 18));
}

/* The queue pair that received the mark sends the BECN, and no other of its port. */
static void test_word_is_carried_back_by_the_queue_pair_that_heard_it(void **state)
{
	struct rig rig;
	struct frame *frame;

	(void)state;
	controlled_star(&rig);
	rig.fabric.is_paced = false;
	frame = rig_data_frame(&rig, 1, 4, 1024);
	frame->bytes[MARKS_OFFSET] |= FECN;
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0));
	rig_run(&rig, 0);
	for (unsigned round = 0; round < 2; round++) {
		frame = rig_data_frame(&rig, 4, 1, 0);
		frame->source_qpn = round ? 17 : 18;
		assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 4), frame, 0));
		rig_run(&rig, 0);
		assert_int_equal(rig.delivered[1 + round]->bytes[MARKS_OFFSET] & BECN,
				 round ? BECN : 0);
	}
	rig_release(&rig);
}

/* An offloaded flow would bypass the marks. */
static void test_path_that_is_controlled_is_not_offloaded(void **state)
{
	struct fabric_path path;
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	fabric_walk(&rig.fabric, rig_host(&rig, 1), 2, 0, PKEY_DEFAULT_FULL, &path);
	assert_false(path.is_watched);
	assert_int_equal(congestion_control_set(&rig.fabric, CONGESTION_CONTROL_ON), 0);
	assert_true(rig.path_changes > 0);
	fabric_walk(&rig.fabric, rig_host(&rig, 1), 2, 0, PKEY_DEFAULT_FULL, &path);
	assert_true(path.is_watched);
	assert_int_equal(congestion_control_set(&rig.fabric, CONGESTION_CONTROL_OFF), 0);
	fabric_walk(&rig.fabric, rig_host(&rig, 1), 2, 0, PKEY_DEFAULT_FULL, &path);
	assert_false(path.is_watched);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources_slow_down_until_little_waits),
		cmocka_unit_test(test_mark_renews_only_crcs_that_a_packet_carries),
		cmocka_unit_test(test_reliable_answer_carries_the_word_back),
		cmocka_unit_test(test_unreliable_service_gets_a_packet_of_its_own),
		cmocka_unit_test(test_adapter_that_was_never_set_passes_the_word_on),
		cmocka_unit_test(test_logs_tell_who_met_congestion),
		cmocka_unit_test(test_flow_is_a_queue_pair_or_an_sl),
		cmocka_unit_test(test_word_is_carried_back_by_the_queue_pair_that_heard_it),
		cmocka_unit_test(test_path_that_is_controlled_is_not_offloaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
