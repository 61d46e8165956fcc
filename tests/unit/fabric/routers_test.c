/* SPDX-License-Identifier: Apache-2.0 */
/* Packets between subnets: routes, addresses, hop limits, drops, and groups that span subnets
 * (transport 8.12). */
#include "rig.h"

#include "fabric/routers.h"
#include "fabric/topology/subnets.h"
#include "wire/crc.h"

enum { HOSTS_PER_SUBNET = 2, HOP_LIMIT_OFFSET = LRH_BYTES + 7 };

/* LIDs of every subnet begin at 1: host n has n, the router the one after. */
static void configure_switch(struct node *node, uint64_t prefix)
{
	node->switch_info.linear_fdb_top = RIG_SWITCH_LID;
	for (unsigned number = 1; number <= node->port_count; number++) {
		struct port *port = &node->ports[number];

		node->lft[number] = (uint8_t)number;
		port->info.port_state = PORT_ACTIVE;
		port->peer->info.port_state = PORT_ACTIVE;
		port->peer->info.lid = (uint16_t)number;
		port->peer->info.gid_prefix = prefix;
	}
}

static void configure(struct rig *rig)
{
	uint32_t subnet = 0;

	for (uint32_t index = 0; index < rig->fabric.node_count; index++)
		if (node_is_switch(rig->fabric.by_index[index]))
			configure_switch(rig->fabric.by_index[index], SUBNET_PREFIX(subnet++));
	routers_note_change(&rig->fabric);
}

static void routed_rig(struct rig *rig, const char *generator)
{
	struct topology_error error;

	rig_init(rig);
	assert_int_equal(topology_generate(&rig->fabric, generator, &error), 0);
	configure(rig);
}

static struct port *host(struct rig *rig, const char *name)
{
	struct node *node = fabric_find_adapter(&rig->fabric, name, 0);

	assert_non_null(node);
	return &node->ports[1];
}

static struct gid gid_of(const struct port *port)
{
	return gid_from(port->info.gid_prefix, port->guid);
}

/* A UD packet with a GRH and this DLID. */
static struct frame *global_frame(struct rig *rig, const struct port *from, const struct gid *dgid,
				  uint16_t dlid, uint8_t hop_limit)
{
	static uint8_t payload[256];
	struct frame *frame = frame_take(&rig->fabric.frames);
	struct packet packet = {
		.lrh = {.dlid = dlid, .slid = from->info.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = 17},
		.packet_count = 1,
		.has_grh = true,
		.grh = {.hop_limit = hop_limit, .sgid = gid_of(from), .dgid = *dgid},
	};

	packet_set_payload(&packet, payload, sizeof(payload));
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	return frame;
}

static void send_global(struct rig *rig, struct port *from, const struct gid *dgid, uint16_t dlid,
			uint8_t hop_limit)
{
	assert_true(fabric_inject(&rig->fabric, from,
				  global_frame(rig, from, dgid, dlid, hop_limit), 0));
	rig_run(rig, 0);
}

static void test_packet_goes_by_the_router_with_new_addresses(void **state)
{
	struct rig rig;
	struct port *from, *to;
	struct gid dgid;
	struct packet packet;

	(void)state;
	routed_rig(&rig, "routed:2x2");
	from = host(&rig, "h1");
	to = host(&rig, "h4");
	dgid = gid_of(to);
	/* LID 3 is the router in both subnets; h4 is LID 2 in its own. */
	send_global(&rig, from, &dgid, 3, 64);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], to);
	assert_int_equal(
		packet_decode(rig.delivered[0]->bytes, rig.delivered[0]->byte_count, 1, &packet),
		PACKET_OK);
	assert_int_equal(packet.lrh.dlid, 2);
	assert_int_equal(packet.lrh.slid, 3);
	assert_int_equal(packet.grh.hop_limit, 63);
	assert_true(gid_equal(&packet.grh.dgid, &dgid));
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

