/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast groups by MCMemberRecord: create, join, leave, query (management 4.7). Covers:
 * mgmt/sa/members.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "sa_fixture.h"
#include "wire/mtu.h"
#include "wire/rate.h"

enum { RATE_10_GBPS = 3, RATE_100_GBPS = 16 };

static struct sa_fixture fixture;
static struct sa_reply reply;

static const uint64_t join_mask =
	SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) | SA_COMPONENT(MCR_JOIN_STATE);
static const uint64_t create_mask = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
				    SA_COMPONENT(MCR_JOIN_STATE) | SA_COMPONENT(MCR_QKEY) |
				    SA_COMPONENT(MCR_TRAFFIC_CLASS) | SA_COMPONENT(MCR_PKEY) |
				    SA_COMPONENT(MCR_SL) | SA_COMPONENT(MCR_FLOW_LABEL);

/* A full membership of host n in the group that most tests use. */
static struct mc_member_record membership(unsigned host)
{
	return (struct mc_member_record){.mgid_high = 0xff12a01cfe800000,
					 .mgid_low = 0x0000000012345678,
					 .port_gid_prefix = GID_PREFIX_LINK_LOCAL,
					 .port_gid_guid = fixture_port(&fixture, host)->guid,
					 .qkey = 0x1b,
					 .pkey = 0xffff,
					 .join_state = JOIN_FULL};
}

static uint16_t set(unsigned host, struct mc_member_record wanted, uint64_t mask)
{
	fixture_ask_member(&fixture, host, MAD_SET, &wanted, mask, &reply);
	return reply.status;
}

static uint16_t leave(unsigned host, struct mc_member_record membership_left)
{
	fixture_ask_member(&fixture, host, MAD_DELETE, &membership_left, join_mask, &reply);
	return reply.status;
}

static struct multicast_group *the_group(void)
{
	struct gid mgid = gid_from(0xff12a01cfe800000, 0x12345678);

	return multicast_groups_find(&fixture.subnet->multicast_groups, &mgid);
}

static void test_create_takes_what_the_port_has(void **state)
{
	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	assert_int_equal(reply.method, MAD_GET_RESPONSE);

	struct mc_member_record record = reply_member(&reply, 0);

	assert_int_equal(record.mlid, 0xc000);
	assert_int_equal(record.mtu, MTU_4096);
	assert_int_equal(record.mtu_selector, SELECT_EXACTLY);
	assert_int_equal(record.rate, RATE_100_GBPS);
	assert_int_equal(record.packet_life_time, 0x12);
	assert_int_equal(record.scope, 2);
	assert_int_equal(record.join_state, JOIN_FULL);
	assert_int_equal(record.proxy_join, 0);
	assert_int_equal(fixture.changed_count, 1);
	assert_int_equal(fixture.changed_mlids[0], 0xc000);
}

/* Packets of a group beyond its subnet need a hop limit, which the creator may set. */
static void test_hop_limit_goes_with_the_scope(void **state)
{
	struct mc_member_record wanted = membership(2);

	(void)state;
	assert_int_equal(set(2, wanted, create_mask), 0);
	assert_int_equal(the_group()->characteristics.hop_limit, 0);
	wanted.mgid_high = 0xff1ea01cfe800000;
	assert_int_equal(set(2, wanted, create_mask), 0);

	struct gid mgid = gid_from(wanted.mgid_high, wanted.mgid_low);

	assert_int_equal(multicast_groups_find(&fixture.subnet->multicast_groups, &mgid)
				 ->characteristics.hop_limit,
			 64);
	wanted.mgid_low++;
	wanted.hop_limit = 5;
	assert_int_equal(set(2, wanted, create_mask | SA_COMPONENT(MCR_HOP_LIMIT)), 0);
	mgid = gid_from(wanted.mgid_high, wanted.mgid_low);
	assert_int_equal(multicast_groups_find(&fixture.subnet->multicast_groups, &mgid)
				 ->characteristics.hop_limit,
			 5);
}

