/* SPDX-License-Identifier: Apache-2.0 */
/* A simulation ends with a reason when virtual time stands still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include "sim/experiment.h"
#include "sim/sim.h"

static struct sim sim;

static int start(void **state)
{
	struct topology_error error;

	(void)state;
	assert_int_equal(sim_init(&sim, "star:2", 1, &error), 0);
	assert_int_equal(sim_start_sm(&sim, sim_find_host(&sim, "h1"), 0, 0), 0);
	assert_true(sim_bring_up(&sim, SECONDS(10)));
	return 0;
}

static int end(void **state)
{
	(void)state;
	sim.programs = (struct sim_programs){0};
	sim_release(&sim);
	return 0;
}

static void expect_reason(const char *words)
{
	assert_true(time_watchdog_has_tripped(&sim.watchdog));
	if (!strstr(sim.watchdog.reason, words))
		fail_msg("\"%s\" does not say \"%s\"", sim.watchdog.reason, words);
}

static time_ns deadline_that_stays(const void *context)
{
	return *(const time_ns *)context;
}

static void test_deadline_that_does_not_move_ends_the_run(void **state)
{
	time_ns past = sim.now + 17;
	char words[64];

	(void)state;
	sim.programs = (struct sim_programs){.deadline = deadline_that_stays, .context = &past};
	sim_run_until(&sim, SECONDS(1000000));
	snprintf(words, sizeof(words), "the deadline of the programs stays at %llu ns",
		 (unsigned long long)past);
	expect_reason(words);
	assert_true(sim.now < SECONDS(1000000));
}

static void wake_again(void *context, struct sim_host *host)
{
	if (host == context)
		sim_wake_host(host);
}

/* A host that always has work and lets no time pass. */
static void test_host_that_is_always_busy_is_named(void **state)
{
	(void)state;
	sim.programs =
		(struct sim_programs){.host_ran = wake_again, .context = sim_find_host(&sim, "h2")};
	sim_run_until(&sim, sim.now + SECONDS(1));
	expect_reason("host h2 always has work");
}

static void inject_again(void *context, struct sim_host *host)
{
	struct frame *frame = frame_take(&sim.fabric.frames);

	(void)context;
	/* Bytes that are no packet: the port discards all of them. */
	memset(frame->bytes, 0, 64);
	frame->byte_count = 4;
	if (!sim_inject(host, &host->node->ports[1], frame))
		frame_give_back(&sim.fabric.frames, frame);
	sim_wake_host(host);
}

static void test_everything_returns_at_once_afterwards(void **state)
{
	time_ns ended_at;

	(void)state;
	sim.programs = (struct sim_programs){.host_ran = inject_again};
	sim_run_until(&sim, sim.now + SECONDS(1));
	expect_reason("host h");
	ended_at = sim.now;
	sim_run_until(&sim, ended_at + SECONDS(1));
	assert_false(sim_run_until_quiet(&sim, ended_at + SECONDS(1)));
	assert_true(sim.now == ended_at);
}

/* A large transfer that does much at one instant is not a standstill. */
static void test_bringing_a_large_fabric_up_is_no_standstill(void **state)
{
	struct topology_error error;
	struct sim large;

	(void)state;
	assert_int_equal(sim_init(&large, "fat-tree:8", 1, &error), 0);
	assert_int_equal(sim_start_sm(&large, sim_find_host(&large, "h1"), 0, 0), 0);
	assert_true(sim_bring_up(&large, SECONDS(10)));
	assert_false(time_watchdog_has_tripped(&large.watchdog));
	sim_release(&large);
}

/* Scenarios whose packets never leave their own port. */
static void run_scenario(const char *text, uint64_t *ret_sent, uint64_t *ret_received)
{
	struct scenario_error error = {0};
	struct experiment experiment;
	struct scenario scenario;

	assert_int_equal(scenario_read(text, strlen(text), &scenario, &error), 0);

	int result = experiment_run(&experiment, &scenario, NULL, &error);

	if (result)
		fail_msg("%s: %s", text, error.reason);
	*ret_sent = experiment.traffic.flows[0].sent;
	*ret_received = experiment.traffic.flows[0].received;
	experiment_release(&experiment);
	scenario_release(&scenario);
}

/* All SLs of a link with one lane use it. */
static void test_flow_on_any_sl_passes_links_with_one_lane(void **state)
{
	uint64_t sent, received;

	(void)state;
	run_scenario("topology star:3\nvls 1\nduration 5ms\n"
		     "flow a from h1 to h2 service load size 4K sl 3\n",
		     &sent, &received);
	assert_true(received > 10000); /* 5 ms at 100 Gbit/s are 15,000 */
}

static void test_packets_that_their_port_discards_take_time(void **state)
{
	static const char *const services[] = {"load", "ud", "uc", "rc"};
	uint64_t sent, received;
	char text[512];

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(services); i++) {
		snprintf(text, sizeof(text),
			 "topology star:3\nduration 2ms\n"
			 "sl2vl h1 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15\n"
			 "flow a from h1 to h2 service %s size 4K\n",
			 services[i]);
		run_scenario(text, &sent, &received);
		assert_int_equal(received, 0);
		assert_true(sent < 10000); /* 2 ms at 100 Gbit/s are 6,000 */
		snprintf(text, sizeof(text),
			 "topology star:3\nduration 4ms\nat 1ms link down h1\n"
			 "flow a from h1 to h2 service %s size 4K\n",
			 services[i]);
		run_scenario(text, &sent, &received);
		assert_true(received > 0);
		assert_true(sent < 20000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_deadline_that_does_not_move_ends_the_run,
						start, end),
		cmocka_unit_test_setup_teardown(test_host_that_is_always_busy_is_named, start, end),
		cmocka_unit_test_setup_teardown(test_everything_returns_at_once_afterwards, start,
						end),
		cmocka_unit_test(test_bringing_a_large_fabric_up_is_no_standstill),
		cmocka_unit_test(test_flow_on_any_sl_passes_links_with_one_lane),
		cmocka_unit_test(test_packets_that_their_port_discards_take_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
