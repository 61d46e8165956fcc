/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on the services that never answer, over a bad wire, under many seeds.
 *
 * | service, wire                     | what must hold                          |
 * | UC: loses, corrupts               | whole or absent, at most once, in order |
 * | UC: also duplicates and reorders  | whole or absent                         |
 * | UD: loses, corrupts, reorders     | right or absent, at most once           |
 * | UD: also duplicates               | right or absent                         |
 *
 * A failing seed is printed; "unreliable_soak_test SEED" runs it alone.
 */
#include "support/soak_seeds.h"
#include "support/rc_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "wire/mtu.h"

enum {
	SEEDS = 100,
	MESSAGES = 400,
	RECEIVES = 32,
	UC_BYTES_MAX = 3000,
	UD_BYTES_MAX = 256,
	DATAGRAM_SKIPS = 40, /* room for the GRH */
};

static struct rc_pair pair;
static struct random random_state;
static struct address_vector address;
static unsigned arrivals[MESSAGES];
static uint32_t lengths[MESSAGES];
static const uint8_t *receives[RECEIVES];
static unsigned receives_posted, received;
static unsigned last_arrived; /* number of the message, from 1 */

static void post_receives(void)
{
	bool is_datagram = pair.b.qp.type == QP_UD;
	uint32_t byte_count = is_datagram ? DATAGRAM_SKIPS + UD_BYTES_MAX : UC_BYTES_MAX;

	while (receives_posted - received < RECEIVES) {
		receives[receives_posted % RECEIVES] = post_receive(&pair, &pair.b, byte_count);
		receives_posted++;
	}
}

static void send_message(unsigned number)
{
	bool is_datagram = pair.a.qp.type == QP_UD;
	uint32_t bytes_max = is_datagram ? UD_BYTES_MAX : UC_BYTES_MAX;
	uint32_t byte_count = (uint32_t)random_below(&random_state, bytes_max + 1);
	uint8_t *bytes = area_take(&pair.a.outbox, byte_count);
	struct sge sge = area_sge(&pair.a.outbox, bytes, byte_count);
	struct send_request request = {
		.opcode = SEND_SEND_IMMEDIATE,
		.immediate_or_rkey = number,
		.address = &address,
		.address_pd = &pair.a.pd,
		.remote_qpn = pair.b.qp.qpn,
		.remote_qkey = 0x11111111,
		.sge_count = 1,
		.sges = &sge,
	};

	fill_pattern(bytes, byte_count, number);
	lengths[number] = byte_count;
	assert_int_equal(post(&pair, &pair.a, &request), 0);
}

static void check_arrival(const struct completion *completion, const uint8_t *bytes)
{
	uint32_t skipped = pair.b.qp.type == QP_UD ? DATAGRAM_SKIPS : 0;
	uint32_t number = completion->immediate_or_rkey;
	uint8_t expected[UC_BYTES_MAX];

	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	assert_true(number < MESSAGES);
	assert_int_equal(completion->byte_count, skipped + lengths[number]);
	fill_pattern(expected, lengths[number], number);
	assert_memory_equal(bytes + skipped, expected, lengths[number]);
	arrivals[number]++;
	if (!pair.a_to_b.faults.duplicate)
		assert_int_equal(arrivals[number], 1);
	if (pair.b.qp.type == QP_UC && !pair.a_to_b.faults.duplicate)
		assert_true(number + 1 > last_arrived);
	last_arrived = number + 1;
}

static void check(void)
{
	while (pair.b.received.next < pair.b.received.count) {
		check_arrival(&pair.b.received.entries[pair.b.received.next++],
			      receives[received % RECEIVES]);
		received++;
	}
	pair.b.received.next = pair.b.received.count = 0;
	/* The sender never learns of a loss. */
	while (pair.a.sent.next < pair.a.sent.count)
		assert_int_equal(pair.a.sent.entries[pair.a.sent.next++].status,
				 COMPLETION_SUCCESS);
	pair.a.sent.next = pair.a.sent.count = 0;
}

static void soak(uint64_t seed, enum qp_type type, const struct wire_faults *faults)
{
	struct endpoint_options options = endpoint_options_default(type);

	random_state = random_seeded(seed);
	options.sq_psn = (uint32_t)(0xffffff - random_below(&random_state, 200)) & 0xffffff;
	rc_pair_connect_with(&pair, &options);
	address = (struct address_vector){.dlid = pair.b.port.lid, .port_number = 1};
	pair.a_to_b.faults = *faults;
	pair.a_to_b.random = random_seeded(random_next(&random_state));
	pair.random = random_seeded(random_next(&random_state));
	pair.is_fitful = type == QP_UC;
	memset(arrivals, 0, sizeof(arrivals));
	receives_posted = received = last_arrived = 0;
	for (unsigned number = 0; number < MESSAGES; number++) {
		post_receives();
		send_message(number);
		if (random_below(&random_state, 4) == 0)
			run_until_idle(&pair);
		check();
	}
	run_until_idle(&pair);
	check();
	assert_true(received > MESSAGES / 4);
	assert_int_equal(pair.b.qp.state, QP_RTS);
	expect_no_event(&pair.b);
	rc_pair_release(&pair);
}

static void soak_all(enum qp_type type, struct wire_faults faults)
{
	SOAK_SEEDS_EACH
	soak(soak_seeds.current, type, &faults);
	soak_seeds.current = 0;
}

static void test_uc_messages_are_whole_and_in_order_or_absent(void **state)
{
	(void)state;
	soak_all(QP_UC, (struct wire_faults){.lose = 50, .corrupt = 10});
}

static void test_uc_messages_are_whole_even_when_packets_come_twice_or_late(void **state)
{
	(void)state;
	soak_all(QP_UC,
		 (struct wire_faults){.lose = 20, .corrupt = 10, .duplicate = 30, .delay = 30});
}

static void test_datagrams_arrive_at_most_once(void **state)
{
	(void)state;
	soak_all(QP_UD, (struct wire_faults){.lose = 50, .corrupt = 10, .delay = 50});
}

static void test_duplicated_datagrams_are_right_each_time(void **state)
{
	(void)state;
	soak_all(QP_UD,
		 (struct wire_faults){.lose = 20, .corrupt = 10, .duplicate = 50, .delay = 50});
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_uc_messages_are_whole_and_in_order_or_absent,
					  soak_seeds_name),
		cmocka_unit_test_teardown(
			test_uc_messages_are_whole_even_when_packets_come_twice_or_late,
			soak_seeds_name),
		cmocka_unit_test_teardown(test_datagrams_arrive_at_most_once, soak_seeds_name),
		cmocka_unit_test_teardown(test_duplicated_datagrams_are_right_each_time,
					  soak_seeds_name),
	};

	soak_seeds_read(argc, argv, SEEDS);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
