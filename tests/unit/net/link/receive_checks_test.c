/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of every received packet, each with a packet that fails only this one (transport
 * 8.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/link/receive_checks.h"
#include "net/link/frame_crc.h"
#include "wire/lrh.h"

static const struct lrh good = {
	.vl = 0, .sl = 0, .lnh = LNH_LOCAL, .dlid = 8, .slid = 3, .words = 6};

static struct port a_port(enum port_kind kind)
{
	return (struct port){
		.kind = kind,
		.info = {.lid = 8,
			 .lmc = 1,
			 .port_state = PORT_ACTIVE,
			 .mtu_cap = 1,
			 .operational_vls = 3},
	};
}

static enum drop_reason check(const struct port *port, struct lrh lrh, int extra_bytes)
{
	static struct frame frame;

	frame.byte_count = (uint32_t)(lrh.words * 4 - 4 + extra_bytes);
	lrh_encode(&lrh, frame.bytes);
	return port_check_received(port, &frame);
}

#define ALTERED(field, value)                                                                      \
	({                                                                                         \
		struct lrh altered = good;                                                         \
		altered.field = value;                                                             \
		altered;                                                                           \
	})

static void test_good_packet_passes(void **state)
{
	struct port port = a_port(PORT_OF_ADAPTER);

	(void)state;
	assert_int_equal(check(&port, good, 0), DROP_NONE);
	assert_int_equal(check(&port, ALTERED(dlid, 9), 0), DROP_NONE); /* LMC */
	assert_int_equal(check(&port, ALTERED(dlid, 0xc000), 0), DROP_NONE);
	assert_int_equal(check(&port, ALTERED(words, (256 + 124) / 4), 0), DROP_NONE);
	port.info.port_state = PORT_ARMED;
	assert_int_equal(check(&port, good, 0), DROP_NONE);
}

static void test_each_defect_is_found(void **state)
{
	struct port port = a_port(PORT_OF_ADAPTER);

	(void)state;
	assert_int_equal(check(&port, ALTERED(version, 1), 0), DROP_MALFORMED);
	assert_int_equal(check(&port, good, 4), DROP_MALFORMED);
	assert_int_equal(check(&port, ALTERED(words, 4), 0), DROP_MALFORMED);
	assert_int_equal(check(&port, ALTERED(words, (256 + 124) / 4 + 1), 0), DROP_MALFORMED);
	assert_int_equal(check(&port, ALTERED(dlid, 10), 0), DROP_MALFORMED);
	assert_int_equal(check(&port, ALTERED(dlid, 0), 0), DROP_MALFORMED);
	assert_int_equal(check(&port, ALTERED(dlid, 0xffff), 0), DROP_MALFORMED); /* only on VL15 */
	assert_int_equal(check(&port, ALTERED(vl, 4), 0), DROP_MALFORMED); /* not operational */
}

static void test_corrupt_or_truncated_packet_is_malformed(void **state)
{
	struct port port = a_port(PORT_OF_SWITCH);
	static struct frame frame;

	(void)state;
	lrh_encode(&good, frame.bytes);
	frame.byte_count = 20;
	assert_int_equal(port_check_received(&port, &frame), DROP_NONE);
	frame_append_crcs(&frame);
	frame_flip_bit(&frame, 100);
	assert_int_equal(port_check_received(&port, &frame), DROP_VCRC);
	frame_flip_bit(&frame, 100);
	assert_int_equal(port_check_received(&port, &frame), DROP_NONE);
	frame.has_crcs = false;
	frame.byte_count = 7;
	assert_int_equal(port_check_received(&port, &frame), DROP_MALFORMED);
}

static void test_port_state_decides_what_is_received(void **state)
{
	struct port port = a_port(PORT_OF_ADAPTER);
	struct lrh smp = ALTERED(vl, 15);

	(void)state;
	smp.dlid = 0xffff;
	port.info.port_state = PORT_INIT;
	assert_int_equal(check(&port, good, 0), DROP_MALFORMED);
	assert_int_equal(check(&port, smp, 0), DROP_NONE);
	port.info.port_state = PORT_DOWN;
	assert_int_equal(check(&port, smp, 0), DROP_MALFORMED);
}

static void test_management_lane_takes_local_unicast_only(void **state)
{
	struct port port = a_port(PORT_OF_SWITCH);
	struct lrh smp = ALTERED(vl, 15);

	(void)state;
	assert_int_equal(check(&port, smp, 0), DROP_NONE);
	smp.dlid = 0xc001;
	assert_int_equal(check(&port, smp, 0), DROP_MALFORMED);
	smp.dlid = 5;
	smp.lnh = LNH_GLOBAL;
	assert_int_equal(check(&port, smp, 0), DROP_MALFORMED);
}

static void test_switch_takes_any_lid_but_zero(void **state)
{
	struct port port = a_port(PORT_OF_SWITCH);

	(void)state;
	assert_int_equal(check(&port, ALTERED(dlid, 0xbfff), 0), DROP_NONE);
	assert_int_equal(check(&port, ALTERED(dlid, 0), 0), DROP_MALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_packet_passes),
		cmocka_unit_test(test_each_defect_is_found),
		cmocka_unit_test(test_corrupt_or_truncated_packet_is_malformed),
		cmocka_unit_test(test_port_state_decides_what_is_received),
		cmocka_unit_test(test_management_lane_takes_local_unicast_only),
		cmocka_unit_test(test_switch_takes_any_lid_but_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
