/* SPDX-License-Identifier: Apache-2.0 */
/* Counters as metrics in the text format of Prometheus. */
#include "mgmt/perf/perf_metrics.h"

#include <inttypes.h>
#include <string.h>
#include "mgmt/perf/perf_manager.h"
#include "mgmt/perf/perf_report.h"
#include "wire/subnet_attributes.h"

enum { BYTES_PER_MBIT = 125000 };

/* clang-format off */
/* The names of both exporters. NULL: node_exporter has no such metric. */
static const struct metric {
	const char *fabric; /* after infiniband_switch_ or infiniband_hca_ */
	const char *host;   /* after node_infiniband_ */
	unsigned factor;
	const char *help;
} metrics[PERF_COUNTER_COUNT] = {
	[PERF_XMIT_DATA]              = {"port_transmit_data_bytes_total", "port_data_transmitted_bytes_total", PERF_WORD_BYTES, "Bytes that the port sent (PortXmitData x 4)"},
	[PERF_RCV_DATA]               = {"port_receive_data_bytes_total", "port_data_received_bytes_total", PERF_WORD_BYTES, "Bytes that the port received (PortRcvData x 4)"},
	[PERF_XMIT_PACKETS]           = {"port_transmit_packets_total", "port_packets_transmitted_total", 1, "Packets that the port sent (PortXmitPkts)"},
	[PERF_RCV_PACKETS]            = {"port_receive_packets_total", "port_packets_received_total", 1, "Packets that the port received (PortRcvPkts)"},
	[PERF_UNICAST_XMIT_PACKETS]   = {"port_unicast_transmit_packets_total", "unicast_packets_transmitted_total", 1, "Unicast packets sent (PortUnicastXmitPkts)"},
	[PERF_UNICAST_RCV_PACKETS]    = {"port_unicast_receive_packets_total", "unicast_packets_received_total", 1, "Unicast packets received (PortUnicastRcvPkts)"},
	[PERF_MULTICAST_XMIT_PACKETS] = {"port_multicast_transmit_packets_total", "multicast_packets_transmitted_total", 1, "Multicast packets sent (PortMulticastXmitPkts)"},
	[PERF_MULTICAST_RCV_PACKETS]  = {"port_multicast_receive_packets_total", "multicast_packets_received_total", 1, "Multicast packets received (PortMulticastRcvPkts)"},
	[PERF_SYMBOL_ERROR]           = {"port_symbol_error_total", NULL, 1, "Minor link errors (SymbolErrorCounter)"},
	[PERF_LINK_ERROR_RECOVERY]    = {"port_link_error_recovery_total", "link_error_recovery_total", 1, "Successful recoveries of the link (LinkErrorRecoveryCounter)"},
	[PERF_LINK_DOWNED]            = {"port_link_downed_total", "link_downed_total", 1, "Times that the link went down (LinkDownedCounter)"},
	[PERF_RCV_ERRORS]             = {"port_receive_errors_total", "port_errors_received_total", 1, "Packets received with an error (PortRcvErrors)"},
	[PERF_RCV_REMOTE_PHYSICAL_ERRORS] = {"port_receive_remote_physical_errors_total", NULL, 1, "Packets marked bad by a node before (PortRcvRemotePhysicalErrors)"},
	[PERF_RCV_SWITCH_RELAY_ERRORS] = {"port_receive_switch_relay_errors_total", NULL, 1, "Packets that the switch could not forward (PortRcvSwitchRelayErrors)"},
	[PERF_XMIT_DISCARDS]          = {"port_transmit_discards_total", "port_discards_transmitted_total", 1, "Packets discarded at the output (PortXmitDiscards)"},
	[PERF_XMIT_CONSTRAINT_ERRORS] = {"port_transmit_constraint_errors_total", "port_constraint_errors_transmitted_total", 1, "Packets not sent because of a P_Key or raw filter (PortXmitConstraintErrors)"},
	[PERF_RCV_CONSTRAINT_ERRORS]  = {"port_receive_constraint_errors_total", "port_constraint_errors_received_total", 1, "Packets not taken because of a P_Key or raw filter (PortRcvConstraintErrors)"},
	[PERF_LOCAL_LINK_INTEGRITY_ERRORS] = {"port_local_link_integrity_errors_total", NULL, 1, "Times that local physical errors exceeded their limit (LocalLinkIntegrityErrors)"},
	[PERF_EXCESSIVE_BUFFER_OVERRUN_ERRORS] = {"port_excessive_buffer_overrun_errors_total", NULL, 1, "Consecutive buffer overruns (ExcessiveBufferOverrunErrors)"},
	[PERF_VL15_DROPPED]           = {"port_vl15_dropped_total", NULL, 1, "Management packets dropped for lack of a buffer (VL15Dropped)"},
	[PERF_XMIT_WAIT]              = {"port_transmit_wait_total", "port_transmit_wait_total", 1, "Ticks with data and without credits (PortXmitWait)"},
	[PERF_QP1_DROPPED]            = {"port_qp1_dropped_total", NULL, 1, "Management packets that QP1 dropped (QP1Dropped)"},
};
/* clang-format on */

