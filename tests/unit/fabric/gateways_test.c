/* SPDX-License-Identifier: Apache-2.0 */
/* Raw packets through a fabric to the LAN behind a router, and from there to hosts (transport
 * 9.4). */
#include "rig.h"

#include "fabric/gateways.h"
#include "fabric/routers.h"
#include "fabric/topology/subnets.h"
#include "net/router/gateway.h"
#include "wire/grh.h"
#include "wire/raw_packet.h"

#define PREFIX_OUTSIDE UINT64_C(0x20010db800000000)

enum { ROUTER_LID = 3, MAX_ROUNDS = 4096 };

static struct rig rig;
static struct node *router;

/* LIDs of both subnets begin at 1: two hosts, then the router. */
static int make_fabric(void **state)
{
	struct topology_error error;
	uint32_t subnet = 0;

	(void)state;
	rig_init(&rig);
	assert_int_equal(topology_generate(&rig.fabric, "routed:2x2", &error), 0);
	for (uint32_t index = 0; index < rig.fabric.node_count; index++) {
		struct node *node = rig.fabric.by_index[index];

		if (!node_is_switch(node))
			continue;
		node->switch_info.linear_fdb_top = RIG_SWITCH_LID;
		for (unsigned number = 1; number <= node->port_count; number++) {
			struct port *port = &node->ports[number];

			node->lft[number] = (uint8_t)number;
			port->info.port_state = PORT_ACTIVE;
			port->peer->info.port_state = PORT_ACTIVE;
			port->peer->info.lid = (uint16_t)number;
			port->peer->info.gid_prefix = SUBNET_PREFIX(subnet);
		}
		subnet++;
	}
	routers_note_change(&rig.fabric);
	router = rig.fabric.routers.nodes[0];
	assert_int_equal(gateway_create(&router->router->gateway), 0);
	return 0;
}

static int free_fabric(void **state)
{
	(void)state;
	for (unsigned i = 0; i < rig.delivered_count; i++)
		frame_give_back(&rig.fabric.frames, rig.delivered[i]);
	rig_release(&rig);
	return 0;
}

static struct port *host(const char *name)
{
	return &fabric_find_adapter(&rig.fabric, name, 0)->ports[1];
}

static struct gid gid_of(const struct port *port)
{
	return gid_from(port->info.gid_prefix, port->guid);
}

static uint32_t put_ipv6(uint8_t *bytes, struct gid source, struct gid destination,
			 uint8_t hop_limit)
{
	const struct grh grh = {.version = 6,
				.next_header = 58,
				.hop_limit = hop_limit,
				.payload_bytes = 8,
				.sgid = source,
				.dgid = destination};

	grh_encode(&grh, bytes);
	memset(bytes + IPV6_HEADER_BYTES, 0xab, 8);
	return IPV6_HEADER_BYTES + 8;
}

static void send_raw(struct port *from, enum packet_kind kind, uint8_t *bytes, uint32_t byte_count)
{
	struct frame *frame = frame_take(&rig.fabric.frames);
	struct packet packet = {
		.kind = (uint8_t)kind,
		.lrh = {.dlid = ROUTER_LID, .slid = from->info.lid},
		.ethertype = 0x88b5,
		.packet_count = 1,
	};

	packet_set_payload(&packet, bytes, byte_count);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->source = NULL;
	assert_true(fabric_inject(&rig.fabric, from, frame, 0));
	rig_run(&rig, 0);
	assert_true(fabric_is_idle(&rig.fabric));
}

static void send_ipv6(struct port *from, struct gid destination, uint8_t hop_limit)
{
	uint8_t bytes[64];
	uint32_t byte_count = put_ipv6(bytes, gid_of(from), destination, hop_limit);

	send_raw(from, PACKET_RAW_IPV6, bytes, byte_count);
}

static struct gid outside(void)
{
	return gid_from(PREFIX_OUTSIDE, 1);
}

static uint64_t router_drops(unsigned port_number, enum drop_reason reason)
{
	return router->ports[port_number].counters.drops[reason];
}

