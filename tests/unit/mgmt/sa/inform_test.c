/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions and reports: which subscriber gets which notice, retries, and subscribers that do
 * not answer (management 4.8). Covers: mgmt/sa/notices.c mgmt/sa/reports.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "sa_fixture.h"
#include "wire/class_port_info.h"
#include "wire/smp.h"

enum { SA_AGENT = 7 };

static struct sa_fixture fixture;
static struct sa_reply reply;

static const struct inform_info everything = {
	.lid_range_begin = INFORM_ANY_LID,
	.is_generic = 1,
	.subscribe = 1,
	.type = INFORM_ANY_TYPE,
	.trap_number = INFORM_ANY_TRAP,
	.producer_type = INFORM_ANY_PRODUCER,
};

static uint16_t inform(unsigned host, struct inform_info info, uint64_t sm_key)
{
	uint8_t data[INFORM_INFO_BYTES];
	const struct sa_question question = {.host = host,
					     .method = MAD_SET,
					     .attribute_id = SA_INFORM_INFO,
					     .sm_key = sm_key,
					     .data = data,
					     .byte_count = sizeof(data)};

	inform_info_encode(&info, data);
	fixture_ask(&fixture, &question, &reply);
	return reply.status;
}

static uint8_t subscribe_in_reply(void)
{
	struct inform_info info;

	inform_info_decode(reply.bytes, &info);
	return info.subscribe;
}

/* The next report, its destination and its subject. 0: none now. */
static uint16_t next_report(uint16_t *ret_lid, struct notice *ret_notice, struct gid *ret_issuer,
			    struct mad_message *ret_message)
{
	if (!fixture_next_message(&fixture, ret_message))
		return 0;
	assert_int_equal(ret_message->bytes[3], MAD_REPORT);
	assert_int_equal(get_be16(ret_message->bytes + 16), SA_NOTICE);
	assert_int_equal(get_be32(ret_message->bytes + 8), SA_AGENT);
	notice_decode(ret_message->bytes + SA_DATA_OFFSET, ret_notice);
	memcpy(ret_issuer->bytes, ret_message->bytes + SA_DATA_OFFSET + NOTICE_BYTES, 16);
	*ret_lid = ret_message->address.lid;
	return ret_notice->header.trap_number;
}

static void acknowledge(const struct mad_message *report)
{
	struct mad_message response = *report;

	response.bytes[3] = MAD_REPORT_RESPONSE;
	sa_receive(fixture.sa, fixture.now, &response);
}

/* Counts the reports that are sent now, and acknowledges all. */
static unsigned count_reports(enum trap_number trap)
{
	struct mad_message message;
	struct notice notice;
	struct gid issuer;
	unsigned count = 0;
	uint16_t lid;

	while (next_report(&lid, &notice, &issuer, &message)) {
		count += notice.header.trap_number == trap;
		acknowledge(&message);
	}
	return count;
}

static struct notice trap(uint16_t number, enum notice_type type, uint16_t issuer_lid)
{
	return (struct notice){.header = {.is_generic = 1,
					  .type = (uint8_t)type,
					  .producer_type = PRODUCER_SWITCH,
					  .trap_number = number,
					  .issuer_lid = issuer_lid}};
}

/* A node subscribes to a trap, another port goes down, and the report arrives at every subscriber.
 */
static void test_every_subscriber_hears_of_a_port_that_went(void **state)
{
	struct gid gone = fixture_gid(&fixture, 4);
	bool heard[FIXTURE_HOSTS + 1] = {false};
	struct inform_info info = everything;
	struct mad_message message;
	struct notice notice;
	struct gid issuer;
	uint16_t lid;

	(void)state;
	info.trap_number = TRAP_GID_OUT_OF_SERVICE;
	assert_int_equal(inform(2, info, 0), 0);
	assert_int_equal(inform(3, info, 0), 0);
	fixture_sweep_without(&fixture, 4);
	while (next_report(&lid, &notice, &issuer, &message)) {
		struct gid own = fixture_gid(&fixture, 1);

		assert_int_equal(notice.header.trap_number, TRAP_GID_OUT_OF_SERVICE);
		assert_int_equal(notice.header.issuer_lid, 1);
		assert_int_equal(notice.header.type, NOTICE_SUBNET_MANAGEMENT);
		assert_int_equal(notice.header.producer_type, PRODUCER_CLASS_MANAGER);
		assert_memory_equal(notice.details + 6, gone.bytes, 16);
		assert_true(gid_equal(&issuer, &own));
		heard[lid] = true;
		acknowledge(&message);
	}
	assert_true(heard[2] && heard[3]);
	/* And when the port returns. */
	info.trap_number = TRAP_GID_IN_SERVICE;
	assert_int_equal(inform(2, info, 0), 0);
	fixture_sweep_without(&fixture, 0);
	assert_int_equal(count_reports(TRAP_GID_IN_SERVICE), 1);
}

