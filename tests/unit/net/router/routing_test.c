/* SPDX-License-Identifier: Apache-2.0 */
/* Forwarding of a router: each rule with a packet that just falls under it (transport 8.12). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/router/routing.h"
#include "wire/packet.h"

#define PREFIX(n) (UINT64_C(0xfec0000000000000) + (n))

static struct node node;

static int make_router(void **state)
{
	(void)state;
	assert_int_equal(node_init(&node, NODE_ROUTER, 3, 0x1000, "router"), 0);
	assert_int_equal(router_table_create(&node.router), 0);
	for (unsigned number = 1; number <= 3; number++) {
		struct router_route route = {.prefix = PREFIX(number),
					     .output_port = (uint8_t)number};

		node.ports[number].info.port_state = PORT_ACTIVE;
		node.ports[number].info.gid_prefix = PREFIX(number);
		node.ports[number].info.lid = (uint16_t)(10 * number);
		assert_int_equal(router_table_add(node.router, &route), 0);
	}
	return 0;
}

static int free_router(void **state)
{
	(void)state;
	router_table_destroy(node.router);
	node_release(&node);
	return 0;
}

static struct routing_header header_to(uint64_t prefix)
{
	return (struct routing_header){
		.dgid = gid_from(prefix, 0x77), .hop_limit = 64, .sl = 3, .payload_bytes = 2048};
}

static void test_prefix_gives_the_output(void **state)
{
	struct routing_header header = header_to(PREFIX(2));
	struct routing_decision decision = routing_unicast(&node, 1, &header);

	(void)state;
	assert_int_equal(decision.verdict, DROP_NONE);
	assert_int_equal(decision.route->output_port, 2);
}

static void test_unicast_drops(void **state)
{
	const struct {
		uint64_t prefix;
		uint8_t hop_limit;
		enum drop_reason reason;
	} rows[] = {
		{PREFIX(2), 2, DROP_NONE},
		{PREFIX(2), 1, DROP_HOP_LIMIT},
		{PREFIX(2), 0, DROP_HOP_LIMIT},
		{PREFIX(9), 64, DROP_NO_ROUTE},
		{PREFIX(1), 64, DROP_LOOPING}, /* came from there */
		{GID_PREFIX_LINK_LOCAL, 64, DROP_NO_ROUTE},
		{UINT64_C(0xfebfffffffffffff), 64, DROP_NO_ROUTE}, /* the end of FE80::/10 */
		{0, 64, DROP_NO_ROUTE},
	};

	(void)state;
	for (unsigned row = 0; row < ARRAY_COUNT(rows); row++) {
		struct routing_header header = header_to(rows[row].prefix);

		header.hop_limit = rows[row].hop_limit;
		assert_int_equal(routing_unicast(&node, 1, &header).verdict, rows[row].reason);
	}
}

static void test_output_checks_state_mtu_and_lane(void **state)
{
	struct routing_header header = header_to(PREFIX(2));
	struct port *output = &node.ports[2];
	uint8_t vl = 99;

	(void)state;
	output->sl_to_vl[0][3] = 5;
	assert_int_equal(routing_output(&node, 2, &header, &vl), DROP_NONE);
	assert_int_equal(vl, 5);
	output->sl_to_vl[0][3] = 15;
	assert_int_equal(routing_output(&node, 2, &header, &vl), DROP_VL_MAPPING);
	output->sl_to_vl[0][3] = 0;
	output->info.neighbor_mtu = MTU_1024;
	assert_int_equal(routing_output(&node, 2, &header, &vl), DROP_MTU);
	output->info.neighbor_mtu = MTU_2048;
	assert_int_equal(routing_output(&node, 2, &header, &vl), DROP_NONE);
	output->info.port_state = PORT_ARMED;
	assert_int_equal(routing_output(&node, 2, &header, &vl), DROP_PORT_INACTIVE);
	output->info.port_state = PORT_ACTIVE;
	output->info.neighbor_mtu = MTU_4096;
}

