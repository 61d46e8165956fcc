/* SPDX-License-Identifier: Apache-2.0 */
/* UC messages arrive whole or not at all; UD messages carry their GRH (transport 5.2, 5.5, 5.6). */
#include "net/transport/unreliable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"
#include "wire/pkey.h"

static struct rc_pair pair;

static void connect_uc(void)
{
	struct endpoint_options options = endpoint_options_default(QP_UC);

	rc_pair_connect_with(&pair, &options);
}

static void test_uc_send_completes_when_it_is_on_its_way(void **state)
{
	(void)state;
	connect_uc();

	uint8_t *received = post_receive(&pair, &pair.b, 600);
	const uint8_t *sent = post_send(&pair, &pair.a, 600);

	rc_pair_transmit(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_nothing_received(&pair.b);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "FIRST@0 MIDDLE@1 LAST@2");
	expect_wire(&pair.b_to_a, "");
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count, 600);
	assert_memory_equal(received, sent, 600);
	rc_pair_release(&pair);
}

static void test_uc_loss_loses_the_message_and_its_receive_is_used_again(void **state)
{
	(void)state;
	for (unsigned lost = 0; lost < 3; lost++) {
		connect_uc();

		uint8_t *received = post_receive(&pair, &pair.b, 600);

		post_send(&pair, &pair.a, 600);
		wire_lose(&pair.a_to_b, lost);

		const uint8_t *second = post_send(&pair, &pair.a, 300);

		run_until_idle(&pair);
		assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count, 300);
		expect_nothing_received(&pair.b);
		assert_memory_equal(received, second, 300);
		rc_pair_release(&pair);
	}
}

static void test_uc_write_with_a_bad_key_is_dropped(void **state)
{
	struct sge sge;
	struct send_request request = {
		.opcode = SEND_RDMA_WRITE, .remote_key = 0xbad, .sge_count = 1, .sges = &sge};

	(void)state;
	connect_uc();
	sge = area_sge(&pair.a.outbox, pair.a.outbox.bytes, 600);
	assert_int_equal(post(&pair, &pair.a, &request), 0);

	const uint8_t *good = post_write(&pair, &pair.a, &pair.b, 0, 600);

	run_until_idle(&pair);
	assert_int_equal(pair.b.qp.state, QP_RTS);
	expect_no_event(&pair.b);
	assert_memory_equal(pair.b.window.bytes, good, 600);
	rc_pair_release(&pair);
}

static void test_uc_without_a_receive_drops_the_message(void **state)
{
	(void)state;
	connect_uc();
	post_send(&pair, &pair.a, 600);
	run_until_idle(&pair);
	post_receive(&pair, &pair.b, 600);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count, 10);
	rc_pair_release(&pair);
}

static void test_uc_too_long_for_its_receive_is_dropped_and_the_receive_kept(void **state)
{
	(void)state;
	connect_uc();
	post_receive(&pair, &pair.b, 500);
	post_send(&pair, &pair.a, 501);
	post_send(&pair, &pair.a, 500);
	run_until_idle(&pair);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count, 500);
	expect_nothing_received(&pair.b);
	assert_int_equal(pair.b.qp.state, QP_RTS);
	rc_pair_release(&pair);
}

static void test_uc_receive_with_a_dead_key_breaks_the_receiver(void **state)
{
	(void)state;
	connect_uc();
	post_receive(&pair, &pair.b, 500);
	assert_int_equal(region_deregister(&pair.b.memory, pair.b.inbox.region), 0);
	post_send(&pair, &pair.a, 5);
	run_until_idle(&pair);
	expect_received(&pair.b, COMPLETION_LOCAL_PROTECTION);
	assert_int_equal(pair.b.qp.state, QP_ERROR);
	rc_pair_release(&pair);
}

static void test_uc_abandoned_message_ends_a_shared_receive(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_UC);
	struct protection_domain pd = {0};
	struct receive_queue shared;
	struct receive_request request = {.wr_id = 5};

	(void)state;
	assert_int_equal(receive_queue_init(&shared, &pd, 8, 4), 0);
	rc_pair_init(&pair, &options, &options);
	endpoint_release(&pair.b);
	options.shared_queue = &shared;
	endpoint_init(&pair.b, &options, 2);
	shared.pd = &pair.b.pd;
	endpoint_to_init(&pair.a);
	endpoint_to_init(&pair.b);
	endpoint_to_rtr(&pair.a, &pair.b);
	endpoint_to_rtr(&pair.b, &pair.a);
	endpoint_to_rts(&pair.a);

	struct sge sge = area_sge(&pair.b.inbox, pair.b.inbox.bytes, 1000);

	request.sge_count = 1;
	request.sges = &sge;
	assert_int_equal(receive_queue_post(&shared, &request), 0);
	request.wr_id = 6;
	assert_int_equal(receive_queue_post(&shared, &request), 0);
	post_send(&pair, &pair.a, 600);
	wire_lose(&pair.a_to_b, 1);
	post_send(&pair, &pair.a, 5);
	run_until_idle(&pair);
	assert_int_equal(expect_received(&pair.b, COMPLETION_REMOTE_ABORTED)->wr_id, 5);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->wr_id, 6);
	assert_int_equal(pair.b.shared_taken, 2);
	rc_pair_release(&pair);
	receive_queue_release(&shared);
}

