/* SPDX-License-Identifier: Apache-2.0 */
/* Drop reasons and port counters (management 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/link/counters.h"

static void test_every_reason_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (unsigned i = 0; i < DROP_REASON_COUNT; i++) {
		assert_non_null(drop_reason_name((enum drop_reason)i));
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(drop_reason_name((enum drop_reason)i),
						drop_reason_name((enum drop_reason)j));
	}
	assert_string_equal(drop_reason_name(DROP_REASON_COUNT), "unknown");
}

static void test_drops_count_where_the_architecture_says(void **state)
{
	static const struct {
		enum drop_reason reason;
		size_t counter;
		size_t detail; /* 0: none */
	} rows[] = {
		{DROP_MALFORMED, offsetof(struct link_counters, receive_errors),
		 offsetof(struct link_counters, receive_malformed_packets)},
		{DROP_PORT_INACTIVE, offsetof(struct link_counters, transmit_discards)},
		{DROP_NO_ROUTE, offsetof(struct link_counters, receive_switch_relay_errors)},
		{DROP_LOOPING, offsetof(struct link_counters, receive_switch_relay_errors)},
		{DROP_VL_MAPPING, offsetof(struct link_counters, receive_switch_relay_errors)},
		{DROP_MTU, offsetof(struct link_counters, transmit_discards)},
		{DROP_LIFETIME, offsetof(struct link_counters, transmit_discards),
		 offsetof(struct link_counters, transmit_lifetime_discards)},
		{DROP_HEAD_OF_QUEUE, offsetof(struct link_counters, transmit_discards)},
		{DROP_PKEY_INBOUND, offsetof(struct link_counters, receive_constraint_errors)},
		{DROP_PKEY_OUTBOUND, offsetof(struct link_counters, transmit_constraint_errors)},
		{DROP_VL15, offsetof(struct link_counters, vl15_dropped)},
		{DROP_VCRC, offsetof(struct link_counters, receive_errors),
		 offsetof(struct link_counters, receive_physical_errors)},
		{DROP_ICRC, offsetof(struct link_counters, receive_errors),
		 offsetof(struct link_counters, receive_physical_errors)},
		{DROP_OVERRUN, offsetof(struct link_counters, receive_errors)},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
		struct port port = {.kind = PORT_OF_SWITCH};
		struct link_counters expected = {0};

		port_count_drop(&port, rows[i].reason);
		*(uint64_t *)((char *)&expected + rows[i].counter) = 1;
		if (rows[i].detail)
			*(uint64_t *)((char *)&expected + rows[i].detail) = 1;
		expected.drops[rows[i].reason] = 1;
		assert_memory_equal(&port.counters, &expected, sizeof(expected));
	}
}

static void test_adapter_discards_what_has_no_lane(void **state)
{
	struct port port = {.kind = PORT_OF_ADAPTER};

	(void)state;
	port_count_drop(&port, DROP_VL_MAPPING);
	assert_int_equal(port.counters.transmit_discards, 1);
	assert_int_equal(port.counters.receive_switch_relay_errors, 0);
}

/* The parts of PortRcvErrors and PortXmitDiscards that drops[] alone does not tell. */
static void test_details_add_up_to_their_counter(void **state)
{
	struct port port = {.kind = PORT_OF_SWITCH};
	const struct link_counters *counters = &port.counters;

	(void)state;
	port_count_drop(&port, DROP_VCRC);
	port_count_drop(&port, DROP_ICRC);
	port_count_drop(&port, DROP_MALFORMED);
	port_count_drop(&port, DROP_OVERRUN);
	port_count_drop(&port, DROP_LIFETIME);
	assert_int_equal(counters->receive_physical_errors, 2);
	assert_int_equal(counters->receive_malformed_packets, 1);
	assert_int_equal(counters->receive_errors, counters->receive_physical_errors +
							   counters->receive_malformed_packets +
							   counters->drops[DROP_OVERRUN]);
	assert_int_equal(counters->transmit_lifetime_discards, counters->transmit_discards);
}

static void test_multicast_is_told_from_unicast_and_directed_routes(void **state)
{
	struct port port = {0};

	(void)state;
	port_count_transmit(&port, 0xc000, 0, 0, 6);
	port_count_transmit(&port, 0xfffe, 3, 1, 6);
	port_count_transmit(&port, 0xffff, 0, 15, 72);
	port_count_receive(&port, 1, 15, 2, 10);
	assert_int_equal(port.counters.multicast_transmit_packets, 2);
	assert_int_equal(port.counters.unicast_transmit_packets, 1);
	assert_int_equal(port.counters.transmit_words, 84);
	assert_int_equal(port.counters.unicast_receive_packets, 1);
	port_count_offloaded_transmit(
		&port,
		&(struct offloaded_packets){.sl = 3, .vl = 1, .packets = 1000, .words = 5000});
	port_count_offloaded_receive(
		&port, &(struct offloaded_packets){.sl = 0, .vl = 2, .packets = 7, .words = 70});
	assert_int_equal(port.counters.transmit_packets, 1003);
	assert_int_equal(port.counters.transmit_words, 5084);
	assert_int_equal(port.counters.transmit_levels[3].sl_words, 5006);
	assert_int_equal(port.counters.receive_levels[15].sl_words, 10);
	/* By virtual lane, whatever the service level is. */
	assert_int_equal(port.counters.transmit_levels[0].vl_packets, 1);
	assert_int_equal(port.counters.transmit_levels[1].vl_packets, 1001);
	assert_int_equal(port.counters.transmit_levels[1].vl_words, 5006);
	assert_int_equal(port.counters.transmit_levels[15].vl_words, 72);
	assert_int_equal(port.counters.receive_levels[2].vl_packets, 8);
	assert_int_equal(port.counters.receive_levels[2].vl_words, 80);
	assert_int_equal(port.counters.receive_packets, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reason_has_a_name_of_its_own),
		cmocka_unit_test(test_drops_count_where_the_architecture_says),
		cmocka_unit_test(test_adapter_discards_what_has_no_lane),
		cmocka_unit_test(test_details_add_up_to_their_counter),
		cmocka_unit_test(test_multicast_is_told_from_unicast_and_directed_routes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
