/* SPDX-License-Identifier: Apache-2.0 */
/* Routers as members: a group that is joined in one of two subnets exists in both, while it has
 * users. The test talks to the SAs of a whole softibd by MADs. Covers: daemon/managers/managers.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "daemon/managers/router_groups.h"
#include "fabric/fabric.h"
#include "mgmt/sa/request.h"
#include "mgmt/sa/sa_client.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/pkey.h"

enum { SUBNETS = 2 };

/* The Q_Key, and a scope: global and link-local. */
enum { QKEY = 0x1234, SCOPE_GLOBAL = 14, SCOPE_LINK = 2 };

/* A host's port that joins groups: h1 in the first subnet, h3 in the other. */
struct member {
	struct mad_client client;
	struct sa_client sa;
	bool has_unsent;
	struct mad_message unsent;
};

static struct daemon *softibd;
static struct member members[SUBNETS];
static struct member *asking;
static struct sa_client_result answer;
static uint8_t scope;

static void receive(struct mad_client *client, const struct mad_message *message, time_ns now)
{
	sa_client_receive(&container_of(client, struct member, client)->sa, now, message);
}

static void member_open(struct member *member, const char *host)
{
	struct port *port = fixture_port(host);

	*member = (struct member){.client = {.port = port, .receive = receive}};
	assert_int_equal(mad_client_add(&softibd->mads, &member->client), 0);

	const struct sa_client_options options = {.agent_number = member->client.agent_number};

	assert_int_equal(sa_client_init(&member->sa, &options), 0);
	sa_client_set_sa(&member->sa, port->info.master_sm_lid, port->info.master_sm_sl,
			 PKEY_DEFAULT_FULL);
}

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("routed:2x2");
	member_open(&members[0], "h1");
	member_open(&members[1], "h3");
	scope = SCOPE_GLOBAL;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (unsigned index = 0; index < SUBNETS; index++) {
		mad_client_remove(&softibd->mads, &members[index].client);
		sa_client_release(&members[index].sa);
	}
	fixture_stop();
	return 0;
}

static struct gid mgid(void)
{
	return gid_from(0xff10424200000000u | (uint64_t)scope << 48, 7);
}

/* Sends the member's MADs; true once it has its answer. */
static bool was_answered(void)
{
	struct member *member = asking;

	while (member->has_unsent ||
	       sa_client_transmit(&member->sa, softibd->core.loop.now, 1, &member->unsent)) {
		member->has_unsent = !mad_client_send(&softibd->mads, &member->client,
						      &member->unsent, softibd->core.loop.now);
		if (member->has_unsent)
			break;
	}
	return answer.method || sa_client_take_result(&member->sa, &answer);
}

static void ask(unsigned subnet, enum mad_method method)
{
	const struct port *port = members[subnet].client.port;
	struct gid group = mgid();
	const struct mc_member_record record = {
		.mgid_high = gid_prefix(&group),
		.mgid_low = gid_guid(&group),
		.port_gid_prefix = port->info.gid_prefix,
		.port_gid_guid = port->guid,
		.qkey = QKEY,
		.pkey = PKEY_DEFAULT_FULL,
		.scope = scope & 15,
		.join_state = JOIN_FULL,
	};
	const uint64_t components = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
				    SA_COMPONENT(MCR_JOIN_STATE) | SA_COMPONENT(MCR_QKEY) |
				    SA_COMPONENT(MCR_PKEY) | SA_COMPONENT(MCR_SL) |
				    SA_COMPONENT(MCR_FLOW_LABEL) | SA_COMPONENT(MCR_TRAFFIC_CLASS);
	const struct mad_purpose purpose = {0};

	asking = &members[subnet];
	answer = (struct sa_client_result){0};
	if (method == MAD_SET)
		assert_int_equal(sa_client_join(&asking->sa, &record, components, purpose), 0);
	else
		assert_int_equal(sa_client_leave(&asking->sa, &record, purpose), 0);
	fixture_await(was_answered);
	assert_int_equal(answer.outcome, SA_CLIENT_ANSWERED);
}

static void host_joins(unsigned subnet)
{
	ask(subnet, MAD_SET);
}

static void host_leaves(unsigned subnet)
{
	ask(subnet, MAD_DELETE);
}

static struct router_port *router_port(unsigned subnet)
{
	uint64_t prefix = members[subnet].client.port->info.gid_prefix;
	struct router_ports *ports = &softibd->managers.router_groups.ports;

	for (uint32_t index = 0; index < ports->count; index++)
		if (ports->ports[index].port->info.gid_prefix == prefix)
			return &ports->ports[index];
	fail_msg("subnet %u has no router", subnet);
	return NULL;
}