static void connect_ud(void)
{
	struct endpoint_options options = endpoint_options_default(QP_UD);

	options.mtu_code = MTU_512;
	rc_pair_connect_with(&pair, &options);
}

static struct address_vector to_b(void)
{
	return (struct address_vector){.dlid = 2, .sl = 3, .port_number = 1};
}

static int post_datagram(const struct address_vector *address, uint32_t qkey, uint32_t byte_count)
{
	uint8_t *bytes = area_take(&pair.a.outbox, byte_count);
	struct sge sge = area_sge(&pair.a.outbox, bytes, byte_count);
	struct send_request request = {
		.opcode = SEND_SEND_IMMEDIATE,
		.immediate_or_rkey = 44,
		.address = address,
		.address_pd = &pair.a.pd,
		.remote_qpn = pair.b.qp.qpn,
		.remote_qkey = qkey,
		.sge_count = 1,
		.sges = &sge,
	};

	fill_pattern(bytes, byte_count, 9);
	return post(&pair, &pair.a, &request);
}

static void test_datagram_without_grh_leaves_the_first_40_bytes(void **state)
{
	struct address_vector address = to_b();

	(void)state;
	connect_ud();

	uint8_t *received = post_receive(&pair, &pair.b, 552);

	memset(received, 0xee, 40);
	assert_int_equal(post_datagram(&address, 0x11111111, 512), 0);
	run_until_idle(&pair);

	const struct completion *completion = expect_received(&pair.b, COMPLETION_SUCCESS);

	assert_int_equal(completion->byte_count, 552);
	assert_int_equal(completion->flags, COMPLETION_HAS_IMMEDIATE);
	assert_int_equal(completion->immediate_or_rkey, 44);
	assert_int_equal(completion->source_qpn, pair.a.qp.qpn);
	assert_int_equal(completion->slid, 1);
	assert_int_equal(completion->sl, 3);
	for (int i = 0; i < 40; i++)
		assert_int_equal(received[i], 0xee);
	assert_memory_equal(received + 40, pair.a.outbox.bytes, 512);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_datagram_with_grh_delivers_it(void **state)
{
	struct address_vector address = to_b();

	(void)state;
	connect_ud();
	address.is_global = true;
	address.dgid = pair.b.port.gids[0];
	address.hop_limit = 64;
	address.traffic_class = 0x5a;
	address.flow_label = 0x12345;

	uint8_t *received = post_receive(&pair, &pair.b, 552);

	assert_int_equal(post_datagram(&address, 0x11111111, 10), 0);
	run_until_idle(&pair);

	const struct completion *completion = expect_received(&pair.b, COMPLETION_SUCCESS);

	assert_int_equal(completion->flags, COMPLETION_HAS_IMMEDIATE | COMPLETION_HAS_GRH);
	assert_int_equal(received[0], 0x65);
	assert_int_equal(received[1], 0xa1);
	assert_int_equal(received[6], 0x1b);
	assert_int_equal(received[7], 64);
	assert_memory_equal(received + 8, &pair.a.port.gids[0], 16);
	assert_memory_equal(received + 24, &pair.b.port.gids[0], 16);
	rc_pair_release(&pair);
}

/* Header and payload, and no other memory of the program. */
static void test_datagram_writes_its_header_and_payload_only(void **state)
{
	struct address_vector address = to_b();

	(void)state;
	connect_ud();
	address.is_global = true;
	address.dgid = pair.b.port.gids[0];
	address.hop_limit = 64;

	uint8_t *received = post_receive(&pair, &pair.b, 552);

	assert_int_equal(post_datagram(&address, 0x11111111, 100), 0);
	run_until_idle(&pair);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_int_equal(received[7], 64);
	assert_memory_equal(received + 40, pair.a.outbox.bytes, 100);
	for (unsigned i = 140; i < 552; i++)
		assert_int_equal(received[i], 0);
	rc_pair_release(&pair);
}

static void test_datagram_with_a_wrong_qkey_is_counted_and_dropped(void **state)
{
	struct address_vector address = to_b();

	(void)state;
	connect_ud();
	post_receive(&pair, &pair.b, 552);
	assert_int_equal(post_datagram(&address, 0x22222222, 10), 0);
	run_until_idle(&pair);
	expect_nothing_received(&pair.b);
	assert_int_equal(pair.b.port.qkey_violations, 1);
	/* A controlled Q_Key stands for the sender's own. */
	assert_int_equal(post_datagram(&address, 0x80000000, 10), 0);
	run_until_idle(&pair);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_datagram_above_the_mtu_stops_the_send_queue_only(void **state)
{
	struct address_vector address = to_b();

	(void)state;
	connect_ud();
	post_receive(&pair, &pair.b, 552);
	assert_int_equal(post_datagram(&address, 0x11111111, 513), 0);
	assert_int_equal(post_datagram(&address, 0x11111111, 10), 0);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_LOCAL_LENGTH);
	expect_completion(&pair.a, COMPLETION_FLUSHED);
	assert_int_equal(pair.a.qp.state, QP_SQE);
	assert_int_equal(post_datagram(&address, 0x11111111, 10), 0);
	expect_completion(&pair.a, COMPLETION_FLUSHED);
	assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_RTS), 0);
	assert_int_equal(post_datagram(&address, 0x11111111, 10), 0);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_datagram_that_finds_no_room_is_dropped(void **state)
{
	struct address_vector address = to_b();

	(void)state;
	connect_ud();
	assert_int_equal(post_datagram(&address, 0x11111111, 10), 0);
	run_until_idle(&pair);
	post_receive(&pair, &pair.b, 50);
	assert_int_equal(post_datagram(&address, 0x11111111, 11), 0);
	run_until_idle(&pair);
	expect_nothing_received(&pair.b);
	assert_int_equal(post_datagram(&address, 0x11111111, 10), 0);
	run_until_idle(&pair);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count, 50);
	rc_pair_release(&pair);
}

