/* SPDX-License-Identifier: Apache-2.0 */
/* The report of softib perf as tables. */
#include "cli/perf_text.h"

#include <stdio.h>
#include <string.h>
#include "base/attributes.h"
#include "cli/fabric_client.h"

enum { BYTES_TEXT = 24, EVENTS_SHOWN = 10 };

void perf_text_bytes(double bytes, char *ret_text, size_t text_bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	unsigned unit = 0;

	while (bytes >= 1000 && unit + 1 < ARRAY_COUNT(units)) {
		bytes /= 1000;
		unit++;
	}
	snprintf(ret_text, text_bytes, unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
}

static double number(const json_t *object, const char *key)
{
	return (double)json_integer_value(json_object_get(object, key));
}

static const char *bytes_text(const json_t *object, const char *key, char text[static BYTES_TEXT])
{
	perf_text_bytes(number(object, key), text, BYTES_TEXT);
	return text;
}

void perf_text_print_summary(const json_t *report)
{
	const json_t *summary = json_object_get(report, "summary");
	const json_t *sweep = json_object_get(summary, "sweep");
	const char *error = fabric_client_text(sweep, "error");
	char sent[BYTES_TEXT], rate[BYTES_TEXT];

	printf("sweep       %.0f: %.0f of %.0f ports in %.1f ms, %.0f MADs%s\n",
	       number(sweep, "number"), number(sweep, "ports_read"), number(summary, "ports"),
	       number(sweep, "duration_us") / 1000, number(sweep, "requests"),
	       json_is_true(json_object_get(sweep, "read_tables")) ? ", with the SA's tables" : "");
	if (*error)
		printf("error       %s\n", error);
	printf("nodes       %.0f (%.0f switches), %.0f links", number(summary, "nodes"),
	       number(summary, "switches"), number(summary, "links"));
	if (number(summary, "silent_nodes") > 0)
		printf(", %.0f nodes do not answer", number(summary, "silent_nodes"));
	printf("\nhosts sent  %s in %.0f packets, now %s/s\n",
	       bytes_text(summary, "host_xmit_bytes", sent), number(summary, "host_xmit_packets"),
	       bytes_text(summary, "host_xmit_bytes_per_second", rate));
	printf("errors      %.0f on %.0f ports, %.0f of them new\n", number(summary, "errors"),
	       number(summary, "ports_with_errors"), number(summary, "new_errors"));
}

void perf_text_print_links(const json_t *report)
{
	const json_t *rows = json_object_get(report, "links");
	const json_t *row;
	size_t index;

	if (!json_array_size(rows))
		return;
	printf("\n%-32s %12s %12s %12s %12s %5s %5s\n", "BUSIEST LINKS (A - B)", "A TO B/s",
	       "B TO A/s", "A TO B", "B TO A", "USE%", "WAIT%");
	json_array_foreach (rows, index, row) {
		const json_t *there = json_object_get(row, "a_to_b");
		const json_t *back = json_object_get(row, "b_to_a");
		double wait = number(there, "wait_percent") > number(back, "wait_percent")
				      ? number(there, "wait_percent")
				      : number(back, "wait_percent");
		char name[80], a[BYTES_TEXT], b[BYTES_TEXT], c[BYTES_TEXT], d[BYTES_TEXT];

		snprintf(name, sizeof(name), "%s - %s", fabric_client_text(row, "a"),
			 fabric_client_text(row, "b"));
		printf("%-32s %12s %12s %12s %12s %5.0f %5.0f\n", name,
		       bytes_text(there, "bytes_per_second", a),
		       bytes_text(back, "bytes_per_second", b), bytes_text(there, "bytes", c),
		       bytes_text(back, "bytes", d), number(row, "utilization_percent"), wait);
	}
}

void perf_text_print_errors(const json_t *report)
{
	const json_t *rows = json_object_get(report, "errors");
	const json_t *row, *value;
	const char *name;
	size_t index;

	if (!json_array_size(rows))
		return;
	printf("\n%-16s %-16s %8s  %s\n", "PORTS WITH ERRORS", "PEER", "NEW", "COUNTERS");
	json_array_foreach (rows, index, row) {
		printf("%-16s  %-16s %7.0f ", fabric_client_text(row, "port"),
		       fabric_client_text(row, "peer"), number(row, "new_errors"));
		json_object_foreach (json_object_get(row, "counters"), name, value)
			printf(" %s=%" JSON_INTEGER_FORMAT, name, json_integer_value(value));
		printf("%s\n",
		       json_is_true(json_object_get(row, "is_lower_bound")) ? " (at least)" : "");
	}
}

void perf_text_print_events(const json_t *report)
{
	const json_t *rows = json_object_get(report, "events");
	const json_t *row;
	size_t index;

	if (!json_array_size(rows))
		return;
	printf("\n%-9s %-16s %-12s %s\n", "EVENTS", "PORT", "KIND", "VALUE");
	json_array_foreach (rows, index, row) {
		const char *counter = fabric_client_text(row, "counter");

		if (index == EVENTS_SHOWN) {
			printf("and %zu before\n", json_array_size(rows) - EVENTS_SHOWN);
			break;
		}
		printf("%6.1f s  %-16s %-12s %.0f%s%s\n", number(row, "age_us") / 1e6,
		       fabric_client_text(row, "port"), fabric_client_text(row, "kind"),
		       number(row, "value"), *counter ? " " : "", counter);
	}
}

void perf_text_print_ports(const json_t *report)
{
	const json_t *row, *value;
	const char *name;
	size_t index;

	json_array_foreach (json_object_get(report, "ports"), index, row) {
		printf("\n%s to %s, LID %.0f, node %s%s\n", fabric_client_text(row, "port"),
		       fabric_client_text(row, "peer"), number(row, "lid"),
		       fabric_client_text(row, "node_guid"),
		       json_is_true(json_object_get(row, "is_answering")) ? ""
									  : ": does not answer");
		json_object_foreach (json_object_get(row, "counters"), name, value)
			printf("  %-34s %" JSON_INTEGER_FORMAT "\n", name,
			       json_integer_value(value));
	}
}

static void print_sample(const char *port, const json_t *sample)
{
	const char *state = fabric_client_text(sample, "state");
	char sent[BYTES_TEXT], received[BYTES_TEXT], rate[BYTES_TEXT];

	if (strcmp(state, "done") != 0) {
		printf("\n%s has no sample: %s\n", port,
		       strcmp(state, "refused") == 0 ? "its agent takes none"
		       : strcmp(state, "busy") == 0  ? "its agent takes somebody else's"
						     : "its agent does not answer");
		return;
	}
	printf("\n%s sample of %.1f ms\n", port, number(sample, "length_us") / 1000);
	printf("  sent      %s in %.0f packets, %s/s\n", bytes_text(sample, "xmit_bytes", sent),
	       number(sample, "xmit_packets"), bytes_text(sample, "xmit_bytes_per_second", rate));
	printf("  received  %s in %.0f packets, %s/s\n", bytes_text(sample, "rcv_bytes", received),
	       number(sample, "rcv_packets"), bytes_text(sample, "rcv_bytes_per_second", rate));
	printf("  waited    %.0f ticks, %.0f %% of the time\n", number(sample, "xmit_wait"),
	       number(sample, "wait_percent"));
}

void perf_text_print_details(const json_t *report)
{
	const json_t *details = json_object_get(report, "details");
	const json_t *counters, *value;
	const char *attribute, *name;

	if (!details)
		return;
	if (!json_is_true(json_object_get(details, "is_found")))
		printf("\nno port %s answers\n", fabric_client_text(details, "port"));
	json_object_foreach (json_object_get(details, "attributes"), attribute, counters) {
		unsigned shown = 0;

		printf("\n%s %s\n", fabric_client_text(details, "port"), attribute);
		json_object_foreach ((json_t *)counters, name, value) {
			if (!json_integer_value(value))
				continue;
			printf("  %-34s %" JSON_INTEGER_FORMAT "\n", name,
			       json_integer_value(value));
			shown++;
		}
		if (!shown)
			printf("  all are 0\n");
	}
	if (json_object_get(details, "sample") &&
	    json_is_true(json_object_get(details, "is_found")))
		print_sample(fabric_client_text(details, "port"),
			     json_object_get(details, "sample"));
}
