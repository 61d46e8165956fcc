/* SPDX-License-Identifier: Apache-2.0 */
/* Headers from address vectors. */
#include "net/transport/addressing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "net/transport/port_view.h"
#include "net/transport/qp.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_headers_come_from_vector_and_port),
		cmocka_unit_test(test_global_headers_name_both_gids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
