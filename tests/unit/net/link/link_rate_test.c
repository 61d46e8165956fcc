/* SPDX-License-Identifier: Apache-2.0 */
/* Wire times to the nanosecond, and inter-packet delays by the specification's examples (transport
 * 8.8, 8.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/link/link_rate.h"
#include "net/link/port_queues.h"
#include "wire/rate.h"

static void port_with(struct port *port, uint8_t width, uint8_t speed, uint8_t extended_speed)
{
	*port = (struct port){.kind = PORT_OF_ADAPTER};
	port->info.link_width_active = width;
	port->info.link_speed_active = speed;
	port->info.link_speed_ext_active = extended_speed;
	assert_int_equal(port_queues_create(port), 0);
	port_pacer_init(port);
}

static void test_wire_time_follows_width_and_speed(void **state)
{
	/* The data rates of the specification's table, in Mb/s (transport 8.9). */
	static const struct {
		uint8_t width, speed, extended_speed;
		uint32_t mbps;
	} rows[] = {
		{LINK_WIDTH_1X, 1, 0, 2000},   {LINK_WIDTH_4X, 1, 0, 8000},
		{LINK_WIDTH_12X, 1, 0, 24000}, {LINK_WIDTH_4X, 2, 0, 16000},
		{LINK_WIDTH_4X, 4, 0, 32000},  {LINK_WIDTH_4X, 4, 1, 54545},
		{LINK_WIDTH_4X, 4, 2, 100000}, {LINK_WIDTH_4X, 4, 4, 200000},
		{LINK_WIDTH_4X, 4, 8, 400000}, {LINK_WIDTH_12X, 4, 2, 300000},
		{LINK_WIDTH_2X, 4, 2, 50000},
	};

	(void)state;
	for (unsigned row = 0; row < ARRAY_COUNT(rows); row++) {
		struct port port;

		port_with(&port, rows[row].width, rows[row].speed, rows[row].extended_speed);
		assert_int_equal(port.queues->pacer.data_mbps, rows[row].mbps);
		assert_int_equal(port_occupy_wire(&port, 4096, 1000),
				 1000 + 4096 * 8 * 1000ull / rows[row].mbps);
		port_queues_destroy(&port);
	}
}

/* 72 bytes at 100 Gb/s are 5.76 ns: a million of them take 5.76 ms, not 5 or 6. */
static void test_fractions_of_a_nanosecond_add_up(void **state)
{
	struct port port;
	time_ns end = 0;

	(void)state;
	port_with(&port, LINK_WIDTH_4X, 4, 2);
	for (unsigned i = 0; i < 1000000; i++)
		end = port_occupy_wire(&port, 72, 0);
	assert_int_equal(end, 5760000);
	port_queues_destroy(&port);
}

static void test_idle_wire_starts_when_it_is_wanted(void **state)
{
	struct port port;

	(void)state;
	port_with(&port, LINK_WIDTH_4X, 4, 2);
	assert_int_equal(port_occupy_wire(&port, 125, 0), 10);
	assert_int_equal(port_occupy_wire(&port, 125, 5), 20);
	assert_int_equal(port_occupy_wire(&port, 125, 500), 510);
	port_queues_destroy(&port);
}

static void test_link_without_a_speed_still_moves(void **state)
{
	struct port port;

	(void)state;
	port_with(&port, 0, 0, 0);
	assert_int_equal(port_occupy_wire(&port, 250, 0), 1000);
	port_queues_destroy(&port);
}

static void test_inter_packet_delay_of_the_architectures_examples(void **state)
{
	static const struct {
		uint8_t width, speed, extended_speed;
		unsigned static_rate;
		unsigned ipd;
	} rows[] = {
		{LINK_WIDTH_4X, 1, 0, 2, 3},   /* 10 -> 2.5 */
		{LINK_WIDTH_12X, 1, 0, 2, 11}, /* 30 -> 2.5 */
		{LINK_WIDTH_12X, 1, 0, 3, 2},  /* 30 -> 10 */
		{LINK_WIDTH_4X, 1, 0, 0, 0},   /* none asked for */
		{LINK_WIDTH_4X, 1, 0, 3, 0},   /* the link's own */
		{LINK_WIDTH_1X, 1, 0, 3, 0},   /* faster than the link */
		{LINK_WIDTH_4X, 1, 0, 1, 0},   /* reserved */
		{LINK_WIDTH_4X, 1, 0, 77, 0},  /* no code */
		{LINK_WIDTH_4X, 4, 2, 15, 3},  /* 100 -> 25 after coding */
		{LINK_WIDTH_12X, 4, 8, 2,
		 255}, /* 1200 -> 2 would be 599, but the field has eight bits */
	};

	(void)state;
	for (unsigned row = 0; row < ARRAY_COUNT(rows); row++) {
		struct port port;

		port_with(&port, rows[row].width, rows[row].speed, rows[row].extended_speed);
		assert_int_equal(port_static_rate_ipd(&port, rows[row].static_rate), rows[row].ipd);
		port_queues_destroy(&port);
	}
}

static void test_interval_is_the_packet_and_its_delay(void **state)
{
	struct port port;

	(void)state;
	port_with(&port, LINK_WIDTH_12X, 1, 0);
	/* 300 bytes at 24 Gb/s take 100 ns; 12 such times at a twelfth of the rate. */
	assert_int_equal(port_static_rate_interval(&port, 0, 300), 100);
	assert_int_equal(port_static_rate_interval(&port, 2, 300), 1200);
	port_queues_destroy(&port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire_time_follows_width_and_speed),
		cmocka_unit_test(test_fractions_of_a_nanosecond_add_up),
		cmocka_unit_test(test_idle_wire_starts_when_it_is_wanted),
		cmocka_unit_test(test_link_without_a_speed_still_moves),
		cmocka_unit_test(test_inter_packet_delay_of_the_architectures_examples),
		cmocka_unit_test(test_interval_is_the_packet_and_its_delay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
