/* SPDX-License-Identifier: Apache-2.0 */
/* Automatic path migration: each rule as a dialogue between two queue pairs with two ports
 * (transport 4.9). */
#include "net/transport/migration.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "net/transport/admission.h"
#include "support/rc_pair.h"
#include "wire/mtu.h"

enum { ALTERNATE_TIMEOUT = 10, ALTERNATE_PKEY = 0x8005 };

static struct rc_pair pair;

static struct qp_attributes alternate_path(const struct endpoint *peer)
{
	return (struct qp_attributes){
		.path_migration = PATH_REARM,
		.alternate_address = {.dlid = peer->second_port.lid, .port_number = 2, .sl = 3},
		.alternate_pkey_index = 1,
		.alternate_timeout = ALTERNATE_TIMEOUT,
	};
}

static int rearm(struct endpoint *endpoint, const struct endpoint *peer)
{
	struct qp_attributes attributes = alternate_path(peer);

	return endpoint_modify(endpoint, pair.now, &attributes,
			       QP_HAS_ALTERNATE_PATH | QP_HAS_PATH_MIGRATION);
}

static int set_migration(struct endpoint *endpoint, uint8_t path_migration)
{
	struct qp_attributes attributes = {.path_migration = path_migration};

	return endpoint_modify(endpoint, pair.now, &attributes, QP_HAS_PATH_MIGRATION);
}

static void connect_two_ports(enum qp_type type)
{
	struct endpoint_options options = endpoint_options_default(type);

	options.retry_count = 1;
	rc_pair_connect_with(&pair, &options);
	pair.a.port_count = pair.b.port_count = 2;
	pair.a.second_port.pkeys[1] = pair.b.second_port.pkeys[1] = ALTERNATE_PKEY;
}

static void exchange(struct endpoint *from, struct endpoint *to)
{
	post_receive(&pair, to, 64);
	post_send(&pair, from, 10);
	run_until_idle(&pair);
	expect_completion(from, COMPLETION_SUCCESS);
	expect_received(to, COMPLETION_SUCCESS);
}

static void arm_both(enum qp_type type)
{
	connect_two_ports(type);
	assert_int_equal(rearm(&pair.a, &pair.b), 0);
	assert_int_equal(rearm(&pair.b, &pair.a), 0);
	exchange(&pair.a, &pair.b);
	exchange(&pair.b, &pair.a);
	assert_int_equal(pair.a.qp.attributes.path_migration, PATH_ARMED);
	assert_int_equal(pair.b.qp.attributes.path_migration, PATH_ARMED);
}

static void expect_on_alternate(const struct endpoint *endpoint, const struct endpoint *peer)
{
	struct qp_attributes now;

	qp_query(&endpoint->qp, &now);
	assert_int_equal(now.path_migration, PATH_MIGRATED);
	assert_int_equal(now.address.dlid, peer->second_port.lid);
	assert_int_equal(now.address.sl, 3);
	assert_int_equal(now.port_number, 2);
	assert_int_equal(now.pkey_index, 1);
	assert_int_equal(now.timeout, ALTERNATE_TIMEOUT);
	assert_ptr_equal(endpoint->qp.port, &endpoint->second_port);
}

static void test_migrated_queue_pairs_say_so_in_every_packet(void **state)
{
	struct packet packets[2];

	(void)state;
	connect_two_ports(QP_RC);
	post_send(&pair, &pair.a, 10);
	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 2, 1, packets), 1);
	assert_true(packets[0].bth.migrated);
	assert_int_equal(rearm(&pair.a, &pair.b), 0);
	post_send(&pair, &pair.a, 10);
	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 2, 1, packets), 1);
	assert_false(packets[0].bth.migrated);
	rc_pair_release(&pair);
}

static void test_a_packet_of_a_peer_that_is_not_migrated_arms(void **state)
{
	(void)state;
	connect_two_ports(QP_RC);
	assert_int_equal(rearm(&pair.b, &pair.a), 0);
	exchange(&pair.a, &pair.b);
	/* The peer has no alternate path yet. */
	assert_int_equal(pair.b.qp.attributes.path_migration, PATH_REARM);
	assert_int_equal(rearm(&pair.a, &pair.b), 0);
	exchange(&pair.a, &pair.b);
	assert_int_equal(pair.b.qp.attributes.path_migration, PATH_ARMED);
	assert_int_equal(pair.a.qp.attributes.path_migration, PATH_ARMED);
	expect_no_event(&pair.a);
	expect_no_event(&pair.b);
	rc_pair_release(&pair);
}

/* Until the requester has migrated. */
static void lose_the_primary_path(void)
{
	pair.a_to_b.is_cut = true;
	while (pair.a.qp.attributes.path_migration != PATH_MIGRATED) {
		assert_int_not_equal(pair.a.qp.state, QP_ERROR);
		run_until(&pair, pair.now + MILLISECONDS(1));
	}
}

