/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The task of every monitoring program: nodes subscribe to a trap, another port goes down, and the
 * report arrives at every subscriber. A whole fabric with its manager and SA, links that lose
 * packets, several seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "sa_rig.h"

enum { SEEDS = 8 };

static struct sa_rig rig;

static struct listener {
	bool is_subscribed;
	bool heard_of[SA_RIG_HOSTS_MAX][2]; /* [host][0: it went down, 1: it came up] */
} listeners[SA_RIG_HOSTS_MAX];

static unsigned host_with_guid(uint64_t guid)
{
	for (unsigned i = 0; i < rig.host_count; i++)
		if (sa_rig_port(&rig, i)->guid == guid)
			return i;
	fail_msg("a report about nobody");
	return 0;
}

static void take_report(unsigned host, const struct mad_message *message)
{
	struct notice notice;

	notice_decode(message->bytes + SA_DATA_OFFSET, &notice);
	if (notice.header.trap_number == TRAP_GID_IN_SERVICE ||
	    notice.header.trap_number == TRAP_GID_OUT_OF_SERVICE) {
		unsigned about = host_with_guid(get_be64(notice.details + 6 + 8));

		listeners[host].heard_of[about][notice.header.trap_number == TRAP_GID_IN_SERVICE] =
			true;
	}
}

static void note_subscription(unsigned host)
{
	listeners[host].is_subscribed = true;
}

static void subscribe(unsigned host)
{
	const struct inform_info info = {.lid_range_begin = INFORM_ANY_LID,
					 .is_generic = 1,
					 .subscribe = 1,
					 .type = INFORM_ANY_TYPE,
					 .trap_number = INFORM_ANY_TRAP,
					 .producer_type = INFORM_ANY_PRODUCER};
	uint8_t data[INFORM_INFO_BYTES];

	inform_info_encode(&info, data);
	assert_int_equal(sa_client_ask(sa_rig_client(&rig, host), MAD_SET, SA_INFORM_INFO, 0, data,
				       sizeof(data), (struct mad_purpose){0}),
			 0);
}

static void expect_heard(unsigned about, unsigned which, unsigned listener_count, uint64_t seed)
{
	for (unsigned i = 0; i < listener_count; i++) {
		if (!listeners[i].heard_of[about][which])
			printf("seed %llu: host %u did not hear that host %u %s\n",
			       (unsigned long long)seed, i, about, which ? "came" : "went");
		assert_true(listeners[i].heard_of[about][which]);
	}
}

static void run_story(uint64_t seed, uint16_t loss)
{
	static const struct sa_rig_programs programs = {.answered = note_subscription,
							.reported = take_report};
	unsigned subscriber_count, victim;

	memset(listeners, 0, sizeof(listeners));
	sa_rig_begin(&rig, seed, 0, &programs);
	assert_int_equal(sim_set_faults(&rig.sim, &(struct sim_faults){.drop = loss}), 0);
	victim = rig.host_count - 1;
	subscriber_count = rig.host_count - 2;
	for (unsigned i = 0; i < subscriber_count; i++)
		subscribe(i);
	sa_rig_run_for(&rig, SECONDS(10));
	for (unsigned i = 0; i < subscriber_count; i++)
		assert_true(listeners[i].is_subscribed);

	struct port *cable = sa_rig_port(&rig, victim);

	fabric_set_cable(&rig.sim.fabric, cable, false, rig.sim.now);
	sa_rig_run_for(&rig, SECONDS(10));
	expect_heard(victim, 0, subscriber_count, seed);
	fabric_set_cable(&rig.sim.fabric, cable, true, rig.sim.now);
	sa_rig_run_for(&rig, SECONDS(10));
	expect_heard(victim, 1, subscriber_count, seed);
	/* A host that did not subscribe gets no report. */
	assert_false(listeners[rig.host_count - 2].heard_of[victim][0]);
	sa_rig_end(&rig);
}

static void test_every_subscriber_hears_of_a_port_that_goes_and_comes(void **state)
{
	(void)state;
	run_story(1, 0);
}

/* Two percent on every one of up to six links; a report has three tries. */
static void test_lost_reports_are_repeated(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run_story(seed, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_subscriber_hears_of_a_port_that_goes_and_comes),
		cmocka_unit_test(test_lost_reports_are_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
