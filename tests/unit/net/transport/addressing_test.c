/* SPDX-License-Identifier: Apache-2.0 */
/* Headers from address vectors (transport 7.5). */
#include "net/transport/addressing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "net/transport/port_view.h"
#include "net/transport/qp.h"
#include "support/rc_pair.h"

static void test_local_headers_come_from_vector_and_port(void **state)
{
	struct port_view port = {.lid = 0x40, .lmc = 2, .pkeys = {0xffff, 0x8001}};
	struct qp qp = {.type = QP_RC, .port = &port, .attributes = {.pkey_index = 1}};
	struct address_vector address = {.dlid = 9, .sl = 5, .source_path_bits = 3};
	struct packet packet = {.packet_count = 7, .payload = {.byte_count = 3}};

	(void)state;
	packet_address(&qp, &address, 0x123456, &packet);
	assert_int_equal(packet.lrh.dlid, 9);
	assert_int_equal(packet.lrh.slid, 0x43);
	assert_int_equal(packet.lrh.sl, 5);
	assert_int_equal(packet.lrh.lnh, LNH_LOCAL);
	assert_false(packet.has_grh);
	assert_int_equal(packet.bth.destination_qpn, 0x123456);
	assert_int_equal(packet.bth.pkey, 0x8001);
	assert_true(packet.bth.migrated);
	assert_int_equal(packet.packet_count, 1);
	assert_int_equal(packet.payload.byte_count, 0);
}

static void test_global_headers_name_both_gids(void **state)
{
	struct port_view port = {.lid = 1, .gids = {{{0}}, {{0xfe, 0x80}}}};
	struct qp qp = {.type = QP_UD, .port = &port};
	struct address_vector address = {.dlid = 9,
					 .is_global = true,
					 .sgid_index = 1,
					 .hop_limit = 3,
					 .flow_label = 0xfffff,
					 .traffic_class = 8,
					 .dgid = {{0xff, 1}}};
	struct packet packet;

	(void)state;
	packet_address(&qp, &address, 5, &packet);
	assert_int_equal(packet.lrh.lnh, LNH_GLOBAL);
	assert_true(packet.has_grh);
	assert_int_equal(packet.grh.sgid.bytes[0], 0xfe);
	assert_int_equal(packet.grh.dgid.bytes[0], 0xff);
	assert_int_equal(packet.grh.hop_limit, 3);
	assert_int_equal(packet.grh.flow_label, 0xfffff);
	assert_int_equal(packet.grh.traffic_class, 8);
	assert_int_equal(packet.grh.version, 6);
	assert_int_equal(packet.grh.next_header, GRH_NEXT_HEADER_IBA);
}

/* Two ports with four LIDs each. */
enum { LMC = 2, A_LID = 0x10, B_LID = 0x20, A_BITS = 3, B_BITS = 2 };

static struct rc_pair pair;

static void connect_with_path_bits(enum qp_type type)
{
	struct endpoint_options options = endpoint_options_default(type);

	rc_pair_init(&pair, &options, &options);
	pair.a.port.lid = A_LID;
	pair.b.port.lid = B_LID;
	pair.a.port.lmc = pair.b.port.lmc = LMC;
	endpoint_to_init(&pair.a);
	endpoint_to_init(&pair.b);
	endpoint_to_rtr(&pair.a, &pair.b);
	endpoint_to_rtr(&pair.b, &pair.a);
	pair.a.qp.attributes.address.dlid = B_LID | B_BITS;
	pair.a.qp.attributes.address.source_path_bits = A_BITS;
	pair.b.qp.attributes.address.dlid = A_LID | A_BITS;
	pair.b.qp.attributes.address.source_path_bits = B_BITS;
	endpoint_to_rts(&pair.a);
	endpoint_to_rts(&pair.b);
}

static void test_connections_use_the_lids_that_their_path_bits_choose(void **state)
{
	(void)state;
	connect_with_path_bits(QP_RC);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->slid, A_LID | A_BITS);
	rc_pair_release(&pair);
}

static void test_a_connection_is_with_one_lid_of_the_peer(void **state)
{
	(void)state;
	connect_with_path_bits(QP_UC);
	pair.a.qp.attributes.address.source_path_bits = 1;
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_nothing_received(&pair.b);
	rc_pair_release(&pair);
}

static const struct address_vector full_vector = {
	.dlid = B_LID | B_BITS,
	.sl = 5,
	.source_path_bits = A_BITS,
	.static_rate = 3,
	.port_number = 1,
	.is_global = true,
	.hop_limit = 9,
	.traffic_class = 0x42,
	.flow_label = 0x12345,
	.dgid = {{0xfe, 0x80, [15] = 2}},
};

static struct send_request datagram_to(const struct address_vector *address)
{
	return (struct send_request){
		.wr_id = 1,
		.opcode = SEND_SEND,
		.address = address,
		.address_pd = &pair.a.pd,
		.remote_qpn = pair.b.qp.qpn,
		.remote_qkey = 0x11111111,
	};
}

static void test_everything_in_the_vector_reaches_the_receiver_of_a_datagram(void **state)
{
	struct send_request request;
	const uint8_t *buffer;
	struct grh grh;

	(void)state;
	connect_with_path_bits(QP_UD);
	request = datagram_to(&full_vector);
	buffer = post_receive(&pair, &pair.b, 128);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);

	const struct completion *completion = expect_received(&pair.b, COMPLETION_SUCCESS);

	assert_int_equal(completion->slid, A_LID | A_BITS);
	assert_int_equal(completion->path_bits, B_BITS);
	assert_int_equal(completion->sl, 5);
	assert_int_equal(completion->flags, COMPLETION_HAS_GRH);
	assert_true(grh_decode(buffer, GRH_BYTES, &grh));
	assert_int_equal(grh.hop_limit, 9);
	assert_int_equal(grh.traffic_class, 0x42);
	assert_int_equal(grh.flow_label, 0x12345);
	rc_pair_release(&pair);
}

static void test_static_rate_is_part_of_the_route(void **state)
{
	struct address_vector slow = full_vector;
	struct send_request request;
	struct packet packets[4];
	struct qp_route route;

	(void)state;
	connect_with_path_bits(QP_UD);
	slow.static_rate = 2;
	request = datagram_to(&full_vector);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	request = datagram_to(&slow);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	assert_true(qp_next_route(&pair.a.qp, pair.now, &route));
	assert_int_equal(route.static_rate, 3);
	/* Packets of another rate are not returned with these. */
	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 4, 1, packets), 1);
	assert_true(qp_next_route(&pair.a.qp, pair.now, &route));
	assert_int_equal(route.static_rate, 2);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_headers_come_from_vector_and_port),
		cmocka_unit_test(test_global_headers_name_both_gids),
		cmocka_unit_test(test_connections_use_the_lids_that_their_path_bits_choose),
		cmocka_unit_test(test_a_connection_is_with_one_lid_of_the_peer),
		cmocka_unit_test(test_everything_in_the_vector_reaches_the_receiver_of_a_datagram),
		cmocka_unit_test(test_static_rate_is_part_of_the_route),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
