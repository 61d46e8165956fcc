/* SPDX-License-Identifier: Apache-2.0 */
/* The performance manager's findings as JSON. */
#include "mgmt/perf/perf_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/perf/perf_manager.h"
#include "wire/subnet_attributes.h"

static const char *const part_names[] = {
	[PERF_REPORT_SWEEP] = "sweep",	   [PERF_REPORT_SUMMARY] = "summary",
	[PERF_REPORT_LINKS] = "links",	   [PERF_REPORT_ERRORS] = "errors",
	[PERF_REPORT_EVENTS] = "events",   [PERF_REPORT_PORTS] = "ports",
	[PERF_REPORT_DETAILS] = "details",
};

bool perf_report_part_find(const char *name, enum perf_report_part *ret_part)
{
	for (unsigned i = 0; i < ARRAY_COUNT(part_names); i++) {
		if (strcmp(part_names[i], name) == 0) {
			*ret_part = (enum perf_report_part)i;
			return true;
		}
	}
	return false;
}

/* Names hold printable ASCII only (perf_nodes.c). */
void perf_report_write_text(const char *text, FILE *file)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

static void write_number(const char *name, uint64_t value, FILE *file)
{
	/* JSON's integers are signed. */
	fprintf(file, ",\"%s\":%" PRIu64, name, value <= INT64_MAX ? value : INT64_MAX);
}

static void write_port_name(const char *name, const struct perf_port *port, FILE *file)
{
	char text[PERF_PORT_NAME_BYTES] = "";

	if (port)
		perf_port_name(port, text);
	fprintf(file, "\"%s\":", name);
	perf_report_write_text(text, file);
}

/* --- Summary --- */

struct totals {
	uint64_t xmit_bytes, host_xmit_bytes, host_rcv_bytes, host_xmit_packets;
	uint64_t host_xmit_rate, errors, new_errors, wait;
	uint64_t events;
	uint32_t ports_with_errors, links, nodes, ports, switches, silent;
};

static uint64_t bytes_of(const struct perf_port *port, enum perf_counter counter)
{
	return port->history.last.values[counter] * PERF_WORD_BYTES;
}

static void add_port(struct totals *totals, const struct perf_port *port)
{
	const struct port_history *history = &port->history;
	const struct port_sample *sample = port_history_last_sample(history);
	uint64_t errors = history->errors;

	totals->links += port->peer && port < port->peer;
	totals->xmit_bytes += bytes_of(port, PERF_XMIT_DATA);
	totals->errors += errors;
	totals->new_errors += history->new_errors;
	totals->wait += history->last.values[PERF_XMIT_WAIT];
	totals->ports_with_errors += errors > 0;
	if (port->node->type != NODE_CA)
		return;
	totals->host_xmit_bytes += bytes_of(port, PERF_XMIT_DATA);
	totals->host_rcv_bytes += bytes_of(port, PERF_RCV_DATA);
	totals->host_xmit_packets += history->last.values[PERF_XMIT_PACKETS];
	if (sample)
		totals->host_xmit_rate += sample->xmit_bytes_per_second;
}

static const char *error_text(int error)
{
	switch (error) {
	case 0:
		return "";
	case -EHOSTUNREACH:
		return "subnet administration does not answer";
	case -EPROTO:
		return "a table of subnet administration is malformed";
	default:
		return "out of memory";
	}
}

/* What the last sweeps of all subnets come to. */
struct sweeps {
	uint64_t number; /* of the subnet with the fewest */
	time_ns duration, age;
	uint64_t read_count, failed_count, mad_count;
	bool have_tables;
	int error; /* the first one */
};

