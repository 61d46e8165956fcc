/* SPDX-License-Identifier: Apache-2.0 */
/* VL arbitration, compared with a second, plain implementation of the specification's algorithm,
 * and the resulting shares (transport 8.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "net/link/arbitration.h"
#include "net/link/port_queues.h"

enum { NO_LIMIT = 255, BLOCKS_MAX = 66 };

/* The reference implementation: state per table and the high limit (transport 8.2). */
struct oracle {
	unsigned index[2];
	int left[2];
	int high_left;
	bool high_is_spent; /* limit 0: a packet of high priority was sent */
};

static int oracle_pick(struct oracle *oracle, const struct port *port, unsigned table,
		       uint16_t ready)
{
	unsigned cap =
		table ? port->info.vl_arbitration_high_cap : port->info.vl_arbitration_low_cap;
	const uint8_t(*rows)[2] = port->vl_arbitration[table];

	if (cap == 0)
		return -1;
	if (oracle->left[table] > 0 && rows[oracle->index[table]][1] &&
	    rows[oracle->index[table]][0] != 15 && (ready >> rows[oracle->index[table]][0] & 1))
		return rows[oracle->index[table]][0];
	for (unsigned step = 1; step <= cap; step++) {
		unsigned index = (oracle->index[table] + step) % cap;

		if (rows[index][1] == 0 || rows[index][0] == 15 || !(ready >> rows[index][0] & 1))
			continue;
		oracle->index[table] = index;
		oracle->left[table] = rows[index][1] * 64;
		return rows[index][0];
	}
	return -1;
}

static int oracle_send(struct oracle *oracle, const struct port *port, uint16_t ready,
		       const uint32_t blocks[15], unsigned *ret_table)
{
	unsigned limit = port->info.vl_high_limit;
	bool low_first = limit == 0	     ? oracle->high_is_spent
			 : limit == NO_LIMIT ? false
					     : oracle->high_left <= 0;
	unsigned order[3] = {1, 0, 0};
	int vl = -1;
	unsigned table = 0;

	if (low_first) {
		order[0] = 0;
		order[1] = 1;
	}
	for (unsigned i = 0; i < 2 && vl < 0; i++) {
		table = order[i];
		vl = oracle_pick(oracle, port, table, ready);
		if (table == 0 && low_first && vl < 0) {
			oracle->high_left = (int)limit * 4096;
			oracle->high_is_spent = false;
		}
	}
	if (vl < 0)
		return -1;
	oracle->left[table] -= (int)blocks[vl] * 64;
	if (table == 0) {
		oracle->high_left = (int)limit * 4096;
		oracle->high_is_spent = false;
	} else {
		oracle->high_left -= (int)blocks[vl] * 64;
		oracle->high_is_spent = true;
	}
	*ret_table = table;
	return vl;
}

static void port_make(struct port *port, unsigned high_cap, unsigned low_cap, uint8_t limit)
{
	memset(port, 0, sizeof(*port));
	port->info.vl_arbitration_high_cap = (uint8_t)high_cap;
	port->info.vl_arbitration_low_cap = (uint8_t)low_cap;
	port->info.vl_high_limit = limit;
	assert_int_equal(port_queues_create(port), 0);
}

static void set_entry(struct port *port, unsigned table, unsigned entry, unsigned vl,
		      unsigned weight)
{
	port_arbitration_set(port, table, entry, (uint8_t)vl, (uint8_t)weight);
}

static void fill_randomly(struct port *port, struct random *random)
{
	for (unsigned table = 0; table < 2; table++)
		for (unsigned entry = 0; entry < VL_ARBITRATION_ENTRIES; entry++)
			set_entry(port, table, entry, (unsigned)random_below(random, 16),
				  random_below(random, 3) ? (unsigned)random_below(random, 256)
							  : 0);
}

static void test_random_tables_choose_as_the_algorithm_does(void **state)
{
	static const uint8_t limits[] = {0, 1, 2, 16, 254, NO_LIMIT};

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct random random = random_seeded(seed);
		struct oracle oracle = {.high_is_spent = true};
		struct port port;

		port_make(&port, (unsigned)random_below(&random, 65),
			  (unsigned)random_below(&random, 65), limits[seed % ARRAY_COUNT(limits)]);
		fill_randomly(&port, &random);
		for (unsigned i = 0; i < 500; i++) {
			uint16_t ready = (uint16_t)(random_next(&random) & 0x7fff);

			/* Most often one lane is busy, or two. */
			if (seed % 3)
				ready = (uint16_t)(1u << random_below(&random, 15));
			if (seed % 3 == 2)
				ready |= (uint16_t)(1u << random_below(&random, 15));
			uint32_t blocks[15];
			unsigned table = 0;

			for (unsigned vl = 0; vl < 15; vl++)
				blocks[vl] = 1 + (uint32_t)random_below(&random, BLOCKS_MAX);

			struct arbitration chosen = port_arbitrate(&port, ready);
			int expected = oracle_send(&oracle, &port, ready, blocks, &table);

			if (chosen.vl != expected)
				fail_msg("seed %llu, packet %u: lane %d, not %d",
					 (unsigned long long)seed, i, chosen.vl, expected);
			if (expected < 0)
				continue;
			assert_int_equal(chosen.table, table);
			port_arbitration_charge(&port, chosen.table, blocks[expected]);
		}
		port_queues_destroy(&port);
	}
}

