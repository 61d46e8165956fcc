/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds of the performance manager, and the events that it raised: the last ones, in a ring.
 */
#ifndef SOFTIB_MGMT_PERF_PERF_EVENTS_H
#define SOFTIB_MGMT_PERF_PERF_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/perf/perf_nodes.h"

enum { PERF_EVENTS_MAX = 256 };

enum perf_event_kind {
	PERF_EVENT_ERRORS,	/* an error counter grew by the threshold or more in a sweep */
	PERF_EVENT_XMIT_WAIT,	/* the port waited for credits for this share of the time */
	PERF_EVENT_UTILIZATION, /* the link carried this share of its data rate */
	PERF_EVENT_SILENT,	/* the agent stopped answering */
	PERF_EVENT_CLEARED,	/* somebody else cleared counters */
	PERF_EVENT_JUMP,	/* a counter grew by more than any link allows */
	PERF_EVENT_BAD_ANSWER,	/* the agent answered for another port, or refused */
};

struct perf_event {
	time_ns at;
	enum perf_event_kind kind;
	enum perf_counter counter; /* of ERRORS, CLEARED and JUMP: the first one */
	uint64_t value;		   /* an increment, a percentage, or a status */
	char port[PERF_PORT_NAME_BYTES];
};

/* 0: no event. */
struct perf_thresholds {
	uint64_t errors[PERF_COUNTER_COUNT]; /* increments in a sweep, of error counters */
	unsigned wait_percent;
	unsigned utilization_percent;
};

struct perf_events {
	struct perf_event ring[PERF_EVENTS_MAX];
	uint64_t count; /* of all times */
};

extern const struct perf_thresholds perf_thresholds_default;

/* "symbol_error", "wait" or "utilization". false: there is no such threshold, or the value is not
 * one. */
MUST_USE bool perf_thresholds_set(struct perf_thresholds *thresholds, const char *name,
				  uint64_t value);

/* Raises the events that a reading of this port gives rise to. A level (waiting, utilization)
 * raises one when it is crossed, and none while it stays above. */
void perf_events_judge(struct perf_events *events, const struct perf_thresholds *thresholds,
		       time_ns now, const struct perf_port *port, const struct port_step *step);
void perf_events_add(struct perf_events *events, time_ns now, enum perf_event_kind kind,
		     const struct perf_port *port, uint64_t value);

/* The event that is index events older than the last one; NULL: it is not kept. */
const struct perf_event *perf_events_at(const struct perf_events *events, unsigned index);
const char *perf_event_kind_name(enum perf_event_kind kind);

/* Percentages of a sample of this port; 0: unknown. */
unsigned perf_wait_percent(const struct perf_port *port, const struct port_sample *sample);
unsigned perf_utilization_percent(const struct perf_port *port, const struct port_sample *sample);

#endif