static void test_create_needs_its_components(void **state)
{
	static const unsigned needed[] = {MCR_MGID, MCR_PORT_GID,      MCR_JOIN_STATE,
					  MCR_QKEY, MCR_TRAFFIC_CLASS, MCR_PKEY,
					  MCR_SL,   MCR_FLOW_LABEL};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(needed); i++) {
		assert_int_equal(set(2, membership(2), create_mask & ~SA_COMPONENT(needed[i])),
				 SA_STATUS_INSUFFICIENT_COMPONENTS);
		assert_null(the_group());
	}
}

static void test_only_who_keeps_a_group_alive_creates_it(void **state)
{
	static const struct {
		uint8_t join_state;
		uint16_t status;
	} cases[] = {
		{0, SA_STATUS_REQ_INVALID},
		{JOIN_NON, SA_STATUS_REQ_INVALID},
		{JOIN_SEND_ONLY, SA_STATUS_REQ_INVALID},
		{JOIN_NON | JOIN_SEND_ONLY, SA_STATUS_REQ_INVALID},
		{JOIN_SEND_ONLY_FULL, 0},
		{JOIN_FULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct mc_member_record wanted = membership(2);

		wanted.join_state = cases[i].join_state;
		assert_int_equal(set(2, wanted, create_mask), cases[i].status);
		if (the_group())
			assert_int_equal(leave(2, wanted), 0);
	}
}

static void test_mgids_that_nobody_may_have(void **state)
{
	static const struct {
		uint64_t high;
		uint16_t status;
	} cases[] = {
		{0xef12a01cfe800000, SA_STATUS_REQ_INVALID}, /* not multicast */
		{0xff22a01cfe800000, SA_STATUS_REQ_INVALID}, /* reserved flag */
		{0xff12a01bfe800000, SA_STATUS_REQ_INVALID}, /* the SA's own, link local */
		{0xff15a01bfe800000, 0},
		{0xff02a01cfe800000, 0}, /* permanent */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct mc_member_record wanted = membership(2);

		wanted.mgid_high = cases[i].high;
		assert_int_equal(set(2, wanted, create_mask), cases[i].status);
	}
}

static void test_zero_mgid_lets_the_sa_choose(void **state)
{
	struct mc_member_record wanted = membership(2);

	(void)state;
	wanted.mgid_high = 0;
	wanted.mgid_low = 0;
	assert_int_equal(set(2, wanted, create_mask), 0);

	struct mc_member_record first = reply_member(&reply, 0);

	assert_int_equal(first.mgid_high >> 32, 0xff12a01b);
	assert_int_equal(set(2, wanted, create_mask), 0);
	assert_int_not_equal(reply_member(&reply, 0).mgid_low, first.mgid_low);
	assert_int_not_equal(reply_member(&reply, 0).mlid, first.mlid);
}

static void test_create_chooses_by_selectors(void **state)
{
	struct mc_member_record wanted = membership(2);
	uint64_t mask = create_mask | SA_COMPONENT(MCR_MTU_SELECTOR) | SA_COMPONENT(MCR_MTU) |
			SA_COMPONENT(MCR_RATE_SELECTOR) | SA_COMPONENT(MCR_RATE) |
			SA_COMPONENT(MCR_PACKET_LIFE_TIME_SELECTOR) |
			SA_COMPONENT(MCR_PACKET_LIFE_TIME);

	(void)state;
	wanted.mtu_selector = SELECT_LESS;
	wanted.mtu = MTU_2048;
	wanted.rate_selector = SELECT_EXACTLY;
	wanted.rate = RATE_10_GBPS;
	wanted.packet_life_time_selector = SELECT_GREATER;
	wanted.packet_life_time = 0x14;
	assert_int_equal(set(2, wanted, mask), 0);
	assert_int_equal(reply_member(&reply, 0).mtu, MTU_1024);
	assert_int_equal(reply_member(&reply, 0).rate, RATE_10_GBPS);
	assert_int_equal(reply_member(&reply, 0).packet_life_time, 0x15);
}

/* o15-0.1.8, in part: a group whose MTU, rate or lifetime can't be met is refused. */
static void test_create_refuses_what_the_port_can_not(void **state)
{
	struct mc_member_record wanted = membership(2);
	uint64_t mtu = create_mask | SA_COMPONENT(MCR_MTU_SELECTOR) | SA_COMPONENT(MCR_MTU);
	uint64_t rate = create_mask | SA_COMPONENT(MCR_RATE_SELECTOR) | SA_COMPONENT(MCR_RATE);
	uint64_t life = create_mask | SA_COMPONENT(MCR_PACKET_LIFE_TIME_SELECTOR) |
			SA_COMPONENT(MCR_PACKET_LIFE_TIME);

	(void)state;
	wanted.mtu_selector = SELECT_GREATER;
	wanted.mtu = MTU_4096;
	assert_int_equal(set(2, wanted, mtu), SA_STATUS_REQ_INVALID);
	wanted.mtu_selector = SELECT_EXACTLY;
	wanted.mtu = 0;
	assert_int_equal(set(2, wanted, mtu), SA_STATUS_REQ_INVALID);
	wanted.rate_selector = SELECT_EXACTLY;
	wanted.rate = 17;
	assert_int_equal(set(2, wanted, rate), SA_STATUS_REQ_INVALID);
	wanted.rate = 0;
	assert_int_equal(set(2, wanted, rate), SA_STATUS_REQ_INVALID);
	wanted.packet_life_time_selector = SELECT_LESS;
	wanted.packet_life_time = 0;
	assert_int_equal(set(2, wanted, life), SA_STATUS_REQ_INVALID);
	assert_null(the_group());
}

/* o15-0.1.12: a send-only non-member has only that state until it joins as a non-member too. */
static void test_join_adds_to_what_is_joined(void **state)
{
	struct mc_member_record wanted = membership(3);

	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	wanted.join_state = JOIN_SEND_ONLY;
	assert_int_equal(set(3, wanted, join_mask), 0);
	assert_int_equal(reply_member(&reply, 0).join_state, JOIN_SEND_ONLY);
	assert_int_equal(reply_member(&reply, 0).mlid, 0xc000);
	assert_int_equal(reply_member(&reply, 0).qkey, 0x1b);
	wanted.join_state = JOIN_NON;
	assert_int_equal(set(3, wanted, join_mask), 0);
	assert_int_equal(reply_member(&reply, 0).join_state, JOIN_SEND_ONLY | JOIN_NON);
	assert_int_equal(fixture.changed_count, 3);
	/* Repeating the join changes nothing. */
	assert_int_equal(set(3, wanted, join_mask), 0);
	assert_int_equal(fixture.changed_count, 3);
}

static void test_join_must_agree_with_the_group(void **state)
{
	static const struct {
		unsigned component;
		struct mc_member_record wrong;
	} cases[] = {
		{MCR_QKEY, {.qkey = 0x1c}},
		{MCR_PKEY, {.pkey = 0x8001}},
		{MCR_TRAFFIC_CLASS, {.traffic_class = 1}},
		{MCR_SL, {.sl = 1}},
		{MCR_FLOW_LABEL, {.flow_label = 1}},
		{MCR_HOP_LIMIT, {.hop_limit = 1}},
		{MCR_SCOPE, {.scope = 5}},
	};

	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct mc_member_record wanted = cases[i].wrong;

		wanted.mgid_high = membership(3).mgid_high;
		wanted.mgid_low = membership(3).mgid_low;
		wanted.port_gid_prefix = GID_PREFIX_LINK_LOCAL;
		wanted.port_gid_guid = fixture_port(&fixture, 3)->guid;
		wanted.join_state = JOIN_FULL;
		assert_int_equal(set(3, wanted, join_mask | SA_COMPONENT(cases[i].component)),
				 SA_STATUS_REQ_INVALID);
		/* Not in the mask, so not compared. */
		assert_int_equal(set(3, wanted, join_mask), 0);
		assert_int_equal(leave(3, wanted), 0);
	}
}

