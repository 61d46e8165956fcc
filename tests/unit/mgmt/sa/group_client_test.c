/* SPDX-License-Identifier: Apache-2.0 */
/* A port that follows the groups of its subnet, with a real SA on a wire that loses MADs
 * (management 4.7, 4.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "mgmt/sa/group_client.h"
#include "mgmt/sa/request.h"
#include "sa_fixture.h"
#include "wire/pkey.h"

enum { AGENT = 55, ROUTER = 0, HOST = 3, OTHER = 4, STEPS_MAX = 100000 };

static struct sa_fixture fixture;
static struct group_client client;
static struct random dice;
static unsigned loss_percent;
static bool sa_is_dead;

static struct group_port router_port(void)
{
	return (struct group_port){.is_active = true,
				   .gid = fixture_gid(&fixture, ROUTER),
				   .lid = fixture_lid(&fixture, ROUTER),
				   .sm_lid = 1,
				   .pkey = PKEY_DEFAULT_FULL};
}

static int set_up(void **state)
{
	struct group_port port;

	(void)state;
	sa_fixture_start(&fixture);
	dice = random_seeded(20261115);
	loss_percent = 0;
	sa_is_dead = false;
	assert_int_equal(group_client_init(&client, AGENT), 0);
	port = router_port();
	group_client_set_port(&client, &port);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	group_client_release(&client);
	sa_fixture_stop(&fixture);
	return 0;
}

static bool is_lost(void)
{
	return sa_is_dead || random_next(&dice) % 100 < loss_percent;
}

/* Returns whether a message was sent. */
static bool exchange(void)
{
	struct mad_message message;
	bool is_busy = false;

	while (group_client_transmit(&client, fixture.now, 1, &message)) {
		is_busy = true;
		assert_int_equal(message.address.lid, 1);
		message.address.lid = fixture_lid(&fixture, ROUTER);
		if (!is_lost())
			sa_receive(fixture.sa, fixture.now, &message);
	}
	while (!sa_is_dead && fixture_next_message(&fixture, &message)) {
		is_busy = true;
		if (message.address.lid != fixture_lid(&fixture, ROUTER) || is_lost())
			continue;
		message.address.lid = 1;
		group_client_receive(&client, fixture.now, &message);
	}
	return is_busy;
}

/* Runs from deadline to deadline until this time. */
static void run_for(time_ns duration)
{
	time_ns end = fixture.now + duration;

	for (unsigned step = 0; step < STEPS_MAX; step++) {
		if (exchange())
			continue;

		time_ns next =
			time_earlier(group_client_deadline(&client), sa_deadline(fixture.sa));

		if (next > end)
			break;
		assert_true(next > fixture.now || step < STEPS_MAX - 1);
		fixture.now = next > fixture.now ? next : fixture.now;
	}
	fixture.now = end;
}

static struct mc_member_record group_of(uint64_t number)
{
	return (struct mc_member_record){.mgid_high = 0xff1ea01b00000000u,
					 .mgid_low = number,
					 .qkey = 0x1234,
					 .mtu_selector = 2,
					 .mtu = 4,
					 .pkey = PKEY_DEFAULT_FULL,
					 .rate_selector = 2,
					 .rate = 3,
					 .hop_limit = 64,
					 .scope = 14};
}

static struct gid mgid_of(uint64_t number)
{
	return gid_from(0xff1ea01b00000000u, number);
}

static uint16_t ask_as(unsigned host, enum mad_method method, uint64_t number, uint8_t join_state)
{
	static struct sa_reply reply;
	struct mc_member_record wanted = group_of(number);
	uint64_t components =
		SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) | SA_COMPONENT(MCR_JOIN_STATE);

	if (method == MAD_SET)
		components |= SA_COMPONENT(MCR_QKEY) | SA_COMPONENT(MCR_PKEY) |
			      SA_COMPONENT(MCR_SL) | SA_COMPONENT(MCR_FLOW_LABEL) |
			      SA_COMPONENT(MCR_TRAFFIC_CLASS);
	wanted.port_gid_prefix = GID_PREFIX_LINK_LOCAL;
	wanted.port_gid_guid = fixture_port(&fixture, host)->guid;
	wanted.join_state = join_state;
	fixture_ask_member(&fixture, host, method, &wanted, components, &reply);
	return reply.status;
}