static void test_traps_of_the_manager_are_passed_on(void **state)
{
	struct notice notice = trap(TRAP_LINK_STATE_CHANGE, NOTICE_URGENT, 5);
	struct gid expected = gid_from(GID_PREFIX_LINK_LOCAL, fixture.switches[1]->ports[0].guid);
	struct mad_message message;
	struct notice heard;
	struct gid issuer;
	uint16_t lid;

	(void)state;
	assert_int_equal(inform(2, everything, 0), 0);
	notice.details[0] = 0xab;
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_equal(next_report(&lid, &heard, &issuer, &message), TRAP_LINK_STATE_CHANGE);
	assert_int_equal(heard.details[0], 0xab);
	assert_int_equal(heard.header.issuer_lid, 5);
	assert_true(gid_equal(&issuer, &expected));
}

static void test_report_is_repeated_until_acknowledged(void **state)
{
	struct notice notice = trap(TRAP_LINK_STATE_CHANGE, NOTICE_URGENT, 5);
	struct mad_message first, again;
	struct gid issuer;
	uint16_t lid;

	(void)state;
	assert_int_equal(inform(2, everything, 0), 0);
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_not_equal(next_report(&lid, &notice, &issuer, &first), 0);
	assert_false(fixture_next_message(&fixture, &again));
	fixture.now = sa_deadline(fixture.sa);
	assert_int_not_equal(next_report(&lid, &notice, &issuer, &again), 0);
	assert_memory_equal(first.bytes, again.bytes, MAD_BYTES);
	acknowledge(&again);
	assert_int_equal(sa_deadline(fixture.sa), TIME_NEVER);
}

/* The subscriber redirects its reports to host 4, which it names by GID alone. */
static void test_report_follows_a_subscriber_that_redirects_by_gid(void **state)
{
	struct notice notice = trap(TRAP_LINK_STATE_CHANGE, NOTICE_URGENT, 5);
	const struct class_port_info info = {.redirect_gid_prefix = GID_PREFIX_LINK_LOCAL,
					     .redirect_gid_guid = fixture_port(&fixture, 4)->guid,
					     .redirect_qpn = 0x77};
	struct mad_message first, again;
	struct gid issuer;
	uint16_t lid;

	(void)state;
	assert_int_equal(inform(2, everything, 0), 0);
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_not_equal(next_report(&lid, &notice, &issuer, &first), 0);
	assert_int_equal(lid, fixture_lid(&fixture, 2));

	struct mad_message answer = first;

	answer.bytes[MAD_METHOD_OFFSET] = MAD_REPORT_RESPONSE;
	put_be16(answer.bytes + MAD_STATUS_OFFSET, MAD_STATUS_REDIRECT);
	put_be16(answer.bytes + 16, ATTRIBUTE_CLASS_PORT_INFO);
	class_port_info_encode(&info, answer.bytes + SA_DATA_OFFSET);
	sa_receive(fixture.sa, fixture.now, &answer);
	assert_int_not_equal(next_report(&lid, &notice, &issuer, &again), 0);
	assert_int_equal(lid, fixture_lid(&fixture, 4));
	assert_int_equal(again.address.qpn, 0x77);
	assert_memory_equal(first.bytes, again.bytes, MAD_BYTES);
	acknowledge(&again);
	assert_int_equal(sa_deadline(fixture.sa), TIME_NEVER);
}

/* A subscriber that never answers is removed after some reports, and delays no other meanwhile. */
static void test_silent_subscriber_is_forgotten_and_delays_nobody(void **state)
{
	struct notice notice = trap(TRAP_LINK_STATE_CHANGE, NOTICE_URGENT, 5);
	struct mad_message message;
	struct sa_status status;
	unsigned heard_count = 0;
	struct gid issuer;
	uint16_t lid;

	(void)state;
	assert_int_equal(inform(2, everything, 0), 0);
	assert_int_equal(inform(3, everything, 0), 0);
	for (unsigned i = 0; i < 20; i++)
		sa_notice(fixture.sa, fixture.now, &notice);
	/* Host 3 gets them all without any time passing. */
	while (next_report(&lid, &notice, &issuer, &message)) {
		if (lid != 3)
			continue;
		heard_count++;
		acknowledge(&message);
	}
	assert_int_equal(heard_count, 20);
	for (unsigned i = 0; i < 1000 && sa_deadline(fixture.sa) != TIME_NEVER; i++) {
		fixture.now = sa_deadline(fixture.sa) > fixture.now ? sa_deadline(fixture.sa)
								    : fixture.now;
		while (fixture_next_message(&fixture, &message))
			;
	}
	sa_status(fixture.sa, &status);
	assert_int_equal(status.subscription_count, 1);
	assert_true(status.report_failed_count >= 8);
}