static void add_sweep(struct sweeps *sweeps, const struct perf_sweep *sweep, time_ns now)
{
	time_ns duration = sweep->ended_at - sweep->began_at;
	time_ns age = sweep->number ? now - sweep->ended_at : 0;

	if (sweep->number < sweeps->number)
		sweeps->number = sweep->number;
	if (duration > sweeps->duration)
		sweeps->duration = duration;
	if (age > sweeps->age)
		sweeps->age = age;
	sweeps->read_count += sweep->read_count;
	sweeps->failed_count += sweep->failed_count;
	sweeps->mad_count += sweep->mad_count;
	sweeps->have_tables |= sweep->has_tables;
	if (!sweeps->error)
		sweeps->error = sweep->error;
}

static void write_sweep(const struct perf_subnets *subnets, time_ns now, FILE *file)
{
	struct sweeps sweeps = {.number = UINT64_MAX};

	for (uint32_t i = 0; i < subnets->count; i++)
		add_sweep(&sweeps, &subnets->managers[i]->last, now);
	fprintf(file, "\"sweep\":{\"number\":%" PRIu64, sweeps.number);
	write_number("duration_us", sweeps.duration / MICROSECONDS(1), file);
	write_number("age_us", sweeps.age / MICROSECONDS(1), file);
	write_number("ports_read", sweeps.read_count, file);
	write_number("ports_failed", sweeps.failed_count, file);
	write_number("requests", sweeps.mad_count, file);
	fprintf(file, ",\"read_tables\":%s,\"error\":\"%s\",\"numbers\":[",
		sweeps.have_tables ? "true" : "false", error_text(sweeps.error));
	for (uint32_t i = 0; i < subnets->count; i++)
		fprintf(file, "%s%" PRIu64, i ? "," : "", subnets->managers[i]->last.number);
	fputs("]}", file);
}

static void add_subnet(struct totals *totals, const struct perf_manager *manager)
{
	const struct perf_nodes *nodes = &manager->nodes;

	for (uint32_t i = 0; i < nodes->port_count; i++)
		add_port(totals, &nodes->ports[i]);
	for (uint32_t i = 0; i < nodes->node_count; i++) {
		totals->switches += nodes->nodes[i].type == NODE_SWITCH;
		totals->silent += nodes->nodes[i].is_silent;
	}
	totals->nodes += nodes->node_count;
	totals->ports += nodes->port_count;
	totals->events += manager->events.count;
}

static void write_totals(const struct perf_subnets *subnets, FILE *file)
{
	struct totals totals = {0};

	for (uint32_t i = 0; i < subnets->count; i++)
		add_subnet(&totals, subnets->managers[i]);
	write_number("subnets", subnets->count, file);
	write_number("nodes", totals.nodes, file);
	write_number("switches", totals.switches, file);
	write_number("ports", totals.ports, file);
	write_number("links", totals.links, file);
	write_number("silent_nodes", totals.silent, file);
	write_number("host_xmit_bytes", totals.host_xmit_bytes, file);
	write_number("host_rcv_bytes", totals.host_rcv_bytes, file);
	write_number("host_xmit_packets", totals.host_xmit_packets, file);
	write_number("host_xmit_bytes_per_second", totals.host_xmit_rate, file);
	write_number("xmit_bytes", totals.xmit_bytes, file);
	write_number("xmit_wait", totals.wait, file);
	write_number("errors", totals.errors, file);
	write_number("new_errors", totals.new_errors, file);
	write_number("ports_with_errors", totals.ports_with_errors, file);
	write_number("events", totals.events, file);
}

/* --- The first of all ports by some measure --- */

struct ranked {
	uint64_t rank, second_rank;
	const struct perf_port *port;
};

struct ranking {
	struct ranked *rows; /* sorted, the highest first */
	uint32_t count, count_max;
};

static bool ranks_before(const struct ranked *a, const struct ranked *b)
{
	return a->rank != b->rank ? a->rank > b->rank : a->second_rank > b->second_rank;
}