static void test_slow_port_can_not_join(void **state)
{
	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	fixture_port(&fixture, 3)->info.neighbor_mtu = MTU_2048;
	fixture_port(&fixture, 4)->info.link_speed_ext_active = 0;
	fixture_sweep(&fixture);
	assert_int_equal(set(3, membership(3), join_mask), SA_STATUS_REQ_INVALID);
	assert_int_equal(set(4, membership(4), join_mask), SA_STATUS_REQ_INVALID);
	assert_int_equal(set(1, membership(1), join_mask), 0);
}

static void test_members_hold_the_groups_pkey(void **state)
{
	static const uint16_t other[] = {0xffff, 0x8005};
	struct mc_member_record wanted = membership(2);

	(void)state;
	wanted.pkey = 0x8005;
	assert_int_equal(set(2, wanted, create_mask), SA_STATUS_REQ_INVALID);
	fixture_set_pkeys(&fixture, 2, other, 2);
	assert_int_equal(set(2, wanted, create_mask), 0);
	assert_int_equal(set(3, membership(3), join_mask), SA_STATUS_REQ_INVALID);
	wanted.pkey = 0x8000;
	assert_int_equal(set(2, wanted, create_mask), SA_STATUS_REQ_INVALID);
}

static void test_port_gid_must_be_a_port_of_the_subnet(void **state)
{
	struct mc_member_record wanted = membership(2);

	(void)state;
	wanted.port_gid_prefix = 0xfec0000000000001;
	assert_int_equal(set(2, wanted, create_mask), SA_STATUS_INVALID_GID);
	wanted = membership(2);
	wanted.port_gid_guid = 0xdead;
	assert_int_equal(set(2, wanted, create_mask), SA_STATUS_REQ_INVALID);
}