static void test_exhausted_retries_migrate_both_sides_and_the_message_arrives(void **state)
{
	(void)state;
	arm_both(QP_RC);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	lose_the_primary_path();
	expect_event(&pair.a, QP_EVENT_MIGRATED);
	pair.a_to_b.is_cut = false;
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_event(&pair.b, QP_EVENT_MIGRATED);
	expect_on_alternate(&pair.a, &pair.b);
	expect_on_alternate(&pair.b, &pair.a);
	exchange(&pair.b, &pair.a);
	expect_no_event(&pair.a);
	expect_no_event(&pair.b);
	rc_pair_release(&pair);
}

static void test_the_other_path_gets_all_retries_at_its_own_timeout(void **state)
{
	(void)state;
	arm_both(QP_RC);
	pair.a_to_b.log_bytes = 0;
	post_send(&pair, &pair.a, 10);
	lose_the_primary_path();

	time_ns switched = pair.now;

	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_RETRY_EXCEEDED);
	/* Two tries on each path. */
	expect_wire(&pair.a_to_b, "ONLY@1! ONLY@1! ONLY@1! ONLY@1!");
	assert_true(pair.now - switched <= 2 * time_from_code(ALTERNATE_TIMEOUT));
	rc_pair_release(&pair);
}

static void test_an_unarmed_queue_pair_does_not_migrate(void **state)
{
	(void)state;
	connect_two_ports(QP_RC);
	assert_int_equal(rearm(&pair.a, &pair.b), 0);
	pair.a_to_b.is_cut = true;
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_RETRY_EXCEEDED);
	expect_no_event(&pair.a);
	rc_pair_release(&pair);
}

static void test_rnr_exhaustion_does_not_migrate(void **state)
{
	(void)state;
	arm_both(QP_RC);
	pair.a.qp.attributes.rnr_retry = 1;
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_RNR_RETRY_EXCEEDED);
	expect_no_event(&pair.a);
	rc_pair_release(&pair);
}

static void test_the_consumer_can_ask_for_the_other_path(void **state)
{
	(void)state;
	for (enum qp_type type = QP_RC; type <= QP_UC; type++) {
		arm_both(type);
		assert_int_equal(set_migration(&pair.a, PATH_MIGRATED), 0);
		expect_event(&pair.a, QP_EVENT_MIGRATED);
		expect_on_alternate(&pair.a, &pair.b);
		exchange(&pair.a, &pair.b);
		expect_event(&pair.b, QP_EVENT_MIGRATED);
		expect_on_alternate(&pair.b, &pair.a);
		rc_pair_release(&pair);
	}
}

static void test_rearming_can_be_taken_back_without_a_switch(void **state)
{
	(void)state;
	connect_two_ports(QP_RC);
	assert_int_equal(rearm(&pair.a, &pair.b), 0);
	assert_int_equal(set_migration(&pair.a, PATH_MIGRATED), 0);
	assert_int_equal(pair.a.qp.attributes.path_migration, PATH_MIGRATED);
	assert_int_equal(pair.a.qp.attributes.address.dlid, pair.b.port.lid);
	expect_no_event(&pair.a);
	/* The alternate path is still there. */
	assert_int_equal(set_migration(&pair.a, PATH_REARM), 0);
	rc_pair_release(&pair);
}

static void test_there_and_back_again(void **state)
{
	struct qp_attributes back;

	(void)state;
	arm_both(QP_RC);
	assert_int_equal(set_migration(&pair.a, PATH_MIGRATED), 0);
	exchange(&pair.a, &pair.b);
	/* The alternate path is used up. */
	assert_int_equal(set_migration(&pair.a, PATH_REARM), -EINVAL);
	back = (struct qp_attributes){
		.path_migration = PATH_REARM,
		.alternate_address = {.dlid = pair.b.port.lid, .port_number = 1},
	};
	assert_int_equal(endpoint_modify(&pair.a, pair.now, &back,
					 QP_HAS_ALTERNATE_PATH | QP_HAS_PATH_MIGRATION),
			 0);
	back.alternate_address.dlid = pair.a.port.lid;
	assert_int_equal(endpoint_modify(&pair.b, pair.now, &back,
					 QP_HAS_ALTERNATE_PATH | QP_HAS_PATH_MIGRATION),
			 0);
	exchange(&pair.a, &pair.b);
	assert_int_equal(set_migration(&pair.b, PATH_MIGRATED), 0);
	exchange(&pair.b, &pair.a);
	assert_int_equal(pair.a.qp.attributes.address.dlid, pair.b.port.lid);
	assert_ptr_equal(pair.a.qp.port, &pair.a.port);
	rc_pair_release(&pair);
}