/* Insertion: most ports rank below the last one kept. */
static void rank_port(struct ranking *ranking, struct ranked row)
{
	uint32_t place = ranking->count;

	if (!row.rank && !row.second_rank)
		return;
	if (place == ranking->count_max) {
		if (!place || !ranks_before(&row, &ranking->rows[place - 1]))
			return;
		place--;
	} else {
		ranking->count++;
	}
	for (; place && ranks_before(&row, &ranking->rows[place - 1]); place--)
		ranking->rows[place] = ranking->rows[place - 1];
	ranking->rows[place] = row;
}

/* A link ranks by the rate of its busier direction, then by its bytes. */
static void rank_link(struct ranking *ranking, const struct perf_port *port)
{
	const struct port_sample *sample = port_history_last_sample(&port->history);
	struct ranked row = {.port = port};

	if (!port->peer || port > port->peer)
		return;
	if (sample)
		row.rank = sample->xmit_bytes_per_second > sample->rcv_bytes_per_second
				   ? sample->xmit_bytes_per_second
				   : sample->rcv_bytes_per_second;
	row.second_rank = bytes_of(port, PERF_XMIT_DATA) + bytes_of(port, PERF_RCV_DATA);
	rank_port(ranking, row);
}

static void rank_errors(struct ranking *ranking, const struct perf_port *port)
{
	rank_port(ranking, (struct ranked){.port = port,
					   .rank = port->history.new_errors,
					   .second_rank = port->history.errors});
}

/* --- Rows --- */

static void write_rates(const char *direction, const struct perf_port *port, FILE *file)
{
	const struct port_history *history = &port->history;
	const struct port_sample *sample = port_history_last_sample(history);
	const struct port_sample none = {0};

	if (!sample)
		sample = &none;
	fprintf(file, ",\"%s\":{\"bytes\":%" PRIu64, direction, bytes_of(port, PERF_XMIT_DATA));
	write_number("packets", history->last.values[PERF_XMIT_PACKETS], file);
	write_number("bytes_per_second", sample->xmit_bytes_per_second, file);
	write_number("peak_bytes_per_second", history->xmit_peak.bytes_per_second, file);
	write_number("wait_percent", perf_wait_percent(port, sample), file);
	fputc('}', file);
}

static void write_link(const struct perf_port *port, FILE *file)
{
	const struct port_sample *sample = port_history_last_sample(&port->history);

	fputc('{', file);
	write_port_name("a", port, file);
	fputc(',', file);
	write_port_name("b", port->peer, file);
	write_number("rate_mbps", port->rate_mbps, file);
	write_number("utilization_percent", sample ? perf_utilization_percent(port, sample) : 0,
		     file);
	write_rates("a_to_b", port, file);
	write_rates("b_to_a", port->peer, file);
	fputc('}', file);
}

static void write_counters(const char *name, const uint64_t *values, uint32_t mask, FILE *file)
{
	const char *separator = "";

	fprintf(file, ",\"%s\":{", name);
	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++) {
		if (!(mask >> i & 1))
			continue;
		fprintf(file, "%s\"%s\":%" PRIu64, separator,
			perf_counter_name((enum perf_counter)i),
			values[i] <= INT64_MAX ? values[i] : INT64_MAX);
		separator = ",";
	}
	fputc('}', file);
}

static uint32_t counters_with_errors(const struct port_history *history)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++)
		if (perf_counter_is_error(i) && (history->last.values[i] || history->increments[i]))
			mask |= 1u << i;
	return mask;
}

static void write_errors(const struct perf_port *port, FILE *file)
{
	const struct port_history *history = &port->history;
	const struct port_sample *sample = port_history_last_sample(history);
	uint32_t mask = counters_with_errors(history);

	fputc('{', file);
	write_port_name("port", port, file);
	fputc(',', file);
	write_port_name("peer", port->peer, file);
	write_number("new_errors", history->new_errors, file);
	write_number("errors_last_sweep", sample ? sample->errors : 0, file);
	fprintf(file, ",\"is_lower_bound\":%s", history->lower_bounds & mask ? "true" : "false");
	write_counters("counters", history->last.values, mask, file);
	fputc('}', file);
}