static void test_proxy_join_is_marked_and_changed_by_others_only(void **state)
{
	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	/* Host 3 joins host 4. */
	assert_int_equal(set(3, membership(4), join_mask), 0);
	assert_int_equal(reply_member(&reply, 0).proxy_join, 1);
	/* It may not change what host 2 joined itself (management 4.7). */
	assert_int_equal(leave(3, membership(2)), SA_STATUS_REQ_INVALID);
	/* Any port with the P_Key may end a membership with ProxyJoin 1 (management 4.7). */
	assert_int_equal(leave(2, membership(4)), 0);
	/* A membership that the port itself joins becomes its own. */
	assert_int_equal(set(3, membership(4), join_mask), 0);
	assert_int_equal(set(4, membership(4), join_mask), 0);
	assert_int_equal(leave(3, membership(4)), SA_STATUS_REQ_INVALID);
	assert_int_equal(leave(4, membership(4)), 0);
}

static void test_proxy_must_share_a_partition(void **state)
{
	static const uint16_t other[] = {0x8005};

	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	fixture_set_pkeys(&fixture, 3, other, 1);
	assert_int_equal(set(3, membership(4), join_mask), SA_STATUS_REQ_INVALID);
	assert_int_equal(set(0, membership(4), join_mask), SA_STATUS_REQ_INVALID);
}

static void test_leaving_takes_bits_away(void **state)
{
	struct mc_member_record wanted = membership(2);

	(void)state;
	wanted.join_state = JOIN_FULL | JOIN_NON;
	assert_int_equal(set(2, wanted, create_mask), 0);
	wanted.join_state = JOIN_SEND_ONLY;
	assert_int_equal(leave(2, wanted), SA_STATUS_REQ_INVALID);
	wanted.join_state = JOIN_NON;
	assert_int_equal(leave(2, wanted), 0);
	assert_int_equal(reply.method, MAD_DELETE_RESPONSE);
	assert_int_equal(reply_member(&reply, 0).join_state, JOIN_FULL);
	assert_non_null(the_group());
	wanted.join_state = JOIN_FULL;
	assert_int_equal(leave(2, wanted), 0);
	assert_int_equal(reply_member(&reply, 0).join_state, 0);
	assert_null(the_group());
	assert_int_equal(leave(2, wanted), SA_STATUS_REQ_INVALID);
}

static void test_last_keeper_takes_the_group_with_it(void **state)
{
	struct mc_member_record listener = membership(3);

	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	listener.join_state = JOIN_NON;
	assert_int_equal(set(3, listener, join_mask), 0);
	fixture.changed_count = 0;
	assert_int_equal(leave(2, membership(2)), 0);
	assert_null(the_group());
	assert_int_equal(fixture.changed_count, 1);
	assert_int_equal(leave(3, listener), SA_STATUS_REQ_INVALID);
}

static void test_kept_group_outlives_its_members(void **state)
{
	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	the_group()->is_kept = true;
	assert_int_equal(leave(2, membership(2)), 0);
	assert_non_null(the_group());
	assert_int_equal(set(3, membership(3), join_mask), 0);
}

