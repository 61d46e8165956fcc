/* SPDX-License-Identifier: Apache-2.0 */
/* A router's gateway: raw packets as Ethernet frames, and frames as raw packets (transport 9.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "net/link/frame.h"
#include "net/node/node.h"
#include "net/router/gateway.h"
#include "wire/grh.h"
#include "wire/lrh.h"

#define PREFIX(n)      (UINT64_C(0xfec0000000000000) + (n))
#define PREFIX_OUTSIDE UINT64_C(0x20010db800000000)

static struct node node;
static struct frame frame;
static struct gateway_packet packet;

static int make_router(void **state)
{
	(void)state;
	assert_int_equal(node_init(&node, NODE_ROUTER, 2, 0x1000, "router"), 0);
	assert_int_equal(router_table_create(&node.router), 0);
	assert_int_equal(gateway_create(&node.router->gateway), 0);
	for (unsigned number = 1; number <= 2; number++) {
		struct router_route route = {.prefix = PREFIX(number),
					     .output_port = (uint8_t)number};

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

static struct gid inside(void)
{
	return gid_from(PREFIX(2), 0x77);
}

static struct gid outside(void)
{
	return gid_from(PREFIX_OUTSIDE, 1);
}

/* payload_bytes after the header, each byte its own index. */
static uint32_t put_ipv6(uint8_t *bytes, struct gid source, struct gid destination,
			 uint16_t payload_bytes)
{
	const struct grh grh = {.version = 6,
				.next_header = 58,
				.hop_limit = 64,
				.payload_bytes = payload_bytes,
				.sgid = source,
				.dgid = destination};

	grh_encode(&grh, bytes);
	for (unsigned i = 0; i < payload_bytes; i++)
		bytes[IPV6_HEADER_BYTES + i] = (uint8_t)i;
	return IPV6_HEADER_BYTES + (uint32_t)payload_bytes;
}

static struct lrh raw_packet(uint8_t lnh, uint32_t byte_count)
{
	struct lrh lrh = {.lnh = lnh,
			  .dlid = 10,
			  .slid = 0x1234,
			  .words = (uint16_t)((LRH_BYTES + byte_count) / 4)};

	lrh_encode(&lrh, frame.bytes);
	frame.byte_count = LRH_BYTES + byte_count;
	frame.input_port = 2;
	return lrh;
}

static void test_raw_ipv6_leaves_without_pad_and_with_a_hop_less(void **state)
{
	uint8_t expected[128];
	uint32_t byte_count = put_ipv6(expected, inside(), outside(), 21);

	(void)state;
	memcpy(frame.bytes + LRH_BYTES, expected, byte_count);
	expected[GRH_HOP_LIMIT_OFFSET] = 63;

	struct lrh lrh = raw_packet(LNH_RAW_IPV6, 64);

	assert_int_equal(gateway_leave(node.router->gateway, &frame, &lrh), DROP_NONE);

	const struct gateway_frame *left = gateway_next(node.router->gateway);

	assert_non_null(left);
	assert_int_equal(left->byte_count, ETHERNET_HEADER_BYTES + byte_count);
	assert_memory_equal(left->bytes, "\xff\xff\xff\xff\xff\xff\x02\x5f\x1b\x02\x12\x34\x86\xdd",
			    ETHERNET_HEADER_BYTES);
	assert_memory_equal(left->bytes + ETHERNET_HEADER_BYTES, expected, byte_count);
	assert_null(gateway_next(node.router->gateway));
	assert_int_equal(node.router->gateway->sent, 1);
}

static void test_raw_ethertype_leaves_as_it_is(void **state)
{
	(void)state;
	put_be32(frame.bytes + LRH_BYTES, 0x88b5);
	memset(frame.bytes + LRH_BYTES + RWH_BYTES, 0xab, 12);

	struct lrh lrh = raw_packet(LNH_RAW_ETHERTYPE, RWH_BYTES + 12);

	assert_int_equal(gateway_leave(node.router->gateway, &frame, &lrh), DROP_NONE);

	const struct gateway_frame *left = gateway_next(node.router->gateway);

	assert_non_null(left);
	assert_int_equal(left->byte_count, ETHERNET_HEADER_BYTES + 12);
	assert_memory_equal(left->bytes,
			    "\xff\xff\xff\xff\xff\xff\x02\x5f\x1b\x02\x12\x34\x88\xb5"
			    "\xab\xab\xab\xab\xab\xab\xab\xab\xab\xab\xab\xab",
			    ETHERNET_HEADER_BYTES + 12);
}