static void write_samples(const struct port_history *history, time_ns now, FILE *file)
{
	uint32_t count = history->sample_count < PORT_HISTORY_SAMPLES ? history->sample_count
								      : PORT_HISTORY_SAMPLES;

	fputs(",\"samples\":[", file);
	for (uint32_t i = 0; i < count; i++) {
		const struct port_sample *sample =
			&history->samples[(history->sample_count - 1 - i) % PORT_HISTORY_SAMPLES];

		fprintf(file, "%s{\"age_us\":%" PRIu64, i ? "," : "",
			(now - sample->at) / MICROSECONDS(1));
		write_number("xmit_bytes_per_second", sample->xmit_bytes_per_second, file);
		write_number("rcv_bytes_per_second", sample->rcv_bytes_per_second, file);
		write_number("errors", sample->errors, file);
		fputc('}', file);
	}
	fputc(']', file);
}

static void write_port(const struct perf_port *port, time_ns now, FILE *file)
{
	const struct port_history *history = &port->history;

	fputc('{', file);
	write_port_name("port", port, file);
	fputc(',', file);
	write_port_name("peer", port->peer, file);
	fprintf(file, ",\"node_guid\":\"0x%016" PRIx64 "\"", port->node->guid);
	write_number("port_number", port->number, file);
	write_number("lid", port->lid, file);
	write_number("rate_mbps", port->rate_mbps, file);
	write_number("readings", history->reading_count, file);
	write_number("clears", history->clear_count, file);
	write_number("jumps", history->jump_count, file);
	fprintf(file, ",\"is_answering\":%s",
		port->is_failed || !history->reading_count ? "false" : "true");
	write_counters("counters", history->last.values, history->last.known, file);
	write_counters("increments", history->increments, history->last.known, file);
	write_counters("lower_bounds", history->increments, history->lower_bounds, file);
	write_samples(history, now, file);
	fputc('}', file);
}

static void write_event(const struct perf_event *event, time_ns now, FILE *file)
{
	bool has_counter = event->kind == PERF_EVENT_ERRORS || event->kind == PERF_EVENT_CLEARED ||
			   event->kind == PERF_EVENT_JUMP;

	fprintf(file, "{\"kind\":\"%s\",\"port\":", perf_event_kind_name(event->kind));
	perf_report_write_text(event->port, file);
	write_number("age_us", (now - event->at) / MICROSECONDS(1), file);
	write_number("value", event->value, file);
	fprintf(file, ",\"counter\":\"%s\"}", has_counter ? perf_counter_name(event->counter) : "");
}

/* --- Parts --- */

static void rank_all(struct ranking *ranking, const struct perf_nodes *nodes,
		     enum perf_report_part part)
{
	for (uint32_t i = 0; i < nodes->port_count; i++) {
		if (part == PERF_REPORT_LINKS)
			rank_link(ranking, &nodes->ports[i]);
		else
			rank_errors(ranking, &nodes->ports[i]);
	}
}

static int write_ranking(const struct perf_subnets *subnets, enum perf_report_part part,
			 const struct perf_report_range *range, FILE *file, uint32_t *ret_total)
{
	struct ranking ranking = {.count_max = range->top};

	ranking.rows = calloc((size_t)range->top + 1, sizeof(*ranking.rows));
	if (!ranking.rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < subnets->count; i++)
		rank_all(&ranking, &subnets->managers[i]->nodes, part);
	for (uint32_t i = range->from; i < ranking.count && i - range->from < range->count; i++) {
		if (i > range->from)
			fputc(',', file);
		if (part == PERF_REPORT_LINKS)
			write_link(ranking.rows[i].port, file);
		else
			write_errors(ranking.rows[i].port, file);
	}
	*ret_total = ranking.count;
	free(ranking.rows);
	return 0;
}