static void test_raw_ipv6_beyond_the_fabric_leaves(void **state)
{
	const struct gateway_frame *left;

	(void)state;
	send_ipv6(host("h3"), outside(), 64);
	left = gateway_next(router->router->gateway);
	assert_non_null(left);
	assert_int_equal(left->byte_count, ETHERNET_HEADER_BYTES + IPV6_HEADER_BYTES + 8);
	/* h3 is LID 1 in the subnet of port 2. */
	assert_memory_equal(left->bytes + MAC_BYTES, "\x02\x5f\x1b\x02\x00\x01\x86\xdd", 8);
	assert_int_equal(left->bytes[ETHERNET_HEADER_BYTES + GRH_HOP_LIMIT_OFFSET], 63);
	assert_int_equal(rig.delivered_count, 0);
}

static void test_raw_ipv6_inside_the_fabric_stays(void **state)
{
	(void)state;
	send_ipv6(host("h1"), gid_of(host("h4")), 64);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], host("h4"));
	/* A host that does not exist has no address on the LAN. */
	send_ipv6(host("h1"), gid_from(SUBNET_PREFIX(1), 0x4711), 64);
	send_ipv6(host("h1"), gid_from(GID_PREFIX_LINK_LOCAL, 1), 64);
	assert_int_equal(router_drops(1, DROP_NO_ROUTE), 2);
	send_ipv6(host("h1"), outside(), 1);
	assert_int_equal(router_drops(1, DROP_HOP_LIMIT), 1);
	assert_null(gateway_next(router->router->gateway));
}

static void test_raw_ethertype_to_the_router_leaves(void **state)
{
	uint8_t bytes[16] = {1, 2, 3, 4};
	const struct gateway_frame *left;

	(void)state;
	send_raw(host("h2"), PACKET_RAW_ETHERTYPE, bytes, sizeof(bytes));
	left = gateway_next(router->router->gateway);
	assert_non_null(left);
	assert_int_equal(left->byte_count, ETHERNET_HEADER_BYTES + sizeof(bytes));
	assert_memory_equal(left->bytes + MAC_BYTES, "\x02\x5f\x1b\x01\x00\x02\x88\xb5", 8);
	assert_memory_equal(left->bytes + ETHERNET_HEADER_BYTES, bytes, sizeof(bytes));
}

static void test_raw_filter_of_the_port_keeps_both_kinds(void **state)
{
	uint8_t bytes[16] = {0};

	(void)state;
	router->ports[1].info.filter_raw_inbound = 1;
	send_raw(host("h1"), PACKET_RAW_ETHERTYPE, bytes, sizeof(bytes));
	send_ipv6(host("h1"), outside(), 64);
	assert_int_equal(router_drops(1, DROP_PKEY_INBOUND), 2);
	assert_null(gateway_next(router->router->gateway));
}

/* Frames that the LAN does not take are dropped at the router, and their receive buffers are free
 * again. */
static void test_queue_that_nobody_empties_drops(void **state)
{
	uint8_t bytes[16] = {0};

	(void)state;
	for (unsigned i = 0; i < GATEWAY_QUEUE_FRAMES + 5; i++)
		send_raw(host("h1"), PACKET_RAW_ETHERTYPE, bytes, sizeof(bytes));
	assert_int_equal(router->router->gateway->count, GATEWAY_QUEUE_FRAMES);
	assert_int_equal(router_drops(1, DROP_NO_FRAME), 5);
}

static void receive_ipv6(struct gid destination)
{
	uint8_t bytes[128] = {[12] = 0x86, [13] = 0xdd};
	uint32_t byte_count = put_ipv6(bytes + ETHERNET_HEADER_BYTES, outside(), destination, 64);

	gateways_receive(&rig.fabric, router, bytes, ETHERNET_HEADER_BYTES + byte_count, 0);
	rig_run(&rig, 0);
}

static void test_ipv6_from_the_lan_finds_its_host(void **state)
{
	struct packet packet;
	struct frame *frame;

	(void)state;
	receive_ipv6(gid_of(host("h4")));
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], host("h4"));
	frame = rig.delivered[0];
	assert_int_equal(raw_packet_decode(frame->bytes, frame->byte_count, &packet), PACKET_OK);
	assert_int_equal(packet.kind, PACKET_RAW_IPV6);
	assert_int_equal(packet.lrh.dlid, 2);
	assert_int_equal(packet.lrh.slid, ROUTER_LID);
	assert_int_equal(frame->bytes[LRH_BYTES + GRH_HOP_LIMIT_OFFSET], 63);
	assert_int_equal(router->router->gateway->received, 1);
}

