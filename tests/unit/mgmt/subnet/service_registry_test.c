/* SPDX-License-Identifier: Apache-2.0 */
/* Services and their leases (management 4.8). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/subnet/service_registry.h"

static struct service_registry services;

static int set_up(void **state)
{
	(void)state;
	service_registry_init(&services);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	service_registry_release(&services);
	return 0;
}

static struct service *announce(uint64_t id, uint64_t guid, uint16_t pkey, uint32_t lease_s,
				time_ns now)
{
	const struct service_record record = {
		.id = {.id = id, .gid_guid = guid, .pkey = pkey, .lease_s = lease_s}};
	struct service *service;

	assert_int_equal(service_registry_announce(&services, now, &record, &service), 0);
	return service;
}

static void test_identity_is_id_gid_and_pkey(void **state)
{
	struct service *first = announce(1, 2, 0xffff, SERVICE_LEASE_ENDLESS, 0);

	(void)state;
	assert_ptr_equal(announce(1, 2, 0xffff, SERVICE_LEASE_ENDLESS, 0), first);
	assert_ptr_not_equal(announce(1, 3, 0xffff, SERVICE_LEASE_ENDLESS, 0), first);
	assert_ptr_not_equal(announce(1, 2, 0x8001, SERVICE_LEASE_ENDLESS, 0), first);
	assert_ptr_not_equal(announce(2, 2, 0xffff, SERVICE_LEASE_ENDLESS, 0), first);
	assert_int_equal(services.count, 4);
	assert_ptr_equal(service_registry_find(&services, &first->record.id), first);
}

static void test_lease_runs_out_to_the_second(void **state)
{
	struct service *service = announce(1, 2, 0xffff, 10, SECONDS(100));
	struct service_record_id id = service->record.id;

	(void)state;
	assert_int_equal(service_registry_deadline(&services), SECONDS(110));
	assert_int_equal(service_lease_left_s(service, SECONDS(100)), 10);
	assert_int_equal(service_lease_left_s(service, SECONDS(100) + 1), 10);
	assert_int_equal(service_lease_left_s(service, SECONDS(109)), 1);
	service_registry_expire(&services, SECONDS(110) - 1);
	assert_ptr_equal(service_registry_find(&services, &id), service);
	service_registry_expire(&services, SECONDS(110));
	assert_null(service_registry_find(&services, &id));
	assert_int_equal(service_registry_deadline(&services), TIME_NEVER);
}

static void test_announcing_again_renews_the_lease(void **state)
{
	struct service *service = announce(1, 2, 0xffff, 10, SECONDS(100));

	(void)state;
	announce(1, 2, 0xffff, 10, SECONDS(105));
	service_registry_expire(&services, SECONDS(112));
	assert_int_equal(services.count, 1);
	assert_int_equal(service_lease_left_s(service, SECONDS(112)), 3);
	announce(1, 2, 0xffff, SERVICE_LEASE_ENDLESS, SECONDS(112));
	service_registry_expire(&services, SECONDS(1000000));
	assert_int_equal(services.count, 1);
	assert_int_equal(service_lease_left_s(service, SECONDS(1000000)), SERVICE_LEASE_ENDLESS);
}

static void test_there_is_an_end_to_services(void **state)
{
	struct service_record record = {.id = {.lease_s = SERVICE_LEASE_ENDLESS}};
	struct service *service;

	(void)state;
	for (unsigned i = 0; i < SERVICES_PER_PORT_MAX; i++)
		announce(i, 1, 0xffff, SERVICE_LEASE_ENDLESS, 0);
	/* The limit of one port leaves room for others. */
	record.id.id = SERVICES_MAX;
	record.id.gid_guid = 1;
	assert_int_equal(service_registry_announce(&services, 0, &record, &service), -ENOSPC);
	for (unsigned i = SERVICES_PER_PORT_MAX; i < SERVICES_MAX; i++)
		announce(i, 2 + i % 64, 0xffff, SERVICE_LEASE_ENDLESS, 0);
	record.id.gid_guid = 99;
	assert_int_equal(service_registry_announce(&services, 0, &record, &service), -ENOSPC);
	/* An existing service can still be renewed. */
	announce(5, 1, 0xffff, 60, 0);
}

#define SERVICE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVICE_TEST(test_identity_is_id_gid_and_pkey),
		SERVICE_TEST(test_lease_runs_out_to_the_second),
		SERVICE_TEST(test_announcing_again_renews_the_lease),
		SERVICE_TEST(test_there_is_an_end_to_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