static void test_packets_that_are_no_ethernet_frames_stay(void **state)
{
	struct lrh lrh;

	(void)state;
	put_be32(frame.bytes + LRH_BYTES, ETHERTYPE_MIN - 1);
	lrh = raw_packet(LNH_RAW_ETHERTYPE, RWH_BYTES + 12);
	assert_int_equal(gateway_leave(node.router->gateway, &frame, &lrh), DROP_NO_ROUTE);
	for (uint32_t byte_count = 0; byte_count < RWH_BYTES; byte_count++) {
		lrh = raw_packet(LNH_RAW_ETHERTYPE, byte_count);
		assert_int_equal(gateway_leave(node.router->gateway, &frame, &lrh), DROP_MALFORMED);
	}
	put_ipv6(frame.bytes + LRH_BYTES, inside(), outside(), 24);
	lrh = raw_packet(LNH_RAW_IPV6, 60);
	assert_int_equal(gateway_leave(node.router->gateway, &frame, &lrh), DROP_MALFORMED);
	lrh = raw_packet(LNH_RAW_IPV6, 36);
	assert_int_equal(gateway_leave(node.router->gateway, &frame, &lrh), DROP_MALFORMED);
	frame.bytes[LRH_BYTES] = 0x45;
	lrh = raw_packet(LNH_RAW_IPV6, 64);
	assert_int_equal(gateway_leave(node.router->gateway, &frame, &lrh), DROP_MALFORMED);
	assert_null(gateway_next(node.router->gateway));
}

static void test_queue_is_bounded_and_in_order(void **state)
{
	struct gateway *gateway = node.router->gateway;
	struct lrh lrh;
	const struct gateway_frame *left;

	(void)state;
	put_be32(frame.bytes + LRH_BYTES, 0x88b5);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < GATEWAY_QUEUE_FRAMES; i++) {
			lrh = raw_packet(LNH_RAW_ETHERTYPE, RWH_BYTES + 8);
			put_be32(frame.bytes + LRH_BYTES + RWH_BYTES, i);
			assert_int_equal(gateway_leave(gateway, &frame, &lrh), DROP_NONE);
		}
		assert_int_equal(gateway_leave(gateway, &frame, &lrh), DROP_NO_FRAME);
		for (unsigned i = 0; i < GATEWAY_QUEUE_FRAMES; i++) {
			left = gateway_next(gateway);
			assert_non_null(left);
			assert_int_equal(get_be32(left->bytes + ETHERNET_HEADER_BYTES), i);
		}
		assert_null(gateway_next(gateway));
	}
}

static void test_only_addresses_beyond_the_fabric_are_for_the_lan(void **state)
{
	struct gateway *gateway = node.router->gateway;
	struct routing_header header = {.sgid = inside(), .dgid = outside(), .is_raw = true};

	(void)state;
	assert_true(gateway_wants(&node, &header));
	header.is_raw = false;
	assert_false(gateway_wants(&node, &header));
	header.is_raw = true;
	node.router->gateway = NULL;
	assert_false(gateway_wants(&node, &header));
	node.router->gateway = gateway;
	header.dgid = gid_from(PREFIX(1), 0x4711);
	assert_false(gateway_wants(&node, &header));
	header.dgid = gid_from(GID_PREFIX_LINK_LOCAL, 1);
	assert_false(gateway_wants(&node, &header));
	header.dgid = gid_from(0, 1);
	assert_false(gateway_wants(&node, &header));
	header.dgid = outside();
	header.sgid = gid_from(GID_PREFIX_LINK_LOCAL, 1);
	assert_false(gateway_wants(&node, &header));
}

