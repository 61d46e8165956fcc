/* SPDX-License-Identifier: Apache-2.0 */
/* A performance manager on host 2 of the SA's fixture, with a scripted agent on every node. */
#ifndef SOFTIB_TESTS_PERF_FIXTURE_H
#define SOFTIB_TESTS_PERF_FIXTURE_H

#include "mgmt/perf/perf_manager.h"
#include "sa_fixture.h"
#include "wire/performance.h"

enum {
	PERF_FIXTURE_LIDS = 8,	     /* from 1: hosts 1 to 4, switches 5 and 6, router 7 */
	PERF_FIXTURE_PORTS = 9,	     /* of an agent, from 0 */
	PERF_FIXTURE_PORTS_ALL = 21, /* that the SA knows, without port 0 of the switches */
};

struct perf_agent {
	uint16_t capability_mask;
	uint32_t capability_mask2;
	struct port_counters_extended counters[PERF_FIXTURE_PORTS];
	bool is_silent;
	bool names_wrong_port; /* in its answers */
	unsigned busy_left;    /* requests that it answers with Busy */
	uint16_t refusal;      /* status of all answers; 0: none */
	uint16_t redirect_lid; /* 0: none */
	uint64_t redirect_guid;
	unsigned get_count, set_count; /* requests for counters */
	uint8_t last_set_select;       /* PortSelect of the last Set */
};

struct perf_fixture {
	struct sa_fixture sa;
	bool sa_is_silent;
	struct perf_manager manager;
	struct perf_agent agents[PERF_FIXTURE_LIDS];
	unsigned under_way_max; /* requests to agents between two turns */
};

void perf_fixture_start(struct perf_fixture *fixture, const struct perf_options *options);
void perf_fixture_stop(struct perf_fixture *fixture);

/* Sweeps once, from start to end. */
void perf_fixture_sweep(struct perf_fixture *fixture);
/* Until the manager is idle. */
void perf_fixture_run(struct perf_fixture *fixture);
void perf_fixture_pass_time(struct perf_fixture *fixture, time_ns duration);

/* By LID and number; fails if the manager does not know it. */
struct perf_port *perf_fixture_port(struct perf_fixture *fixture, uint16_t lid, uint8_t number);
/* Whether an event of this kind has been raised for a port whose name begins so. */
bool perf_fixture_has_event(const struct perf_fixture *fixture, enum perf_event_kind kind,
			    const char *port);

#endif