/* A router's port is a member of partitions: it receives inbound packets and sends outbound
 * ones. */
static void test_partitions_are_enforced_where_asked(void **state)
{
	enum { NONE = 0, LIMITED = 0x0005, FULL = 0x8005 };
	static const struct {
		uint16_t entry, pkey;
		bool may_come_in, may_go_out;
	} cases[] = {
		{NONE, LIMITED, false, false},	 {NONE, FULL, false, false},
		{LIMITED, LIMITED, false, true}, {LIMITED, FULL, true, false},
		{FULL, LIMITED, true, true},	 {FULL, FULL, true, true},
	};
	struct routing_header header = header_to(PREFIX(2));
	struct port *input = &node.ports[1], *output = &node.ports[2];
	uint8_t vl;

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		header.pkey = cases[i].pkey;
		input->pkeys[4] = output->pkeys[4] = cases[i].entry;
		input->info.partition_enforcement_inbound = 0;
		output->info.partition_enforcement_outbound = 0;
		assert_int_equal(routing_unicast(&node, 1, &header).verdict, DROP_NONE);
		assert_int_equal(routing_output(&node, 2, &header, &vl), DROP_NONE);
		input->info.partition_enforcement_inbound = 1;
		output->info.partition_enforcement_outbound = 1;
		assert_int_equal(routing_unicast(&node, 1, &header).verdict,
				 cases[i].may_come_in ? DROP_NONE : DROP_PKEY_INBOUND);
		assert_int_equal(routing_output(&node, 2, &header, &vl),
				 cases[i].may_go_out ? DROP_NONE : DROP_PKEY_OUTBOUND);
	}
	/* Raw packets have no P_Key; other filters apply to them. */
	header.pkey = 0;
	header.is_raw = true;
	assert_int_equal(routing_unicast(&node, 1, &header).verdict, DROP_NONE);
	assert_int_equal(routing_output(&node, 2, &header, &vl), DROP_NONE);
	input->info.filter_raw_inbound = 1;
	output->info.filter_raw_outbound = 1;
	assert_int_equal(routing_unicast(&node, 1, &header).verdict, DROP_PKEY_INBOUND);
	assert_int_equal(routing_output(&node, 2, &header, &vl), DROP_PKEY_OUTBOUND);
	input->info.filter_raw_inbound = output->info.filter_raw_outbound = 0;
	input->info.partition_enforcement_inbound = 0;
	output->info.partition_enforcement_outbound = 0;
}

static void test_own_gids_are_all_ports_in_their_subnet_and_link_local(void **state)
{
	struct gid gid = gid_from(PREFIX(2), node.ports[2].guid);

	(void)state;
	assert_true(router_owns_gid(&node, &gid));
	gid = gid_from(GID_PREFIX_LINK_LOCAL, node.ports[3].guid);
	assert_true(router_owns_gid(&node, &gid));
	gid = gid_from(PREFIX(1), node.ports[2].guid);
	assert_false(router_owns_gid(&node, &gid));
	gid = gid_from(PREFIX(2), 0x4711);
	assert_false(router_owns_gid(&node, &gid));
}

static void test_groups_leave_their_subnet_by_scope(void **state)
{
	(void)state;
	for (unsigned scope = 0; scope < 16; scope++) {
		struct gid mgid = {{0xff, (uint8_t)(0x10 | scope)}};

		assert_int_equal(gid_multicast_is_routable(&mgid), scope > 2);
	}
}

