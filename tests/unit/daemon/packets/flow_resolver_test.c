/* SPDX-License-Identifier: Apache-2.0 */
/* Which flows get a direct ring, and which counters their packets move. Covers:
 * daemon/core/flow_table.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "daemon/core/flow_table.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/pkey.h"

static struct daemon *softibd;
static struct program a, b;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start_pair("ring:2", &a, &b);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	program_end(&a);
	program_end(&b);
	fixture_stop();
	return 0;
}

static struct resolve_answer resolve(uint16_t pkey)
{
	return program_resolve(&a, b.lid, b.first_qpn + 5, pkey);
}

static void test_a_clear_way_gives_a_ring(void **state)
{
	struct resolve_answer answer = resolve(PKEY_DEFAULT_FULL);

	(void)state;
	assert_int_equal(answer.verdict, RESOLVED_DIRECT);
	assert_int_equal(answer.mtu_code, fixture_port("h1")->info.neighbor_mtu);
	assert_int_equal(answer.destination_port, 1);
	assert_int_equal(answer.generation, a.page->generation);
	assert_int_equal(resolve(PKEY_DEFAULT_FULL).flow_slot, answer.flow_slot);
}

static void test_no_owner_no_partition_no_route_give_none(void **state)
{
	(void)state;
	assert_int_equal(
		program_resolve(&a, b.lid, b.first_qpn + QPN_BLOCK, PKEY_DEFAULT_FULL).verdict,
		RESOLVED_FABRIC_RETRY);
	assert_int_equal(resolve(0x8123).verdict, RESOLVED_FABRIC);
	assert_int_equal(program_resolve(&a, 0xbfff, b.first_qpn, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_FABRIC);
	assert_int_equal(program_resolve(&a, 0xc001, QPN_MULTICAST, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_FABRIC);
	assert_int_equal(program_resolve(&a, b.lid, QPN_GSI, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_FABRIC);
}

/* softibd checks partitions: limited members may talk to full members only. */
static void test_two_limited_members_get_none(void **state)
{
	uint16_t was_a = fixture_port("h1")->pkeys[0];
	uint16_t was_b = fixture_port("h2")->pkeys[0];

	(void)state;
	fixture_port("h1")->pkeys[0] = PKEY_DEFAULT_LIMITED;
	fixture_port("h2")->pkeys[0] = PKEY_DEFAULT_LIMITED;
	assert_int_equal(resolve(PKEY_DEFAULT_LIMITED).verdict, RESOLVED_FABRIC);
	fixture_port("h2")->pkeys[0] = was_b;
	assert_int_equal(resolve(PKEY_DEFAULT_LIMITED).verdict, RESOLVED_DIRECT);
	fixture_port("h1")->pkeys[0] = was_a;
}

/* A direct ring must not overtake a packet that went through softibd and was not read yet. */
static void test_a_packet_under_way_delays_the_ring(void **state)
{
	const struct ring_record *record;

	(void)state;
	program_send(&a, b.lid, b.first_qpn, "hello");
	fixture_settle();
	assert_int_equal(resolve(PKEY_DEFAULT_FULL).verdict, RESOLVED_FABRIC_RETRY);
	record = program_next_of(&b, RECORD_PACKET);
	assert_non_null(record);
	assert_int_equal(resolve(PKEY_DEFAULT_FULL).verdict, RESOLVED_FABRIC_RETRY);
	(void)!ring_release(&b.down);
	assert_int_equal(resolve(PKEY_DEFAULT_FULL).verdict, RESOLVED_DIRECT);
}

static void test_a_change_of_paths_shows_in_the_generation(void **state)
{
	uint32_t generation = a.page->generation;
	struct resolve_answer answer;

	(void)state;
	softibd->core.paths_changed = true;
	fixture_settle();
	assert_int_equal(a.page->generation, generation + 1);
	softibd->core.paths_changed = true;
	answer = resolve(PKEY_DEFAULT_FULL);
	assert_int_equal(answer.generation, generation + 2);
	assert_int_equal(answer.generation, a.page->generation);
}

static const struct ring_record *next_grant(enum record_kind kind, struct packet_grant *ret_grant)
{
	const struct ring_record *record = program_next_of(&b, kind);

	if (!record)
		return NULL;
	assert_int_equal(record->byte_count, sizeof(*ret_grant));
	memcpy(ret_grant, record->body, sizeof(*ret_grant));
	return record;
}

/* How many grants with that P_Key end when softibd checks them; other tests have left some, too. */
static unsigned ended(uint16_t pkey)
{
	struct packet_grant grant;
	unsigned count = 0;

	softibd->core.paths_changed = true;
	fixture_settle();
	assert_true(softibd->core.grants_due != TIME_NEVER);
	for (unsigned checks = 0; softibd->core.grants_due != TIME_NEVER; checks++) {
		assert_true(checks < 2);
		softibd->core.grants_due = 0;
		fixture_settle();
	}
	while (next_grant(RECORD_RING_REVOKED, &grant))
		count += grant.pkey == pkey && grant.dlid == b.lid;
	return count;
}

