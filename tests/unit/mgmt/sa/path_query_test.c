/* SPDX-License-Identifier: Apache-2.0 */
/* PathRecord and MultiPathRecord: ends, selectors, keys, LMC, routers, groups (management 4.6).
 * Covers: mgmt/sa/path_records.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "sa_fixture.h"
#include "vectors/hex.h"
#include "wire/mtu.h"
#include "wire/rate.h"

enum { RATE_100_GBPS = 16, RATE_10_GBPS = 3, RATE_40_GBPS = 7 };

static struct sa_fixture fixture;
static struct sa_reply reply;

static int set_up(void **state)
{
	(void)state;
	sa_fixture_start(&fixture);
	return 0;
}

static int set_up_lmc(void **state)
{
	(void)state;
	sa_fixture_start_lmc(&fixture, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sa_fixture_stop(&fixture);
	return 0;
}

static const uint64_t by_gids =
	SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_DGID) | SA_COMPONENT(PR_PATH_COUNT);

/* From one host to another by their GIDs. */
static struct path_record between(unsigned from, unsigned to)
{
	return (struct path_record){.sgid_prefix = GID_PREFIX_LINK_LOCAL,
				    .sgid_guid = fixture_port(&fixture, from)->guid,
				    .dgid_prefix = GID_PREFIX_LINK_LOCAL,
				    .dgid_guid = fixture_port(&fixture, to)->guid,
				    .path_count = 1};
}

static void get(struct path_record wanted, uint64_t components)
{
	fixture_ask_path(&fixture, 2, MAD_GET, &wanted, components, &reply);
}

static void test_path_by_gids_has_lids_and_what_the_links_offer(void **state)
{
	(void)state;
	get(between(2, 3), by_gids);
	assert_int_equal(reply.method, MAD_GET_RESPONSE);
	assert_int_equal(reply.status, 0);

	struct path_record path = reply_path(&reply, 0);

	assert_int_equal(path.slid, 2);
	assert_int_equal(path.dlid, 3);
	assert_int_equal(path.sgid_guid, fixture_port(&fixture, 2)->guid);
	assert_int_equal(path.dgid_guid, fixture_port(&fixture, 3)->guid);
	assert_int_equal(path.mtu, MTU_4096);
	assert_int_equal(path.mtu_selector, SELECT_EXACTLY);
	assert_int_equal(path.rate, RATE_100_GBPS);
	assert_int_equal(path.rate_selector, SELECT_EXACTLY);
	assert_int_equal(path.packet_life_time, 0x12);
	assert_int_equal(path.packet_life_time_selector, SELECT_EXACTLY);
	assert_int_equal(path.pkey, 0xffff);
	assert_int_equal(path.reversible, 1);
	assert_int_equal(path.hop_limit, 0);
	assert_int_equal(path.preference, 0);
}

/* The bytes of a whole response. */
static void test_path_record_is_sent_as_the_layout_says(void **state)
{
	uint8_t expected[PATH_RECORD_BYTES];

	/* Service id, DGID, SGID, DLID, SLID, flow label and hop limit, traffic class, reversible,
	 * P_Key, SL; MTU, rate and lifetime with "exactly". */
	assert_int_equal(hex_bytes("0000000000000000 fe80000000000000 0000000000000131"
				   "fe80000000000000 0000000000000121 0003 0002 00000000 00 80"
				   "ffff 0000 85 90 92 00 000000000000",
				   sizeof(expected), expected),
			 PATH_RECORD_BYTES);
	(void)state;
	get(between(2, 3), by_gids);
	assert_memory_equal(reply.bytes, expected, sizeof(expected));
}

static void test_path_by_lids_is_the_same_path(void **state)
{
	struct path_record wanted = {.slid = 2, .dlid = 3};

	(void)state;
	get(wanted, SA_COMPONENT(PR_SLID) | SA_COMPONENT(PR_DLID));
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply_path(&reply, 0).dgid_guid, fixture_port(&fixture, 3)->guid);
}

static void test_gid_and_lid_of_one_end_must_be_the_same_port(void **state)
{
	struct path_record wanted = between(2, 3);

	(void)state;
	wanted.dlid = 3;
	get(wanted, by_gids | SA_COMPONENT(PR_DLID));
	assert_int_equal(reply.status, 0);
	wanted.dlid = 4;
	get(wanted, by_gids | SA_COMPONENT(PR_DLID));
	assert_int_equal(reply.status, SA_STATUS_REQ_INVALID);
}

