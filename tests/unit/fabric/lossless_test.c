/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants for all tables: on healthy links every packet arrives once, packets of one flow arrive
 * in order, and all credits come back; paced or not, with random virtual lanes, weights and sizes.
 * Covers: fabric/step.c
 */
#include "rig.h"

#include <stdio.h>

#include "base/random.h"
#include "net/link/port_queues.h"

enum { HOSTS_MAX = 8, PACKETS = 1500, SEQUENCE_OFFSET = LRH_BYTES + BTH_BYTES };

static void set_random_tables(struct port *port, unsigned row_count, struct random *random)
{
	for (unsigned row = 0; row < row_count; row++)
		for (unsigned sl = 0; sl < SL_COUNT; sl++)
			port->sl_to_vl[row][sl] = (uint8_t)random_below(random, 8);
	port->info.vl_high_limit = (uint8_t)random_below(random, 256);
	memset(port->vl_arbitration, 0, sizeof(port->vl_arbitration));
	/* Each lane has some weight in the low table; the high table is random. High priority
	 * without a limit may starve the others for a while, but not forever. */
	for (unsigned vl = 0; vl < 8; vl++) {
		port->vl_arbitration[0][vl][0] = (uint8_t)vl;
		port->vl_arbitration[0][vl][1] = (uint8_t)(1 + random_below(random, 255));
		port->vl_arbitration[1][vl][0] = (uint8_t)random_below(random, 16);
		port->vl_arbitration[1][vl][1] = (uint8_t)random_below(random, 3);
	}
	port->info.hoq_life = 20;
}

static void make(struct rig *rig, unsigned host_count, bool is_paced, struct random *random)
{
	char generator[16];

	snprintf(generator, sizeof(generator), "star:%u", host_count);
	rig_star(rig, generator);
	rig->fabric.is_paced = is_paced;
	rig->switch_node->switch_info.life_time_value = 20;
	for (unsigned number = 1; number <= host_count; number++) {
		set_random_tables(&rig->switch_node->ports[number], host_count + 1, random);
		set_random_tables(rig_host(rig, number), 1, random);
	}
}

static void advance(struct rig *rig, time_ns *now)
{
	time_ns deadline;

	rig_run(rig, *now);
	deadline = fabric_deadline(&rig->fabric);
	if (deadline != TIME_NEVER && deadline > *now)
		*now = deadline;
}

/* The payload of packet n holds n. */
static void send_all(struct rig *rig, unsigned host_count, struct random *random, time_ns *now)
{
	for (uint32_t sequence = 0; sequence < PACKETS; sequence++) {
		uint16_t from = (uint16_t)(1 + random_below(random, host_count));
		uint16_t to = (uint16_t)(1 + random_below(random, host_count));
		uint32_t bytes = 4 + 4 * (uint32_t)random_below(random, 1024);
		struct frame *frame = rig_data_frame(rig, from, to, bytes);

		frame->bytes[1] = (uint8_t)(random_below(random, 16) << 4 | (frame->bytes[1] & 15));
		put_be32(frame->bytes + SEQUENCE_OFFSET, sequence);
		while (!fabric_inject(&rig->fabric, rig_host(rig, from), frame, *now))
			advance(rig, now);
		if (random_below(random, 8) == 0)
			advance(rig, now);
	}
}

static void check_order(const struct rig *rig, uint64_t seed)
{
	static uint32_t last[HOSTS_MAX + 1][HOSTS_MAX + 1][SL_COUNT];
	static bool seen[PACKETS];

	memset(last, 0, sizeof(last));
	memset(seen, 0, sizeof(seen));
	assert_int_equal(rig->delivered_count, PACKETS);
	for (unsigned i = 0; i < rig->delivered_count; i++) {
		const uint8_t *bytes = rig->delivered[i]->bytes;
		uint32_t sequence = get_be32(bytes + SEQUENCE_OFFSET);
		uint32_t *before = &last[get_be16(bytes + 6)][get_be16(bytes + 2)][bytes[1] >> 4];

		if (seen[sequence] || sequence + 1 <= *before)
			fail_msg("seed %llu: packet %u came twice or late",
				 (unsigned long long)seed, sequence);
		seen[sequence] = true;
		*before = sequence + 1;
	}
}

static void check_credits(const struct rig *rig, unsigned host_count)
{
	for (unsigned number = 1; number <= host_count; number++) {
		const struct port *port = &rig->switch_node->ports[number];

		for (unsigned end = 0; end < 2; end++, port = port->peer) {
			assert_int_equal(port->counters.transmit_packets,
					 port->peer->counters.receive_packets);
			assert_int_equal(port->counters.transmit_discards, 0);
			for (unsigned vl = 0; vl < 8; vl++) {
				const struct vl_queue *sender = &port->queues->vls[vl];

				assert_int_equal(sender->peer_buffer_blocks, 0);
				assert_int_equal(sender->cable_blocks, 0);
				assert_int_equal(sender->fccl, (sender->fctbs + 2048) % 4096);
			}
		}
	}
}

static void run(uint64_t seed, bool is_paced)
{
	struct random random = random_seeded(seed);
	unsigned host_count = 2 + (unsigned)random_below(&random, HOSTS_MAX - 1);
	static struct rig rig;
	time_ns now = 0;

	make(&rig, host_count, is_paced, &random);
	send_all(&rig, host_count, &random, &now);
	for (unsigned i = 0; !fabric_is_idle(&rig.fabric); i++) {
		if (i == 100000)
			fail_msg("seed %llu: it stands still", (unsigned long long)seed);
		advance(&rig, &now);
	}
	while (is_paced && fabric_deadline(&rig.fabric) != TIME_NEVER)
		advance(&rig, &now);
	check_order(&rig, seed);
	check_credits(&rig, host_count);
	rig_release(&rig);
}

static void test_nothing_is_lost_repeated_or_out_of_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		run(seed, false);
}

static void test_nothing_is_lost_repeated_or_out_of_order_when_paced(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		run(seed, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost_repeated_or_out_of_order),
		cmocka_unit_test(test_nothing_is_lost_repeated_or_out_of_order_when_paced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