/* Lanes that always have packets share the bytes by their weights, whatever the packet sizes. */
static void test_shares_follow_the_weights(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct random random = random_seeded(seed);
		unsigned lanes = 2 + (unsigned)random_below(&random, 13);
		uint64_t sent[15] = {0}, total = 0;
		unsigned weights[15], weight_total = 0;
		struct port port;

		port_make(&port, 0, 15, 0);
		for (unsigned vl = 0; vl < lanes; vl++) {
			weights[vl] = 66 + (unsigned)random_below(&random, 190);
			weight_total += weights[vl];
			set_entry(&port, TABLE_LOW, vl, vl, weights[vl]);
		}
		for (unsigned i = 0; i < 200000; i++) {
			struct arbitration chosen =
				port_arbitrate(&port, (uint16_t)((1u << lanes) - 1));

			assert_true(chosen.vl >= 0);

			/* One size per lane, as flows have. */
			uint32_t blocks = 1 + (uint32_t)(chosen.vl * 13 % 4);

			sent[chosen.vl] += blocks;
			total += blocks;
			port_arbitration_charge(&port, chosen.table, blocks);
		}
		for (unsigned vl = 0; vl < lanes; vl++) {
			/* An entry overdraws by up to a packet less a block: 3 of 66 and more. */
			uint64_t fair = total * weights[vl] / weight_total;

			assert_in_range(sent[vl], fair * 94 / 100, fair * 106 / 100);
		}
		port_queues_destroy(&port);
	}
}

/* High priority sends up to the limit's bytes, then low priority one packet. */
static void test_high_priority_is_limited_to_its_bytes(void **state)
{
	(void)state;
	for (unsigned limit = 0; limit < 255; limit++) {
		struct port port;
		unsigned high = 0, low = 0;

		port_make(&port, 1, 1, (uint8_t)limit);
		set_entry(&port, TABLE_HIGH, 0, 1, 255);
		set_entry(&port, TABLE_LOW, 0, 0, 255);
		while (low < 20) {
			struct arbitration chosen = port_arbitrate(&port, 3);

			if (chosen.table == TABLE_LOW)
				low++;
			else
				high++;
			port_arbitration_charge(&port, chosen.table, 16);
		}
		/* 1024 bytes a packet: four per unit of the limit, and one if it is 0. The first
		 * packet of all may be of either kind. */
		assert_in_range(high, 19 * (limit ? 4 * limit : 1), 20 * (limit ? 4 * limit : 1));
		port_queues_destroy(&port);
	}
}

static void test_unlimited_high_priority_starves_low(void **state)
{
	struct port port;

	(void)state;
	port_make(&port, 1, 1, NO_LIMIT);
	set_entry(&port, TABLE_HIGH, 0, 1, 1);
	set_entry(&port, TABLE_LOW, 0, 0, 255);
	for (unsigned i = 0; i < 1000; i++) {
		struct arbitration chosen = port_arbitrate(&port, 3);

		assert_int_equal(chosen.vl, 1);
		port_arbitration_charge(&port, chosen.table, 66);
	}
	assert_int_equal(port_arbitrate(&port, 1).vl, 0);
	port_queues_destroy(&port);
}

static void test_lane_without_an_entry_never_goes(void **state)
{
	struct port port;

	(void)state;
	port_make(&port, 8, 8, 0);
	set_entry(&port, TABLE_LOW, 0, 0, 10);
	set_entry(&port, TABLE_LOW, 1, 1, 0);
	set_entry(&port, TABLE_LOW, 2, 15, 10);
	assert_int_equal(port_arbitrate(&port, 1u << 1).vl, -1);
	assert_int_equal(port_arbitrate(&port, 1u << 2).vl, -1);
	assert_int_equal(port_arbitrate(&port, 0).vl, -1);
	port_queues_destroy(&port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_tables_choose_as_the_algorithm_does),
		cmocka_unit_test(test_shares_follow_the_weights),
		cmocka_unit_test(test_high_priority_is_limited_to_its_bytes),
		cmocka_unit_test(test_unlimited_high_priority_starves_low),
		cmocka_unit_test(test_lane_without_an_entry_never_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