static void test_unknown_ends_are_refused(void **state)
{
	struct path_record wanted = between(2, 3);

	(void)state;
	wanted.dgid_guid = 0xdead;
	get(wanted, by_gids);
	assert_int_equal(reply.status, SA_STATUS_INVALID_GID);
	wanted = between(2, 3);
	wanted.sgid_prefix = 0xfec0000000000007;
	get(wanted, by_gids);
	assert_int_equal(reply.status, SA_STATUS_INVALID_GID);
	wanted = (struct path_record){.slid = 2, .dlid = 0x700};
	get(wanted, SA_COMPONENT(PR_SLID) | SA_COMPONENT(PR_DLID));
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
}

static void test_get_needs_both_ends(void **state)
{
	(void)state;
	get(between(2, 3), SA_COMPONENT(PR_SGID));
	assert_int_equal(reply.status, SA_STATUS_INSUFFICIENT_COMPONENTS);
	get(between(2, 3), SA_COMPONENT(PR_DGID));
	assert_int_equal(reply.status, SA_STATUS_INSUFFICIENT_COMPONENTS);
}

static void test_table_from_one_source_has_a_path_to_every_port(void **state)
{
	struct path_record wanted = between(2, 3);

	(void)state;
	fixture_ask_path(&fixture, 2, MAD_GET_TABLE, &wanted, SA_COMPONENT(PR_SGID), &reply);
	assert_int_equal(reply.method, MAD_GET_TABLE_RESPONSE);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply.stride, PATH_RECORD_BYTES);
	assert_int_equal(reply.count, 7);
	for (unsigned i = 0; i < 7; i++) {
		assert_int_equal(reply_path(&reply, i).slid, 2);
		assert_int_equal(reply_path(&reply, i).dlid, i + 1);
	}
}

static void test_table_of_everything_has_all_pairs(void **state)
{
	struct path_record wanted = {0};

	(void)state;
	fixture_ask_path(&fixture, 2, MAD_GET_TABLE, &wanted, 0, &reply);
	assert_int_equal(reply.count, 49);
}

static void test_path_to_itself_has_no_lifetime(void **state)
{
	(void)state;
	get(between(2, 2), by_gids);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply_path(&reply, 0).dlid, 2);
	assert_int_equal(reply_path(&reply, 0).packet_life_time, 0);
}

struct selector_case {
	uint8_t selector, wanted;
	uint16_t status;
	uint8_t expected;
};

static void test_mtu_selectors(void **state)
{
	static const struct selector_case cases[] = {
		{SELECT_GREATER, MTU_2048, 0, MTU_4096},
		{SELECT_GREATER, MTU_4096, SA_STATUS_NO_RECORDS, 0},
		{SELECT_LESS, MTU_2048, 0, MTU_1024},
		{SELECT_LESS, MTU_256, SA_STATUS_NO_RECORDS, 0},
		{SELECT_EXACTLY, MTU_512, 0, MTU_512},
		{SELECT_EXACTLY, MTU_4096, 0, MTU_4096},
		{SELECT_EXACTLY, 9, SA_STATUS_REQ_INVALID, 0},
		{SELECT_BEST, 0, 0, MTU_4096},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct path_record wanted = between(2, 3);

		wanted.mtu_selector = cases[i].selector;
		wanted.mtu = cases[i].wanted;
		get(wanted, by_gids | SA_COMPONENT(PR_MTU) | SA_COMPONENT(PR_MTU_SELECTOR));
		assert_int_equal(reply.status, cases[i].status);
		if (!cases[i].status)
			assert_int_equal(reply_path(&reply, 0).mtu, cases[i].expected);
	}
}

static void test_rate_selectors_go_by_speed_not_by_code(void **state)
{
	static const struct selector_case cases[] = {
		{SELECT_GREATER, RATE_40_GBPS, 0, RATE_100_GBPS},
		{SELECT_GREATER, RATE_100_GBPS, SA_STATUS_NO_RECORDS, 0},
		/* 5 Gb/s has code 5, below 10 Gb/s with code 3. */
		{SELECT_LESS, RATE_10_GBPS, 0, 5},
		{SELECT_LESS, 2, SA_STATUS_NO_RECORDS, 0},
		{SELECT_EXACTLY, RATE_40_GBPS, 0, RATE_40_GBPS},
		{SELECT_EXACTLY, 17, SA_STATUS_NO_RECORDS, 0},
		{SELECT_EXACTLY, 1, SA_STATUS_REQ_INVALID, 0},
		{SELECT_BEST, 0, 0, RATE_100_GBPS},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct path_record wanted = between(2, 3);

		wanted.rate_selector = cases[i].selector;
		wanted.rate = cases[i].wanted;
		get(wanted, by_gids | SA_COMPONENT(PR_RATE) | SA_COMPONENT(PR_RATE_SELECTOR));
		assert_int_equal(reply.status, cases[i].status);
		if (!cases[i].status)
			assert_int_equal(reply_path(&reply, 0).rate, cases[i].expected);
	}
}

