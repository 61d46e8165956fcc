/* SPDX-License-Identifier: Apache-2.0 */
/* The results of an experiment as text and as JSON. Integers only, so that reports are the same on
 * every machine. */
#include "sim/experiment_report.h"

#include "fabric/topology/port_names.h"
#include "sim/experiment.h"

static const char *const service_names[] = {
	[FLOW_RC] = "rc",
	[FLOW_UC] = "uc",
	[FLOW_UD] = "ud",
	[FLOW_LOAD] = "load",
	[FLOW_MULTICAST] = "multicast",
};

static time_ns measured_time(const struct experiment *experiment)
{
	return experiment->ended_at - experiment->traffic.measured_from;
}

static uint64_t flow_bits_per_second(const struct experiment *experiment, const struct flow *flow)
{
	time_ns time = measured_time(experiment);

	/* The time in microseconds, so that the product does not overflow. */
	return time ? flow->measured_bytes * 8 * 1000000 / (time / 1000) : 0;
}

static uint64_t drop_count(const struct flow *flow)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < DROP_REASON_COUNT; i++)
		count += flow->drops[i];
	return count;
}

/* A packet crosses one hop each time it leaves a port. */
static uint64_t packet_hops(const struct fabric *fabric)
{
	uint64_t hops = 0;

	for (uint32_t i = 0; i < fabric->node_count; i++)
		for (unsigned number = 1; number <= fabric->by_index[i]->port_count; number++)
			hops += fabric->by_index[i]->ports[number].counters.transmit_packets;
	return hops;
}

/* Thousandths, printed with three digits. */
static void write_thousandths(uint64_t value, FILE *file)
{
	fprintf(file, "%llu.%03u", (unsigned long long)(value / 1000), (unsigned)(value % 1000));
}

struct percentile {
	const char *name;
	unsigned ten_thousandths;
};

static const struct percentile percentiles[] = {
	{"p50", 5000}, {"p90", 9000}, {"p99", 9900}, {"p999", 9990}};

static void write_flow_text(const struct experiment *experiment, const struct flow *flow,
			    FILE *file)
{
	uint64_t bits = flow_bits_per_second(experiment, flow);

	fprintf(file, "%-16s %-9s %8u %10llu %10llu %8llu %8llu.%03u", flow->options->name,
		service_names[flow->options->service], flow->options->message_bytes,
		(unsigned long long)flow->sent, (unsigned long long)flow->received,
		(unsigned long long)(drop_count(flow) + flow->failed),
		(unsigned long long)(bits / 1000000000), (unsigned)(bits / 1000000 % 1000));
	for (unsigned i = 0; i < ARRAY_COUNT(percentiles); i++) {
		time_ns latency =
			latencies_percentile(flow->latencies, percentiles[i].ten_thousandths);

		fprintf(file, " %7llu.%03u", (unsigned long long)(latency / 1000),
			(unsigned)(latency % 1000));
	}
	fprintf(file, " %7llu.%03u\n", (unsigned long long)(flow->latencies->max / 1000),
		(unsigned)(flow->latencies->max % 1000));
}

static bool has_news(const struct link_counters *counters)
{
	for (unsigned i = 0; i < DROP_REASON_COUNT; i++)
		if (counters->drops[i])
			return true;
	return counters->link_downed || counters->symbol_errors || counters->transmit_wait;
}

static void write_port_text(const struct port *port, FILE *file)
{
	const struct link_counters *counters = &port->counters;
	char name[PORT_NAME_BYTES];

	if (!has_news(counters))
		return;
	port_name_text(port, name);
	fprintf(file, "%-24s sent %llu received %llu waited %llu", name,
		(unsigned long long)counters->transmit_packets,
		(unsigned long long)counters->receive_packets,
		(unsigned long long)counters->transmit_wait);
	if (counters->link_downed)
		fprintf(file, " link-downed %llu", (unsigned long long)counters->link_downed);
	for (unsigned i = 0; i < DROP_REASON_COUNT; i++)
		if (counters->drops[i])
			fprintf(file, " %s %llu", drop_reason_name((enum drop_reason)i),
				(unsigned long long)counters->drops[i]);
	fputc('\n', file);
}

void experiment_report_write_text(const struct experiment *experiment, FILE *file)
{
	const struct fabric *fabric = &experiment->sim.fabric;

	fprintf(file, "%s: %u hosts, %u nodes, seed %llu; ", experiment->scenario->topology,
		experiment->sim.host_count, fabric->node_count,
		(unsigned long long)experiment->scenario->seed);
	if (experiment->sim.manager_count > 1)
		fprintf(file, "%u subnets up after ", experiment->sim.manager_count);
	else
		fprintf(file, "subnet up after ");
	write_thousandths(experiment->came_up_at / 1000, file);
	fprintf(file, " ms, then ");
	write_thousandths((experiment->ended_at - experiment->began_at) / 1000, file);
	fprintf(file, " ms, measured for the last ");
	write_thousandths(measured_time(experiment) / 1000, file);
	fprintf(file, " ms; %llu packet-hops\n\n", (unsigned long long)packet_hops(fabric));
	fprintf(file, "%-16s %-9s %8s %10s %10s %8s %12s %11s %11s %11s %11s %11s\n", "flow",
		"service", "bytes", "sent", "received", "lost", "Gbit/s", "p50 us", "p90 us",
		"p99 us", "p99.9 us", "max us");
	for (uint32_t i = 0; i < experiment->traffic.flow_count; i++)
		write_flow_text(experiment, &experiment->traffic.flows[i], file);
	fprintf(file, "\nports that waited, dropped packets or went down:\n");
	for (uint32_t i = 0; i < fabric->node_count; i++)
		for (unsigned number = 1; number <= fabric->by_index[i]->port_count; number++)
			write_port_text(&fabric->by_index[i]->ports[number], file);
}

