/* SPDX-License-Identifier: Apache-2.0 */
/* Incast on a virtual clock: marks at the switch, word back to the sources, and sources that slow
 * down. */
#include "rig.h"

#include "net/link/congestion.h"
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
	return frame;
}

static void controlled_star(struct rig *rig)
{
	const struct congestion_marking marking = {.threshold = 12};
	struct congestion_reaction reaction = {
		.ccti_increase = 1, .ccti_limit = 127, .ccti_timer = 20};

	for (unsigned index = 0; index < CONGESTION_TABLE_ENTRIES; index++)
		reaction.table[index] = (uint16_t)index;
	rig_star(rig, "star:4");
	rig->fabric.is_paced = true;
	for (unsigned number = 1; number <= 4; number++) {
		assert_int_equal(port_set_marking(&rig->switch_node->ports[number], &marking), 0);
		assert_int_equal(port_set_reaction(rig_host(rig, number), &reaction), 0);
	}
}

/* Three hosts send what they can to the fourth; returns the most that waited at its port after a
 * while. */
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
		/* Who gets a reliable packet answers it. */
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

		/* Without it, the buffers of all three inputs are full. */
		assert_true(without > 3 * 2048 * 9 / 10);
		assert_true(with < without / 3);
		rig_release(&controlled);
		rig_release(&plain);
	}
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
	/* To another host there is nothing to say; to the sender there is, once. */
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
	/* The datagram alone is delivered: the notification is the adapter's own affair. */
	assert_int_equal(rig.delivered_count, 1);
	assert_int_equal(rig_host(&rig, 4)->counters.transmit_packets, 1);
	assert_int_equal(rig_host(&rig, 1)->counters.receive_packets, 1);
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources_slow_down_until_little_waits),
		cmocka_unit_test(test_reliable_answer_carries_the_word_back),
		cmocka_unit_test(test_unreliable_service_gets_a_packet_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
