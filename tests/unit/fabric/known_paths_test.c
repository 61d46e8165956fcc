/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known paths: the same random work with queues only and with known paths leaves the same packets,
 * counters and credits; and what invalidates a path.
 */
#include "unit/fabric/rig.h"

#include <stdio.h>

#include "base/random.h"
#include "fabric/known_paths.h"
#include "fabric/movement.h"
#include "fabric/tap.h"
#include "net/link/lane_credits.h"
#include "net/link/port_queues.h"

enum {
	HOSTS = 5,
	LANES = 8,
	ACTIONS = 1500,
	SEQUENCE_OFFSET = LRH_BYTES + BTH_BYTES,
	QUEUES = 0,
	PATHS,
	SIDES_END,
};

static struct rig rigs[SIDES_END];
static struct rig rig;

static bool inject(struct rig *where, unsigned side, uint16_t from, struct frame *frame)
{
	struct port *port = rig_host(where, from);

	return side == PATHS ? fabric_inject_through(&where->fabric, port, frame, 0)
			     : fabric_inject(&where->fabric, port, frame, 0);
}

static void set_tables(struct port *port, unsigned row_count, struct random *random)
{
	for (unsigned row = 0; row < row_count; row++)
		for (unsigned sl = 0; sl < SL_COUNT; sl++)
			port->sl_to_vl[row][sl] = (uint8_t)random_below(random, LANES);
	port->info.vl_high_limit = (uint8_t)random_below(random, 256);
	for (unsigned vl = 0; vl < LANES; vl++) {
		port_arbitration_set(port, TABLE_LOW, vl, (uint8_t)vl,
				     (uint8_t)(1 + random_below(random, 255)));
		port_arbitration_set(port, TABLE_HIGH, vl, (uint8_t)random_below(random, 16),
				     (uint8_t)random_below(random, 3));
	}
	port->info.hoq_life = LIFETIME_CODE_MAX + 1;
}

static void begin(unsigned side, uint64_t seed)
{
	struct random random = random_seeded(seed);
	struct rig *where = &rigs[side];
	char generator[16];

	snprintf(generator, sizeof(generator), "star:%d", HOSTS);
	rig_star(where, generator);
	where->switch_node->switch_info.life_time_value = LIFETIME_CODE_MAX + 1;
	for (unsigned number = 1; number <= HOSTS; number++) {
		set_tables(&where->switch_node->ports[number], HOSTS + 1, &random);
		set_tables(rig_host(where, number), 1, &random);
	}
}

/* Endpoints have room again, and all waiting frames go on. */
static void let_all_arrive(struct rig *where)
{
	where->room = RIG_FRAMES_MAX;
	for (unsigned number = 1; number <= HOSTS; number++)
		fabric_endpoint_ready(&where->fabric, rig_host(where, number));
	rig_run(where, 0);
}

static void send_one(unsigned side, struct random *random, uint32_t sequence)
{
	struct rig *where = &rigs[side];
	uint16_t from = (uint16_t)(1 + random_below(random, HOSTS));
	uint16_t to = (uint16_t)(1 + random_below(random, HOSTS + 1));
	struct frame *frame =
		rig_data_frame(where, from, to, 4 + 4 * (uint32_t)random_below(random, 1024));
	unsigned oddity = (unsigned)random_below(random, 64);

	frame->bytes[1] = (uint8_t)(random_below(random, 16) << 4 | (frame->bytes[1] & 15));
	put_be32(frame->bytes + SEQUENCE_OFFSET, sequence);
	if (oddity == 0)
		put_be16(frame->bytes + LRH_BYTES + 2, 0x8123); /* a partition without members */
	if (oddity == 1)
		put_be16(frame->bytes + LRH_SLID_OFFSET, 77);
	if (oddity == 2)
		frame->bytes[LRH_BYTES - 3]++; /* PktLen */
	while (!inject(where, side, from, frame))
		let_all_arrive(where);
}

static void do_one(unsigned side, struct random *random, uint32_t sequence)
{
	struct rig *where = &rigs[side];
	unsigned choice = (unsigned)random_below(random, 64);

	send_one(side, random, sequence);
	if (choice == 0) {
		/* Changes a table entry; no packet is inside at that time. */
		uint16_t lid = (uint16_t)(1 + random_below(random, HOSTS));
		uint8_t output = (uint8_t)(random_below(random, 4) ? lid : 255);

		let_all_arrive(where);
		where->switch_node->lft[lid] = output;
		fabric_note_paths_changed(&where->fabric);
	} else if (choice < 8) {
		where->room = 0;
	} else if (choice < 16) {
		let_all_arrive(where);
	} else if (choice < 24) {
		rig_run(where, 0);
	}
}