static void test_lifetime_selectors(void **state)
{
	static const struct selector_case cases[] = {
		{SELECT_GREATER, 0x10, 0, 0x12}, {SELECT_GREATER, 0x12, 0, 0x13},
		{SELECT_LESS, 0x13, 0, 0x12},	 {SELECT_LESS, 0x12, SA_STATUS_NO_RECORDS, 0},
		{SELECT_EXACTLY, 0x14, 0, 0x14}, {SELECT_EXACTLY, 0x11, SA_STATUS_NO_RECORDS, 0},
		{SELECT_BEST, 0, 0, 0x12},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct path_record wanted = between(2, 3);

		wanted.packet_life_time_selector = cases[i].selector;
		wanted.packet_life_time = cases[i].wanted;
		get(wanted, by_gids | SA_COMPONENT(PR_PACKET_LIFE_TIME) |
				    SA_COMPONENT(PR_PACKET_LIFE_TIME_SELECTOR));
		assert_int_equal(reply.status, cases[i].status);
		if (!cases[i].status)
			assert_int_equal(reply_path(&reply, 0).packet_life_time, cases[i].expected);
	}
}

static void test_selector_without_value_counts_for_nothing(void **state)
{
	struct path_record wanted = between(2, 3);

	(void)state;
	wanted.mtu_selector = SELECT_GREATER;
	wanted.mtu = MTU_4096;
	get(wanted, by_gids | SA_COMPONENT(PR_MTU_SELECTOR));
	assert_int_equal(reply.status, 0);
	get(wanted, by_gids | SA_COMPONENT(PR_MTU));
	assert_int_equal(reply.status, 0);
}

static void test_path_offers_the_least_of_its_links(void **state)
{
	struct subnet_port *uplink = &fixture.switches[1]->ports[8];

	(void)state;
	uplink->info.neighbor_mtu = MTU_1024;
	uplink->info.link_speed_ext_active = 0;
	uplink->peer->info.neighbor_mtu = MTU_1024;
	uplink->peer->info.link_speed_ext_active = 0;
	fixture_sweep(&fixture);
	get(between(2, 3), by_gids);
	assert_int_equal(reply_path(&reply, 0).mtu, MTU_1024);
	assert_int_equal(reply_path(&reply, 0).rate, RATE_40_GBPS);
	get(between(2, 1), by_gids);
	assert_int_equal(reply_path(&reply, 0).mtu, MTU_4096);
}

static void test_reversible_path_needs_the_way_back(void **state)
{
	struct path_record wanted = between(2, 3);

	(void)state;
	fixture.switches[2]->table[2] = 0xff;
	fixture_sweep(&fixture);
	get(wanted, by_gids);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply_path(&reply, 0).reversible, 0);
	wanted.reversible = 1;
	get(wanted, by_gids | SA_COMPONENT(PR_REVERSIBLE));
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
}

static void test_broken_tables_give_no_path(void **state)
{
	(void)state;
	fixture.switches[1]->table[3] = 0xff;
	fixture_sweep(&fixture);
	get(between(2, 3), by_gids);
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
	get(between(2, 4), by_gids);
	assert_int_equal(reply.status, 0);
}

static void test_pkey_must_be_shared_in_kinds_that_may_talk(void **state)
{
	static const uint16_t full[] = {0xffff, 0x8001};
	static const uint16_t limited[] = {0xffff, 0x0001};
	struct path_record wanted = between(2, 3);

	(void)state;
	fixture_set_pkeys(&fixture, 2, full, 2);
	wanted.pkey = 0x8001;
	get(wanted, by_gids | SA_COMPONENT(PR_PKEY));
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
	fixture_set_pkeys(&fixture, 3, limited, 2);
	get(wanted, by_gids | SA_COMPONENT(PR_PKEY));
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply_path(&reply, 0).pkey, 0x8001);
	fixture_set_pkeys(&fixture, 2, limited, 2);
	get(wanted, by_gids | SA_COMPONENT(PR_PKEY));
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
}