static void test_datagrams_to_two_places_are_two_batches(void **state)
{
	struct address_vector address = to_b();
	struct address_vector multicast = {.dlid = 0xc001, .is_global = true, .port_number = 1};
	struct packet packets[4];
	struct qp_route route;

	(void)state;
	connect_ud();
	assert_int_equal(post_datagram(&address, 0x11111111, 10), 0);
	assert_int_equal(post_datagram(&address, 0x11111111, 10), 0);
	assert_int_equal(post_datagram(&multicast, 0x11111111, 10), 0);
	assert_true(qp_next_route(&pair.a.qp, pair.now, &route));
	assert_int_equal(route.dlid, 2);
	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 4, 4096, packets), 2);
	assert_true(qp_next_route(&pair.a.qp, pair.now, &route));
	assert_int_equal(route.dlid, 0xc001);
	assert_int_equal(route.destination_qpn, QPN_MULTICAST);
	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 4, 4096, packets), 1);
	assert_int_equal(packets[0].bth.destination_qpn, QPN_MULTICAST);
	assert_int_equal(packets[0].bth.psn.value, 2);
	assert_false(qp_next_route(&pair.a.qp, pair.now, &route));
	rc_pair_release(&pair);
}

static void test_datagram_keeps_its_address_after_the_handle_is_gone(void **state)
{
	struct address_vector address = to_b();

	(void)state;
	connect_ud();
	post_receive(&pair, &pair.b, 552);
	assert_int_equal(post_datagram(&address, 0x11111111, 64), 0);
	/* Nothing was transmitted yet. */
	memset(&address, 0xff, sizeof(address));
	run_until_idle(&pair);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->sl, 3);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uc_send_completes_when_it_is_on_its_way),
		cmocka_unit_test(test_uc_loss_loses_the_message_and_its_receive_is_used_again),
		cmocka_unit_test(test_uc_write_with_a_bad_key_is_dropped),
		cmocka_unit_test(test_uc_without_a_receive_drops_the_message),
		cmocka_unit_test(test_uc_too_long_for_its_receive_is_dropped_and_the_receive_kept),
		cmocka_unit_test(test_uc_receive_with_a_dead_key_breaks_the_receiver),
		cmocka_unit_test(test_uc_abandoned_message_ends_a_shared_receive),
		cmocka_unit_test(test_datagram_without_grh_leaves_the_first_40_bytes),
		cmocka_unit_test(test_datagram_keeps_its_address_after_the_handle_is_gone),
		cmocka_unit_test(test_datagram_with_grh_delivers_it),
		cmocka_unit_test(test_datagram_writes_its_header_and_payload_only),
		cmocka_unit_test(test_datagram_with_a_wrong_qkey_is_counted_and_dropped),
		cmocka_unit_test(test_datagram_above_the_mtu_stops_the_send_queue_only),
		cmocka_unit_test(test_datagram_that_finds_no_room_is_dropped),
		cmocka_unit_test(test_datagrams_to_two_places_are_two_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
