/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds of the performance manager, and the events that it raised. */
#include "mgmt/perf/perf_events.h"

#include <string.h>

enum { PERCENT = 100, PERCENT_MAX = 1000000 };

/* A link may have a few symbol errors: a bit error rate of 1e-12 is within the specification. All
 * other errors are worth a look at once. */
const struct perf_thresholds perf_thresholds_default = {
	.errors = {[PERF_SYMBOL_ERROR] = 10,
		   [PERF_LINK_ERROR_RECOVERY] = 1,
		   [PERF_LINK_DOWNED] = 1,
		   [PERF_RCV_ERRORS] = 1,
		   [PERF_RCV_REMOTE_PHYSICAL_ERRORS] = 1,
		   [PERF_RCV_SWITCH_RELAY_ERRORS] = 1,
		   [PERF_XMIT_DISCARDS] = 1,
		   [PERF_XMIT_CONSTRAINT_ERRORS] = 1,
		   [PERF_RCV_CONSTRAINT_ERRORS] = 1,
		   [PERF_LOCAL_LINK_INTEGRITY_ERRORS] = 1,
		   [PERF_EXCESSIVE_BUFFER_OVERRUN_ERRORS] = 1,
		   [PERF_VL15_DROPPED] = 1,
		   [PERF_QP1_DROPPED] = 1},
	.wait_percent = 50,
	.utilization_percent = 90,
};

bool perf_thresholds_set(struct perf_thresholds *thresholds, const char *name, uint64_t value)
{
	enum perf_counter counter;

	if (strcmp(name, "wait") == 0 && value <= PERCENT_MAX) {
		thresholds->wait_percent = (unsigned)value;
		return true;
	}
	if (strcmp(name, "utilization") == 0 && value <= PERCENT_MAX) {
		thresholds->utilization_percent = (unsigned)value;
		return true;
	}
	if (!perf_counter_find(name, &counter) || !perf_counter_is_error(counter))
		return false;
	thresholds->errors[counter] = value;
	return true;
}

static struct perf_event *next_event(struct perf_events *events)
{
	return &events->ring[events->count++ % PERF_EVENTS_MAX];
}

static void add(struct perf_events *events, time_ns now, enum perf_event_kind kind,
		const struct perf_port *port, enum perf_counter counter, uint64_t value)
{
	struct perf_event *event = next_event(events);

	*event = (struct perf_event){.at = now, .kind = kind, .counter = counter, .value = value};
	perf_port_name(port, event->port);
}

void perf_events_add(struct perf_events *events, time_ns now, enum perf_event_kind kind,
		     const struct perf_port *port, uint64_t value)
{
	add(events, now, kind, port, PERF_XMIT_DATA, value);
}

static unsigned percent_of(double share)
{
	return share * PERCENT < PERCENT_MAX ? (unsigned)(share * PERCENT) : PERCENT_MAX;
}

unsigned perf_wait_percent(const struct perf_port *port, const struct port_sample *sample)
{
	return percent_of((double)sample->wait_ticks_per_second * (double)port->node->wait_tick /
			  (double)SECONDS(1));
}

unsigned perf_utilization_percent(const struct perf_port *port, const struct port_sample *sample)
{
	enum { BYTES_PER_MBIT = 125000 };
	uint64_t busier = sample->xmit_bytes_per_second > sample->rcv_bytes_per_second
				  ? sample->xmit_bytes_per_second
				  : sample->rcv_bytes_per_second;

	if (!port->rate_mbps)
		return 0;
	return percent_of((double)busier / ((double)port->rate_mbps * BYTES_PER_MBIT));
}

static unsigned first_of(uint32_t mask)
{
	return (unsigned)__builtin_ctz(mask);
}

static bool crosses(unsigned threshold, unsigned before, unsigned now)
{
	return threshold && now >= threshold && before < threshold;
}

static void judge_levels(struct perf_events *events, const struct perf_thresholds *thresholds,
			 time_ns now, const struct perf_port *port)
{
	const struct port_history *history = &port->history;
	const struct port_sample *sample = port_history_last_sample(history);
	const struct port_sample none = {0};
	const struct port_sample *before =
		history->sample_count > 1
			? &history->samples[(history->sample_count - 2) % PORT_HISTORY_SAMPLES]
			: &none;
	unsigned wait = perf_wait_percent(port, sample);
	unsigned utilization = perf_utilization_percent(port, sample);

	if (crosses(thresholds->wait_percent, perf_wait_percent(port, before), wait))
		add(events, now, PERF_EVENT_XMIT_WAIT, port, PERF_XMIT_WAIT, wait);
	if (crosses(thresholds->utilization_percent, perf_utilization_percent(port, before),
		    utilization))
		add(events, now, PERF_EVENT_UTILIZATION, port, PERF_XMIT_DATA, utilization);
}

void perf_events_judge(struct perf_events *events, const struct perf_thresholds *thresholds,
		       time_ns now, const struct perf_port *port, const struct port_step *step)
{
	if (!step->interval)
		return;
	for (unsigned i = 0; step->errors && i < PERF_COUNTER_COUNT; i++)
		if (thresholds->errors[i] && step->increments[i] >= thresholds->errors[i])
			add(events, now, PERF_EVENT_ERRORS, port, (enum perf_counter)i,
			    step->increments[i]);
	if (step->cleared) {
		unsigned counter = first_of(step->cleared);

		add(events, now, PERF_EVENT_CLEARED, port, (enum perf_counter)counter,
		    port->history.last.values[counter]);
	}
	if (step->jumped) {
		unsigned counter = first_of(step->jumped);

		add(events, now, PERF_EVENT_JUMP, port, (enum perf_counter)counter,
		    port->history.last.values[counter]);
	}
	judge_levels(events, thresholds, now, port);
}

const struct perf_event *perf_events_at(const struct perf_events *events, unsigned index)
{
	if (index >= events->count || index >= PERF_EVENTS_MAX)
		return NULL;
	return &events->ring[(events->count - 1 - index) % PERF_EVENTS_MAX];
}

const char *perf_event_kind_name(enum perf_event_kind kind)
{
	switch (kind) {
	case PERF_EVENT_ERRORS:
		return "errors";
	case PERF_EVENT_XMIT_WAIT:
		return "wait";
	case PERF_EVENT_UTILIZATION:
		return "utilization";
	case PERF_EVENT_SILENT:
		return "silent";
	case PERF_EVENT_CLEARED:
		return "cleared";
	case PERF_EVENT_JUMP:
		return "jump";
	case PERF_EVENT_BAD_ANSWER:
		return "bad answer";
	}
	return "";
}