static void host_joins(unsigned host, uint64_t number)
{
	assert_int_equal(ask_as(host, MAD_SET, number, JOIN_FULL), 0);
}

static void host_leaves(unsigned host, uint64_t number)
{
	assert_int_equal(ask_as(host, MAD_DELETE, number, JOIN_FULL), 0);
}

static void want(uint64_t number, uint8_t join_states)
{
	struct mc_member_record group = group_of(number);

	assert_int_equal(group_client_want(&client, &group, join_states), 0);
}

static const struct mc_member_record *find(uint64_t number)
{
	struct gid mgid = mgid_of(number);

	return group_client_find(&client, &mgid);
}

static uint8_t joined(uint64_t number)
{
	struct gid mgid = mgid_of(number);
	const struct group_membership *membership = group_client_membership(&client, &mgid);

	return membership ? membership->joined : 0;
}

static struct multicast_group *sa_group(uint64_t number)
{
	struct gid mgid = mgid_of(number);

	return multicast_groups_find(fixture.sa->groups, &mgid);
}

/* The router's JoinState in the SA. */
static uint8_t sa_has(uint64_t number)
{
	const struct multicast_group *group = sa_group(number);
	const struct multicast_member *member =
		group ? multicast_group_member(group, fixture_port(&fixture, ROUTER)->guid) : NULL;

	return member ? member->join_state : 0;
}

static void test_groups_that_were_there_are_read(void **state)
{
	(void)state;
	for (uint64_t number = 1; number <= 40; number++)
		host_joins(HOST, number);
	assert_false(group_client_is_settled(&client));
	run_for(MILLISECONDS(1));
	assert_true(group_client_is_settled(&client));
	assert_true(client.has_news);
	for (uint64_t number = 1; number <= 40; number++)
		assert_non_null(find(number));
	assert_null(find(41));
}

static void test_notices_tell_of_groups_made_and_ended(void **state)
{
	(void)state;
	run_for(MILLISECONDS(20));
	assert_null(find(1));
	client.has_news = false;
	host_joins(HOST, 1);
	run_for(MILLISECONDS(20));
	assert_true(client.has_news);
	assert_non_null(find(1));
	host_leaves(HOST, 1);
	run_for(MILLISECONDS(20));
	assert_null(find(1));
}

static void test_full_member_makes_the_group_and_ends_it(void **state)
{
	(void)state;
	run_for(MILLISECONDS(20));
	want(7, JOIN_FULL);
	run_for(MILLISECONDS(20));
	assert_int_equal(joined(7), JOIN_FULL);
	assert_int_equal(sa_has(7), JOIN_FULL);
	assert_int_equal(find(7)->hop_limit, 64);
	assert_int_equal(find(7)->mtu, 4);
	want(7, 0);
	run_for(MILLISECONDS(20));
	assert_int_equal(sa_has(7), 0);
	assert_null(find(7));
	assert_true(list_is_empty(&client.memberships.all));
}

static void test_full_member_becomes_a_non_member_without_leaving(void **state)
{
	(void)state;
	want(7, JOIN_FULL);
	run_for(MILLISECONDS(20));
	host_joins(HOST, 7);
	want(7, JOIN_NON);
	run_for(MILLISECONDS(20));
	assert_int_equal(sa_has(7), JOIN_NON);
	assert_int_equal(joined(7), JOIN_NON);
	/* The group ends with its last user. */
	host_leaves(HOST, 7);
	run_for(MILLISECONDS(20));
	assert_null(find(7));
	assert_int_equal(joined(7), 0);
}

static void test_what_was_left_is_read_again_before_it_says_anything(void **state)
{
	(void)state;
	want(7, JOIN_FULL);
	run_for(MILLISECONDS(20));
	host_joins(HOST, 7);
	want(7, 0);
	for (unsigned step = 0; step < 100 && sa_has(7); step++)
		exchange();
	assert_int_equal(sa_has(7), 0);
	run_for(MILLISECONDS(20));
	assert_true(group_client_is_settled(&client));
	assert_non_null(find(7));
}

