/* SPDX-License-Identifier: Apache-2.0 */
/* ServiceRecords: leases, keys, partitions; ServiceAssociationRecords (management 4.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "sa_fixture.h"

static struct sa_fixture fixture;
static struct sa_reply reply;

static const uint64_t all = SA_COMPONENT(SR_ID) | SA_COMPONENT(SR_GID) | SA_COMPONENT(SR_PKEY) |
			    SA_COMPONENT(SR_LEASE) | SA_COMPONENT(SR_KEY) | SA_COMPONENT(SR_NAME);

static struct service_record service(unsigned host)
{
	struct service_record record = {.id = {.id = 0x1000,
					       .gid_prefix = GID_PREFIX_LINK_LOCAL,
					       .gid_guid = fixture_port(&fixture, host)->guid,
					       .pkey = 0xffff,
					       .lease_s = 60,
					       .key_high = 0x11,
					       .key_low = 0x22}};

	memcpy(record.name, "storage", sizeof("storage"));
	return record;
}

static uint16_t ask(unsigned host, enum mad_method method, struct service_record record,
		    uint64_t mask, uint64_t sm_key)
{
	uint8_t data[SERVICE_RECORD_BYTES];
	const struct sa_question question = {.host = host,
					     .method = method,
					     .attribute_id = SA_SERVICE_RECORD,
					     .components = mask,
					     .sm_key = sm_key,
					     .data = data,
					     .byte_count = sizeof(data)};

	service_record_encode(&record, data);
	fixture_ask(&fixture, &question, &reply);
	return reply.status;
}

static struct service_record answer(void)
{
	struct service_record record;

	service_record_decode(reply.bytes, &record);
	return record;
}

static void test_announced_service_is_found_without_its_key(void **state)
{
	(void)state;
	assert_int_equal(ask(2, MAD_SET, service(2), all, 0), 0);
	assert_int_equal(reply.method, MAD_GET_RESPONSE);
	fixture.now += SECONDS(10);
	assert_int_equal(ask(3, MAD_GET, service(2), SA_COMPONENT(SR_ID), 0), 0);
	assert_int_equal(answer().id.lease_s, 50);
	assert_int_equal(answer().id.key_high, 0);
	assert_int_equal(answer().id.key_low, 0);
	assert_string_equal((const char *)answer().name, "storage");
	assert_int_equal(ask(3, MAD_GET, service(2), SA_COMPONENT(SR_ID), FIXTURE_SM_KEY), 0);
	assert_int_equal(answer().id.key_low, 0x22);
	/* A client that has the key may use it in a query. */
	assert_int_equal(ask(3, MAD_GET, service(2), SA_COMPONENT(SR_KEY), 0), 0);
}

static void test_lease_ends_a_service(void **state)
{
	(void)state;
	assert_int_equal(ask(2, MAD_SET, service(2), all, 0), 0);
	assert_int_equal(sa_deadline(fixture.sa), fixture.now + SECONDS(60));
	fixture.now += SECONDS(60);
	assert_int_equal(ask(3, MAD_GET, service(2), SA_COMPONENT(SR_ID), 0), SA_STATUS_NO_RECORDS);
}

static void test_missing_components_have_their_usual_values(void **state)
{
	struct service_record record = service(2);

	(void)state;
	record.id.pkey = 0x1234;
	record.id.lease_s = 1;
	assert_int_equal(ask(2, MAD_SET, record, SA_COMPONENT(SR_ID) | SA_COMPONENT(SR_GID), 0), 0);
	assert_int_equal(answer().id.pkey, 0xffff);
	assert_int_equal(answer().id.lease_s, SERVICE_LEASE_ENDLESS);
	assert_int_equal(ask(2, MAD_SET, record, SA_COMPONENT(SR_ID), 0), SA_STATUS_REQ_INVALID);
	assert_int_equal(ask(2, MAD_SET, record, SA_COMPONENT(SR_GID), 0), SA_STATUS_REQ_INVALID);
}