static void test_vanished_port_leaves_by_itself(void **state)
{
	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	assert_int_equal(set(3, membership(3), join_mask), 0);
	fixture.changed_count = 0;
	fixture_sweep_without(&fixture, 3);
	assert_int_equal(the_group()->member_count, 1);
	assert_int_equal(fixture.changed_count, 1);
	fixture_sweep_without(&fixture, 2);
	assert_null(the_group());
}

/* Memberships end with the master; clients join again at the next one. */
static void test_groups_of_clients_go_with_the_master(void **state)
{
	struct mc_member_record other = membership(2);

	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	the_group()->is_kept = true;
	other.mgid_low++;
	assert_int_equal(set(2, other, create_mask), 0);
	sa_stop_serving(fixture.sa);
	assert_int_equal(fixture.subnet->multicast_groups.group_count, 1);
	assert_int_equal(the_group()->member_count, 0);
}

/* IP groups need the broadcast group of their partition and must agree with it (management 4.7). */
static void test_ip_groups_follow_the_broadcast_group(void **state)
{
	const struct multicast_characteristics values = {.qkey = 0xb1b,
							 .pkey = 0xffff,
							 .mtu = MTU_2048,
							 .rate = RATE_10_GBPS,
							 .packet_life_time = 0x12,
							 .scope = 2};
	struct gid broadcast = multicast_broadcast_mgid(2, 0xffff);
	struct mc_member_record wanted = membership(2);
	struct multicast_group *group;

	(void)state;
	wanted.mgid_high = 0xff12401bffff0000;
	wanted.mgid_low = 0x00000000e0000001;
	wanted.qkey = 0xb1b;
	assert_int_equal(set(2, wanted, create_mask), SA_STATUS_REQ_INVALID);
	assert_int_equal(multicast_groups_create(&fixture.subnet->multicast_groups, &broadcast,
						 &values, &group),
			 0);
	group->is_kept = true;
	assert_int_equal(set(2, wanted, create_mask), 0);
	assert_int_equal(reply_member(&reply, 0).mtu, MTU_2048);
	assert_int_equal(reply_member(&reply, 0).rate, RATE_10_GBPS);
	wanted.mgid_low++;
	wanted.qkey = 0xb1c;
	assert_int_equal(set(2, wanted, create_mask), SA_STATUS_REQ_INVALID);
	/* IPv6 groups use the IPv4 broadcast group too. */
	wanted.mgid_high = 0xff12601bffff0000;
	wanted.qkey = 0xb1b;
	assert_int_equal(set(2, wanted, create_mask), 0);
}

static void test_no_more_mlids(void **state)
{
	struct mc_member_record wanted = membership(2);

	(void)state;
	fixture.subnet->multicast_groups.mlid_count_max = 1;
	assert_int_equal(set(2, wanted, create_mask), 0);
	wanted.mgid_low++;
	assert_int_equal(set(2, wanted, create_mask), SA_STATUS_NO_RESOURCES);
}

static void test_one_port_leaves_half_of_the_mlids_to_others(void **state)
{
	struct mc_member_record wanted = membership(2);

	(void)state;
	fixture.subnet->multicast_groups.mlid_count_max = 4;
	for (unsigned i = 0; i < 2; i++, wanted.mgid_low++)
		assert_int_equal(set(2, wanted, create_mask), 0);
	assert_int_equal(set(2, wanted, create_mask), SA_STATUS_NO_RESOURCES);
	wanted.port_gid_guid = fixture_port(&fixture, 3)->guid;
	assert_int_equal(set(3, wanted, create_mask), 0);
}

static void look(unsigned host, uint64_t sm_key, struct mc_member_record wanted, uint64_t mask)
{
	uint8_t data[MC_MEMBER_RECORD_BYTES];
	const struct sa_question question = {.host = host,
					     .method = MAD_GET_TABLE,
					     .attribute_id = SA_MC_MEMBER_RECORD,
					     .components = mask,
					     .sm_key = sm_key,
					     .data = data,
					     .byte_count = sizeof(data)};

	mc_member_record_encode(&wanted, data);
	fixture_ask(&fixture, &question, &reply);
}