/* An Ethernet frame to this MAC address; its payload begins at bytes + ETHERNET_HEADER_BYTES. */
static void put_header(uint8_t *bytes, struct mac destination, uint16_t ethertype)
{
	const struct ethernet_header header = {.destination = destination, .ethertype = ethertype};

	ethernet_header_encode(&header, bytes);
}

static enum drop_reason read_ipv6(struct gid source, struct gid destination)
{
	uint8_t bytes[256];
	uint32_t byte_count;

	put_header(bytes, (struct mac){{0}}, ETHERTYPE_IPV6);
	byte_count = put_ipv6(bytes + ETHERNET_HEADER_BYTES, source, destination, 8);
	return gateway_read(&node, bytes, ETHERNET_HEADER_BYTES + byte_count, &packet);
}

static void test_ipv6_from_the_lan_is_as_long_as_it_says(void **state)
{
	uint8_t bytes[256], expected[256] = {0};
	uint32_t byte_count = put_ipv6(expected, outside(), inside(), 9);

	(void)state;
	put_header(bytes, (struct mac){{0}}, ETHERTYPE_IPV6);
	memset(bytes + ETHERNET_HEADER_BYTES, 0x55, sizeof(bytes) - ETHERNET_HEADER_BYTES);
	memcpy(bytes + ETHERNET_HEADER_BYTES, expected, byte_count);
	expected[GRH_HOP_LIMIT_OFFSET] = 63;
	memset(packet.bytes, 0x55, sizeof(packet.bytes));
	assert_int_equal(gateway_read(&node, bytes, sizeof(bytes), &packet), DROP_NONE);
	assert_true(packet.is_ipv6 && packet.header.is_raw);
	assert_int_equal(packet.byte_count, IPV6_HEADER_BYTES + 12);
	assert_int_equal(packet.header.payload_bytes, 12);
	assert_memory_equal(packet.bytes, expected, packet.byte_count);
	for (uint32_t length = 0; length < ETHERNET_HEADER_BYTES + byte_count; length++)
		assert_int_equal(gateway_read(&node, bytes, length, &packet), DROP_MALFORMED);
	bytes[ETHERNET_HEADER_BYTES] = 0x45;
	assert_int_equal(gateway_read(&node, bytes, sizeof(bytes), &packet), DROP_MALFORMED);
}

static void test_hops_of_a_packet_from_the_lan_end_at_the_router(void **state)
{
	uint8_t bytes[ETHERNET_HEADER_BYTES + IPV6_HEADER_BYTES];

	(void)state;
	put_header(bytes, (struct mac){{0}}, ETHERTYPE_IPV6);
	put_ipv6(bytes + ETHERNET_HEADER_BYTES, outside(), inside(), 0);
	for (uint8_t hops = 0; hops <= 2; hops++) {
		bytes[ETHERNET_HEADER_BYTES + GRH_HOP_LIMIT_OFFSET] = hops;
		assert_int_equal(gateway_read(&node, bytes, sizeof(bytes), &packet),
				 hops <= 1 ? DROP_HOP_LIMIT : DROP_NONE);
	}
	assert_int_equal(packet.bytes[GRH_HOP_LIMIT_OFFSET], 1);
}

static void test_nobody_on_the_lan_has_an_address_of_the_fabric(void **state)
{
	const struct gid link_local = gid_from(GID_PREFIX_LINK_LOCAL, 1);
	const struct gid group = gid_from(UINT64_C(0xff0e000000000000), 1);

	(void)state;
	assert_int_equal(read_ipv6(outside(), inside()), DROP_NONE);
	assert_int_equal(read_ipv6(inside(), inside()), DROP_NO_ROUTE);
	assert_int_equal(read_ipv6(gid_from(PREFIX(1), 5), inside()), DROP_NO_ROUTE);
	assert_int_equal(read_ipv6(link_local, inside()), DROP_NO_ROUTE);
	assert_int_equal(read_ipv6(group, inside()), DROP_NO_ROUTE);
	assert_int_equal(read_ipv6(gid_from(0, 0), inside()), DROP_NO_ROUTE);
	assert_int_equal(read_ipv6(outside(), link_local), DROP_NO_ROUTE);
	assert_int_equal(read_ipv6(outside(), group), DROP_NO_ROUTE);
	assert_int_equal(read_ipv6(outside(), gid_from(PREFIX(1), node.ports[1].guid)),
			 DROP_NO_ROUTE);
}