/* A partition that only this test uses. */
static void join(uint16_t pkey)
{
	fixture_port("h1")->pkeys[1] = pkey;
	fixture_port("h2")->pkeys[1] = pkey;
}

/* The receiver hears what the sender may send, once, and of the end of that. */
static void test_a_grant_lasts_as_long_as_its_path(void **state)
{
	struct packet_grant grant;
	uint32_t ring;

	(void)state;
	join(0x8077);
	ring = resolve(0x8077).ring_id;
	assert_int_equal(next_grant(RECORD_RING_OFFERED, &grant)->word, ring);
	assert_int_equal(grant.slid, a.lid);
	assert_int_equal(grant.lmc, 0);
	assert_int_equal(grant.dlid, b.lid);
	assert_int_equal(grant.pkey, 0x8077);
	assert_int_equal(grant.port, 1);
	assert_int_equal(grant.sl, 0);
	resolve(0x8077);
	assert_null(next_grant(RECORD_RING_OFFERED, &grant));
	/* Something else has changed. */
	assert_int_equal(ended(0x8077), 0);
	fixture_port("h1")->pkeys[1] = 0;
	assert_int_equal(ended(0x8077), 1);
	assert_int_equal(resolve(0x8077).verdict, RESOLVED_FABRIC);
	assert_null(next_grant(RECORD_RING_OFFERED, &grant));
	join(0x8077);
	assert_int_equal(resolve(0x8077).verdict, RESOLVED_DIRECT);
	assert_non_null(next_grant(RECORD_RING_OFFERED, &grant));
	join(0);
}

/* The check was due because of an earlier change. The sender may be writing a record that it began
 * before this path went. */
static void test_a_path_that_has_just_gone_ends_no_grant_yet(void **state)
{
	struct packet_grant grant;

	(void)state;
	join(0x8078);
	assert_int_equal(resolve(0x8078).verdict, RESOLVED_DIRECT);
	while (next_grant(RECORD_RING_OFFERED, &grant))
		;
	fixture_port("h1")->pkeys[1] = 0;
	softibd->core.paths_changed = true;
	softibd->core.grants_due = 0;
	fixture_settle();
	assert_null(next_grant(RECORD_RING_REVOKED, &grant));
	assert_true(softibd->core.grants_due != TIME_NEVER);
	/* The path comes back, and the sender asks anew: the receiver still has the grant. */
	join(0x8078);
	assert_int_equal(resolve(0x8078).verdict, RESOLVED_DIRECT);
	assert_int_equal(ended(0x8078), 0);
	assert_null(next_grant(RECORD_RING_OFFERED, &grant));
	fixture_port("h1")->pkeys[1] = 0;
	assert_int_equal(ended(0x8078), 1);
	join(0);
}

/* Runs last: the port stays without its cable. */
static void test_all_grants_end_when_the_cable_goes(void **state)
{
	(void)state;
	assert_int_equal(resolve(PKEY_DEFAULT_FULL).verdict, RESOLVED_DIRECT);
	fabric_set_cable(&softibd->core.fabric, fixture_port("h1"), false, softibd->core.loop.now);
	assert_int_equal(ended(PKEY_DEFAULT_FULL), 1);
}

static void test_what_a_flow_sent_is_counted_at_every_hop_once(void **state)
{
	struct resolve_answer answer = resolve(PKEY_DEFAULT_FULL);
	struct link_counters before_out = fixture_port("h1")->counters;
	struct link_counters before_in = fixture_port("h2")->counters;
	uint64_t before_switch = fixture_port("h2")->peer->counters.transmit_packets;

	(void)state;
	a.flows[answer.flow_slot].packets += 10;
	a.flows[answer.flow_slot].words += 300;
	flows_fold_all(&softibd->core);
	flows_fold_all(&softibd->core);
	assert_int_equal(fixture_port("h1")->counters.transmit_packets,
			 before_out.transmit_packets + 10);
	assert_int_equal(fixture_port("h1")->counters.transmit_words,
			 before_out.transmit_words + 300);
	assert_int_equal(fixture_port("h2")->counters.receive_packets,
			 before_in.receive_packets + 10);
	assert_int_equal(fixture_port("h2")->counters.receive_words, before_in.receive_words + 300);
	assert_int_equal(fixture_port("h2")->peer->counters.transmit_packets, before_switch + 10);
	assert_int_equal(fixture_port("h1")->counters.transmit_levels[0].vl_packets,
			 before_out.transmit_levels[0].vl_packets + 10);
	assert_int_equal(fixture_port("h2")->counters.receive_levels[0].vl_words,
			 before_in.receive_levels[0].vl_words + 300);
	/* Counters that go backwards are ignored. */
	a.flows[answer.flow_slot].packets = 3;
	flows_fold_all(&softibd->core);
	assert_int_equal(fixture_port("h1")->counters.transmit_packets,
			 before_out.transmit_packets + 10);
}

