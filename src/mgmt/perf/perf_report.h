/* SPDX-License-Identifier: Apache-2.0 */
/* The performance manager's findings as JSON. softibd and the CLI write the same text. */
#ifndef SOFTIB_MGMT_PERF_PERF_REPORT_H
#define SOFTIB_MGMT_PERF_PERF_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/attributes.h"
#include "base/time.h"

struct perf_manager;

enum { PERF_REPORT_TOP_MAX = 1000 };

enum perf_report_part {
	PERF_REPORT_SWEEP, /* only the number, time and size of the last sweep */
	PERF_REPORT_SUMMARY,
	PERF_REPORT_LINKS,   /* the busiest ones first */
	PERF_REPORT_ERRORS,  /* ports with errors, the most errors first */
	PERF_REPORT_EVENTS,  /* the last ones first */
	PERF_REPORT_PORTS,   /* all, with every counter */
	PERF_REPORT_DETAILS, /* of the port that was asked for: see port_details.h */
};

struct perf_report_range {
	uint32_t from;	/* the first row */
	uint32_t count; /* of rows */
	uint32_t top;	/* of links and ports with errors, at most PERF_REPORT_TOP_MAX */
};

/* "sweep", "summary", ... false: there is no such part. */
MUST_USE bool perf_report_part_find(const char *name, enum perf_report_part *ret_part);

/* The managers of all subnets that a report covers, at least one. */
struct perf_subnets {
	const struct perf_manager *const *managers;
	uint32_t count;
};

/* Writes an object. A part with rows has "rows", and "next" if rows of the range are left. -ENOMEM.
 */
MUST_USE int perf_report_write(const struct perf_subnets *subnets, time_ns now,
			       enum perf_report_part part, const struct perf_report_range *range,
			       FILE *file);

/* Text between quotation marks, for JSON and for labels of metrics. */
void perf_report_write_text(const char *text, FILE *file);

#endif