/* Literal bytes: LRH, GRH, BTH, DETH of a UD packet. */
static void test_header_is_read_and_rewritten(void **state)
{
	struct packet packet = {
		.lrh = {.sl = 4, .dlid = 10, .slid = 3},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY, .pkey = 0xffff},
		.packet_count = 1,
		.has_grh = true,
		.grh = {.hop_limit = 9,
			.sgid = gid_from(PREFIX(1), 1),
			.dgid = gid_from(PREFIX(2), 2)},
	};
	uint8_t payload[100] = {0};
	struct frame frame = {0};
	struct routing_header header;
	struct packet decoded;
	struct lrh lrh;

	(void)state;
	packet_set_payload(&packet, payload, sizeof(payload));
	frame.byte_count = (uint32_t)packet_encode(&packet, frame.bytes);
	assert_true(lrh_decode(frame.bytes, frame.byte_count, &lrh));
	assert_true(routing_header_read(&frame, &lrh, &header));
	assert_int_equal(header.hop_limit, 9);
	assert_int_equal(header.sl, 4);
	assert_int_equal(header.payload_bytes, 100);
	assert_int_equal(gid_prefix(&header.dgid), PREFIX(2));
	routing_rewrite(&frame, 20, 5);
	assert_int_equal(packet_decode(frame.bytes, frame.byte_count, 1, &decoded), PACKET_OK);
	assert_int_equal(decoded.lrh.slid, 20);
	assert_int_equal(decoded.lrh.dlid, 5);
	assert_int_equal(decoded.grh.hop_limit, 8);
	lrh.lnh = LNH_LOCAL;
	assert_false(routing_header_read(&frame, &lrh, &header));
	lrh.lnh = LNH_GLOBAL;
	for (uint32_t byte_count = 0; byte_count < LRH_BYTES + GRH_BYTES + BTH_BYTES;
	     byte_count++) {
		frame.byte_count = byte_count;
		assert_false(routing_header_read(&frame, &lrh, &header));
	}
}

/* The specification lets routers forward raw IPv6 by the same fields; raw EtherType packets have
 * none. */
static void test_raw_ipv6_is_routed_by_its_own_header(void **state)
{
	uint8_t bytes[80] = {0x60, [5] = 40, [6] = 59, [7] = 9};
	struct packet packet = {.kind = PACKET_RAW_IPV6, .lrh = {.sl = 4}, .packet_count = 1};
	struct gid destination = gid_from(PREFIX(2), 2);
	struct frame frame = {0};
	struct routing_header header;
	struct lrh lrh;

	(void)state;
	memcpy(bytes + 24, destination.bytes, sizeof(destination.bytes));
	packet_set_payload(&packet, bytes, sizeof(bytes));
	frame.byte_count = (uint32_t)packet_encode(&packet, frame.bytes);
	assert_true(lrh_decode(frame.bytes, frame.byte_count, &lrh));
	assert_true(routing_header_read(&frame, &lrh, &header));
	assert_int_equal(header.hop_limit, 9);
	assert_int_equal(header.payload_bytes, 40);
	assert_int_equal(gid_prefix(&header.dgid), PREFIX(2));
	routing_rewrite(&frame, 20, 5);
	assert_int_equal(frame.bytes[LRH_BYTES + 7], 8);
	for (uint32_t byte_count = LRH_BYTES; byte_count < LRH_BYTES + GRH_BYTES; byte_count++) {
		frame.byte_count = byte_count;
		assert_false(routing_header_read(&frame, &lrh, &header));
	}
	lrh.lnh = LNH_RAW_ETHERTYPE;
	assert_false(routing_header_read(&frame, &lrh, &header));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefix_gives_the_output),
		cmocka_unit_test(test_unicast_drops),
		cmocka_unit_test(test_output_checks_state_mtu_and_lane),
		cmocka_unit_test(test_partitions_are_enforced_where_asked),
		cmocka_unit_test(test_own_gids_are_all_ports_in_their_subnet_and_link_local),
		cmocka_unit_test(test_groups_leave_their_subnet_by_scope),
		cmocka_unit_test(test_header_is_read_and_rewritten),
		cmocka_unit_test(test_raw_ipv6_is_routed_by_its_own_header),
	};

	return cmocka_run_group_tests(tests, make_router, free_router);
}