static void compare_ports(const struct port *queued, const struct port *passed)
{
	const struct link_counters *a = &queued->counters, *b = &passed->counters;

	assert_int_equal(a->transmit_packets, b->transmit_packets);
	assert_int_equal(a->transmit_words, b->transmit_words);
	assert_int_equal(a->unicast_transmit_packets, b->unicast_transmit_packets);
	assert_int_equal(a->receive_packets, b->receive_packets);
	assert_int_equal(a->receive_words, b->receive_words);
	assert_int_equal(a->unicast_receive_packets, b->unicast_receive_packets);
	assert_memory_equal(a->transmit_levels, b->transmit_levels, sizeof(a->transmit_levels));
	assert_memory_equal(a->receive_levels, b->receive_levels, sizeof(a->receive_levels));
	assert_memory_equal(a->drops, b->drops, sizeof(a->drops));
	assert_int_equal(a->receive_errors, b->receive_errors);
	assert_int_equal(a->transmit_discards, b->transmit_discards);
	assert_int_equal(a->receive_switch_relay_errors, b->receive_switch_relay_errors);
	for (unsigned vl = 0; vl < LANES; vl++) {
		const struct vl_queue *x = &queued->queues->vls[vl];
		const struct vl_queue *y = &passed->queues->vls[vl];

		assert_int_equal(x->fctbs, y->fctbs);
		assert_int_equal(x->fccl, y->fccl);
		assert_int_equal(x->peer_abr, y->peer_abr);
		assert_int_equal(y->peer_buffer_blocks, 0);
	}
}

/* The packets that a flow (from, to, SL) delivered, in order. */
static unsigned flow_of(const struct rig *where, unsigned from, unsigned sl, unsigned to,
			uint32_t ret_sequences[RIG_FRAMES_MAX])
{
	unsigned count = 0;

	for (unsigned i = 0; i < where->delivered_count; i++) {
		const uint8_t *bytes = where->delivered[i]->bytes;

		if (get_be16(bytes + LRH_SLID_OFFSET) == from && bytes[1] >> 4 == (int)sl &&
		    where->delivered_at[i]->info.lid == to)
			ret_sequences[count++] = get_be32(bytes + SEQUENCE_OFFSET);
	}
	return count;
}

static void compare_flows(void)
{
	static uint32_t queued[RIG_FRAMES_MAX], passed[RIG_FRAMES_MAX];

	assert_int_equal(rigs[QUEUES].delivered_count, rigs[PATHS].delivered_count);
	for (unsigned from = 1; from <= HOSTS; from++)
		for (unsigned to = 1; to <= HOSTS; to++)
			for (unsigned sl = 0; sl < SL_COUNT; sl++) {
				unsigned count = flow_of(&rigs[QUEUES], from, sl, to, queued);

				assert_int_equal(flow_of(&rigs[PATHS], from, sl, to, passed),
						 count);
				assert_memory_equal(queued, passed, count * sizeof(queued[0]));
			}
}

static void test_known_paths_and_queues_do_the_same(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		for (unsigned side = QUEUES; side < SIDES_END; side++) {
			struct random random = random_seeded(seed + 1000);

			begin(side, seed);
			for (uint32_t sequence = 0; sequence < ACTIONS; sequence++)
				do_one(side, &random, sequence);
			let_all_arrive(&rigs[side]);
			assert_true(fabric_is_idle(&rigs[side].fabric));
		}
		compare_flows();
		for (unsigned number = 1; number <= HOSTS; number++) {
			compare_ports(&rigs[QUEUES].switch_node->ports[number],
				      &rigs[PATHS].switch_node->ports[number]);
			compare_ports(rig_host(&rigs[QUEUES], number),
				      rig_host(&rigs[PATHS], number));
		}
		rig_release(&rigs[QUEUES]);
		rig_release(&rigs[PATHS]);
	}
}

static void send_through(uint16_t to, uint32_t payload_bytes)
{
	assert_true(fabric_inject_through(&rig.fabric, rig_host(&rig, 1),
					  rig_data_frame(&rig, 1, to, payload_bytes), 0));
}

static void test_a_packet_arrives_without_a_turn(void **state)
{
	(void)state;
	rig_star(&rig, "star:3");
	send_through(2, 64);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], rig_host(&rig, 2));
	assert_false(fabric_has_work(&rig.fabric));
	rig_release(&rig);
}

static void test_a_packet_waits_behind_those_before_it(void **state)
{
	(void)state;
	rig_star(&rig, "star:3");
	assert_true(
		fabric_inject(&rig.fabric, rig_host(&rig, 1), rig_data_frame(&rig, 1, 2, 64), 0));
	send_through(2, 128);
	assert_int_equal(rig.delivered_count, 0);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 2);
	assert_true(rig.delivered[0]->byte_count < rig.delivered[1]->byte_count);
	rig_release(&rig);
}

static void test_a_packet_waits_for_an_endpoint_without_room(void **state)
{
	(void)state;
	rig_star(&rig, "star:3");
	rig.room = 0;
	send_through(2, 64);
	send_through(2, 128);
	assert_int_equal(rig.delivered_count, 0);
	rig.room = 2;
	fabric_endpoint_ready(&rig.fabric, rig_host(&rig, 2));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 2);
	assert_true(rig.delivered[0]->byte_count < rig.delivered[1]->byte_count);
	rig_release(&rig);
}