/* Responses count in the other direction. */
static void test_what_came_back_is_counted_the_other_way(void **state)
{
	struct resolve_answer answer = resolve(PKEY_DEFAULT_FULL);
	struct link_counters before_a = fixture_port("h1")->counters;
	struct link_counters before_b = fixture_port("h2")->counters;

	(void)state;
	a.flows[answer.flow_slot].returned_packets += 7;
	a.flows[answer.flow_slot].returned_words += 70;
	flows_fold_all(&softibd->core);
	flows_fold_all(&softibd->core);
	assert_int_equal(fixture_port("h2")->counters.transmit_packets,
			 before_b.transmit_packets + 7);
	assert_int_equal(fixture_port("h2")->counters.transmit_words, before_b.transmit_words + 70);
	assert_int_equal(fixture_port("h1")->counters.receive_packets,
			 before_a.receive_packets + 7);
	assert_int_equal(fixture_port("h1")->counters.transmit_packets, before_a.transmit_packets);
}

/* Every cable counts on the lane that its own tables give the service level, in each direction. */
static void test_lanes_are_those_of_each_hop(void **state)
{
	struct port *source = fixture_port("h1"), *destination = fixture_port("h2");
	uint8_t *out = &source->sl_to_vl[0][0];
	uint8_t *back = &destination->sl_to_vl[0][0];
	struct resolve_answer answer;

	(void)state;
	*out = 1;
	*back = 3;
	softibd->core.paths_changed = true;
	answer = resolve(PKEY_DEFAULT_FULL);

	struct link_counters before_out = source->counters, before_in = destination->counters;

	a.flows[answer.flow_slot].packets += 10;
	a.flows[answer.flow_slot].words += 300;
	a.flows[answer.flow_slot].returned_packets += 5;
	a.flows[answer.flow_slot].returned_words += 50;
	flows_fold_all(&softibd->core);
	assert_int_equal(source->counters.transmit_levels[1].vl_packets,
			 before_out.transmit_levels[1].vl_packets + 10);
	assert_int_equal(source->peer->counters.receive_levels[1].vl_words, 300);
	assert_int_equal(destination->counters.receive_levels[0].vl_words,
			 before_in.receive_levels[0].vl_words + 300);
	assert_int_equal(destination->counters.transmit_levels[3].vl_packets, 5);
	assert_int_equal(source->counters.receive_levels[0].vl_words,
			 before_out.receive_levels[0].vl_words + 50);
	*out = *back = 0;
	softibd->core.paths_changed = true;
	(void)resolve(PKEY_DEFAULT_FULL);
}

/* Only a node that a flow passes makes softibd look at the counters of all programs. */
static void test_nodes_without_flows_cost_nothing(void **state)
{
	struct resolve_answer answer = resolve(PKEY_DEFAULT_FULL);
	uint64_t before = fixture_port("h1")->counters.transmit_packets;
	struct node idle = {0};

	(void)state;
	a.flows[answer.flow_slot].packets += 4;
	flows_fold_at(&softibd->core, &idle);
	assert_int_equal(fixture_port("h1")->counters.transmit_packets, before);
	assert_true(fixture_port("h1")->node->offloaded_flows > 0);
	flows_fold_at(&softibd->core, fixture_port("h1")->node);
	assert_int_equal(fixture_port("h1")->counters.transmit_packets, before + 4);
}

static void test_without_offload_nobody_gets_a_ring(void **state)
{
	(void)state;
	softibd->core.offloads = false;
	assert_int_equal(resolve(PKEY_DEFAULT_FULL).verdict, RESOLVED_FABRIC);
	softibd->core.offloads = true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_clear_way_gives_a_ring),
		cmocka_unit_test(test_no_owner_no_partition_no_route_give_none),
		cmocka_unit_test(test_two_limited_members_get_none),
		cmocka_unit_test(test_a_packet_under_way_delays_the_ring),
		cmocka_unit_test(test_a_change_of_paths_shows_in_the_generation),
		cmocka_unit_test(test_a_grant_lasts_as_long_as_its_path),
		cmocka_unit_test(test_a_path_that_has_just_gone_ends_no_grant_yet),
		cmocka_unit_test(test_what_a_flow_sent_is_counted_at_every_hop_once),
		cmocka_unit_test(test_what_came_back_is_counted_the_other_way),
		cmocka_unit_test(test_lanes_are_those_of_each_hop),
		cmocka_unit_test(test_nodes_without_flows_cost_nothing),
		cmocka_unit_test(test_without_offload_nobody_gets_a_ring),
		cmocka_unit_test(test_all_grants_end_when_the_cable_goes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
