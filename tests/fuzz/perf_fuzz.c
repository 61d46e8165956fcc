/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the performance manager with tables of the SA and answers of agents of any content.
 * Ports and peers stay inside their table, sweeps end, and reports can be written. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "base/attributes.h"
#include "base/bytes.h"
#include "mgmt/perf/perf_manager.h"
#include "mgmt/perf/perf_metrics.h"
#include "mgmt/perf/perf_report.h"
#include "wire/performance.h"
#include "wire/sa_records.h"

enum { STRIDE_NODES = 112, STRIDE_PORTS = 72, STRIDE_LINKS = 8, TURNS_MAX = 2000, BATCH = 16 };

/* What is left of the input; zeros after its end. */
struct input {
	const uint8_t *bytes;
	size_t byte_count, position;
};

static void take(struct input *input, uint8_t *ret_bytes, size_t byte_count)
{
	for (size_t i = 0; i < byte_count; i++)
		ret_bytes[i] =
			input->byte_count ? input->bytes[input->position++ % input->byte_count] : 0;
}

/* LIDs and port numbers of random bytes would hardly ever meet. */
static void fill_table(struct input *input, struct perf_table *table, uint8_t *bytes, size_t stride,
		       unsigned count)
{
	take(input, bytes, stride * count);
	for (unsigned i = 0; i < count; i++) {
		uint8_t *record = bytes + i * stride;

		record[0] = 0;
		record[1] &= 7;
		record[2] &= 0x83;
		if (stride == STRIDE_LINKS) {
			record[3] &= 3;
			record[4] = 0;
			record[5] &= 7;
		}
	}
	*table = (struct perf_table){.bytes = bytes, .record_count = count, .record_bytes = stride};
}

static int build(struct input *input, struct perf_nodes *ret_nodes)
{
	enum { NODES = 8, PORTS = 16, LINKS = 16 };
	static uint8_t node_bytes[NODES * STRIDE_NODES], port_bytes[PORTS * STRIDE_PORTS],
		link_bytes[LINKS * STRIDE_LINKS];
	struct perf_table nodes, ports, links;
	uint8_t choice[4];

	take(input, choice, sizeof(choice));
	fill_table(input, &nodes, node_bytes, STRIDE_NODES, choice[0] % (NODES + 1));
	fill_table(input, &ports, port_bytes, STRIDE_PORTS, choice[1] % (PORTS + 1));
	fill_table(input, &links, link_bytes, STRIDE_LINKS, choice[2] % (LINKS + 1));
	if (choice[3] == 1)
		ports.record_bytes = 0;
	return perf_nodes_build(ret_nodes, &nodes, &ports, &links);
}

static void check_nodes(const struct perf_nodes *nodes)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < nodes->node_count; i++) {
		MUST_HOLD(nodes->nodes[i].first_port == sum);
		MUST_HOLD(memchr(nodes->nodes[i].name, 0, PERF_NAME_BYTES));
		sum += nodes->nodes[i].port_count;
	}
	MUST_HOLD(sum == nodes->port_count);
	for (uint32_t i = 0; i < nodes->port_count; i++) {
		const struct perf_port *port = &nodes->ports[i];

		MUST_HOLD(port->node >= nodes->nodes &&
			  port->node < nodes->nodes + nodes->node_count);
		MUST_HOLD(port->number > 0);
		MUST_HOLD(!port->peer || (port->peer >= nodes->ports &&
					  port->peer < nodes->ports + nodes->port_count));
	}
}

/* The request comes back with any status and any data, twice, or not at all. */
static void answer(struct perf_manager *manager, time_ns now, struct mad_message *message,
		   struct input *input)
{
	uint8_t choice[2];

	take(input, choice, sizeof(choice));
	if (choice[0] % 8 == 0)
		return;
	message->bytes[MAD_METHOD_OFFSET] |= MAD_RESPONSE;
	take(input, message->bytes + PERFORMANCE_DATA_OFFSET + 2, 60);
	if (choice[0] % 8 == 1)
		take(input, message->bytes + MAD_STATUS_OFFSET, 2);
	if (choice[0] % 8 == 2)
		take(input, message->bytes, MAD_BYTES);
	perf_manager_receive(manager, now, message);
	if (choice[1] % 4 == 0)
		perf_manager_receive(manager, now, message);
}

static void sweep(struct perf_manager *manager, time_ns *now, struct input *input)
{
	struct mad_message messages[BATCH];

	perf_manager_ask_sample(manager, "h1:1", MILLISECONDS(1));
	for (unsigned turn = 0; turn < TURNS_MAX && !perf_manager_is_idle(manager); turn++) {
		unsigned count = perf_manager_transmit(manager, *now, BATCH, messages);
		time_ns deadline = perf_manager_deadline(manager);

		for (unsigned i = 0; i < count; i++)
			answer(manager, *now, &messages[i], input);
		if (!count && deadline != TIME_NEVER && deadline > *now)
			*now = deadline;
	}
	MUST_HOLD(perf_manager_is_idle(manager));
}

static void write_all(const struct perf_manager *manager, time_ns now)
{
	const struct perf_subnets subnets = {.managers = &manager, .count = 1};
	const struct perf_report_range range = {.count = 100, .top = 10};
	char *text = NULL;
	size_t byte_count;
	FILE *file = open_memstream(&text, &byte_count);

	for (unsigned part = PERF_REPORT_SWEEP; part <= PERF_REPORT_DETAILS; part++)
		MUST_HOLD(perf_report_write(&subnets, now, (enum perf_report_part)part, &range,
					    file) == 0);
	perf_metrics_write(manager, file);
	fclose(file);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perf_manager manager;
	const struct perf_options options = {
		.tries = 2, .tables_age = TIME_NEVER, .thresholds = perf_thresholds_default};
	struct input input = {.bytes = data, .byte_count = size};
	struct perf_nodes nodes;
	time_ns now = SECONDS(1);

	if (build(&input, &nodes) != 0)
		return 0;
	check_nodes(&nodes);
	MUST_HOLD(perf_manager_init(&manager, &options) == 0);
	manager.nodes = nodes;
	for (unsigned i = 0; i < 2; i++) {
		/* No SA here: the nodes stay as they are. */
		manager.tables_at = now;
		manager.tables_are_due = false;
		sweep(&manager, &now, &input);
		check_nodes(&manager.nodes);
	}
	write_all(&manager, now);
	perf_manager_release(&manager);
	return 0;
}