static void test_unsubscribing_ends_it(void **state)
{
	struct notice notice = trap(TRAP_LINK_STATE_CHANGE, NOTICE_URGENT, 5);
	struct inform_info info = everything;

	(void)state;
	assert_int_equal(inform(2, everything, 0), 0);
	assert_int_equal(subscribe_in_reply(), 1);
	/* Subscribing twice makes one subscription. */
	assert_int_equal(inform(2, everything, 0), 0);
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_equal(count_reports(TRAP_LINK_STATE_CHANGE), 1);
	info.subscribe = 0;
	info.qpn = 1;
	assert_int_equal(inform(2, info, 0), 0);
	assert_int_equal(subscribe_in_reply(), 0);
	assert_int_equal(inform(2, info, 0), SA_STATUS_REQ_INVALID);
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_equal(count_reports(TRAP_LINK_STATE_CHANGE), 0);
}

static void test_nonsense_is_refused(void **state)
{
	struct inform_info info = everything;

	(void)state;
	info.subscribe = 2;
	assert_int_equal(inform(2, info, 0), SA_STATUS_REQ_INVALID);
	assert_int_equal(subscribe_in_reply(), 0);
	info = everything;
	info.lid_range_begin = 9;
	info.lid_range_end = 3;
	assert_int_equal(inform(2, info, 0), SA_STATUS_REQ_INVALID);
	info = everything;
	info.is_generic = 7;
	assert_int_equal(inform(2, info, 0), SA_STATUS_REQ_INVALID);
	assert_int_equal(inform(0, everything, 0), SA_STATUS_REQ_INVALID);
}

static void test_security_traps_are_for_the_trusted(void **state)
{
	struct notice notice = trap(TRAP_BAD_PKEY, NOTICE_SECURITY, 3);
	struct inform_info info = everything;

	(void)state;
	info.trap_number = TRAP_BAD_PKEY;
	assert_int_equal(inform(2, info, 0), SA_STATUS_REQ_INVALID);
	assert_int_equal(subscribe_in_reply(), 0);
	/* A subscription to everything gets everything else. */
	assert_int_equal(inform(2, everything, 0), 0);
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_equal(count_reports(TRAP_BAD_PKEY), 0);
	assert_int_equal(inform(3, info, FIXTURE_SM_KEY), 0);
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_equal(count_reports(TRAP_BAD_PKEY), 1);
}

static void test_partitions_decide_who_hears(void **state)
{
	static const uint16_t other[] = {0x8005};
	struct notice notice = trap(TRAP_LOCAL_CHANGE, NOTICE_INFORMATIONAL, 4);

	(void)state;
	assert_int_equal(inform(2, everything, 0), 0);
	fixture_set_pkeys(&fixture, 4, other, 1);
	assert_int_equal(count_reports(TRAP_LOCAL_CHANGE), 0);
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_equal(count_reports(TRAP_LOCAL_CHANGE), 0);
	notice.header.issuer_lid = 3;
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_equal(count_reports(TRAP_LOCAL_CHANGE), 1);
}

/* o13-17.1.2: a subscription to named ports is removed when the subscriber may not see them. */
static void test_subscription_to_forbidden_ports_ends(void **state)
{
	static const uint16_t other[] = {0x8005}, usual[] = {0xffff};
	struct notice notice = trap(TRAP_LOCAL_CHANGE, NOTICE_INFORMATIONAL, 4);
	struct inform_info by_lid = everything;

	(void)state;
	by_lid.lid_range_begin = 4;
	by_lid.lid_range_end = 4;
	assert_int_equal(inform(2, by_lid, 0), 0);
	assert_int_equal(inform(3, everything, 0), 0);
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_equal(count_reports(TRAP_LOCAL_CHANGE), 2);
	fixture_set_pkeys(&fixture, 4, other, 1);
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_equal(count_reports(TRAP_LOCAL_CHANGE), 0);
	/* Back in the partition: only the subscription to all ports is left. */
	fixture_set_pkeys(&fixture, 4, usual, 1);
	sa_notice(fixture.sa, fixture.now, &notice);
	assert_int_equal(count_reports(TRAP_LOCAL_CHANGE), 1);
}