static void test_a_new_alternate_path_must_be_armed_anew(void **state)
{
	struct qp_attributes other = {.alternate_address = {.dlid = 77, .port_number = 1}};

	(void)state;
	arm_both(QP_RC);
	assert_int_equal(endpoint_modify(&pair.a, pair.now, &other, QP_HAS_ALTERNATE_PATH), 0);
	assert_int_equal(pair.a.qp.attributes.path_migration, PATH_REARM);
	rc_pair_release(&pair);
}

static void test_modify_refuses_what_makes_no_sense(void **state)
{
	struct qp_attributes bad;

	(void)state;
	connect_two_ports(QP_RC);
	assert_int_equal(set_migration(&pair.a, PATH_REARM), -EINVAL);
	assert_int_equal(rearm(&pair.a, &pair.b), 0);
	assert_int_equal(set_migration(&pair.a, PATH_ARMED), -EINVAL);
	bad = alternate_path(&pair.b);
	bad.alternate_address.port_number = 3;
	assert_int_equal(endpoint_modify(&pair.a, pair.now, &bad, QP_HAS_ALTERNATE_PATH), -EINVAL);
	bad = alternate_path(&pair.b);
	pair.a.second_port.pkey_count = 1;
	assert_int_equal(endpoint_modify(&pair.a, pair.now, &bad, QP_HAS_ALTERNATE_PATH), -EINVAL);
	assert_int_equal(pair.a.qp.attributes.path_migration, PATH_REARM);
	rc_pair_release(&pair);
}

/* A request as the peer sends it after it has migrated. */
static struct packet migrated_request(void)
{
	return (struct packet){
		.lrh = {.slid = pair.a.second_port.lid, .dlid = pair.b.second_port.lid},
		.bth = {.opcode = OPCODE_SEND_ONLY,
			.migrated = true,
			.pkey = ALTERNATE_PKEY,
			.destination_qpn = pair.b.qp.qpn},
		.packet_count = 1,
	};
}

static void expect_refused(const struct packet *packet)
{
	assert_int_equal(admission_check(&pair.b.qp, packet), DROP_WRONG_PATH);
	expect_event(&pair.b, QP_EVENT_MIGRATION_ERROR);
	/* One event is enough, however often a stranger tries. */
	assert_int_equal(admission_check(&pair.b.qp, packet), DROP_WRONG_PATH);
	expect_no_event(&pair.b);
	assert_int_equal(pair.b.qp.attributes.path_migration, PATH_ARMED);
	pair.b.qp.has_refused_migration = false;
}

static void test_a_request_for_another_path_is_refused_and_told_once(void **state)
{
	struct packet packet;

	(void)state;
	arm_both(QP_RC);
	packet = migrated_request();
	packet.lrh.slid = pair.a.port.lid;
	expect_refused(&packet);
	packet = migrated_request();
	packet.lrh.dlid = pair.b.port.lid;
	expect_refused(&packet);
	packet = migrated_request();
	packet.bth.pkey = 0xffff;
	expect_refused(&packet);
	packet = migrated_request();
	packet.has_grh = true;
	expect_refused(&packet);
	packet = migrated_request();
	assert_int_equal(admission_check(&pair.b.qp, &packet), ADMITTED);
	expect_event(&pair.b, QP_EVENT_MIGRATED);
	rc_pair_release(&pair);
}

static void test_the_other_port_is_open_only_to_requests_to_migrate(void **state)
{
	struct packet packet;

	(void)state;
	arm_both(QP_RC);
	packet = migrated_request();
	assert_true(migration_admits_port(&pair.b.qp, 1, &packet));
	assert_true(migration_admits_port(&pair.b.qp, 2, &packet));
	assert_false(migration_admits_port(&pair.b.qp, 3, &packet));
	packet.bth.migrated = false;
	assert_true(migration_admits_port(&pair.b.qp, 1, &packet));
	assert_false(migration_admits_port(&pair.b.qp, 2, &packet));
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_migrated_queue_pairs_say_so_in_every_packet),
		cmocka_unit_test(test_a_packet_of_a_peer_that_is_not_migrated_arms),
		cmocka_unit_test(test_exhausted_retries_migrate_both_sides_and_the_message_arrives),
		cmocka_unit_test(test_the_other_path_gets_all_retries_at_its_own_timeout),
		cmocka_unit_test(test_an_unarmed_queue_pair_does_not_migrate),
		cmocka_unit_test(test_rnr_exhaustion_does_not_migrate),
		cmocka_unit_test(test_the_consumer_can_ask_for_the_other_path),
		cmocka_unit_test(test_rearming_can_be_taken_back_without_a_switch),
		cmocka_unit_test(test_there_and_back_again),
		cmocka_unit_test(test_a_new_alternate_path_must_be_armed_anew),
		cmocka_unit_test(test_modify_refuses_what_makes_no_sense),
		cmocka_unit_test(test_a_request_for_another_path_is_refused_and_told_once),
		cmocka_unit_test(test_the_other_port_is_open_only_to_requests_to_migrate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