/* C15-0.1.13: the requester and the port of the ServiceGID must hold the P_Key. */
static void test_partition_must_be_held_by_both(void **state)
{
	static const uint16_t both[] = {0xffff, 0x8005};
	struct service_record record = service(2);

	(void)state;
	record.id.pkey = 0x8005;
	assert_int_equal(ask(2, MAD_SET, record, all, 0), SA_STATUS_REQ_INVALID);
	fixture_set_pkeys(&fixture, 2, both, 2);
	assert_int_equal(ask(3, MAD_SET, record, all, 0), SA_STATUS_REQ_INVALID);
	assert_int_equal(ask(2, MAD_SET, record, all, 0), 0);
	assert_int_equal(ask(3, MAD_GET, record, SA_COMPONENT(SR_ID), 0), SA_STATUS_NO_RECORDS);
	assert_int_equal(ask(3, MAD_GET_TABLE, record, 0, 0), 0);
	assert_int_equal(reply.count, 0);
	record = service(2);
	record.id.gid_guid = 0xdead;
	assert_int_equal(ask(2, MAD_SET, record, all, 0), SA_STATUS_REQ_INVALID);
}

static void test_key_guards_a_service_from_others(void **state)
{
	struct service_record record = service(2);

	(void)state;
	assert_int_equal(ask(2, MAD_SET, record, all, 0), 0);
	record.id.key_low = 0x23;
	assert_int_equal(ask(3, MAD_SET, record, all, 0), SA_STATUS_DENIED);
	assert_int_equal(ask(3, MAD_DELETE, record, all, 0), SA_STATUS_DENIED);
	record.id.key_low = 0x22;
	assert_int_equal(ask(3, MAD_SET, record, all, 0), 0);
	assert_int_equal(ask(3, MAD_DELETE, record, all, 0), 0);
	assert_int_equal(reply.method, MAD_DELETE_RESPONSE);
	assert_int_equal(answer().id.id, 0x1000);
	assert_int_equal(ask(3, MAD_DELETE, record, all, 0), SA_STATUS_NO_RECORDS);
}

static void test_owner_needs_no_key(void **state)
{
	struct service_record record = service(2);

	(void)state;
	assert_int_equal(ask(2, MAD_SET, record, all, 0), 0);
	record.id.key_low = 0;
	record.id.key_high = 0;
	assert_int_equal(ask(2, MAD_DELETE, record, SA_COMPONENT(SR_NAME), 0), 0);
}

/* A wrong key is refused from everybody, and an update without one keeps the service's. */
static void test_owner_with_another_key_is_refused(void **state)
{
	const uint64_t no_key = all & ~SA_COMPONENT(SR_KEY);
	struct service_record record = service(2);

	(void)state;
	assert_int_equal(ask(2, MAD_SET, record, all, 0), 0);
	record.id.key_low = 0x23;
	assert_int_equal(ask(2, MAD_SET, record, all, 0), SA_STATUS_DENIED);
	assert_int_equal(ask(2, MAD_DELETE, record, all, 0), SA_STATUS_DENIED);
	assert_int_equal(ask(2, MAD_DELETE, record, all, FIXTURE_SM_KEY), 0);
	assert_int_equal(ask(2, MAD_SET, service(2), all, 0), 0);
	memcpy(record.name, "renamed", sizeof("renamed"));
	assert_int_equal(ask(2, MAD_SET, record, no_key, 0), 0);
	assert_string_equal((const char *)answer().name, "renamed");
	assert_int_equal(ask(3, MAD_SET, record, no_key, 0), SA_STATUS_DENIED);
	assert_int_equal(ask(3, MAD_GET, service(2), SA_COMPONENT(SR_KEY), 0), 0);
}

static void test_services_of_a_vanished_port_go_with_it(void **state)
{
	(void)state;
	assert_int_equal(ask(4, MAD_SET, service(4), all, 0), 0);
	assert_int_equal(ask(2, MAD_SET, service(2), all, 0), 0);
	fixture_sweep(&fixture);
	assert_int_equal(ask(3, MAD_GET_TABLE, service(2), SA_COMPONENT(SR_ID), 0), 0);
	assert_int_equal(reply.count, 2);
	fixture_sweep_without(&fixture, 4);
	assert_int_equal(ask(3, MAD_GET_TABLE, service(2), SA_COMPONENT(SR_ID), 0), 0);
	assert_int_equal(reply.count, 1);
	assert_int_equal(answer().id.gid_guid, fixture_port(&fixture, 2)->guid);
}