/* The kinds of nodes that infiniband_exporter tells apart. */
static const struct family {
	const char *name;  /* "switch": the prefix, and the label with the node's name */
	uint8_t node_type; /* enum node_type */
} families[] = {{"switch", NODE_SWITCH}, {"hca", NODE_CA}};

static bool is_of(const struct family *family, const struct perf_port *port)
{
	return port->node->type == family->node_type && port->history.reading_count;
}

static void write_head(const char *prefix, const char *name, const char *type, const char *help,
		       FILE *file)
{
	fprintf(file, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix, name, help, prefix, name, type);
}

static bool has_counter(const struct perf_port *port, unsigned counter)
{
	return port->history.last.known >> counter & 1;
}

static uint64_t value_of(const struct perf_port *port, unsigned counter)
{
	return port->history.last.values[counter] * metrics[counter].factor;
}

static void write_fabric_counter(const struct perf_nodes *nodes, const struct family *family,
				 unsigned counter, FILE *file)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "infiniband_%s_", family->name);
	write_head(prefix, metrics[counter].fabric, "counter", metrics[counter].help, file);
	for (uint32_t i = 0; i < nodes->port_count; i++) {
		const struct perf_port *port = &nodes->ports[i];

		if (is_of(family, port) && has_counter(port, counter))
			fprintf(file, "%s%s{guid=\"0x%016" PRIx64 "\",port=\"%u\"} %" PRIu64 "\n",
				prefix, metrics[counter].fabric, port->node->guid, port->number,
				value_of(port, counter));
	}
}

/* node_exporter's labels are device and port. The host is the target that Prometheus asks; here it
 * is a label of its own. */
static void write_host_labels(const struct perf_port *port, FILE *file)
{
	const char *slash = strchr(port->node->name, '/');
	char host[PERF_NAME_BYTES];

	snprintf(host, sizeof(host), "%.*s",
		 slash ? (int)(slash - port->node->name) : PERF_NAME_BYTES, port->node->name);
	fprintf(file, "{device=\"softib%s\",host=", slash ? slash + 1 : "0");
	perf_report_write_text(host, file);
	fprintf(file, ",port=\"%u\"}", port->number);
}

static void write_host_counter(const struct perf_nodes *nodes, unsigned counter, FILE *file)
{
	static const char prefix[] = "node_infiniband_";

	if (!metrics[counter].host)
		return;
	write_head(prefix, metrics[counter].host, "counter", metrics[counter].help, file);
	for (uint32_t i = 0; i < nodes->port_count; i++) {
		const struct perf_port *port = &nodes->ports[i];

		if (port->node->type != NODE_CA || !port->history.reading_count ||
		    !has_counter(port, counter))
			continue;
		fprintf(file, "%s%s", prefix, metrics[counter].host);
		write_host_labels(port, file);
		fprintf(file, " %" PRIu64 "\n", value_of(port, counter));
	}
}

