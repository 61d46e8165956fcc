/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of router ports: they contain every subnet once, whatever circles routers form, and packets
 * that follow them arrive once. */
#include "rig.h"

#include <stdio.h>
#include "base/random.h"
#include "fabric/router_trees.h"
#include "fabric/routers.h"
#include "fabric/topology/subnets.h"

enum { SUBNETS_MAX = 6, ROUTERS_MAX = 8, HOSTS = 2 };

static const struct gid mgid = {.bytes = {0xff, 0x1e, 0xa0, 0x1b, [15] = 3}};

struct world {
	struct rig rig;
	unsigned subnet_count;
	struct node *switches[SUBNETS_MAX];
	struct port *hosts[SUBNETS_MAX][HOSTS];
	unsigned used_ports[SUBNETS_MAX];
};

static void attach(struct world *world, unsigned subnet, struct port *port)
{
	struct node *node = world->switches[subnet];
	unsigned number = ++world->used_ports[subnet];

	assert_int_equal(fabric_connect(&world->rig.fabric, port, &node->ports[number]), 0);
	port->info.lid = (uint16_t)number;
	port->info.gid_prefix = SUBNET_PREFIX(subnet);
	port->info.port_state = PORT_ACTIVE;
	node->ports[number].info.port_state = PORT_ACTIVE;
	node->lft[number] = (uint8_t)number;
}

static void add_subnet(struct world *world)
{
	unsigned subnet = world->subnet_count++;
	struct node *node;
	char name[16];

	snprintf(name, sizeof(name), "s%u", subnet);
	assert_int_equal(fabric_add_node(&world->rig.fabric, NODE_SWITCH, 32, 100 + subnet, name,
					 name, &world->switches[subnet]),
			 0);
	world->switches[subnet]->switch_info.multicast_fdb_cap = MFT_ENTRIES;
	for (unsigned host = 0; host < HOSTS; host++) {
		snprintf(name, sizeof(name), "h%u-%u", subnet, host);
		assert_int_equal(fabric_add_node(&world->rig.fabric, NODE_CA, 1,
						 1000 + subnet * HOSTS + host, name, name, &node),
				 0);
		world->hosts[subnet][host] = &node->ports[1];
		attach(world, subnet, &node->ports[1]);
	}
}

/* A router between the subnets whose bits are set. */
static void add_router(struct world *world, unsigned index, unsigned subnets)
{
	struct node *node;
	unsigned port = 0;
	char name[16];

	snprintf(name, sizeof(name), "r%u", index);
	assert_int_equal(fabric_add_node(&world->rig.fabric, NODE_ROUTER, SUBNETS_MAX,
					 500 + 16 * index, name, name, &node),
			 0);
	for (unsigned subnet = 0; subnet < world->subnet_count; subnet++)
		if (subnets >> subnet & 1)
			attach(world, subnet, &node->ports[++port]);
}

/* Every host and the tree's routers are in the group, with another MLID in each subnet. */
static void join(struct world *world, const struct router_tree *tree)
{
	for (unsigned subnet = 0; subnet < world->subnet_count; subnet++) {
		uint16_t *entry = world->switches[subnet]->mft[subnet];

		for (unsigned host = 0; host < HOSTS; host++) {
			unsigned number = world->hosts[subnet][host]->info.lid;

			entry[number / 16] |= (uint16_t)(1u << number % 16);
		}
		for (uint32_t i = 0; i < tree->port_count; i++) {
			struct port *port = tree->ports[i];

			if (port->info.gid_prefix != SUBNET_PREFIX(subnet))
				continue;
			entry[port->info.lid / 16] |= (uint16_t)(1u << port->info.lid % 16);
			assert_int_equal(routers_set_group(&world->rig.fabric, port, &mgid,
							   (uint16_t)(0xc000 + subnet)),
					 0);
		}
	}
}

static void send(struct world *world, unsigned subnet)
{
	static uint8_t payload[64];
	struct frame *frame = frame_take(&world->rig.fabric.frames);
	struct packet packet = {
		.lrh = {.dlid = (uint16_t)(0xc000 + subnet),
			.slid = world->hosts[subnet][0]->info.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = 0xffffff},
		.has_grh = true,
		.grh = {.hop_limit = 64, .dgid = mgid},
		.packet_count = 1,
	};

	packet_set_payload(&packet, payload, sizeof(payload));
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	assert_true(fabric_inject(&world->rig.fabric, world->hosts[subnet][0], frame, 0));
	rig_run(&world->rig, 0);
}

static unsigned heard_by(const struct world *world, const struct port *port)
{
	unsigned count = 0;

	for (unsigned i = 0; i < world->rig.delivered_count; i++)
		count += world->rig.delivered_at[i] == port;
	return count;
}

/* The subnets that are connected with this one. */
static unsigned reach(const unsigned routers[], unsigned router_count, unsigned subnets)
{
	for (unsigned round = 0; round < router_count; round++)
		for (unsigned i = 0; i < router_count; i++)
			if (routers[i] & subnets)
				subnets |= routers[i];
	return subnets;
}

static void run(unsigned subnet_count, const unsigned routers[], unsigned router_count)
{
	for (unsigned from = 0; from < subnet_count; from++) {
		struct world world = {.subnet_count = 0};
		struct router_tree tree;
		unsigned reached = reach(routers, router_count, 1u << from);

		rig_init(&world.rig);
		world.rig.room = RIG_FRAMES_MAX;
		for (unsigned subnet = 0; subnet < subnet_count; subnet++)
			add_subnet(&world);
		for (unsigned i = 0; i < router_count; i++)
			add_router(&world, i, routers[i]);
		routers_note_change(&world.rig.fabric);
		assert_int_equal(router_tree_make(&world.rig.fabric, &tree), 0);
		join(&world, &tree);
		send(&world, from);
		for (unsigned subnet = 0; subnet < subnet_count; subnet++)
			for (unsigned host = 0; host < HOSTS; host++)
				assert_int_equal(heard_by(&world, world.hosts[subnet][host]),
						 reached >> subnet & 1);
		assert_true(fabric_is_idle(&world.rig.fabric));
		router_tree_release(&tree);
		rig_release(&world.rig);
	}
}

static void test_every_member_hears_a_packet_once(void **state)
{
	static const unsigned pair[] = {3}, parallel[] = {3, 3, 3}, row[] = {3, 6, 12},
			      circle[] = {3, 6, 5}, star[] = {15}, apart[] = {3, 12};

	(void)state;
	run(2, pair, 1);
	run(2, parallel, 3);
	run(4, row, 3);
	run(3, circle, 3);
	run(4, star, 1);
	run(4, apart, 2);
	run(1, NULL, 0);
}

static void test_any_routers_between_any_subnets(void **state)
{
	struct random random = random_seeded(19);

	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		unsigned subnet_count = 2 + (unsigned)random_below(&random, SUBNETS_MAX - 1);
		unsigned router_count = (unsigned)random_below(&random, ROUTERS_MAX + 1);
		unsigned routers[ROUTERS_MAX];

		for (unsigned i = 0; i < router_count; i++)
			routers[i] = (unsigned)random_below(&random, 1u << subnet_count);
		run(subnet_count, routers, router_count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_member_hears_a_packet_once),
		cmocka_unit_test(test_any_routers_between_any_subnets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