/* The invariant CRC covers nothing that a router changes. */
static void test_invariant_crc_survives_the_router(void **state)
{
	struct rig rig;
	struct port *from, *to;
	struct gid dgid;

	(void)state;
	routed_rig(&rig, "routed:2x2");
	from = host(&rig, "h1");
	to = host(&rig, "h3");
	dgid = gid_of(to);

	struct frame *frame = global_frame(&rig, from, &dgid, 3, 64);
	uint32_t before = icrc(frame->bytes, frame->byte_count);

	assert_true(fabric_inject(&rig.fabric, from, frame, 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 1);
	assert_int_equal(icrc(rig.delivered[0]->bytes, rig.delivered[0]->byte_count), before);
	rig_release(&rig);
}

/* Programs that exchanged LIDs: the DLID is the peer's, and the hop limit is that of the subnet. */
static void test_peers_own_lid_is_replaced_by_the_routers(void **state)
{
	struct rig rig;
	struct port *from, *to;
	struct gid dgid;

	(void)state;
	routed_rig(&rig, "routed:3x2");
	from = host(&rig, "h1");
	to = host(&rig, "h6");
	dgid = gid_of(to);
	send_global(&rig, from, &dgid, to->info.lid, 1);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], to);
	rig_release(&rig);
}

static void test_packets_inside_a_subnet_stay_there(void **state)
{
	struct rig rig;
	struct gid dgid;

	(void)state;
	routed_rig(&rig, "routed:2x2");
	dgid = gid_of(host(&rig, "h2"));
	send_global(&rig, host(&rig, "h1"), &dgid, 2, 1);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], host(&rig, "h2"));
	assert_int_equal(rig.delivered[0]->bytes[HOP_LIMIT_OFFSET], 1);
	rig_release(&rig);
}

/* The violation is counted at the port and in PortInfo, and the manager of that port's subnet gets
 * trap 257. */
static void test_router_that_enforces_partitions_counts_and_tells(void **state)
{
	struct rig rig;

	(void)state;
	routed_rig(&rig, "routed:2x2");

	struct port *in = &rig.fabric.routers.nodes[0]->ports[1],
		    *out = &rig.fabric.routers.nodes[0]->ports[2];
	struct gid dgid = gid_of(host(&rig, "h3"));

	in->info.master_sm_lid = out->info.master_sm_lid = 1;
	in->pkeys[0] = out->pkeys[0] = 0x8001;
	send_global(&rig, host(&rig, "h1"), &dgid, 3, 64);
	assert_int_equal(rig.delivered_count, 1); /* enforcement is off */
	in->info.partition_enforcement_inbound = 1;
	send_global(&rig, host(&rig, "h1"), &dgid, 3, 64);
	assert_int_equal(in->counters.receive_constraint_errors, 1);
	assert_int_equal(in->info.pkey_violations, 1);
	rig_run(&rig, 1);
	assert_int_equal(rig.delivered_count, 2);
	assert_ptr_equal(rig.delivered_at[1], host(&rig, "h1"));
	in->info.partition_enforcement_inbound = 0;
	out->info.partition_enforcement_outbound = 1;
	send_global(&rig, host(&rig, "h1"), &dgid, 3, 64);
	assert_int_equal(out->counters.transmit_constraint_errors, 1);
	assert_int_equal(out->info.pkey_violations, 1);
	rig_run(&rig, 2);
	assert_int_equal(rig.delivered_count, 3);
	assert_ptr_equal(rig.delivered_at[2], host(&rig, "h3"));
	out->pkeys[1] = 0xffff;
	send_global(&rig, host(&rig, "h1"), &dgid, 3, 64);
	assert_int_equal(rig.delivered_count, 4);
	rig_release(&rig);
}

static void test_router_drops_what_it_may_not_forward(void **state)
{
	struct rig rig;
	struct port *from;
	struct node *router;

	(void)state;
	routed_rig(&rig, "routed:2x2");
	from = host(&rig, "h1");
	router = rig.fabric.routers.nodes[0];

	const struct {
		struct gid dgid;
		uint8_t hop_limit;
		enum drop_reason reason;
	} rows[] = {
		{gid_of(host(&rig, "h3")), 1, DROP_HOP_LIMIT},
		{gid_from(SUBNET_PREFIX(7), 5), 64, DROP_NO_ROUTE},
		{gid_from(SUBNET_PREFIX(1), 0x4711), 64, DROP_NO_ROUTE}, /* no such port */
		{gid_from(SUBNET_PREFIX(0), from->guid), 64, DROP_LOOPING},
		{gid_from(GID_PREFIX_LINK_LOCAL, from->guid), 64, DROP_NO_ROUTE},
		{{{0xff, 0x12, [15] = 1}}, 64, DROP_NO_ROUTE},
	};

	for (unsigned row = 0; row < ARRAY_COUNT(rows); row++) {
		uint64_t before = router->ports[1].counters.drops[rows[row].reason];

		send_global(&rig, from, &rows[row].dgid, 3, rows[row].hop_limit);
		assert_int_equal(rig.delivered_count, 0);
		assert_int_equal(router->ports[1].counters.drops[rows[row].reason], before + 1);
		assert_true(fabric_is_idle(&rig.fabric));
	}
	rig_release(&rig);
}