static void receive_ethertype(struct mac destination, size_t payload_bytes)
{
	static uint8_t bytes[ETHERNET_HEADER_BYTES + MTU_BYTES_MAX];
	const struct ethernet_header header = {.destination = destination, .ethertype = 0x88b5};

	ethernet_header_encode(&header, bytes);
	gateways_receive(&rig.fabric, router, bytes, ETHERNET_HEADER_BYTES + payload_bytes, 0);
}

static void test_ethertype_from_the_lan_finds_its_host(void **state)
{
	struct packet packet;

	(void)state;
	receive_ethertype(gateway_mac(2, 1), 46);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], host("h3"));
	assert_int_equal(
		raw_packet_decode(rig.delivered[0]->bytes, rig.delivered[0]->byte_count, &packet),
		PACKET_OK);
	assert_int_equal(packet.kind, PACKET_RAW_ETHERTYPE);
	assert_int_equal(packet.ethertype, 0x88b5);
	assert_int_equal(packet.payload.byte_count, 48);
	assert_int_equal(packet.lrh.slid, ROUTER_LID);
}

static void test_frames_that_may_not_enter_are_counted(void **state)
{
	const uint64_t *drops = router->router->gateway->drops;

	(void)state;
	receive_ipv6(gid_from(SUBNET_PREFIX(1), 0x4711));
	receive_ipv6(gid_from(PREFIX_OUTSIDE, 2));
	assert_int_equal(drops[DROP_NO_ROUTE], 2);
	router->ports[2].info.filter_raw_outbound = 1;
	receive_ethertype(gateway_mac(2, 1), 46);
	receive_ipv6(gid_of(host("h3")));
	assert_int_equal(drops[DROP_PKEY_OUTBOUND], 2);
	router->ports[1].info.neighbor_mtu = MTU_256;
	receive_ethertype(gateway_mac(1, 1), 257);
	assert_int_equal(drops[DROP_MTU], 1);
	router->ports[1].info.port_state = PORT_ARMED;
	receive_ethertype(gateway_mac(1, 1), 46);
	assert_int_equal(drops[DROP_PORT_INACTIVE], 1);
	assert_int_equal(rig.delivered_count, 0);
	assert_int_equal(router->router->gateway->received, 0);
}

/* A flood for one host fills only the router's port; packets for others still arrive. */
static void test_flood_from_the_lan_is_bounded(void **state)
{
	const struct gateway *gateway = router->router->gateway;

	(void)state;
	for (unsigned i = 0; i < MAX_ROUNDS; i++)
		receive_ethertype(gateway_mac(1, 1), MTU_BYTES_MAX);
	assert_int_equal(gateway->received + gateway->drops[DROP_NO_FRAME], MAX_ROUNDS);
	assert_true(gateway->drops[DROP_NO_FRAME] > MAX_ROUNDS / 2);
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, gateway->received);
	receive_ipv6(gid_of(host("h4")));
	assert_ptr_equal(rig.delivered_at[rig.delivered_count - 1], host("h4"));
	assert_true(fabric_is_idle(&rig.fabric));
}

static void test_router_without_a_gateway_keeps_them(void **state)
{
	uint8_t bytes[16] = {0};

	(void)state;
	gateway_destroy(router->router->gateway);
	router->router->gateway = NULL;
	send_raw(host("h1"), PACKET_RAW_ETHERTYPE, bytes, sizeof(bytes));
	send_ipv6(host("h1"), outside(), 64);
	assert_int_equal(router_drops(1, DROP_NO_ROUTE), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_fabric, free_fabric)
		TEST(test_raw_ipv6_beyond_the_fabric_leaves),
		TEST(test_raw_ipv6_inside_the_fabric_stays),
		TEST(test_raw_ethertype_to_the_router_leaves),
		TEST(test_raw_filter_of_the_port_keeps_both_kinds),
		TEST(test_queue_that_nobody_empties_drops),
		TEST(test_ipv6_from_the_lan_finds_its_host),
		TEST(test_ethertype_from_the_lan_finds_its_host),
		TEST(test_frames_that_may_not_enter_are_counted),
		TEST(test_flood_from_the_lan_is_bounded),
		TEST(test_router_without_a_gateway_keeps_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