/* NULL: the subnet has no such group. */
static const struct multicast_group *group_at(unsigned subnet)
{
	struct sa *sa =
		subnet ? softibd->managers.others.subnets[0].sa.sa : softibd->managers.sa.sa;
	struct gid group = mgid();

	return multicast_groups_find(sa->groups, &group);
}

/* The router's join state at the subnet's SA; 0: not a member. */
static uint8_t router_is(unsigned subnet)
{
	const struct multicast_group *group = group_at(subnet);
	const struct multicast_member *member =
		group ? multicast_group_member(group, router_port(subnet)->port->guid) : NULL;

	return member ? member->join_state : 0;
}

/* Whether the router's tables have the group under the subnet's MLID. */
static bool router_forwards(unsigned subnet)
{
	struct gid group = mgid();
	const struct group_membership *membership =
		group_client_membership(&router_port(subnet)->groups, &group);

	return membership && group_at(subnet) && membership->shown_mlid == group_at(subnet)->mlid;
}

static bool group_spans_both_for_the_first(void)
{
	return router_is(0) == JOIN_NON && router_is(1) == JOIN_FULL && router_forwards(0) &&
	       router_forwards(1);
}

static bool group_is_gone(void)
{
	for (unsigned subnet = 0; subnet < SUBNETS; subnet++)
		if (group_at(subnet) ||
		    !list_is_empty(&router_port(subnet)->groups.memberships.all))
			return false;
	return true;
}

static bool router_is_non_member_in_both(void)
{
	return router_is(0) == JOIN_NON && router_is(1) == JOIN_NON && router_forwards(0) &&
	       router_forwards(1);
}

static bool router_keeps_it_in_the_first(void)
{
	return router_is(0) == JOIN_FULL && router_is(1) == JOIN_NON;
}

static void test_group_of_one_subnet_is_there_in_the_other(void **state)
{
	(void)state;
	host_joins(0);
	fixture_await(group_spans_both_for_the_first);
	assert_int_equal(group_at(1)->characteristics.qkey, QKEY);
	/* Without a hop limit in the join, the group gets one that crosses routers. */
	assert_true(group_at(1)->characteristics.hop_limit > 1);
	host_leaves(0);
	fixture_await(group_is_gone);
}

/* With users on both sides routers keep no group alive; the last user keeps it in both subnets. */
static void test_group_ends_with_its_users_whichever_goes_first(void **state)
{
	(void)state;
	host_joins(0);
	fixture_await(group_spans_both_for_the_first);
	host_joins(1);
	host_leaves(0);
	fixture_await(router_keeps_it_in_the_first);
	assert_non_null(group_at(0));
	host_leaves(1);
	fixture_await(group_is_gone);
}

static void test_users_that_come_at_once_are_seen_in_both(void **state)
{
	(void)state;
	host_joins(0);
	host_joins(1);
	fixture_await(router_is_non_member_in_both);
	host_leaves(1);
	host_leaves(0);
	fixture_await(group_is_gone);
}

static bool routers_have_decided(void)
{
	const struct router_groups *groups = &softibd->managers.router_groups;

	for (uint32_t index = 0; index < groups->ports.count; index++)
		if (!group_client_is_settled(&groups->ports.ports[index].groups))
			return false;
	return !groups->has_news;
}

static bool both_have_read_a_group(void)
{
	struct gid group = mgid();

	return group_client_find(&router_port(0)->groups, &group) && routers_have_decided();
}

static void test_group_of_link_local_scope_stays_in_its_subnet(void **state)
{
	(void)state;
	scope = SCOPE_LINK;
	host_joins(0);
	fixture_await(both_have_read_a_group);
	fixture_settle();
	assert_int_equal(router_is(0), 0);
	assert_null(group_at(1));
}

static bool group_left_the_second(void)
{
	return !group_at(1) && group_at(0);
}

static void test_group_leaves_a_subnet_that_no_router_reaches(void **state)
{
	struct port *cut;

	(void)state;
	host_joins(0);
	fixture_await(group_spans_both_for_the_first);
	cut = router_port(0)->port;
	fabric_set_cable(&softibd->core.fabric, cut, false, softibd->core.loop.now);
	fixture_await(group_left_the_second);
	fabric_set_cable(&softibd->core.fabric, cut, true, softibd->core.loop.now);
	fixture_await(group_spans_both_for_the_first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_group_of_one_subnet_is_there_in_the_other,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_group_ends_with_its_users_whichever_goes_first,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_users_that_come_at_once_are_seen_in_both,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_group_of_link_local_scope_stays_in_its_subnet,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_group_leaves_a_subnet_that_no_router_reaches,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