static void test_mac_address_names_port_and_lid(void **state)
{
	const struct {
		struct mac mac;
		enum drop_reason verdict;
	} cases[] = {
		{gateway_mac(1, 5), DROP_NONE},
		{gateway_mac(2, 0xbfff), DROP_NONE},
		{gateway_mac(0, 5), DROP_NO_ROUTE},
		{gateway_mac(3, 5), DROP_NO_ROUTE},
		{gateway_mac(1, 0), DROP_NO_ROUTE},
		{gateway_mac(1, 0xc000), DROP_NO_ROUTE},
		{gateway_mac(1, 0xffff), DROP_NO_ROUTE},
		{gateway_mac(1, 10), DROP_NO_ROUTE}, /* the router's own */
		{gateway_mac(1, 20), DROP_NONE},
		{{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, DROP_NO_ROUTE},
		{{{0x02, 0x5f, 0x1c, 1, 0, 5}}, DROP_NO_ROUTE},
	};
	uint8_t bytes[ETHERNET_HEADER_BYTES + 8] = {0};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		put_header(bytes, cases[i].mac, 0x88b5);
		assert_int_equal(gateway_read(&node, bytes, sizeof(bytes), &packet),
				 cases[i].verdict);
		if (cases[i].verdict != DROP_NONE)
			continue;
		assert_int_equal(packet.output_port, cases[i].mac.bytes[3]);
		assert_int_equal(packet.dlid, get_be16(cases[i].mac.bytes + 4));
		assert_int_equal(packet.ethertype, 0x88b5);
		assert_false(packet.is_ipv6);
	}
}

static void test_ethertype_frames_are_filled_up_to_words(void **state)
{
	static const struct {
		uint32_t from, to;
	} sizes[] = {{0, 8}, {1, 8}, {8, 8}, {9, 12}, {46, 48}, {4095, 4096}, {4096, 4096}};
	static uint8_t bytes[ETHERNET_HEADER_BYTES + MTU_BYTES_MAX + 1];

	(void)state;
	put_header(bytes, gateway_mac(1, 5), 0x88b5);
	memset(bytes + ETHERNET_HEADER_BYTES, 0xab, MTU_BYTES_MAX + 1);
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		memset(packet.bytes, 0x55, sizeof(packet.bytes));
		assert_int_equal(
			gateway_read(&node, bytes, ETHERNET_HEADER_BYTES + sizes[i].from, &packet),
			DROP_NONE);
		assert_int_equal(packet.byte_count, sizes[i].to);
		assert_int_equal(packet.header.payload_bytes, sizes[i].to);
		for (uint32_t at = 0; at < sizes[i].to; at++)
			assert_int_equal(packet.bytes[at], at < sizes[i].from ? 0xab : 0);
	}
	assert_int_equal(gateway_read(&node, bytes, sizeof(bytes), &packet), DROP_MALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw_ipv6_leaves_without_pad_and_with_a_hop_less),
		cmocka_unit_test(test_raw_ethertype_leaves_as_it_is),
		cmocka_unit_test(test_packets_that_are_no_ethernet_frames_stay),
		cmocka_unit_test(test_queue_is_bounded_and_in_order),
		cmocka_unit_test(test_only_addresses_beyond_the_fabric_are_for_the_lan),
		cmocka_unit_test(test_ipv6_from_the_lan_is_as_long_as_it_says),
		cmocka_unit_test(test_hops_of_a_packet_from_the_lan_end_at_the_router),
		cmocka_unit_test(test_nobody_on_the_lan_has_an_address_of_the_fabric),
		cmocka_unit_test(test_mac_address_names_port_and_lid),
		cmocka_unit_test(test_ethertype_frames_are_filled_up_to_words),
	};

	return cmocka_run_group_tests(tests, make_router, free_router);
}