/* Credits stop the sender before any receive buffer overflows. */
static void test_receive_buffers_hold_no_more_than_they_can(void **state)
{
	unsigned sent = 0;
	struct frame *frame;

	(void)state;
	rig_star(&rig, "star:3");
	rig.room = 0;
	for (;; sent++) {
		frame = rig_data_frame(&rig, 1, 2, 4096);
		if (!fabric_inject_through(&rig.fabric, rig_host(&rig, 1), frame, 0))
			break;
		rig_run(&rig, 0);
		assert_true(port_arrival_lane(rig_host(&rig, 2), 0)->peer_buffer_blocks <=
			    VL_BUFFER_BLOCKS);
		assert_true(sent < RIG_FRAMES_MAX);
	}
	frame_give_back(&rig.fabric.frames, frame);
	rig.room = RIG_FRAMES_MAX;
	fabric_endpoint_ready(&rig.fabric, rig_host(&rig, 2));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, sent);
	rig_release(&rig);
}

static void test_a_change_of_tables_ends_a_path(void **state)
{
	(void)state;
	rig_star(&rig, "star:3");
	send_through(2, 64);
	rig.switch_node->lft[2] = 255;
	fabric_note_paths_changed(&rig.fabric);
	send_through(2, 64);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 1);
	assert_int_equal(rig.switch_node->ports[1].counters.drops[DROP_NO_ROUTE], 1);
	rig_release(&rig);
}

static void count_event(void *context, enum tap_event event, const struct port *port,
			const struct frame *frame, enum drop_reason reason)
{
	(void)event;
	(void)port;
	(void)frame;
	(void)reason;
	++*(unsigned *)context;
}

static void test_a_captured_port_shows_every_packet(void **state)
{
	unsigned seen = 0;

	(void)state;
	rig_star(&rig, "star:3");
	rig.fabric.tap = (struct fabric_tap){.seen = count_event, .context = &seen};
	send_through(2, 64);
	assert_int_equal(seen, 0);
	fabric_tap_add(&rig.fabric, &rig.switch_node->ports[2]);
	send_through(2, 64);
	rig_run(&rig, 0);
	assert_int_equal(seen, 1);
	fabric_tap_remove(&rig.fabric, &rig.switch_node->ports[2]);
	send_through(2, 64);
	assert_int_equal(seen, 1);
	assert_int_equal(rig.delivered_count, 3);
	rig_release(&rig);
}

static void test_packets_larger_than_a_link_takes_are_dropped_where_they_would_be(void **state)
{
	(void)state;
	rig_star(&rig, "star:3");
	rig.switch_node->ports[2].info.neighbor_mtu = MTU_256;
	send_through(2, 512);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 0);
	assert_int_equal(rig.switch_node->ports[2].counters.drops[DROP_MTU], 1);
	send_through(2, 256);
	assert_int_equal(rig.delivered_count, 1);
	rig_release(&rig);
}

static void test_a_link_that_falls_ends_a_path(void **state)
{
	(void)state;
	rig_star(&rig, "star:3");
	send_through(2, 64);
	fabric_set_cable(&rig.fabric, &rig.switch_node->ports[2], false, 0);
	send_through(2, 64);
	rig_run(&rig, 0);
	/* The manager at host 1 gets traps about the link. */
	for (unsigned i = 1; i < rig.delivered_count; i++)
		assert_ptr_equal(rig.delivered_at[i], rig_host(&rig, 1));
	assert_int_equal(rig.switch_node->ports[2].counters.drops[DROP_PORT_INACTIVE], 1);
	rig_release(&rig);
}

static void test_links_that_take_time_are_for_the_queues(void **state)
{
	(void)state;
	rig_star(&rig, "star:3");
	rig.fabric.is_paced = true;
	send_through(2, 64);
	assert_int_equal(rig.delivered_count, 0);
	for (unsigned i = 0; i < 100 && rig.delivered_count == 0; i++)
		fabric_step(&rig.fabric, fabric_deadline(&rig.fabric), 100);
	assert_int_equal(rig.delivered_count, 1);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_paths_and_queues_do_the_same),
		cmocka_unit_test(test_a_packet_arrives_without_a_turn),
		cmocka_unit_test(test_a_packet_waits_behind_those_before_it),
		cmocka_unit_test(test_a_packet_waits_for_an_endpoint_without_room),
		cmocka_unit_test(test_receive_buffers_hold_no_more_than_they_can),
		cmocka_unit_test(test_a_change_of_tables_ends_a_path),
		cmocka_unit_test(test_a_captured_port_shows_every_packet),
		cmocka_unit_test(
			test_packets_larger_than_a_link_takes_are_dropped_where_they_would_be),
		cmocka_unit_test(test_a_link_that_falls_ends_a_path),
		cmocka_unit_test(test_links_that_take_time_are_for_the_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