/* A packet without a GRH ends at the router, as at any port without an endpoint. */
static void test_local_packet_to_a_router_is_not_forwarded(void **state)
{
	struct rig rig;

	(void)state;
	routed_rig(&rig, "routed:2x2");
	assert_true(
		fabric_inject(&rig.fabric, host(&rig, "h1"), rig_data_frame(&rig, 1, 3, 16), 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 0);
	assert_int_equal(rig.fabric.routers.nodes[0]->ports[1].counters.drops[DROP_NO_LISTENER], 1);
	rig_release(&rig);
}

/* Three subnets in a row, with a router between each two. */
static const char chain[] =
	"Switch 3 \"s1\"\n[1] \"h1\"[1]\n[2] \"r1\"[1]\n\n"
	"Switch 3 \"s2\"\n[1] \"h2\"[1]\n[2] \"r1\"[2]\n[3] \"r2\"[1]\n\n"
	"Switch 3 \"s3\"\n[1] \"h3\"[1]\n[2] \"r2\"[2]\n\n"
	"Ca 1 \"h1\" # \"h1\"\n\nCa 1 \"h2\" # \"h2\"\n\nCa 1 \"h3\" # \"h3\"\n\n"
	"Rt 2 \"r1\"\n\nRt 2 \"r2\"\n";

static void configure_chain(struct rig *rig)
{
	struct topology_error error;

	rig_init(rig);
	assert_int_equal(topology_parse(&rig->fabric, chain, strlen(chain), &error), 0);
	for (uint32_t index = 0; index < 3; index++) {
		struct node *node = rig->fabric.by_index[index];

		node->switch_info.linear_fdb_top = 10;
		for (unsigned number = 1; number <= 3; number++) {
			struct port *port = &node->ports[number];

			node->lft[number] = (uint8_t)number;
			if (!port->peer)
				continue;
			port->info.port_state = PORT_ACTIVE;
			port->peer->info.port_state = PORT_ACTIVE;
			port->peer->info.lid = (uint16_t)number;
			port->peer->info.gid_prefix = SUBNET_PREFIX(index);
		}
	}
	routers_note_change(&rig->fabric);
}

static void test_two_routers_in_a_row(void **state)
{
	struct rig rig;
	struct gid dgid;

	(void)state;
	configure_chain(&rig);
	dgid = gid_of(host(&rig, "h3"));
	send_global(&rig, host(&rig, "h1"), &dgid, 2, 64);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], host(&rig, "h3"));
	assert_int_equal(rig.delivered[0]->bytes[HOP_LIMIT_OFFSET], 62);
	/* Hop limit 2 is enough for one router, not for two. */
	send_global(&rig, host(&rig, "h1"), &dgid, 2, 2);
	assert_int_equal(rig.delivered_count, 1);
	assert_int_equal(rig.fabric.routers.nodes[1]->ports[1].counters.drops[DROP_HOP_LIMIT], 1);
	dgid = gid_of(host(&rig, "h2"));
	send_global(&rig, host(&rig, "h1"), &dgid, 2, 2);
	assert_int_equal(rig.delivered_count, 2);
	rig_release(&rig);
}