/* The group was deleted and created again before the table was read, so nothing else shows that we
 * are no longer a member. */
static void test_group_that_was_made_again_is_joined_again(void **state)
{
	(void)state;
	host_joins(HOST, 7);
	run_for(MILLISECONDS(20));
	want(7, JOIN_NON);
	run_for(MILLISECONDS(20));
	host_leaves(HOST, 7);
	host_joins(OTHER, 7);
	assert_int_equal(sa_has(7), 0);
	run_for(MILLISECONDS(50));
	assert_int_equal(sa_has(7), JOIN_NON);
}

static void test_restart_subscribes_and_joins_again(void **state)
{
	(void)state;
	want(7, JOIN_FULL);
	run_for(MILLISECONDS(20));
	/* A new manager without any state takes over. */
	multicast_groups_delete(fixture.sa->groups, sa_group(7));
	group_client_restart(&client);
	assert_false(group_client_is_settled(&client));
	run_for(MILLISECONDS(50));
	assert_int_equal(sa_has(7), JOIN_FULL);
	host_joins(HOST, 8);
	run_for(MILLISECONDS(20));
	assert_non_null(find(8));
}

static void test_refused_join_is_tried_again_later(void **state)
{
	(void)state;
	run_for(MILLISECONDS(20));
	want(7, JOIN_NON);
	run_for(MILLISECONDS(500));
	assert_int_equal(joined(7), 0);
	host_joins(HOST, 7);
	run_for(SECONDS(2));
	assert_int_equal(sa_has(7), JOIN_NON);
}

static void test_silent_sa_leaves_what_is_known(void **state)
{
	(void)state;
	host_joins(HOST, 7);
	run_for(MILLISECONDS(20));
	sa_is_dead = true;
	group_client_restart(&client);
	run_for(SECONDS(20));
	assert_true(group_client_is_settled(&client));
	assert_non_null(find(7));
	sa_is_dead = false;
	host_joins(HOST, 8);
	run_for(SECONDS(5));
	assert_non_null(find(8));
}

static void test_port_that_is_down_asks_nothing(void **state)
{
	struct group_port port = router_port();

	(void)state;
	run_for(MILLISECONDS(20));
	port.is_active = false;
	group_client_set_port(&client, &port);
	want(7, JOIN_FULL);
	assert_false(exchange());
	assert_true(group_client_is_settled(&client));
	port.is_active = true;
	group_client_set_port(&client, &port);
	run_for(MILLISECONDS(20));
	assert_int_equal(sa_has(7), JOIN_FULL);
}

/* Half of all MADs are lost in both directions: it takes longer, with the same result. */
static void test_lossy_wire_delays_only(void **state)
{
	(void)state;
	loss_percent = 50;
	for (uint64_t number = 1; number <= 12; number++)
		host_joins(HOST, number);
	want(100, JOIN_FULL);
	for (uint64_t number = 1; number <= 12; number += 2)
		want(number, JOIN_NON);
	run_for(SECONDS(200));
	for (uint64_t number = 1; number <= 12; number++) {
		assert_non_null(find(number));
		assert_int_equal(sa_has(number), number % 2 ? JOIN_NON : 0);
	}
	assert_int_equal(sa_has(100), JOIN_FULL);
	for (uint64_t number = 1; number <= 12; number++)
		host_leaves(HOST, number);
	want(100, 0);
	run_for(SECONDS(200));
	assert_int_equal(sa_has(100), 0);
	assert_int_equal(client.group_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_groups_that_were_there_are_read, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_notices_tell_of_groups_made_and_ended, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_full_member_makes_the_group_and_ends_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_full_member_becomes_a_non_member_without_leaving, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_what_was_left_is_read_again_before_it_says_anything, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(test_group_that_was_made_again_is_joined_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_restart_subscribes_and_joins_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_refused_join_is_tried_again_later, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_silent_sa_leaves_what_is_known, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_port_that_is_down_asks_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_lossy_wire_delays_only, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