static void write_host_states(const struct perf_nodes *nodes, FILE *file)
{
	write_head("node_infiniband_", "rate_bytes_per_second", "gauge", "Data rate of the link",
		   file);
	for (uint32_t i = 0; i < nodes->port_count; i++) {
		const struct perf_port *port = &nodes->ports[i];

		if (port->node->type != NODE_CA)
			continue;
		fputs("node_infiniband_rate_bytes_per_second", file);
		write_host_labels(port, file);
		fprintf(file, " %" PRIu64 "\n", (uint64_t)port->rate_mbps * BYTES_PER_MBIT);
	}
	write_head("node_infiniband_", "state_id", "gauge",
		   "PortState: 1 down, 2 init, 3 armed, "
		   "4 active",
		   file);
	for (uint32_t i = 0; i < nodes->port_count; i++) {
		const struct perf_port *port = &nodes->ports[i];

		if (port->node->type != NODE_CA)
			continue;
		fputs("node_infiniband_state_id", file);
		write_host_labels(port, file);
		fprintf(file, " %u\n", port->state);
	}
}

static const char *type_name(uint8_t node_type)
{
	return node_type == NODE_SWITCH ? "SW" : node_type == NODE_CA ? "CA" : "RT";
}

static void write_node_infos(const struct perf_nodes *nodes, const struct family *family,
			     FILE *file)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "infiniband_%s_", family->name);
	write_head(prefix, "info", "gauge", "Name and LID of a node", file);
	for (uint32_t i = 0; i < nodes->node_count; i++) {
		const struct perf_node *node = &nodes->nodes[i];

		if (node->type != family->node_type || !node->port_count)
			continue;
		fprintf(file, "%sinfo{guid=\"0x%016" PRIx64 "\",%s=", prefix, node->guid,
			family->name);
		perf_report_write_text(node->name, file);
		fprintf(file, ",lid=\"%u\"} 1\n", nodes->ports[node->first_port].lid);
	}
	write_head(prefix, "uplink_info", "gauge", "The port at the other end of the cable", file);
	for (uint32_t i = 0; i < nodes->port_count; i++) {
		const struct perf_port *port = &nodes->ports[i];
		const struct perf_port *peer = port->peer;

		if (port->node->type != family->node_type || !peer)
			continue;
		fprintf(file, "%suplink_info{guid=\"0x%016" PRIx64 "\",port=\"%u\",%s=", prefix,
			port->node->guid, port->number, family->name);
		perf_report_write_text(port->node->name, file);
		fputs(",uplink=", file);
		perf_report_write_text(peer->node->name, file);
		fprintf(file,
			",uplink_guid=\"0x%016" PRIx64 "\",uplink_type=\"%s\",uplink_port=\"%u\","
			"uplink_lid=\"%u\"} 1\n",
			peer->node->guid, type_name(peer->node->type), peer->number, peer->lid);
	}
}

static void write_sweep(const struct perf_manager *manager, FILE *file)
{
	const struct perf_sweep *sweep = &manager->last;

	write_head("softib_perf_", "sweeps_total", "counter", "Sweeps that have ended", file);
	fprintf(file, "softib_perf_sweeps_total %" PRIu64 "\n", sweep->number);
	write_head("softib_perf_", "sweep_duration_seconds", "gauge", "Duration of the last sweep",
		   file);
	fprintf(file, "softib_perf_sweep_duration_seconds %.6f\n",
		(double)(sweep->ended_at - sweep->began_at) / (double)SECONDS(1));
	write_head("softib_perf_", "ports_failed", "gauge",
		   "Ports whose agent did not answer in the last sweep", file);
	fprintf(file, "softib_perf_ports_failed %u\n", sweep->failed_count);
	write_head("softib_perf_", "events_total", "counter", "Events raised at thresholds", file);
	fprintf(file, "softib_perf_events_total %" PRIu64 "\n", manager->events.count);
}

void perf_metrics_write(const struct perf_manager *manager, FILE *file)
{
	const struct perf_nodes *nodes = &manager->nodes;

	for (unsigned counter = 0; counter < PERF_COUNTER_COUNT; counter++) {
		for (unsigned i = 0; i < ARRAY_COUNT(families); i++)
			write_fabric_counter(nodes, &families[i], counter, file);
		write_host_counter(nodes, counter, file);
	}
	for (unsigned i = 0; i < ARRAY_COUNT(families); i++)
		write_node_infos(nodes, &families[i], file);
	write_host_states(nodes, file);
	write_sweep(manager, file);
}