static void test_strangers_see_groups_not_members(void **state)
{
	(void)state;
	assert_int_equal(set(2, membership(2), create_mask), 0);
	assert_int_equal(set(3, membership(3), join_mask), 0);
	look(4, 0, membership(2), SA_COMPONENT(MCR_MGID));
	assert_int_equal(reply.count, 1);
	assert_int_equal(reply.stride, 56);
	assert_int_equal(reply_member(&reply, 0).port_gid_guid, 0);
	assert_int_equal(reply_member(&reply, 0).join_state, 0);
	/* A port may see its own membership. */
	look(3, 0, membership(3), SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID));
	assert_int_equal(reply.count, 1);
	assert_int_equal(reply_member(&reply, 0).join_state, JOIN_FULL);
	look(4, 0, membership(3), SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID));
	assert_int_equal(reply.count, 0);
	look(4, FIXTURE_SM_KEY, membership(2), 0);
	assert_int_equal(reply.count, 2);
	assert_int_equal(reply_member(&reply, 1).port_gid_guid, fixture_port(&fixture, 3)->guid);
}

static void test_groups_are_found_by_what_they_are(void **state)
{
	struct mc_member_record wanted = membership(2);

	(void)state;
	assert_int_equal(set(2, wanted, create_mask), 0);
	wanted.mgid_low++;
	wanted.qkey = 0x99;
	assert_int_equal(set(2, wanted, create_mask), 0);
	look(3, 0, wanted, SA_COMPONENT(MCR_QKEY));
	assert_int_equal(reply.count, 1);
	assert_int_equal(reply_member(&reply, 0).mgid_low, wanted.mgid_low);
	wanted.mlid = 0xc000;
	look(3, 0, wanted, SA_COMPONENT(MCR_MLID));
	assert_int_equal(reply.count, 1);
	wanted.mtu_selector = SELECT_GREATER;
	wanted.mtu = MTU_2048;
	look(3, 0, wanted, SA_COMPONENT(MCR_MTU_SELECTOR) | SA_COMPONENT(MCR_MTU));
	assert_int_equal(reply.count, 2);
	wanted.mtu_selector = SELECT_LESS;
	look(3, 0, wanted, SA_COMPONENT(MCR_MTU_SELECTOR) | SA_COMPONENT(MCR_MTU));
	assert_int_equal(reply.count, 0);
}

static void set_uplink(uint8_t mtu, uint8_t speed)
{
	for (unsigned i = 1; i <= FIXTURE_SWITCHES; i++) {
		struct port_info *info = &fixture.switches[i]->ports[FIXTURE_UPLINK].info;

		info->neighbor_mtu = mtu;
		info->link_speed_active = speed;
		info->link_speed_ext_active = 0;
	}
	fixture_sweep(&fixture);
}

/* Step d of the join algorithm: hosts 1 and 3 have 4096-byte ports, the link between their switches
 * carries 512 bytes. */
static void test_join_fails_when_a_link_of_the_tree_has_a_smaller_mtu(void **state)
{
	struct mc_member_record wanted = membership(1);
	uint64_t mask = create_mask | SA_COMPONENT(MCR_MTU_SELECTOR) | SA_COMPONENT(MCR_MTU) |
			SA_COMPONENT(MCR_RATE_SELECTOR) | SA_COMPONENT(MCR_RATE);

	(void)state;
	set_uplink(MTU_512, LINK_SPEED_QDR);
	wanted.mtu_selector = wanted.rate_selector = SELECT_EXACTLY;
	wanted.mtu = MTU_2048;
	wanted.rate = RATE_10_GBPS;
	assert_int_equal(set(1, wanted, mask), 0);
	assert_int_equal(set(2, membership(2), join_mask), 0);
	assert_int_equal(set(3, membership(3), join_mask), SA_STATUS_REQ_INVALID);
	assert_int_equal(the_group()->member_count, 2);
	/* A group whose packets fit may have members on both sides. */
	wanted.mgid_low++;
	wanted.mtu = MTU_512;
	assert_int_equal(set(1, wanted, mask), 0);
	wanted.port_gid_guid = fixture_port(&fixture, 3)->guid;
	assert_int_equal(set(3, wanted, mask), 0);
}

