/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of services (management 4.8): every host registers a service and finds those of all
 * others, leases end, and a port that goes takes its service along. A whole fabric with its manager
 * and SA, links that lose packets, several seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "sa_rig.h"
#include "wire/pkey.h"

enum { SEEDS = 8, LEASE_S = 30 };

static struct sa_rig rig;
static unsigned answer_counts[SA_RIG_HOSTS_MAX];

static void count_answer(unsigned host)
{
	answer_counts[host]++;
}

static void announce(unsigned host, uint32_t lease_s)
{
	const uint64_t components = SA_COMPONENT(SR_ID) | SA_COMPONENT(SR_GID) |
				    SA_COMPONENT(SR_LEASE) | SA_COMPONENT(SR_NAME);
	struct service_record record = {.id = {.id = 0x1000 + host,
					       .gid_prefix = GID_PREFIX_LINK_LOCAL,
					       .gid_guid = sa_rig_port(&rig, host)->guid,
					       .lease_s = lease_s}};
	uint8_t data[SERVICE_RECORD_BYTES];

	memcpy(record.name, "service", sizeof("service"));
	service_record_encode(&record, data);
	assert_int_equal(sa_client_ask(sa_rig_client(&rig, host), MAD_SET, SA_SERVICE_RECORD,
				       components, data, sizeof(data), (struct mad_purpose){0}),
			 0);
}

/* The rig's client fails the test where a service is not found, or found twice. */
static void find_all(unsigned host)
{
	for (unsigned other = 0; other < rig.host_count; other++)
		assert_int_equal(sa_client_find_service(sa_rig_client(&rig, host), 0x1000 + other,
							PKEY_DEFAULT_FULL, (struct mad_purpose){0}),
				 0);
}

static unsigned service_count(void)
{
	struct sa_status status;

	sa_status(rig.sa, &status);
	return status.service_count;
}

static void run_story(uint64_t seed, uint16_t loss)
{
	static const struct sa_rig_programs programs = {.answered = count_answer};

	memset(answer_counts, 0, sizeof(answer_counts));
	sa_rig_begin(&rig, seed, 0, &programs);
	assert_int_equal(sim_set_faults(&rig.sim, &(struct sim_faults){.drop = loss}), 0);
	for (unsigned host = 0; host < rig.host_count; host++)
		announce(host, host % 2 ? LEASE_S : SERVICE_LEASE_ENDLESS);
	sa_rig_run_for(&rig, SECONDS(5));
	assert_int_equal(service_count(), rig.host_count);
	for (unsigned host = 0; host < rig.host_count; host++)
		find_all(host);
	sa_rig_run_for(&rig, SECONDS(10));
	for (unsigned host = 0; host < rig.host_count; host++)
		assert_int_equal(answer_counts[host], 1 + rig.host_count);

	/* The last host has a lease and renews it. Its last Set may be as late as the 5 s above. */
	announce(rig.host_count - 1, 3 * LEASE_S);
	sa_rig_run_for(&rig, SECONDS(LEASE_S));
	assert_int_equal(service_count(), rig.host_count / 2 + 1);

	struct port *cable = sa_rig_port(&rig, rig.host_count - 1);

	fabric_set_cable(&rig.sim.fabric, cable, false, rig.sim.now);
	sa_rig_run_for(&rig, SECONDS(10));
	assert_int_equal(service_count(), rig.host_count / 2);
	sa_rig_end(&rig);
}

static void test_services_are_found_and_end(void **state)
{
	(void)state;
	run_story(1, 0);
}

static void test_lost_requests_and_answers_are_repeated(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run_story(seed, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_services_are_found_and_end),
		cmocka_unit_test(test_lost_requests_and_answers_are_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
