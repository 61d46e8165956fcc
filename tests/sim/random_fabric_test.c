/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random topologies, virtual lanes, weights and packets, checked after every step: no receive
 * buffer gets more than it granted, each packet arrives once and in the order of its flow, and
 * where a table has no route, each lost packet is counted once.
 */
#include "sim/fabric_flow.h"

#include "base/bytes.h"
#include "base/random.h"
#include "net/link/lane_credits.h"
#include "net/link/port_queues.h"
#include "sim/checkers.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	HOSTS_MAX = 16,
	SLS = 16,
	PACKETS = 600,
	NUMBER_OFFSET = LRH_BYTES + BTH_BYTES,
	STEPS_MAX = 400000
};

static struct world {
	struct sim sim;
	struct random random;
	uint64_t seed;
	time_ns now;
	uint32_t sent[HOSTS_MAX][HOSTS_MAX][SLS];
	uint32_t received[HOSTS_MAX][HOSTS_MAX][SLS];
	unsigned sent_count, received_count, gone_count;
	bool has_gaps; /* packets may be dropped, and are counted */
} world;

static unsigned index_of(uint16_t lid)
{
	for (uint32_t i = 0; i < world.sim.host_count; i++)
		if (world.sim.hosts[i].node->ports[1].info.lid == lid)
			return i;
	fail_msg("seed %llu: nobody has LID %u", (unsigned long long)world.seed, lid);
	return 0;
}

static bool receive(void *context, struct port *port, const struct frame *frame)
{
	unsigned from = index_of(get_be16(frame->bytes + 6));
	unsigned to = index_of(port->info.lid);
	unsigned sl = frame->bytes[1] >> 4;
	uint32_t number = get_be32(frame->bytes + NUMBER_OFFSET);
	uint32_t expected = world.received[from][to][sl];

	(void)context;
	if (world.has_gaps ? number < expected : number != expected)
		fail_msg("seed %llu: packet %u from %u to %u on SL %u, not %u",
			 (unsigned long long)world.seed, number, from, to, sl, expected);
	world.received[from][to][sl] = number + 1;
	world.received_count++;
	return true;
}

static void gone(void *context, struct frame *frame, enum drop_reason reason)
{
	(void)context;
	(void)frame;
	assert_int_not_equal(reason, DROP_NONE);
	world.gone_count++;
}

static void set_random_tables(struct port *port)
{
	unsigned row_count = port->kind == PORT_OF_ADAPTER ? 1 : port->node->port_count + 1;
	unsigned lane_count = port_data_vl_count(port);

	for (unsigned row = 0; row < row_count; row++)
		for (unsigned sl = 0; sl < SLS; sl++)
			port->sl_to_vl[row][sl] = (uint8_t)random_below(&world.random, lane_count);
	for (unsigned vl = 0; vl < lane_count; vl++) {
		port_arbitration_set(port, TABLE_LOW, vl, (uint8_t)vl,
				     (uint8_t)(1 + random_below(&world.random, 255)));
		port_arbitration_set(port, TABLE_HIGH, vl,
				     (uint8_t)random_below(&world.random, lane_count),
				     (uint8_t)random_below(&world.random, 3));
	}
	port->info.vl_high_limit = (uint8_t)random_below(&world.random, 256);
}

static void begin(uint64_t seed)
{
	static const char *const topologies[] = {"star:5", "ring:5", "fat-tree:4", "mesh:3x2",
						 "star:2"};
	struct topology_error error;
	char violation[VIOLATION_BYTES];

	world = (struct world){.random = random_seeded(seed), .seed = seed};
	assert_int_equal(
		sim_init(&world.sim, topologies[seed % ARRAY_COUNT(topologies)], seed, &error), 0);
	assert_true(world.sim.host_count <= HOSTS_MAX);
	world.sim.fabric.is_paced = random_below(&world.random, 2);
	assert_int_equal(sim_start_sm(&world.sim, &world.sim.hosts[0], 0, 0), 0);
	assert_true(sim_bring_up(&world.sim, SECONDS(10)));
	sim_run_until(&world.sim, world.sim.now + MILLISECONDS(1));
	if (!check_routes(&world.sim.fabric, violation) ||
	    !check_credits(&world.sim.fabric, violation))
		fail_msg("seed %llu: %s", (unsigned long long)seed, violation);
	for (uint32_t i = 0; i < world.sim.fabric.node_count; i++)
		for (unsigned number = 1; number <= world.sim.fabric.by_index[i]->port_count;
		     number++)
			set_random_tables(&world.sim.fabric.by_index[i]->ports[number]);
	world.sim.programs = (struct sim_programs){.receive = receive, .gone = gone};
	world.now = world.sim.now;
}