static void test_routes_follow_the_state_of_ports(void **state)
{
	struct rig rig;
	struct gid dgid;
	struct node *second;

	(void)state;
	configure_chain(&rig);
	second = rig.fabric.routers.nodes[1];
	dgid = gid_of(host(&rig, "h3"));
	fabric_set_cable(&rig.fabric, &second->ports[2], false, 0);
	send_global(&rig, host(&rig, "h1"), &dgid, 2, 64);
	assert_int_equal(rig.delivered_count, 0);
	assert_int_equal(rig.fabric.routers.nodes[0]->ports[1].counters.drops[DROP_NO_ROUTE], 1);
	fabric_set_cable(&rig.fabric, &second->ports[2], true, 0);
	second->ports[2].info.port_state = PORT_ACTIVE;
	second->ports[2].peer->info.port_state = PORT_ACTIVE;
	routers_note_change(&rig.fabric);
	send_global(&rig, host(&rig, "h1"), &dgid, 2, 64);
	assert_int_equal(rig.delivered_count, 1);
	rig_release(&rig);
}

static void test_group_reaches_each_subnet_once(void **state)
{
	struct gid mgid = {{0xff, 0x15, [15] = 9}};
	unsigned copies[7] = {0};
	struct rig rig;
	struct node *router;

	(void)state;
	routed_rig(&rig, "routed:3x2");
	router = rig.fabric.routers.nodes[0];
	for (uint32_t index = 0, subnet = 0; index < rig.fabric.node_count; index++) {
		struct node *node = rig.fabric.by_index[index];

		/* Hosts 1 and 2 and the router of each subnet; another MLID in each. */
		if (!node_is_switch(node))
			continue;
		node->mft[subnet][0] = 1 << 1 | 1 << 2 | 1 << 3;
		subnet++;
		assert_int_equal(routers_set_group(&rig.fabric, &router->ports[subnet], &mgid,
						   (uint16_t)(0xc000 + subnet - 1)),
				 0);
	}
	send_global(&rig, host(&rig, "h3"), &mgid, 0xc001, 64);
	for (unsigned i = 0; i < rig.delivered_count; i++)
		copies[rig.delivered_at[i]->node->host[1] - '0']++;
	for (unsigned number = 1; number <= 6; number++)
		assert_int_equal(copies[number], 1);
	assert_true(fabric_is_idle(&rig.fabric));
	/* A hop limit that was not set gets there too; a hop limit of 1 does not. */
	rig.delivered_count = 0;
	send_global(&rig, host(&rig, "h3"), &mgid, 0xc001, 0);
	assert_int_equal(rig.delivered_count, 6);
	rig.delivered_count = 0;
	send_global(&rig, host(&rig, "h3"), &mgid, 0xc001, 1);
	assert_int_equal(rig.delivered_count, 2);
	/* A group of link-local scope stays in its subnet. */
	mgid.bytes[1] = 0x12;
	assert_int_equal(routers_set_group(&rig.fabric, &router->ports[1], &mgid, 0xc000), 0);
	assert_int_equal(routers_set_group(&rig.fabric, &router->ports[2], &mgid, 0xc001), 0);
	rig.delivered_count = 0;
	send_global(&rig, host(&rig, "h3"), &mgid, 0xc001, 64);
	assert_int_equal(rig.delivered_count, 2);
	rig_release(&rig);
}

static void test_alias_guid_finds_its_port(void **state)
{
	struct rig rig;
	struct gid dgid;

	(void)state;
	routed_rig(&rig, "routed:2x2");
	host(&rig, "h4")->guids[2] = 0x4711;
	dgid = gid_from(SUBNET_PREFIX(1), 0x4711);
	assert_ptr_equal(fabric_find_gid(&rig.fabric, &dgid), host(&rig, "h4"));
	dgid = gid_from(SUBNET_PREFIX(0), 0x4711);
	assert_null(fabric_find_gid(&rig.fabric, &dgid));
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packet_goes_by_the_router_with_new_addresses),
		cmocka_unit_test(test_invariant_crc_survives_the_router),
		cmocka_unit_test(test_peers_own_lid_is_replaced_by_the_routers),
		cmocka_unit_test(test_packets_inside_a_subnet_stay_there),
		cmocka_unit_test(test_router_that_enforces_partitions_counts_and_tells),
		cmocka_unit_test(test_router_drops_what_it_may_not_forward),
		cmocka_unit_test(test_local_packet_to_a_router_is_not_forwarded),
		cmocka_unit_test(test_two_routers_in_a_row),
		cmocka_unit_test(test_routes_follow_the_state_of_ports),
		cmocka_unit_test(test_group_reaches_each_subnet_once),
		cmocka_unit_test(test_alias_guid_finds_its_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
