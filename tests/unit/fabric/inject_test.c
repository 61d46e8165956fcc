/* SPDX-License-Identifier: Apache-2.0 */
/* The packets that an adapter's port sends, and those that it refuses. */
#include "rig.h"

#include "net/link/port_queues.h"

static void expect_dropped(struct rig *rig, struct frame *frame, enum drop_reason reason)
{
	struct port *port = rig_host(rig, 1);
	uint64_t before = port->counters.drops[reason];

	frame->source = rig;
	assert_true(fabric_inject(&rig->fabric, port, frame, 0));
	assert_int_equal(port->counters.drops[reason], before + 1);
	assert_int_equal(rig->gone_reason, reason);
	assert_true(fabric_is_idle(&rig->fabric));
}

static void test_what_hardware_would_refuse_is_dropped(void **state)
{
	struct rig rig;
	struct frame *frame;

	(void)state;
	rig_star(&rig, "star:2");
	expect_dropped(&rig, rig_data_frame(&rig, 2, 2, 16),
		       DROP_MALFORMED); /* somebody else's LID */
	expect_dropped(&rig, rig_data_frame(&rig, 1, 0, 16), DROP_MALFORMED);
	expect_dropped(&rig, rig_data_frame(&rig, 1, 0xffff, 16), DROP_MALFORMED);
	frame = rig_data_frame(&rig, 1, 2, 16);
	put_be16(frame->bytes + LRH_BYTES + 2, 0x8001);
	expect_dropped(&rig, frame, DROP_PKEY_OUTBOUND);
	frame = rig_data_frame(&rig, 1, 2, 16);
	frame->byte_count -= 4;
	expect_dropped(&rig, frame, DROP_MALFORMED);
	rig_host(&rig, 1)->info.neighbor_mtu = MTU_256;
	expect_dropped(&rig, rig_data_frame(&rig, 1, 2, 257), DROP_MTU);
	rig_host(&rig, 1)->sl_to_vl[0][0] = 15;
	expect_dropped(&rig, rig_data_frame(&rig, 1, 2, 16), DROP_VL_MAPPING);
	rig_host(&rig, 1)->info.port_state = PORT_ARMED;
	expect_dropped(&rig, rig_data_frame(&rig, 1, 2, 16), DROP_PORT_INACTIVE);
	rig_release(&rig);
}

/* Any bytes that a process hands in are delivered or counted as a drop. */
static void test_short_and_random_bytes_are_dropped(void **state)
{
	struct rig rig;
	uint32_t noise = 1;

	(void)state;
	rig_star(&rig, "star:2");
	for (unsigned round = 0; round < 20000; round++) {
		struct frame *frame = frame_take(&rig.fabric.frames);

		frame->byte_count = round % 400;
		for (unsigned i = 0; i < frame->byte_count; i++)
			frame->bytes[i] = (uint8_t)((noise = noise * 1664525u + 1013904223u) >> 24);
		if (!fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0))
			frame_give_back(&rig.fabric.frames, frame);
		rig_run(&rig, 0);
	}
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

static void test_full_queue_says_no_and_keeps_the_frame(void **state)
{
	struct rig rig;
	unsigned count = 0;

	(void)state;
	rig_star(&rig, "star:2");
	for (;;) {
		struct frame *frame = rig_data_frame(&rig, 1, 2, 4096);

		frame->source = &rig;
		if (!fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0))
			break;
		count++;
	}
	assert_int_equal(count, ADAPTER_QUEUE_BLOCKS / 65);
	assert_int_equal(rig.gone_count, 0);
	assert_int_equal(rig.fabric.frames_inside, count);
	rig_release(&rig);
}

static void test_own_lid_queue_is_bounded_while_nobody_reads(void **state)
{
	struct rig rig;
	unsigned count = 0;

	(void)state;
	rig_star(&rig, "star:2");
	rig.room = 0;
	while (fabric_inject(&rig.fabric, rig_host(&rig, 1), rig_data_frame(&rig, 1, 1, 16), 0)) {
		rig_run(&rig, 0);
		count++;
	}
	assert_int_equal(count, 512);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_hardware_would_refuse_is_dropped),
		cmocka_unit_test(test_short_and_random_bytes_are_dropped),
		cmocka_unit_test(test_full_queue_says_no_and_keeps_the_frame),
		cmocka_unit_test(test_own_lid_queue_is_bounded_while_nobody_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