/* Escaped, because names may come from a topology file. */
static void write_string(const char *text, FILE *file)
{
	fputc('"', file);
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20)
			fprintf(file, "\\u%04x", (unsigned)(unsigned char)*text);
		else if (*text == '"' || *text == '\\')
			fprintf(file, "\\%c", *text);
		else
			fputc(*text, file);
	}
	fputc('"', file);
}

static void write_drops(const uint64_t *drops, FILE *file)
{
	const char *separator = "";

	fprintf(file, "\"drops\": {");
	for (unsigned i = 0; i < DROP_REASON_COUNT; i++) {
		if (!drops[i])
			continue;
		fprintf(file, "%s", separator);
		write_string(drop_reason_name((enum drop_reason)i), file);
		fprintf(file, ": %llu", (unsigned long long)drops[i]);
		separator = ", ";
	}
	fprintf(file, "}");
}

static void write_flow_json(const struct experiment *experiment, const struct flow *flow,
			    FILE *file)
{
	fprintf(file, "    {\"name\": ");
	write_string(flow->options->name, file);
	fprintf(file,
		", \"service\": \"%s\", \"bytes\": %u, \"sl\": %u, \"sent\": %llu, "
		"\"received\": %llu, \"failed\": %llu, \"bits_per_second\": %llu, \"latency_ns\": "
		"{\"min\": %llu",
		service_names[flow->options->service], flow->options->message_bytes,
		flow->options->sl, (unsigned long long)flow->sent,
		(unsigned long long)flow->received, (unsigned long long)flow->failed,
		(unsigned long long)flow_bits_per_second(experiment, flow),
		(unsigned long long)flow->latencies->min);
	for (unsigned i = 0; i < ARRAY_COUNT(percentiles); i++)
		fprintf(file, ", \"%s\": %llu", percentiles[i].name,
			(unsigned long long)latencies_percentile(flow->latencies,
								 percentiles[i].ten_thousandths));
	fprintf(file, ", \"max\": %llu}, ", (unsigned long long)flow->latencies->max);
	write_drops(flow->drops, file);
	fprintf(file, "}");
}

static void write_port_json(const struct port *port, FILE *file)
{
	const struct link_counters *counters = &port->counters;
	char name[PORT_NAME_BYTES];

	port_name_text(port, name);
	fprintf(file, "    {\"port\": ");
	write_string(name, file);
	fprintf(file,
		", \"transmit_packets\": %llu, \"receive_packets\": %llu, \"transmit_words\": "
		"%llu, \"receive_words\": %llu, \"transmit_wait\": %llu, \"link_downed\": %llu, "
		"\"symbol_errors\": %llu, ",
		(unsigned long long)counters->transmit_packets,
		(unsigned long long)counters->receive_packets,
		(unsigned long long)counters->transmit_words,
		(unsigned long long)counters->receive_words,
		(unsigned long long)counters->transmit_wait,
		(unsigned long long)counters->link_downed,
		(unsigned long long)counters->symbol_errors);
	write_drops(counters->drops, file);
	fprintf(file, "}");
}

void experiment_report_write_json(const struct experiment *experiment, FILE *file)
{
	const struct fabric *fabric = &experiment->sim.fabric;
	const char *separator = "";

	fprintf(file, "{\n  \"topology\": ");
	write_string(experiment->scenario->topology, file);
	fprintf(file,
		",\n  \"seed\": %llu,\n  \"hosts\": %u,\n  \"nodes\": %u,\n"
		"  \"subnets\": %u,\n  \"up_ns\": %llu,\n"
		"  \"duration_ns\": %llu,\n  \"measured_ns\": %llu,\n  \"packet_hops\": %llu,\n"
		"  \"flows\": [\n",
		(unsigned long long)experiment->scenario->seed, experiment->sim.host_count,
		fabric->node_count, experiment->sim.manager_count,
		(unsigned long long)experiment->came_up_at,
		(unsigned long long)(experiment->ended_at - experiment->began_at),
		(unsigned long long)measured_time(experiment),
		(unsigned long long)packet_hops(fabric));
	for (uint32_t i = 0; i < experiment->traffic.flow_count; i++, separator = ",\n") {
		fputs(separator, file);
		write_flow_json(experiment, &experiment->traffic.flows[i], file);
	}
	fprintf(file, "\n  ],\n  \"ports\": [\n");
	separator = "";
	for (uint32_t i = 0; i < fabric->node_count; i++) {
		const struct node *node = fabric->by_index[i];

		for (unsigned number = 1; number <= node->port_count; number++) {
			if (!node->ports[number].peer)
				continue;
			fputs(separator, file);
			write_port_json(&node->ports[number], file);
			separator = ",\n";
		}
	}
	fprintf(file, "\n  ]\n}\n");
}