static uint32_t events_kept(const struct perf_manager *manager)
{
	return manager->events.count < PERF_EVENTS_MAX ? (uint32_t)manager->events.count
						       : PERF_EVENTS_MAX;
}

/* The last event that has not been taken yet; NULL: all have. taken: of each subnet. */
static const struct perf_event *take_event(const struct perf_subnets *subnets, uint32_t *taken)
{
	const struct perf_event *last = NULL;
	uint32_t subnet = 0;

	for (uint32_t i = 0; i < subnets->count; i++) {
		const struct perf_event *event =
			perf_events_at(&subnets->managers[i]->events, taken[i]);

		if (!event || (last && event->at <= last->at))
			continue;
		last = event;
		subnet = i;
	}
	taken[subnet]++;
	return last;
}

static int write_events(const struct perf_subnets *subnets, time_ns now,
			const struct perf_report_range *range, FILE *file, uint32_t *ret_total)
{
	uint32_t *taken = calloc(subnets->count, sizeof(*taken));
	const struct perf_event *event;

	if (!taken)
		return -ENOMEM;
	for (uint32_t i = 0; (i < range->from || i - range->from < range->count) &&
			     (event = take_event(subnets, taken)) != NULL;
	     i++) {
		if (i > range->from)
			fputc(',', file);
		if (i >= range->from)
			write_event(event, now, file);
	}
	free(taken);
	for (uint32_t i = 0; i < subnets->count; i++)
		*ret_total += events_kept(subnets->managers[i]);
	return 0;
}

/* The ports of the first subnet, then those of the second, and so on. */
static void write_ports(const struct perf_subnets *subnets, time_ns now,
			const struct perf_report_range *range, FILE *file, uint32_t *ret_total)
{
	for (uint32_t i = 0; i < subnets->count; i++) {
		const struct perf_nodes *nodes = &subnets->managers[i]->nodes;
		uint32_t first = range->from > *ret_total ? range->from - *ret_total : 0;

		for (uint32_t port = first;
		     port < nodes->port_count && *ret_total + port - range->from < range->count;
		     port++) {
			if (*ret_total + port > range->from)
				fputc(',', file);
			write_port(&nodes->ports[port], now, file);
		}
		*ret_total += nodes->port_count;
	}
}

/* A port is in one subnet; the managers of the others did not find it. */
static void write_details(const struct perf_subnets *subnets, FILE *file)
{
	const struct perf_manager *finder = subnets->managers[0];

	for (uint32_t i = 1; i < subnets->count && !finder->details.is_found; i++)
		finder = subnets->managers[i];
	port_details_write(&finder->details, file);
}

int perf_report_write(const struct perf_subnets *subnets, time_ns now, enum perf_report_part part,
		      const struct perf_report_range *range, FILE *file)
{
	uint32_t total = 0;
	int error = 0;

	if (part == PERF_REPORT_SWEEP || part == PERF_REPORT_SUMMARY) {
		fputc('{', file);
		write_sweep(subnets, now, file);
		if (part == PERF_REPORT_SUMMARY)
			write_totals(subnets, file);
		fputc('}', file);
		return 0;
	}
	if (part == PERF_REPORT_DETAILS) {
		write_details(subnets, file);
		return 0;
	}
	fputs("{\"rows\":[", file);
	switch (part) {
	case PERF_REPORT_SWEEP:
	case PERF_REPORT_SUMMARY:
	case PERF_REPORT_DETAILS:
		break;
	case PERF_REPORT_LINKS:
	case PERF_REPORT_ERRORS:
		error = write_ranking(subnets, part, range, file, &total);
		break;
	case PERF_REPORT_EVENTS:
		error = write_events(subnets, now, range, file, &total);
		break;
	case PERF_REPORT_PORTS:
		write_ports(subnets, now, range, file, &total);
		break;
	}
	fputc(']', file);
	if (range->from < total && total - range->from > range->count)
		write_number("next", (uint64_t)range->from + range->count, file);
	fputc('}', file);
	return error;
}
