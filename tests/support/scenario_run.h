/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a scenario whose text is in a test. */
#ifndef SOFTIB_TESTS_SCENARIO_RUN_H
#define SOFTIB_TESTS_SCENARIO_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "sim/experiment.h"

struct scenario_run {
	struct scenario scenario;
	struct experiment experiment;
};

static inline void run_scenario(struct scenario_run *run, const char *text)
{
	struct scenario_error error = {0};

	if (scenario_read(text, strlen(text), &run->scenario, &error) ||
	    experiment_run(&run->experiment, &run->scenario, NULL, &error))
		fail_msg("line %u: %s", error.line, error.reason);
}

/* The scenario is refused when read, with this line and reason. NULL: any. */
static inline void expect_scenario_refused(const char *text, unsigned line, const char *reason)
{
	struct scenario_error error = {0};
	struct experiment experiment;
	struct scenario scenario;

	assert_int_equal(scenario_read(text, strlen(text), &scenario, &error), 0);
	assert_true(experiment_run(&experiment, &scenario, NULL, &error) < 0);
	assert_int_equal(error.line, line);
	if (reason)
		assert_string_equal(error.reason, reason);
	experiment_release(&experiment);
	scenario_release(&scenario);
}

static inline void end_scenario(struct scenario_run *run)
{
	experiment_release(&run->experiment);
	scenario_release(&run->scenario);
}

static inline const struct flow *flow_named(const struct scenario_run *run, const char *name)
{
	for (uint32_t i = 0; i < run->experiment.traffic.flow_count; i++)
		if (strcmp(run->experiment.traffic.flows[i].options->name, name) == 0)
			return &run->experiment.traffic.flows[i];
	fail_msg("no flow %s", name);
	return NULL;
}

/* Megabits of payload per second. */
static inline uint64_t flow_mbits(const struct scenario_run *run, const struct flow *flow)
{
	return flow->measured_bytes * 8 * 1000 /
	       (run->experiment.ended_at - run->experiment.traffic.measured_from);
}

#endif
