/* SPDX-License-Identifier: Apache-2.0 */
/* Where softib perf gets its figures from: softibd's performance manager, or one in this process on
 * a port of a host. */
#ifndef SOFTIB_CLI_PERF_SOURCE_H
#define SOFTIB_CLI_PERF_SOURCE_H

#include <jansson.h>
#include <stdbool.h>
#include "base/attributes.h"
#include "cli/mad_engine.h"
#include "mgmt/perf/perf_manager.h"

struct perf_source {
	int socket; /* to softibd; -1: the manager runs in this process */
	struct mad_engine_port port;
	struct perf_manager manager;
	struct perf_thresholds thresholds;
	json_t *changed_thresholds; /* those that the user gave, by name; NULL: none */
	const char *details_port;   /* whose details every sweep reads; NULL: none's */
	unsigned sample_ms;	    /* of its sample; 0: none */
	int interval_seconds;	    /* for softibd's manager from now on; -1: unchanged */
};

/* host NULL: softibd's manager. Prints the error and returns -errno. */
MUST_USE int perf_source_open(struct perf_source *source, const char *fabric, const char *host);
/* A manager in this process, on the first host if host is NULL. */
MUST_USE int perf_source_open_own(struct perf_source *source, const char *fabric, const char *host);
void perf_source_close(struct perf_source *source);

/* Sweeps and waits for the end. Prints the error and returns -errno; -EINTR: a signal came. */
enum perf_sweep_kind { PERF_SWEEP_READ, PERF_SWEEP_CLEAR };
MUST_USE int perf_source_sweep(struct perf_source *source, enum perf_sweep_kind kind);

/* A part of the report ("links"), all its rows. NULL after printing the error. */
MUST_USE json_t *perf_source_part(struct perf_source *source, const char *part, unsigned top);

/* Returns after so many milliseconds; false: a signal came or softibd has gone. */
MUST_USE bool perf_source_wait(const struct perf_source *source, int milliseconds);

/* The functions of the manager in this process, for an engine with more in it. */
void perf_source_refresh_port(struct perf_source *source);

#endif