static void send_one(void)
{
	static uint8_t payload[4096];
	unsigned from = (unsigned)random_below(&world.random, world.sim.host_count);
	unsigned to = (unsigned)random_below(&world.random, world.sim.host_count);
	uint8_t sl = (uint8_t)random_below(&world.random, SLS);
	struct port *port = &world.sim.hosts[from].node->ports[1];
	struct frame *frame = frame_take(&world.sim.fabric.frames);
	struct packet packet = {
		.lrh = {.dlid = world.sim.hosts[to].node->ports[1].info.lid,
			.slid = port->info.lid,
			.sl = sl},
		.bth = {.opcode = TRANSPORT_UC | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = 17},
		.packet_count = 1,
	};

	assert_non_null(frame);
	put_be32(payload, world.sent[from][to][sl]);
	packet_set_payload(&packet, payload,
			   4 + (uint32_t)random_below(&world.random, 1024) * 4 % 4092);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->source = &world;
	if (!fabric_inject(&world.sim.fabric, port, frame, world.now)) {
		frame->source = NULL;
		frame_give_back(&world.sim.fabric.frames, frame);
		return;
	}
	world.sent[from][to][sl]++;
	world.sent_count++;
}

/* The granted limit is never exceeded. */
static void check_step(void)
{
	const struct fabric *fabric = &world.sim.fabric;
	char violation[VIOLATION_BYTES];

	for (uint32_t i = 0; i < fabric->node_count; i++)
		for (unsigned number = 1; number <= fabric->by_index[i]->port_count; number++) {
			const struct port *port = &fabric->by_index[i]->ports[number];

			for (unsigned vl = 0; port->peer && vl < VL_MANAGEMENT; vl++)
				if (port_arrival_lane(port, vl)->peer_buffer_blocks +
					    port_arrival_lane(port, vl)->cable_blocks >
				    VL_BUFFER_BLOCKS)
					fail_msg("seed %llu: %s[%u] VL %u has more than it granted",
						 (unsigned long long)world.seed, port->node->name,
						 number, vl);
		}
	if (!check_credits(fabric, violation))
		fail_msg("seed %llu: %s", (unsigned long long)world.seed, violation);
	assert_int_equal(world.sent_count - world.received_count - world.gone_count,
			 fabric->frames_inside);
}

/* One frame, or one instant. */
static void step(void)
{
	struct fabric *fabric = &world.sim.fabric;

	if (!fabric_step(fabric, world.now, 1) && fabric_deadline(fabric) != TIME_NEVER &&
	    fabric_deadline(fabric) > world.now)
		world.now = fabric_deadline(fabric);
	check_step();
}

static uint64_t drops(void)
{
	const struct fabric *fabric = &world.sim.fabric;
	uint64_t count = 0;

	for (uint32_t i = 0; i < fabric->node_count; i++)
		for (unsigned number = 0; number <= fabric->by_index[i]->port_count; number++)
			for (unsigned reason = 0; reason < DROP_REASON_COUNT; reason++)
				count += fabric->by_index[i]->ports[number].counters.drops[reason];
	return count;
}

static void run(void)
{
	uint64_t drops_before = drops();
	unsigned steps = 0;

	while (world.sent_count < PACKETS || !fabric_is_idle(&world.sim.fabric)) {
		assert_true(++steps < STEPS_MAX);
		if (world.sent_count < PACKETS && random_below(&world.random, 3))
			send_one();
		step();
	}
	if (world.received_count + world.gone_count != PACKETS ||
	    drops() - drops_before != world.gone_count || (!world.has_gaps && world.gone_count))
		fail_msg("seed %llu: %u arrived, %u are gone, %llu were counted as dropped",
			 (unsigned long long)world.seed, world.received_count, world.gone_count,
			 (unsigned long long)(drops() - drops_before));
	sim_release(&world.sim);
}

static void test_nothing_is_lost_repeated_or_overtaken(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		begin(seed);
		run();
	}
}

static void test_what_has_no_way_is_counted_once(void **state)
{
	(void)state;
	for (uint64_t seed = 101; seed <= 115; seed++) {
		begin(seed);
		world.has_gaps = true;
		for (uint32_t i = 0; i < world.sim.fabric.node_count; i++) {
			struct node *node = world.sim.fabric.by_index[i];

			for (unsigned lid = 0; node_is_switch(node) && lid < 64; lid++)
				if (random_below(&world.random, 5) == 0)
					node->lft[lid] = LFT_NO_PORT;
		}
		run();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost_repeated_or_overtaken),
		cmocka_unit_test(test_what_has_no_way_is_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