static void test_join_fails_when_a_link_of_the_tree_is_slower(void **state)
{
	(void)state;
	assert_int_equal(set(1, membership(1), create_mask), 0);
	set_uplink(MTU_4096, LINK_SPEED_SDR);
	assert_int_equal(set(3, membership(3), join_mask), SA_STATUS_REQ_INVALID);
	set_uplink(MTU_4096, LINK_SPEED_SDR);
	assert_int_equal(set(2, membership(2), join_mask), 0);
}

/* Step c of the join algorithm. */
static void test_join_fails_at_a_switch_without_a_multicast_table(void **state)
{
	(void)state;
	fixture.switches[2]->switch_info.multicast_fdb_cap = 0;
	fixture_sweep(&fixture);
	assert_int_equal(set(3, membership(3), create_mask), SA_STATUS_REQ_INVALID);
	assert_null(the_group());
	assert_int_equal(set(1, membership(1), create_mask), 0);
	assert_int_equal(set(3, membership(3), join_mask), SA_STATUS_REQ_INVALID);
	assert_int_equal(set(2, membership(2), join_mask), 0);
}

/* A link that gets slower does not end a membership: repeating the Set is harmless. */
static void test_member_may_repeat_its_join(void **state)
{
	(void)state;
	assert_int_equal(set(1, membership(1), create_mask), 0);
	assert_int_equal(set(3, membership(3), join_mask), 0);
	set_uplink(MTU_512, LINK_SPEED_SDR);
	assert_int_equal(set(3, membership(3), join_mask), 0);
	assert_int_equal(set(4, membership(4), join_mask), SA_STATUS_REQ_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SA_FIXTURE_TEST(test_create_takes_what_the_port_has),
		SA_FIXTURE_TEST(test_hop_limit_goes_with_the_scope),
		SA_FIXTURE_TEST(test_create_needs_its_components),
		SA_FIXTURE_TEST(test_only_who_keeps_a_group_alive_creates_it),
		SA_FIXTURE_TEST(test_mgids_that_nobody_may_have),
		SA_FIXTURE_TEST(test_zero_mgid_lets_the_sa_choose),
		SA_FIXTURE_TEST(test_create_chooses_by_selectors),
		SA_FIXTURE_TEST(test_create_refuses_what_the_port_can_not),
		SA_FIXTURE_TEST(test_join_adds_to_what_is_joined),
		SA_FIXTURE_TEST(test_join_must_agree_with_the_group),
		SA_FIXTURE_TEST(test_slow_port_can_not_join),
		SA_FIXTURE_TEST(test_members_hold_the_groups_pkey),
		SA_FIXTURE_TEST(test_port_gid_must_be_a_port_of_the_subnet),
		SA_FIXTURE_TEST(test_proxy_join_is_marked_and_changed_by_others_only),
		SA_FIXTURE_TEST(test_proxy_must_share_a_partition),
		SA_FIXTURE_TEST(test_leaving_takes_bits_away),
		SA_FIXTURE_TEST(test_last_keeper_takes_the_group_with_it),
		SA_FIXTURE_TEST(test_kept_group_outlives_its_members),
		SA_FIXTURE_TEST(test_vanished_port_leaves_by_itself),
		SA_FIXTURE_TEST(test_groups_of_clients_go_with_the_master),
		SA_FIXTURE_TEST(test_ip_groups_follow_the_broadcast_group),
		SA_FIXTURE_TEST(test_no_more_mlids),
		SA_FIXTURE_TEST(test_one_port_leaves_half_of_the_mlids_to_others),
		SA_FIXTURE_TEST(test_strangers_see_groups_not_members),
		SA_FIXTURE_TEST(test_groups_are_found_by_what_they_are),
		SA_FIXTURE_TEST(test_join_fails_when_a_link_of_the_tree_has_a_smaller_mtu),
		SA_FIXTURE_TEST(test_join_fails_when_a_link_of_the_tree_is_slower),
		SA_FIXTURE_TEST(test_join_fails_at_a_switch_without_a_multicast_table),
		SA_FIXTURE_TEST(test_member_may_repeat_its_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