static void test_paths_of_strangers_are_not_shown(void **state)
{
	static const uint16_t other[] = {0x8002};
	struct path_record wanted = between(3, 4);

	(void)state;
	fixture_set_pkeys(&fixture, 3, other, 1);
	fixture_set_pkeys(&fixture, 4, other, 1);
	get(wanted, by_gids);
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
	fixture_ask_path(&fixture, 3, MAD_GET, &wanted, by_gids, &reply);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply_path(&reply, 0).pkey, 0x8002);
	/* The manager's own port sees everything (management 4.5). */
	fixture_ask_path(&fixture, 1, MAD_GET, &wanted, by_gids, &reply);
	assert_int_equal(reply.status, 0);
}

static void test_raw_traffic_has_no_path(void **state)
{
	struct path_record wanted = between(2, 3);

	(void)state;
	wanted.raw_traffic = 1;
	get(wanted, by_gids | SA_COMPONENT(PR_RAW_TRAFFIC));
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
}

static void test_half_a_service_id_is_not_enough(void **state)
{
	struct path_record wanted = between(2, 3);

	(void)state;
	wanted.service_id = 0x0100000000000001;
	get(wanted, by_gids | SA_COMPONENT(PR_SERVICE_ID_LOW));
	assert_int_equal(reply.status, SA_STATUS_INSUFFICIENT_COMPONENTS);
	get(wanted, by_gids | SA_COMPONENT(PR_SERVICE_ID_LOW) | SA_COMPONENT(PR_SERVICE_ID_HIGH));
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply_path(&reply, 0).service_id, wanted.service_id);
}

static void test_answer_repeats_flow_label_class_and_sl(void **state)
{
	struct path_record wanted = between(2, 3);

	(void)state;
	wanted.flow_label = 0x12345;
	wanted.traffic_class = 0x66;
	wanted.sl = 4;
	wanted.qos_class = 0x123;
	get(wanted, by_gids | SA_COMPONENT(PR_FLOW_LABEL) | SA_COMPONENT(PR_TRAFFIC_CLASS) |
			    SA_COMPONENT(PR_SL) | SA_COMPONENT(PR_QOS_CLASS));
	assert_int_equal(reply.status, 0);

	struct path_record path = reply_path(&reply, 0);

	assert_int_equal(path.flow_label, 0x12345);
	assert_int_equal(path.traffic_class, 0x66);
	assert_int_equal(path.sl, 4);
	assert_int_equal(path.qos_class, 0x123);
}

/* If routing uses several VLs it determines the SL, except for the bits that it leaves to policy.
 */
static void test_routing_leaves_some_bits_of_the_sl_to_others(void **state)
{
	struct subnet *subnet = fixture.subnet;
	struct path_record wanted = between(2, 3);
	size_t level_count = (size_t)subnet->switch_count * (subnet->lid_max + 1u);

	(void)state;
	subnet->service_levels = malloc(level_count);
	assert_non_null(subnet->service_levels);
	memset(subnet->service_levels, 5, level_count);
	subnet->service_levels_switch_count = subnet->switch_count;
	subnet->service_levels_lid_max = subnet->lid_max;
	sa_subnet_changed(fixture.sa, fixture.now, subnet);
	get(wanted, by_gids);
	assert_int_equal(reply_path(&reply, 0).sl, 5);
	wanted.sl = 5 | 8;
	get(wanted, by_gids | SA_COMPONENT(PR_SL));
	assert_int_not_equal(reply.status, 0);

	subnet->policy_sl_bits = 8;
	sa_subnet_changed(fixture.sa, fixture.now, subnet);
	get(wanted, by_gids | SA_COMPONENT(PR_SL));
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply_path(&reply, 0).sl, 5 | 8);
	wanted.sl = 2 | 8;
	get(wanted, by_gids | SA_COMPONENT(PR_SL));
	assert_int_not_equal(reply.status, 0);
}

/* Another subnet is reached through the router: its LID, the remote GID, and a hop limit. */
static void test_other_subnet_is_reached_by_the_router(void **state)
{
	struct path_record wanted = between(2, 3);

	(void)state;
	wanted.dgid_prefix = 0xfec0000000000005;
	wanted.dgid_guid = 0x777;
	get(wanted, by_gids);
	assert_int_equal(reply.status, 0);

	struct path_record path = reply_path(&reply, 0);

	assert_int_equal(path.dlid, fixture_lid(&fixture, 0));
	assert_int_equal(path.dgid_prefix, 0xfec0000000000005);
	assert_int_equal(path.dgid_guid, 0x777);
	assert_int_equal(path.hop_limit, 255);
}

