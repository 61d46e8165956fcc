/* SPDX-License-Identifier: Apache-2.0 */
/* What a queue pair's owner may do, and what it may not (transport 2.4, 6.2, 7.4). */
#include "net/transport/qp.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;

static void test_states_take_posts_as_the_table_says(void **state)
{
	static const struct {
		enum qp_state state;
		int receive, send;
	} states[] = {
		{QP_RESET, -EINVAL, -EINVAL},
		{QP_INIT, 0, -EINVAL},
		{QP_RTR, 0, -EINVAL},
		{QP_RTS, 0, 0},
		{QP_SQD, 0, 0},
		{QP_SQE, 0, 0},
		{QP_ERROR, 0, 0},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(states); i++) {
		struct send_request send = {.opcode = SEND_SEND};
		struct receive_request receive = {0};

		rc_pair_connect(&pair, MTU_256);
		pair.a.qp.state = states[i].state;
		assert_int_equal(qp_post_receive(&pair.a.qp, 0, &receive), states[i].receive);
		assert_int_equal(qp_post_send(&pair.a.qp, 0, &send), states[i].send);
		rc_pair_release(&pair);
	}
}

static void test_services_accept_their_requests_only(void **state)
{
	/* By the verbs' opcode numbers 0 to 15. */
	static const struct {
		enum qp_type type;
		uint32_t accepted;
	} types[] = {{QP_RC, 0xc3ff},	       {QP_UC, 0x18f},	    {QP_UD, 0x00c},
		     {QP_XRC_INI, 0xc3ff},     {QP_XRC_TGT, 0x000}, {QP_RAW_IPV6, 0x004},
		     {QP_RAW_ETHERTYPE, 0x004}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(types); i++) {
		struct endpoint_options options = endpoint_options_default(types[i].type);
		struct address_vector address = {.dlid = 2, .port_number = 1};

		rc_pair_connect_with(&pair, &options);
		for (unsigned opcode = 0; opcode < 40; opcode++) {
			struct send_request request = {.opcode = (enum send_opcode)opcode,
						       .address = &address,
						       .address_pd = &pair.a.pd};
			bool is_accepted = opcode < 16 && types[i].accepted >> opcode & 1;

			assert_int_equal(qp_post_send(&pair.a.qp, 0, &request),
					 is_accepted ? 0 : -EINVAL);
		}
		rc_pair_release(&pair);
	}
}

static void test_reads_and_atomics_cannot_be_inline(void **state)
{
	static const enum send_opcode opcodes[] = {SEND_RDMA_READ, SEND_COMPARE_SWAP,
						   SEND_FETCH_ADD};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (unsigned i = 0; i < ARRAY_COUNT(opcodes); i++) {
		struct send_request request = {.opcode = opcodes[i], .flags = SEND_INLINE};

		assert_int_equal(qp_post_send(&pair.a.qp, 0, &request), -EINVAL);
	}
	rc_pair_release(&pair);
}

static void test_datagram_needs_an_address_of_its_domain(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_UD);
	struct address_vector address = {.dlid = 2};
	struct protection_domain other = {0};
	struct send_request request = {.opcode = SEND_SEND};

	(void)state;
	rc_pair_connect_with(&pair, &options);
	assert_int_equal(qp_post_send(&pair.a.qp, 0, &request), -EINVAL);
	request.address = &address;
	request.address_pd = &other;
	assert_int_equal(qp_post_send(&pair.a.qp, 0, &request), -EINVAL);
	request.address_pd = &pair.a.pd;
	assert_int_equal(qp_post_send(&pair.a.qp, 0, &request), 0);
	rc_pair_release(&pair);
}

static void test_route_is_there_only_while_something_can_go(void **state)
{
	struct qp_route route;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	assert_false(qp_next_route(&pair.a.qp, pair.now, &route));
	post_send(&pair, &pair.a, 8);
	assert_true(qp_next_route(&pair.a.qp, pair.now, &route));
	assert_int_equal(route.dlid, 2);
	assert_int_equal(route.pkey, 0xffff);
	assert_int_equal(route.port_number, 1);
	assert_int_equal(route.destination_qpn, pair.b.qp.qpn);
	rc_pair_transmit(&pair);
	assert_false(qp_next_route(&pair.a.qp, pair.now, &route));
	rc_pair_release(&pair);
}

static void test_garbage_never_breaks_an_engine(void **state)
{
	static uint8_t bytes[1 << 16];

	(void)state;
	for (uint64_t seed = 0; seed < 3000; seed++) {
		struct random random = random_seeded(seed);

		rc_pair_connect(&pair, MTU_256);
		post_receive(&pair, &pair.b, 2000);
		post_read(&pair, &pair.b, &pair.a, 0, 600);
		post_send(&pair, &pair.b, 600);
		rc_pair_transmit(&pair);
		for (int i = 0; i < 10; i++) {
			struct packet packet = {
				.lrh = {.slid = 1, .dlid = 2},
				.bth = {.opcode = (uint8_t)random_below(&random, 32),
					.pkey = 0xffff,
					.psn = psn_from((uint32_t)random_below(&random, 6) - 2),
					.ack_request = random_below(&random, 2)},
				.reth = {.address = (uintptr_t)pair.b.window.bytes +
						    random_below(&random, AREA_BYTES * 2),
					 .rkey = pair.b.window.region->key,
					 .bytes = (uint32_t)random_below(&random, 2000)},
				.aeth = {.syndrome = (uint8_t)random_below(&random, 128)},
				.packet_count = (uint32_t)random_below(&random, 4),
			};

			if (random_below(&random, 10) == 0)
				packet.packet_count = (uint32_t)random_next(&random);
			packet_set_payload(&packet, bytes, (uint32_t)random_below(&random, 1025));
			qp_receive(&pair.b.qp, pair.now, &packet);
			rc_pair_transmit(&pair);
		}
		rc_pair_release(&pair);
	}
}

static void test_retracted_sends_were_never_posted(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 10);
	post_send(&pair, &pair.a, 10);
	rc_pair_transmit(&pair);
	post_send(&pair, &pair.a, 20);
	post_send(&pair, &pair.a, 30);
	qp_retract_sends(&pair.a.qp, 2);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_no_completion(&pair.a);
	/* The requests that were started stay. */
	post_receive(&pair, &pair.b, 40);
	post_send(&pair, &pair.a, 40);
	rc_pair_transmit(&pair);
	qp_retract_sends(&pair.a.qp, 1);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_retracted_sends_were_never_posted),
		cmocka_unit_test(test_states_take_posts_as_the_table_says),
		cmocka_unit_test(test_services_accept_their_requests_only),
		cmocka_unit_test(test_reads_and_atomics_cannot_be_inline),
		cmocka_unit_test(test_datagram_needs_an_address_of_its_domain),
		cmocka_unit_test(test_route_is_there_only_while_something_can_go),
		cmocka_unit_test(test_garbage_never_breaks_an_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