static void test_services_are_found_by_name_id_and_key(void **state)
{
	struct service_record other = service(2);

	(void)state;
	other.id.id = 0x2000;
	other.id.key_low = 0x33;
	memset(other.name, 0, sizeof(other.name));
	memcpy(other.name, "console", sizeof("console"));
	assert_int_equal(ask(2, MAD_SET, service(2), all, 0), 0);
	assert_int_equal(ask(2, MAD_SET, other, all, 0), 0);
	assert_int_equal(ask(3, MAD_GET, other, SA_COMPONENT(SR_NAME), 0), 0);
	assert_int_equal(answer().id.id, 0x2000);
	assert_int_equal(ask(3, MAD_GET, other, SA_COMPONENT(SR_ID), 0), 0);
	assert_string_equal((const char *)answer().name, "console");
	assert_int_equal(ask(3, MAD_GET, other, SA_COMPONENT(SR_KEY), 0), 0);
	assert_int_equal(answer().id.id, 0x2000);
	assert_int_equal(ask(3, MAD_GET, other, SA_COMPONENT(SR_NAME) | SA_COMPONENT(SR_KEY), 0),
			 0);
	other.name[0] = 'C';
	assert_int_equal(ask(3, MAD_GET, other, SA_COMPONENT(SR_NAME), 0), SA_STATUS_NO_RECORDS);
	other.id.key_low = 0x44;
	assert_int_equal(ask(3, MAD_GET, other, SA_COMPONENT(SR_KEY), 0), SA_STATUS_NO_RECORDS);
}

static void test_services_of_one_id_are_several(void **state)
{
	(void)state;
	assert_int_equal(ask(2, MAD_SET, service(2), all, 0), 0);
	assert_int_equal(ask(3, MAD_SET, service(3), all, 0), 0);
	assert_int_equal(ask(4, MAD_GET, service(2), SA_COMPONENT(SR_ID), 0),
			 SA_STATUS_TOO_MANY_RECORDS);
	assert_int_equal(ask(4, MAD_GET_TABLE, service(2), SA_COMPONENT(SR_ID), 0), 0);
	assert_int_equal(reply.count, 2);
	assert_int_equal(reply.stride, 176);
	assert_int_equal(ask(4, MAD_GET, service(3), SA_COMPONENT(SR_ID) | SA_COMPONENT(SR_GID), 0),
			 0);
}

/* C15-0.1.14: names and ServiceKeys are associated; only trusted requests see that. */
static void test_associations_are_for_the_trusted(void **state)
{
	struct sa_question question = {
		.host = 3, .method = MAD_GET_TABLE, .attribute_id = SA_SERVICE_ASSOCIATION_RECORD};

	(void)state;
	assert_int_equal(ask(2, MAD_SET, service(2), all, 0), 0);
	fixture_ask(&fixture, &question, &reply);
	assert_int_equal(reply.status, SA_STATUS_REQ_INVALID);
	question.sm_key = FIXTURE_SM_KEY;
	fixture_ask(&fixture, &question, &reply);
	assert_int_equal(reply.count, 1);
	assert_int_equal(reply.stride, 80);
	assert_int_equal(get_be64(reply.bytes + 8), 0x22);
	assert_string_equal((const char *)reply.bytes + 16, "storage");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SA_FIXTURE_TEST(test_announced_service_is_found_without_its_key),
		SA_FIXTURE_TEST(test_lease_ends_a_service),
		SA_FIXTURE_TEST(test_missing_components_have_their_usual_values),
		SA_FIXTURE_TEST(test_partition_must_be_held_by_both),
		SA_FIXTURE_TEST(test_key_guards_a_service_from_others),
		SA_FIXTURE_TEST(test_owner_needs_no_key),
		SA_FIXTURE_TEST(test_owner_with_another_key_is_refused),
		SA_FIXTURE_TEST(test_services_of_a_vanished_port_go_with_it),
		SA_FIXTURE_TEST(test_services_are_found_by_name_id_and_key),
		SA_FIXTURE_TEST(test_services_of_one_id_are_several),
		SA_FIXTURE_TEST(test_associations_are_for_the_trusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