static void test_lmc_gives_every_pair_of_lids(void **state)
{
	struct path_record wanted = between(2, 3);
	bool seen[2][2] = {{false}};

	(void)state;
	fixture_ask_path(&fixture, 2, MAD_GET_TABLE, &wanted,
			 SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_DGID), &reply);
	assert_int_equal(reply.count, 4);
	for (unsigned i = 0; i < 4; i++) {
		struct path_record path = reply_path(&reply, i);

		assert_int_equal(path.slid & ~1, 4);
		assert_int_equal(path.dlid & ~1, 6);
		seen[path.slid & 1][path.dlid & 1] = true;
	}
	assert_true(seen[0][0] && seen[0][1] && seen[1][0] && seen[1][1]);
}

static void test_number_of_paths_is_per_pair_and_uses_different_lids(void **state)
{
	struct path_record wanted = between(2, 3);

	(void)state;
	wanted.path_count = 2;
	fixture_ask_path(&fixture, 2, MAD_GET_TABLE, &wanted, by_gids, &reply);
	assert_int_equal(reply.count, 2);
	assert_int_not_equal(reply_path(&reply, 0).slid, reply_path(&reply, 1).slid);
	assert_int_not_equal(reply_path(&reply, 0).dlid, reply_path(&reply, 1).dlid);
	wanted.path_count = 1;
	fixture_ask_path(&fixture, 2, MAD_GET_TABLE, &wanted,
			 SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_PATH_COUNT), &reply);
	assert_int_equal(reply.count, 7);
}

static void test_given_lid_of_a_range_is_the_one_that_is_answered(void **state)
{
	struct path_record wanted = {.slid = 5, .dlid = 7};

	(void)state;
	get(wanted, SA_COMPONENT(PR_SLID) | SA_COMPONENT(PR_DLID));
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply_path(&reply, 0).slid, 5);
	assert_int_equal(reply_path(&reply, 0).dlid, 7);
}

static void test_path_to_a_group_has_the_groups_values(void **state)
{
	const struct multicast_characteristics values = {.qkey = 0xb1b,
							 .pkey = 0xffff,
							 .mtu = MTU_2048,
							 .rate = RATE_10_GBPS,
							 .packet_life_time = 0x12,
							 .sl = 3,
							 .flow_label = 0x77};
	struct gid mgid = multicast_broadcast_mgid(2, 0xffff);
	struct path_record wanted = between(2, 3);
	struct multicast_group *group;

	(void)state;
	assert_int_equal(
		multicast_groups_create(&fixture.subnet->multicast_groups, &mgid, &values, &group),
		0);
	wanted.dgid_prefix = gid_prefix(&mgid);
	wanted.dgid_guid = gid_guid(&mgid);
	get(wanted, by_gids);
	assert_int_equal(reply.status, 0);

	struct path_record path = reply_path(&reply, 0);

	assert_int_equal(path.dlid, group->mlid);
	assert_int_equal(path.mtu, MTU_2048);
	assert_int_equal(path.rate, RATE_10_GBPS);
	assert_int_equal(path.sl, 3);
	assert_int_equal(path.flow_label, 0x77);
	wanted.mtu = MTU_2048;
	get(wanted, by_gids | SA_COMPONENT(PR_MTU_SELECTOR) | SA_COMPONENT(PR_MTU));
	assert_int_equal(reply.status, SA_STATUS_NO_RECORDS);
}

static size_t multi_path(const struct multi_path_header *header, const unsigned hosts[],
			 size_t host_count, uint8_t *ret_data)
{
	multi_path_header_encode(header, ret_data);
	for (size_t i = 0; i < host_count; i++) {
		struct gid gid = fixture_gid(&fixture, hosts[i]);

		memcpy(ret_data + MULTI_PATH_HEADER_BYTES + 16 * i, gid.bytes, 16);
	}
	return MULTI_PATH_HEADER_BYTES + 16 * host_count;
}

static void ask_multi(const struct multi_path_header *header, const unsigned hosts[],
		      size_t host_count, uint64_t components)
{
	uint8_t data[SA_DATA_BYTES];
	const struct sa_question question = {.host = 2,
					     .method = MAD_GET_MULTI,
					     .attribute_id = SA_MULTI_PATH_RECORD,
					     .components = components,
					     .data = data,
					     .byte_count =
						     multi_path(header, hosts, host_count, data)};

	fixture_ask(&fixture, &question, &reply);
}