static void test_groups_that_come_and_go_are_reported(void **state)
{
	const struct mc_member_record membership = {.mgid_high = 0xff12a01cfe800000,
						    .mgid_low = 5,
						    .port_gid_prefix = GID_PREFIX_LINK_LOCAL,
						    .port_gid_guid =
							    fixture_port(&fixture, 3)->guid,
						    .pkey = 0xffff,
						    .join_state = JOIN_FULL};
	uint64_t create_mask = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
			       SA_COMPONENT(MCR_JOIN_STATE) | SA_COMPONENT(MCR_QKEY) |
			       SA_COMPONENT(MCR_TRAFFIC_CLASS) | SA_COMPONENT(MCR_PKEY) |
			       SA_COMPONENT(MCR_SL) | SA_COMPONENT(MCR_FLOW_LABEL);

	(void)state;
	assert_int_equal(inform(2, everything, 0), 0);
	fixture_ask_member(&fixture, 3, MAD_SET, &membership, create_mask, &reply);
	assert_int_equal(reply.status, 0);
	assert_int_equal(count_reports(TRAP_MULTICAST_GROUP_CREATED), 1);
	fixture_ask_member(&fixture, 3, MAD_DELETE, &membership, create_mask, &reply);
	assert_int_equal(reply.status, 0);
	assert_int_equal(count_reports(TRAP_MULTICAST_GROUP_DELETED), 1);
}

static void test_subscriptions_of_a_vanished_port_go_with_it(void **state)
{
	struct sa_status status;

	(void)state;
	assert_int_equal(inform(4, everything, 0), 0);
	fixture_sweep_without(&fixture, 4);
	sa_status(fixture.sa, &status);
	assert_int_equal(status.subscription_count, 0);
	assert_int_equal(sa_deadline(fixture.sa), TIME_NEVER);
}

static void ask_records(unsigned host, uint64_t sm_key)
{
	const struct sa_question question = {.host = host,
					     .method = MAD_GET_TABLE,
					     .attribute_id = SA_INFORM_INFO_RECORD,
					     .sm_key = sm_key};

	fixture_ask(&fixture, &question, &reply);
}

/* C15-0.1.23.4: only a trusted request sees the QPN and the records of others. */
static void test_records_show_ones_own_subscriptions(void **state)
{
	struct inform_info other = everything;
	struct inform_info info;

	(void)state;
	other.trap_number = 64;
	assert_int_equal(inform(2, everything, 0), 0);
	assert_int_equal(inform(2, other, 0), 0);
	assert_int_equal(inform(3, everything, 0), 0);
	ask_records(2, 0);
	assert_int_equal(reply.count, 2);
	assert_int_equal(reply.stride, 64);
	inform_info_decode(reply.bytes + 64 + INFORM_INFO_RECORD_INFO_OFFSET, &info);
	assert_int_equal(info.trap_number, 64);
	assert_int_equal(info.qpn, 0);
	assert_int_equal(get_be16(reply.bytes + 64 + 16), 1);
	ask_records(4, 0);
	assert_int_equal(reply.count, 0);
	ask_records(4, FIXTURE_SM_KEY);
	assert_int_equal(reply.count, 3);
	inform_info_decode(reply.bytes + INFORM_INFO_RECORD_INFO_OFFSET, &info);
	assert_int_equal(info.qpn, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SA_FIXTURE_TEST(test_every_subscriber_hears_of_a_port_that_went),
		SA_FIXTURE_TEST(test_traps_of_the_manager_are_passed_on),
		SA_FIXTURE_TEST(test_report_is_repeated_until_acknowledged),
		SA_FIXTURE_TEST(test_report_follows_a_subscriber_that_redirects_by_gid),
		SA_FIXTURE_TEST(test_silent_subscriber_is_forgotten_and_delays_nobody),
		SA_FIXTURE_TEST(test_unsubscribing_ends_it),
		SA_FIXTURE_TEST(test_nonsense_is_refused),
		SA_FIXTURE_TEST(test_security_traps_are_for_the_trusted),
		SA_FIXTURE_TEST(test_partitions_decide_who_hears),
		SA_FIXTURE_TEST(test_subscription_to_forbidden_ports_ends),
		SA_FIXTURE_TEST(test_groups_that_come_and_go_are_reported),
		SA_FIXTURE_TEST(test_subscriptions_of_a_vanished_port_go_with_it),
		SA_FIXTURE_TEST(test_records_show_ones_own_subscriptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