static const uint64_t counts = SA_COMPONENT(MPR_SGID_COUNT) | SA_COMPONENT(MPR_DGID_COUNT);

static void test_multi_path_gives_all_pairs_as_path_records(void **state)
{
	static const unsigned hosts[] = {1, 2, 3, 4};
	const struct multi_path_header header = {.sgid_count = 2, .dgid_count = 2};

	(void)state;
	ask_multi(&header, hosts, 4, counts);
	assert_int_equal(reply.method, MAD_GET_MULTI_RESPONSE);
	assert_int_equal(reply.attribute_id, SA_PATH_RECORD);
	assert_int_equal(reply.count, 4);
	/* The first two paths have no end in common. */
	assert_int_not_equal(reply_path(&reply, 0).slid, reply_path(&reply, 1).slid);
	assert_int_not_equal(reply_path(&reply, 0).dlid, reply_path(&reply, 1).dlid);
}

static void test_multi_path_counts_paths_in_all(void **state)
{
	static const unsigned hosts[] = {1, 2, 3, 4};
	const struct multi_path_header header = {.sgid_count = 2, .dgid_count = 2, .path_count = 3};

	(void)state;
	ask_multi(&header, hosts, 4, counts | SA_COMPONENT(MPR_PATH_COUNT));
	assert_int_equal(reply.count, 3);
}

static void test_multi_path_counts_must_be_given_and_right(void **state)
{
	static const unsigned hosts[] = {1, 2};
	struct multi_path_header header = {.sgid_count = 1, .dgid_count = 1};

	(void)state;
	ask_multi(&header, hosts, 2, SA_COMPONENT(MPR_SGID_COUNT));
	assert_int_equal(reply.status, SA_STATUS_INSUFFICIENT_COMPONENTS);
	assert_int_equal(reply.attribute_id, SA_PATH_RECORD);
	header.dgid_count = 0;
	ask_multi(&header, hosts, 2, counts);
	assert_int_equal(reply.status, SA_STATUS_REQ_INVALID);
	header.dgid_count = 255;
	ask_multi(&header, hosts, 2, counts);
	assert_int_equal(reply.status, SA_STATUS_REQ_INVALID);
}

#define PATH_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
#define LMC_TEST(function)  cmocka_unit_test_setup_teardown(function, set_up_lmc, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PATH_TEST(test_path_by_gids_has_lids_and_what_the_links_offer),
		PATH_TEST(test_path_record_is_sent_as_the_layout_says),
		PATH_TEST(test_path_by_lids_is_the_same_path),
		PATH_TEST(test_gid_and_lid_of_one_end_must_be_the_same_port),
		PATH_TEST(test_unknown_ends_are_refused),
		PATH_TEST(test_get_needs_both_ends),
		PATH_TEST(test_table_from_one_source_has_a_path_to_every_port),
		PATH_TEST(test_table_of_everything_has_all_pairs),
		PATH_TEST(test_path_to_itself_has_no_lifetime),
		PATH_TEST(test_mtu_selectors),
		PATH_TEST(test_rate_selectors_go_by_speed_not_by_code),
		PATH_TEST(test_lifetime_selectors),
		PATH_TEST(test_selector_without_value_counts_for_nothing),
		PATH_TEST(test_path_offers_the_least_of_its_links),
		PATH_TEST(test_reversible_path_needs_the_way_back),
		PATH_TEST(test_broken_tables_give_no_path),
		PATH_TEST(test_pkey_must_be_shared_in_kinds_that_may_talk),
		PATH_TEST(test_paths_of_strangers_are_not_shown),
		PATH_TEST(test_raw_traffic_has_no_path),
		PATH_TEST(test_half_a_service_id_is_not_enough),
		PATH_TEST(test_answer_repeats_flow_label_class_and_sl),
		PATH_TEST(test_routing_leaves_some_bits_of_the_sl_to_others),
		PATH_TEST(test_other_subnet_is_reached_by_the_router),
		LMC_TEST(test_lmc_gives_every_pair_of_lids),
		LMC_TEST(test_number_of_paths_is_per_pair_and_uses_different_lids),
		LMC_TEST(test_given_lid_of_a_range_is_the_one_that_is_answered),
		PATH_TEST(test_path_to_a_group_has_the_groups_values),
		PATH_TEST(test_multi_path_gives_all_pairs_as_path_records),
		PATH_TEST(test_multi_path_counts_paths_in_all),
		PATH_TEST(test_multi_path_counts_must_be_given_and_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
